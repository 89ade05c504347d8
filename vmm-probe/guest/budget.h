/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits on the memory and time that reading a guest may cost this process. All counts and sizes come from
 * guest bytes, so they may not be the only bound: an operation has a budget, each of its parts a share, and a
 * part that exceeds its share fails with an error that names it.
 *
 * Times are for a host that reads another process's memory in less than five microseconds. On slower hosts
 * (emulated ones) they are multiplied, 16 times at most; the guest has no influence on that.
 *
 * A budget is in force for its thread from vp_budget_begin() to vp_budget_end(); code that reads guests
 * charges it implicitly. Outside such a pair, nothing is limited here.
 */
#ifndef VP_GUEST_BUDGET_H
#define VP_GUEST_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct vp_budget {
	const char *part;        /* "the symbols" */
	uint64_t memory;         /* bytes that the part may still allocate */
	uint64_t memory_mib;     /* its share, for the message */
	uint64_t cpu_end_ns;     /* of this thread's CPU time */
	uint64_t cpu_ms;         /* the share */
	uint64_t wall_end_ns;    /* of the monotonic clock; 0: none */
	uint64_t wall_ms;        /* all parts together */
	bool patient;            /* no limit of CPU time either */
	struct vp_budget *outer; /* of the same thread; suspended */
};

/** Put a budget into force. @p wall_ms limits the wall time of all its parts together; 0: no limit (memory
 * that is read through a gdb stub is as slow as the stub). No memory may be taken before the first part. */
void vp_budget_begin(struct vp_budget *budget, uint32_t wall_ms);
void vp_budget_end(struct vp_budget *budget);

/** Begin the next part: its name for messages (borrowed), its share of memory, and its share of CPU time, to
 * which the unused time of earlier parts is added. */
void vp_budget_part(const char *part, uint32_t memory_mib, uint32_t cpu_ms);

/** Charge memory to the part, or return it. LIMIT: it exceeds the share; nothing is charged. */
OT_MUST_CHECK struct ot_err *vp_budget_take(uint64_t bytes);
void vp_budget_give(uint64_t bytes);

/** LIMIT: the part's time is over. Reads two clocks: call it once in a few thousand steps. */
OT_MUST_CHECK struct ot_err *vp_budget_check(void);

/** The same without a message, for searches. */
bool vp_budget_is_over(void);

#endif
