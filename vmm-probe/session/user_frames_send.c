/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the processes whose stacks an engine walks by rules, and when it gets these. */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/session/ended.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/stacks.h"
#include "vmm-probe/session/user_seen.h"

/* --- does the program ask for them? ------------------------------------------------------------------ */

/* Does it have room for texts of frames? */
static bool program_has_texts(const struct vp_session *s)
{
	const struct dif_program *prog = s->program.prog;

	for (uint32_t i = 0; i < prog->nclauses; i++)
		for (uint32_t k = 0; k < prog->clauses[i].nactions; k++) {
			const struct dif_action *a = &prog->clauses[i].actions[k];

			if ((a->kind == DIF_ACT_ustack || a->kind == DIF_ACT_jstack) &&
			    (a->arg >> 32 ||
			     (a->kind == DIF_ACT_jstack && s->program.layout_opts.jstackstrsize)))
				return true;
		}
	return false;
}

/* --- sending ----------------------------------------------------------------------------------------- */

/* Nothing if there is nothing new. */
static struct ot_err *assemble(const struct vp_frames_making *m, struct ot_buf *out)
{
	const struct vp_frames_header header = {
		.magic = VP_FRAMES_MAGIC,
		.nprocesses = (uint32_t)(m->processes.len / sizeof(struct vp_frames_process)),
		.nruntimes = (uint32_t)(m->runtimes.len / sizeof(struct vp_runtime)),
		.nmaps = (uint32_t)(m->maps.len / sizeof(struct vp_frames_map)),
		.nrows = (uint32_t)(m->rows.len / sizeof(struct vp_frame_row)),
	};
	const struct ot_buf *parts[] = { &m->processes, &m->runtimes, &m->maps, &m->rows };

	if (!header.nprocesses && !header.nrows)
		return NULL;
	ot_buf_append(out, &header, sizeof(header));
	for (size_t i = 0; i < OT_ARRAY_SIZE(parts); i++)
		ot_buf_append(out, ot_buf_str(parts[i]), parts[i]->len);
	return out->failed ? ot_err_nomem() : NULL;
}

static struct ot_err *send(struct vp_guest_link *link, struct vp_frames_making *m)
{
	ot_auto(ot_buf_deinit) struct ot_buf whole = { 0 };
	ot_auto_close int fd = -1;

	OT_TRY(assemble(m, &whole));
	if (!whole.len)
		return NULL;
	OT_TRY(ot_memfd_create("outsight-frames", whole.len, &fd));
	OT_TRY(ot_write_all(fd, whole.data, whole.len));
	OT_TRY(vp_client_frames(&link->client, fd));
	m->known->nsent++;
	m->known->bytes += m->rows.len;
	return NULL;
}

/* Rules added before a limit was reached are sent. */
static struct ot_err *make_and_send(struct vp_guest_link *link, struct vp_frames_known *known,
				    struct vp_user_symbols *us)
{
	struct vp_frames_making m = { .known = known, .us = us };
	struct ot_err *err = vp_frames_make(&m);
	struct ot_err *sent = err && ot_err_code(err) == OT_ERR_NO_MEMORY ? NULL : send(link, &m);

	vp_frames_making_deinit(&m);
	if (!err)
		return sent;
	ot_err_destroy(sent);
	return err;
}

/* Later rules may refer to unsent ones: after an error nothing more is sent. */
static struct ot_err *note_end(struct vp_session *s, struct vp_frames_known *known, struct ot_err *err)
{
	char text[512];

	if (!err || ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_GUEST_GONE)
		return err;
	known->over = true;
	snprintf(text, sizeof(text), "stacks of programs: %s", ot_err_message(err));
	ot_err_destroy(err);
	vp_session_say(s, text);
	return NULL;
}

/* Within the caller's budget. */
static struct ot_err *send_wanted(struct vp_session *s, uint32_t guest)
{
	struct vp_frames_known *known = &s->frames[guest];

	if (!known->nwanted || known->over)
		return NULL;
	return note_end(s, known, make_and_send(s->links.items[guest], known, vp_user_symbols_of(s, guest)));
}

/* --- which processes --------------------------------------------------------------------------------- */

static void want(struct vp_session *s, uint32_t guest, uint64_t pid)
{
	vp_frames_want(&s->frames[guest], vp_user_symbols_of(s, guest), pid);
}

/* The processes with probes of it. False: it has other probes too, which fire in any process. */
static bool want_of_batch(struct vp_session *s, const struct vp_feed *batch)
{
	const struct vp_batch_probe *probes = (const void *)batch->batch_probes.data;
	bool only = true;
	uint32_t last = 0;

	for (size_t i = 0; i < batch->batch_probes.len / sizeof(*probes); i++) {
		uint32_t pid = probes[i].process.pid;

		only &= pid || probes[i].kind == VP_PROBE_SENTINEL;
		if (pid && pid != last)
			want(s, batch->guest, pid);
		last = pid;
	}
	return only;
}

/* The present processes. One that begins later, or can't be read now, is detected by its first stack. */
static void want_all(struct vp_session *s, uint32_t guest)
{
	struct vp_user_symbols *us = vp_user_symbols_of(s, guest);
	struct vp_guest_process p = { 0 };
	bool more = vp_user_symbols_can_read(us);

	while (more && !vp_budget_is_over()) {
		uint64_t before = p.pid;
		struct ot_err *err = vp_guest_process_next(us->ps, before, &p, &more);

		if (err)
			more = ot_err_code(err) == OT_ERR_BUSY && p.pid > before;
		else if (more && p.mm && !p.is_over)
			want(s, guest, p.pid);
		ot_err_destroy(err);
	}
}

/* An engine on KVM knows a process by its page table, also where none of its probes can be in one. */
static bool knows_processes(const struct vp_guest_link *link)
{
	return link->client.has_processes || link->client.traps & VP_TRAPS_TEXT;
}

struct ot_err *vp_frames_send_batch(struct vp_session *s, const struct vp_feed *batch)
{
	const struct vp_guest_link *link = batch->link;
	struct vp_frames_known *known = &s->frames[batch->guest];
	bool first = !known->asked;
	struct vp_budget budget;

	known->asked = link->guest && link->probes && knows_processes(link) &&
		       vp_program_has_user_stacks(s->program.prog);
	if (!known->asked)
		return NULL;
	known->texts = program_has_texts(s);
	vp_guest_budget_begin(link->guest, &budget, &vp_readings[VP_READ_FRAMES]);
	bool only = want_of_batch(s, batch);
	if (first && s->config.target_pid > 0)
		want(s, batch->guest, (uint64_t)s->config.target_pid);
	else if (first && !only)
		want_all(s, batch->guest);
	struct ot_err *err = send_wanted(s, batch->guest);
	vp_budget_end(&budget);
	return err;
}

static struct ot_err *send_met(struct vp_session *s, const struct vp_feed *feed)
{
	struct vp_budget budget;

	vp_frames_poll(&s->frames[feed->guest], vp_user_symbols_of(s, feed->guest));
	if (!s->frames[feed->guest].nwanted)
		return NULL;
	vp_guest_budget_begin(feed->link->guest, &budget, &vp_readings[VP_READ_FRAMES_MET]);
	struct ot_err *err = send_wanted(s, feed->guest);
	vp_budget_end(&budget);
	return err;
}

struct ot_err *vp_frames_send_wanted(struct vp_session *s)
{
	for (uint32_t i = 1; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];

		if (vp_feed_can_ask(feed))
			OT_TRY(vp_note_gone(s, feed, send_met(s, feed)));
	}
	return NULL;
}
