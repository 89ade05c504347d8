/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits on the cost of reading a guest in this process. All counts and sizes come from guest bytes, so they
 * may not be the only bound: an operation has a budget, each of its parts is a reading of readings.h with its
 * share, and a part that exceeds its share fails with one line that names it and the missing result.
 *
 * Times are for a host that reads another process's memory in less than five microseconds. On slower hosts
 * (emulated ones) they are multiplied, 16 times at most; the guest has no influence on that.
 *
 * A budget is in force for its thread from vp_budget_begin() to vp_budget_end(); code that reads guests
 * charges it implicitly: vp_phys_read() what it reads, allocations what they take. Outside such a pair,
 * nothing is limited here, which is for engines in this process: tests/layering/readings.py names each file
 * that reads.
 */
#ifndef VP_GUEST_BUDGET_H
#define VP_GUEST_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/readings.h"

struct vp_budget {
	const struct vp_reading *reading; /* the part: its limits, and its words for messages */
	uint64_t memory;                  /* bytes that the part may still allocate */
	uint64_t guest;                   /* bytes that it may still read */
	uint64_t cpu_end_ns;              /* of this thread's CPU time; paused: the rest */
	uint64_t wall_end_ns;             /* of the monotonic clock; 0: none */
	uint64_t wall_ms;                 /* all parts together */
	uint64_t
	    waited_ns; /* the time for which this thread had waited for a CPU; wall_end_ns allows for it */
	bool patient;  /* no limits of time */
	bool has_read_all;       /* more than `guest` was to be read: the part is over */
	bool has_taken_all;      /* more than `memory` was requested in a case that ends the part, too */
	uint64_t number;         /* no other budget of this process has it */
	struct vp_budget *outer; /* of the same thread; suspended */
	uint64_t shared_memory, shared_guest; /* a share's, when it began */
};

/** Put a budget into force, with @p first (of vp_readings) as its first part, whose wall time is that of all
 * parts together. @p is_patient: no limits of time (memory that is read through a gdb stub is as slow as the
 * stub). */
void vp_budget_begin(struct vp_budget *budget, const struct vp_reading *first, bool is_patient);
void vp_budget_end(struct vp_budget *budget);

/** Budgets that this process begins from now on have no wall time: a contained child can't tell time in which
 * it waited for a CPU, and its parent limits its life. */
void vp_budget_leave_wall(void);

/** Replace the budget in force by a share of it: the limits of @p reading, but no more than the rest of the
 * whole, which is charged for the share's use. For one of many objects of the guest, each of which could be
 * made to use up the whole. A share has no parts of its own. */
void vp_budget_share(struct vp_budget *share, const struct vp_reading *reading);
/** True: the share is used up, and the whole is not. */
bool vp_budget_share_end(struct vp_budget *share);

/** Begin the next part, with limits of its own; CPU time that earlier parts have not used is added. */
void vp_budget_part(const struct vp_reading *reading);

/** The factor by which this host's times are multiplied. Measured once, which takes less than a millisecond.
 */
uint32_t vp_budget_slowness(void);

/** End it for now, keeping what is left of its first part; and continue with that. For a reading that is done
 * piece by piece. Its wall time begins again. */
void vp_budget_pause(struct vp_budget *budget);
void vp_budget_resume(struct vp_budget *budget);

/** Charge memory to the part, or return it. LIMIT: it exceeds the share; nothing is charged. */
OT_MUST_CHECK struct ot_err *vp_budget_take(uint64_t bytes);
void vp_budget_give(uint64_t bytes);
/** The same where missing data would be mistaken for data that the guest does not have. False: it exceeds the
 * share, and the part is over. */
OT_MUST_CHECK bool vp_budget_take_or_end(uint64_t bytes);
/** The number of the budget in force: memory must be returned to the budget that was charged. 0: none. */
uint64_t vp_budget_number(void);

/** Charge a read of the guest before it is made. LIMIT: it exceeds the share; the part is then over. */
OT_MUST_CHECK struct ot_err *vp_budget_read(uint64_t bytes);

/** LIMIT: the part's time is over, or it has read all that it may. Reads two clocks: call it once in a few
 * thousand steps. */
OT_MUST_CHECK struct ot_err *vp_budget_check(void);

/** The same without a message, for searches. */
bool vp_budget_is_over(void);

#endif
