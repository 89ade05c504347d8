/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What reading a guest may cost this process. A guest's bytes say how much there is of everything, so no
 * count of the guest's decides alone how much memory and time is taken: what is read in one go has a budget,
 * each part of it a share, and a part that takes more than that ends with an error that names it.
 *
 * Times are for a host that reads another process's memory in less than five microseconds. On slower ones (a
 * host that is emulated) they are multiplied, 16 times at most; what a guest says has no part in that.
 *
 * A budget is its thread's, from vp_budget_begin() to vp_budget_end(); those that read charge it without
 * being given it. Without one, nothing is bounded here.
 */
#ifndef VP_GUEST_BUDGET_H
#define VP_GUEST_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct vp_budget {
	const char *part;        /* "the symbols" */
	uint64_t memory;         /* bytes that the part may still take */
	uint64_t memory_mib;     /* its share, for the message */
	uint64_t cpu_end_ns;     /* of this thread's CPU time */
	uint64_t cpu_ms;         /* the share */
	uint64_t wall_end_ns;    /* of the monotonic clock; 0: none */
	uint64_t wall_ms;        /* all parts together */
	bool patient;            /* CPU time is not bounded either */
	struct vp_budget *outer; /* of the same thread, out of force meanwhile */
};

/** Put a budget into force. @p wall_ms is what all its parts may take by the clock on the wall, 0: no bound
 * (memory that is read through a stub is as slow as the stub). Nothing may be taken before the first part. */
void vp_budget_begin(struct vp_budget *budget, uint32_t wall_ms);
void vp_budget_end(struct vp_budget *budget);

/** The next part: what it is (borrowed), its share of memory, and of CPU time beside what the parts before it
 * left. */
void vp_budget_part(const char *part, uint32_t memory_mib, uint32_t cpu_ms);

/** Take memory, or give it back. LIMIT, taking nothing, when the share does not have it. */
OT_MUST_CHECK struct ot_err *vp_budget_take(uint64_t bytes);
void vp_budget_give(uint64_t bytes);

/** LIMIT when the part's time is over. Costs two looks at the clock: ask every few thousand steps. */
OT_MUST_CHECK struct ot_err *vp_budget_check(void);

/** The same without a message, for searches. */
bool vp_budget_is_over(void);

#endif
