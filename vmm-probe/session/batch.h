/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The things that a session enables in each engine: probes, their sites and programs, and the clauses on
 * them. */
#ifndef VP_SESSION_BATCH_H
#define VP_SESSION_BATCH_H

#include "vmm-probe/session/internal.h"

/* --- batch.c ---------------------------------------------------------------------------------- */

/** Match the program and fill enabled[] and each feed's batch. Needs layouts and feeds. */
OT_MUST_CHECK struct ot_err *vp_batches_make(struct vp_session *s);
/** The same for the guest of feed @p nth alone, which joins the session. */
OT_MUST_CHECK struct ot_err *vp_batch_make_joining(struct vp_session *s, uint32_t nth);
/** Does a description of @p clause name the guest? */
bool vp_clause_wants_guest(const struct vp_session *s, const struct dif_clause *clause, uint32_t guest);
/** Look up the sites of a guest's batch again: its text has changed since it was read. */
OT_MUST_CHECK struct ot_err *vp_batch_reread(struct vp_session *s, struct vp_feed *feed);
/** Make a batch of the clauses' probes with ids above @p after, in the guest of feed @p nth, into @p late,
 * whose link, guest, ncpus and planted are set; late->has_work: there are some. */
OT_MUST_CHECK struct ot_err *vp_batch_make_late(struct vp_session *s, uint32_t nth, uint32_t after,
						struct vp_feed *late);

/* --- batch_sentinels.c ------------------------------------------------------------------------ */

/** Add the sentinels that the batch's other sites, and modules.followed, require; feed->sentinels lists them.
 * Those in feed->planted are left out. */
OT_MUST_CHECK struct ot_err *vp_batch_add_sentinels(struct vp_feed *feed);
/** Their sites, after all others: by feed->sentinels. */
OT_MUST_CHECK struct ot_err *vp_batch_sentinel_sites(struct vp_feed *feed, struct vp_batch_probe *bp);

/* --- batch_registers.c ------------------------------------------------------------------------- */

/** LIMIT when so many places in a guest, some of them in processes (@p users), are more than debug registers.
 */
OT_MUST_CHECK struct ot_err *vp_check_debug_registers(size_t places, bool users);
/** The same of a guest's batch and of those before it, feed->registers_before. Sets feed->registers. */
OT_MUST_CHECK struct ot_err *vp_batch_check_registers(struct vp_feed *feed);
/** Report to the operator the debug registers that its sites in processes take from the guest. */
void vp_batch_say_registers(struct vp_session *s, const struct vp_feed *feed);

/* --- enable.c --------------------------------------------------------------------------------- */

/** Enable and start the program in the last guest, which joins the session; its clauses begin at number @p
 * nclauses.
 */
OT_MUST_CHECK struct ot_err *vp_enable_joining(struct vp_session *s, uint32_t nclauses);

/** Send the batch of a guest's feed to its engine. */
OT_MUST_CHECK struct ot_err *vp_batch_send(struct vp_feed *feed);
/** The same, repeated with the new text if the guest's text changes meanwhile. Of the host engine too. */
OT_MUST_CHECK struct ot_err *vp_batch_send_retrying(struct vp_session *s, struct vp_feed *feed);

/* --- programs.c: additions for sites and probes to the clauses that the user wrote -------------- */

/** Replace the registry's numbers of programs in @p sites by the batch's, which has the programs from now on.
 */
OT_MUST_CHECK struct ot_err *vp_batch_add_programs(struct vp_feed *feed, struct vp_batch_site *sites,
						   uint32_t n);
/** Write feed->batch_programs.dof. */
OT_MUST_CHECK struct ot_err *vp_batch_write_programs(struct vp_feed *feed);
void vp_batch_programs_clear(struct vp_batch_programs *programs);
/** Append to the program the clauses that the guests' probes need (vp_probes_support()). */
OT_MUST_CHECK struct ot_err *vp_support_add(struct vp_session *s, struct dif_program *prog);
/** The same of one guest. */
OT_MUST_CHECK struct ot_err *vp_support_add_of(struct vp_session *s, struct dif_program *prog,
					       uint32_t guest);

/* --- batch_message.c -------------------------------------------------------------------------- */

/** NOMEM if an append to one of its buffers failed: the indices in the others would not match. */
OT_MUST_CHECK struct ot_err *vp_batch_buffers_check(const struct vp_feed *feed);
/** The agent's probes of a late batch: a reload of its module moves them with the feed's own. */
void vp_batch_keep_agents(struct vp_feed *feed, const struct vp_feed *late);
/** Free a feed's batch. */
void vp_batch_clear(struct vp_feed *feed);
/** The message that ENABLE carries, appended to @p out. */
OT_MUST_CHECK struct ot_err *vp_batch_assemble(struct vp_feed *feed, struct ot_buf *out);

#endif
