/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rings for records of resident probes: where they are in each CPU's data, whose record has which slot,
 * and a thread that makes the vCPUs drain them (hit/records.h).
 *
 * The rings are made when the first site needs them, and stay until the room is given back: trampolines have
 * their place and size in them. Slots are never used twice until then.
 *
 * Service thread.
 */
#ifndef VP_ENGINE_SERVICE_RECORDS_H
#define VP_ENGINE_SERVICE_RECORDS_H

#include <pthread.h>

#include "vmm-probe/arch/trampoline.h"
#include "vmm-probe/engine/hit/records.h"
#include "vmm-probe/engine/service/resident.h"

struct vp_records_owner {
	struct vp_records records; /* vp_engine.records points here */
	struct vp_engine *engine;
	int wake_fd;
	pthread_t thread;
	bool wanted, stop;   /* atomic */
	uint64_t asked_ns[]; /* the thread's, by vCPU: time of its last visit */
};

/* --- records.c ---------------------------------------------------------------------------------- */

/** Where rings could be in the data that is still free. False: there is no room, or @p es wants none, or too
 * little is known of the guest. */
bool vp_records_layout(const struct vp_resident *r, const struct vp_engine_session *es,
		       struct vp_tramp_ring *ret);
/** Would the rings be larger if they were made for @p es now, and nothing used the room? */
bool vp_records_would_grow(const struct vp_resident *r, const struct vp_engine_session *es);
/** Make the rings; no trampoline knows them yet. NO_MEMORY, OS. */
OT_MUST_CHECK struct ot_err *vp_records_open(struct vp_engine *engine, const struct vp_engine_session *es,
					     const struct vp_tramp_ring *ring);
/** No trampoline uses them any more, and no ECB has a slot. */
void vp_records_close(struct vp_engine *engine);

/** The next slots are those of these ECBs. NO_MEMORY: none is. */
OT_MUST_CHECK struct ot_err *vp_records_add(struct vp_engine *engine, struct vp_ecb *const *ecbs, uint32_t n);
/** @p es is about to be freed: records of its ECBs mean nothing from now on. */
void vp_records_forget(struct vp_engine_session *es);

/* --- records_thread.c --------------------------------------------------------------------------- */

OT_MUST_CHECK struct ot_err *vp_records_start(struct vp_engine *engine, struct vp_records_owner **ret);
void vp_records_stop(struct vp_records_owner *owner);
/** Is there a trampoline in the plan that writes records? If not, the thread sleeps. */
void vp_records_want(struct vp_engine *engine, bool wanted);

/** Have the records of all hits until now fire, also if vCPUs do not run any more. */
void vp_records_flush(struct vp_engine *engine);
/** The hits until the time that is returned have fired: @p now or earlier. A vCPU that does not run is not
 * waited for. */
uint64_t vp_records_covered(const struct vp_engine *engine, uint64_t now);

#endif
