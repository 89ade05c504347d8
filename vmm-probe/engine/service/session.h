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

/** Open a session. Memory is borrowed until vp_engine_session_close(): the mapped shared region (@p
 * shared_size bytes) and unwind table (NULL: none). @p dof, @p facts and @p open are copied. The program is
 * verified here as if hostile. */
OT_MUST_CHECK struct ot_err *vp_engine_session_open(struct vp_engine *engine, const struct vp_msg_open *open,
						    const void *dof, size_t dof_size,
						    const struct vp_facts *facts, void *shared,
						    size_t shared_size, const void *orc, size_t orc_size,
						    struct vp_engine_session **ret);
/** Take the sites out, wait until no vCPU is in the session, free it. NULL is fine. */
void vp_engine_session_close(struct vp_engine_session *es);

/** Add ECBs (struct vp_batch in @p batch). While the session is active, sites go in at once. BAD_DATA, FAULT:
 * nothing was added. BUSY (a paused guest): they are the session's and go in as soon as they can; until
 * then vp_engine_session_switch() says VP_SWITCH_PAUSED. */
OT_MUST_CHECK struct ot_err *vp_engine_session_enable(struct vp_engine_session *es, const void *batch,
						      size_t size);

/** Sites go in, then ECBs fire. Once in a session's life. BUSY: the guest is paused; nothing has changed. */
OT_MUST_CHECK struct ot_err *vp_engine_session_start(struct vp_engine_session *es);

/** No ECB fires any more when this returns, whatever it returns. The sites of a paused guest go out as soon
 * as they can, which is no error (vp_engine_session_switch() says VP_SWITCH_PAUSED). What was recorded is
 * handed out by the next vp_engine_session_switch(). */
OT_MUST_CHECK struct ot_err *vp_engine_session_stop(struct vp_engine_session *es);

/** Exchange the halves of every vCPU; inline counters are folded into the half handed over. With the ring
 * and fill policies only once the session is not active any more, or END has fired here; before, the half
 * handed over is the same empty one. */
OT_MUST_CHECK struct ot_err *vp_engine_session_switch(struct vp_engine_session *es,
						      struct vp_msg_switch_reply *ret);
/** What vp_engine_session_switch() says, with nothing handed over: until now_ns nothing is covered. */
OT_MUST_CHECK struct ot_err *vp_engine_session_look(struct vp_engine_session *es,
						    struct vp_msg_switch_reply *ret);

/** Fire a probe without sites (VP_PROBE_HOST, or PROFILE where there is no guest) by its id on vCPU 0 of a
 * host engine, whatever the activity is: the caller keeps the life cycle. @p args are arg0..arg9. False: a
 * clause called exit(); those behind it did not run, except END's. */
bool vp_engine_session_fire(struct vp_engine_session *es, uint32_t probe_id, const uint64_t args[10]);

/** An engine of the session is gone: free the speculations that wait for its part. @p words: nspec of them at
 * specs_offset; @p engine as in its OPEN. Any thread. */
void vp_specs_engine_gone(uint64_t *words, uint32_t n, uint32_t engine);

#endif
