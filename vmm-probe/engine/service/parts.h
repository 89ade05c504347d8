/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The service thread's part of a session, a group of functions for each file: clause.c, keys.c, programs.c,
 * exchange.c, speculation.c, counters.c, guard.c, user_frames.c, stale.c, profile.c, vm.c, cpc.c.
 */
#ifndef VP_ENGINE_SERVICE_PARTS_H
#define VP_ENGINE_SERVICE_PARTS_H

#include "vmm-probe/engine/service/engine_session.h"

/* --- session_open.c ---------------------------------------------------------------------------- */

/** Free a session that is in no plan and in no list. */
void vp_engine_session_free(struct vp_engine_session *es);

/* --- enabling.c -------------------------------------------------------------------------------- */

void vp_batch_free(struct vp_enabled_batch *batch);

/* --- clause.c: D's clauses as steps ----------------------------------------------------------- */

/** Compile @p source into steps; memory from the session's arena. UNSUPPORTED, PERMISSION: an action that the
 * backend can't carry out, or that is not allowed. */
OT_MUST_CHECK struct ot_err *vp_clause_compile(struct vp_engine_session *es, const struct dif_clause *source,
					       struct vp_clause *ret);

/** Add an object's reads to *needs. */
void vp_object_needs(const struct dif_object *obj, struct vp_needs *needs);

/** Registers that an object with these needs may read, with arguments by @p args. */
uint64_t vp_needs_regs(const struct vp_needs *needs, enum vp_args args);

/* --- keys.c: keys of aggregations ----------------------------------------------------------------- */

/** Choose how the entries of @p agg are cached on the hit path. Its steps have their places in the tuple. */
void vp_keys_choose(struct vp_engine_session *es, struct vp_step *steps, const struct dif_agg_layout *agg);

/* --- programs.c: sites' programs ----------------------------------------------------------------- */

/** Take in the batch's DOF of @p size bytes, hostile input: batch->dof and batch->programs, which
 * vp_programs_free() frees. BAD_DATA: it is not a list of site programs, or uses variables that the session's
 * program lacks, or has with another type. */
OT_MUST_CHECK struct ot_err *vp_programs_read(const struct vp_engine_session *es, const void *dof,
					      size_t size, struct vp_enabled_batch *batch);
void vp_programs_free(struct vp_enabled_batch *batch);

/** Registers that an ECB of @p clause at @p site may read, the site's programs included. */
uint64_t vp_site_regs(const struct vp_enabled_site *site, const struct vp_clause *clause);

/* --- exchange.c: halves ------------------------------------------------------------------------ */

OT_MUST_CHECK struct ot_err *vp_buffers_init(struct vp_vcpu_session *v);
void vp_buffers_deinit(struct vp_vcpu_session *v);

/** Exchange the halves of every vCPU and record the time that they cover. */
void vp_buffers_switch(struct vp_engine_session *es, uint64_t now);

/** Empty half @p half, which is not in use. */
void vp_buffer_reset(struct vp_vcpu_session *v, uint32_t half);

void vp_buffer_stamp_start(struct vp_engine_session *es, uint64_t now);

/* --- speculation.c ------------------------------------------------------------------------------ */

OT_MUST_CHECK struct ot_err *vp_spec_init(struct vp_engine_session *es);
void vp_spec_deinit(struct vp_engine_session *es);

/** Before the vCPUs are made quiescent: which ids are being committed or discarded. */
void vp_spec_poll(struct vp_engine_session *es);
/** After: move the records of other vCPUs under committed ids, and free the ids. */
void vp_spec_clean(struct vp_engine_session *es, uint64_t now);

/* --- entry.c: entries of aggregations ------------------------------------------------------------- */

/** The words of the entry of @p ecb's aggregating action @p action, whose key is the same at each hit, in a
 * half that vCPU @p vcpu does not write: as dif_agg_init() makes them if it is new. NULL: there is no room,
 * which is counted as a drop. */
uint64_t *vp_entry_of(struct vp_engine_session *es, const struct vp_ecb *ecb, uint32_t action, uint32_t vcpu,
		      uint32_t half);

