/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One session in an engine: its program, ECBs and buffers. The server calls these for a remote
 * client; the operator's process calls them directly for its own host engine (BEGIN, END, tick).
 * All on the engine's service thread, except vp_engine_session_fire().
 */
#ifndef VP_ENGINE_SERVICE_SESSION_H
#define VP_ENGINE_SERVICE_SESSION_H

#include "vmm-probe/engine/wire/protocol.h"

struct vp_engine;
struct vp_engine_session; /* engine's session */

/** Open a session. Borrowed until vp_engine_session_close(): the mapped shared region (@p shared_size bytes)
 * and unwind table (NULL: none). @p dof, @p facts and @p open are copied. The program is verified as hostile.
 */
OT_MUST_CHECK struct ot_err *vp_engine_session_open(struct vp_engine *engine, const struct vp_msg_open *open,
						    const void *dof, size_t dof_size,
						    const struct vp_facts *facts, void *shared,
						    size_t shared_size, const void *orc, size_t orc_size,
						    struct vp_engine_session **ret);
/** Remove its sites, wait until no vCPU is in the session, free it. NULL is allowed. */
void vp_engine_session_close(struct vp_engine_session *es);

/** Add ECBs (struct vp_batch in @p batch). While the session is active, their sites are planted at once.
 * BAD_DATA, FAULT: nothing was added. BUSY (a paused guest): they are added, and planted as soon as possible;
 * until then vp_engine_session_switch() reports VP_SWITCH_PAUSED. */
OT_MUST_CHECK struct ot_err *vp_engine_session_enable(struct vp_engine_session *es, const void *batch,
						      size_t size);

/** Take over rules for the stacks of processes (engine/wire/user_frames.h), at any time: they are used from
 * now on. After success @p mem, a mapping of its own, is the session's. BAD_DATA, LIMIT: nothing was taken
 * over. */
OT_MUST_CHECK struct ot_err *vp_engine_session_frames(struct vp_engine_session *es, void *mem, size_t size);

/** Plant the sites, then let ECBs fire. Once in a session's life. BUSY: the guest is paused; nothing has
 * changed. */
OT_MUST_CHECK struct ot_err *vp_engine_session_start(struct vp_engine_session *es);

/** On return no ECB fires any more, even after an error. A paused guest's sites are removed as soon as
 * possible, which is no error (vp_engine_session_switch() reports VP_SWITCH_PAUSED). The next
 * vp_engine_session_switch() hands over the data. */
OT_MUST_CHECK struct ot_err *vp_engine_session_stop(struct vp_engine_session *es);

/** Stop it because its guest has ended, and report @p how to its client; does nothing if it is stopped
 * already. */
void vp_engine_session_end(struct vp_engine_session *es, enum vp_guest_end how);

/** Exchange the halves of every vCPU; inline counters are folded into the half handed over. With the ring and
 * fill policies only once the session is no longer active, or END has fired here; before that, the half
 * handed over is the same empty one. */
OT_MUST_CHECK struct ot_err *vp_engine_session_switch(struct vp_engine_session *es,
						      struct vp_msg_switch_reply *ret);
/** The reply of vp_engine_session_switch() without an exchange: nothing is covered until now_ns. */
OT_MUST_CHECK struct ot_err *vp_engine_session_poll(struct vp_engine_session *es,
						    struct vp_msg_switch_reply *ret);

/** Fire a probe without sites (VP_PROBE_HOST, or PROFILE without a guest) by its id on vCPU 0 of a host
 * engine, in any activity: the caller controls the life cycle. @p args are arg0..arg9. False: a clause called
 * exit(); the clauses after it did not run, except END's. */
bool vp_engine_session_fire(struct vp_engine_session *es, uint32_t probe_id, const uint64_t args[10]);

/** An engine of the session has ended: free the speculations that wait for its part. @p words: nspec of them
 * at specs_offset; @p engine as in its OPEN. Any thread. */
void vp_specs_engine_gone(uint64_t *words, uint32_t n, uint32_t engine);

#endif
