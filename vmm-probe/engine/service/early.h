/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The service thread's part of semaphores that hits have raised (hit/early.h): it takes over what they have
 * recorded into its own list, which undoes it. A record is of a process that may have ended meanwhile, and
 * whose children by fork() have copies: they are found by the file that exec() opened, which all of them
 * have.
 */
#ifndef VP_ENGINE_SERVICE_EARLY_H
#define VP_ENGINE_SERVICE_EARLY_H

#include "base/err.h"
#include "vmm-probe/engine/service/family.h"

#define VP_SEMAPHORES_STOP_NS 20000000ull /* the guest is stopped for no longer at a time */

#define VP_EARLY_TAKEN_MAX 4096u  /* in the list at once: more are not raised by hits */
#define VP_EARLY_FILES_MAX 65536u /* of programs that run; if there are more, the list is not tidied up */

struct vp_engine;
struct vp_engine_session;
struct vp_plan;

struct vp_early_taking {
	struct vp_reach reach; /* of the last plan with a VP_SENTINEL_MAPS */
	uint64_t next_ns;      /* when records are due */
};

/** Before a plan is in force: what its hits need. NO_MEMORY is the only error. */
OT_MUST_CHECK struct ot_err *vp_early_prepare(struct vp_engine *engine, const struct vp_plan *plan);

/** May there be records from now on? Then vp_early_is_due() is to be asked once a second. */
bool vp_early_is_used(const struct vp_engine *engine);
bool vp_early_is_due(const struct vp_engine *engine, uint64_t now_ns);

/** Move the records into the list of semaphores. The guest is stopped for it if there are some. */
void vp_early_take(struct vp_engine *engine);

/** While no vCPU executes. Has a hit raised that semaphore, and its record is not taken yet? */
bool vp_early_has(const struct vp_engine *engine, const struct vp_batch_process *process, uint64_t gva);
/** While no vCPU executes: no later hit is to raise it. */
void vp_early_forget(struct vp_engine *engine, const struct vp_batch_process *process, uint64_t gva);

/** Leave out all records: the guest's kernel has ended. */
void vp_early_clear(struct vp_engine *engine);

#endif