/** The same for a key by its words, as vp_key_evaluate() makes them. */
uint64_t *vp_entry_by_words(struct vp_engine_session *es, const struct vp_ecb *ecb, uint32_t action,
			    const uint64_t *words, uint32_t vcpu, uint32_t half);

/* --- counters.c: clauses that only count ---------------------------------------------------------- */

/** Give @p ecb a slot if it only counts and the backend has a free one. */
OT_MUST_CHECK struct ot_err *vp_counter_assign(struct vp_engine_session *es, struct vp_ecb *ecb);

/** Counting starts from the present value. */
void vp_counters_base(struct vp_engine_session *es);
/** Move the increments until now into `pending`. */
void vp_counters_collect(struct vp_engine_session *es);
/** Add `pending` to the halves just handed over; @p stopped: to those that the vCPUs no longer write. */
void vp_counters_fold(struct vp_engine_session *es, bool stopped);
void vp_counters_free(struct vp_engine_session *es);

/* --- guard.c: the cost limit of a session ------------------------------------------------------------- */

OT_MUST_CHECK struct ot_err *vp_guard_create(struct vp_engine_session *es);
void vp_guard_destroy(struct vp_engine_session *es);

/** Allocate the loads of a batch's ECBs. */
OT_MUST_CHECK struct ot_err *vp_guard_add(struct vp_engine_session *es, struct vp_enabled_batch *batch);

/** Disable the most expensive probes of a session whose cost at time @p now_ns is too high. May be called at
 * any time, and must be called every VP_GUARD_NS while engine->guarded. */
void vp_guard_check(struct vp_engine *engine, uint64_t now_ns);
#define VP_GUARD_NS 250000000ull

/* --- user_frames.c: rules for the stacks of processes ------------------------------------------------ */

/** Free the contents of all FRAMES. No vCPU is in the session any more. */
void vp_frames_free(struct vp_engine_session *es);

/* --- stale.c: sites whose memory is gone ------------------------------------------------------------ */

/** May the guest's page table be read periodically? Not where each read costs the guest time. */
bool vp_stale_can_check(const struct vp_engine *engine);
/** Find the sites of planned sessions that are no longer mapped at their old place; later plans leave them
 * out. True: there are some. */
bool vp_stale_check(struct vp_engine *engine);
/** The module at @p owner is being unloaded: its sites in @p batch end, in order, so that none counts as
 * lost. True: there were some. */
bool vp_stale_owner(struct vp_enabled_batch *batch, uint64_t owner);

/* --- modules.c: modules that come and go ------------------------------------------------------------ */

/** End the sites of modules that were reported as unloading, in all sessions. True: there were some. */
bool vp_modules_end(struct vp_engine *engine);
/** The same in a batch whose client did not know of them when it made the batch. */
void vp_modules_end_late(struct vp_engine_session *es, struct vp_enabled_batch *batch);

/* --- profile.c: timers -------------------------------------------------------------------------------- */

/** Set timers for the profile probes of all active sessions. */
OT_MUST_CHECK struct ot_err *vp_profile_update(struct vp_engine *engine);
void vp_profile_stop(struct vp_engine *engine);
bool vp_profile_wanted(const struct vp_engine *engine);

/* --- vm.c: events of vCPUs ------------------------------------------------------------------------------ */

/** Publish the table of the vm probes of all sessions. */
OT_MUST_CHECK struct ot_err *vp_vm_update(struct vp_engine *engine);
void vp_vm_stop(struct vp_engine *engine);
/** As in struct vp_plan. */
uint32_t vp_vm_events(const struct vp_engine *engine);

/* --- cpc.c: counters of the vCPUs' threads -------------------------------------------------------------- */

/** The counters that the probes of all sessions need, for a plan: *ret is the caller's, for vp_cpc_free().
 * LIMIT: more than VP_CPC_MAX. */
OT_MUST_CHECK struct ot_err *vp_cpc_plan(const struct vp_engine *engine, struct vp_cpc **ret,
					 uint32_t *ret_n);
/** NULL is fine. */
void vp_cpc_free(struct vp_cpc *cpcs);

#endif
