/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes' stacks an engine is to walk by rules: those that the session knows when it enables its
 * probes. */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "dif/obj/opcodes.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/session/user_frames.h"

static void say(void *arg, const char *text)
{
	vp_session_say(arg, text);
}

/* --- does the program ask for them? ------------------------------------------------------------------ */

static bool object_asks(const struct dif_object *o)
{
	for (uint32_t i = 0; o && i < o->text_len; i++) {
		uint32_t var = dif_insn_idx(o->text[i]);

		if (dif_insn_op(o->text[i]) == DIF_OP_ldgs &&
		    (var == DIF_VAR_ucaller || var == DIF_VAR_ustackdepth))
			return true;
	}
	return false;
}

static bool clause_asks(const struct dif_clause *c)
{
	if (object_asks(c->predicate))
		return true;
	for (uint32_t i = 0; i < c->nactions; i++)
		if (c->actions[i].kind == DIF_ACT_ustack || c->actions[i].kind == DIF_ACT_jstack ||
		    object_asks(c->actions[i].object))
			return true;
	return false;
}

static bool program_asks(const struct dif_program *prog)
{
	for (uint32_t i = 0; i < prog->nclauses; i++)
		if (clause_asks(&prog->clauses[i]))
			return true;
	return false;
}

/* --- which processes --------------------------------------------------------------------------------- */

static bool is_same(const struct vp_batch_process *a, const struct vp_batch_process *b)
{
	return a->pid == b->pid && a->mm == b->mm && a->since_ns == b->since_ns && a->root == b->root;
}

static bool is_in_batch(const struct vp_feed *feed, const struct vp_pid_process *process)
{
	const struct vp_batch_probe *probes = (const void *)feed->batch_probes.data;

	for (size_t i = 0; i < feed->batch_probes.len / sizeof(*probes); i++)
		if (is_same(&probes[i].process, &process->id))
			return true;
	return false;
}

/* $target's rules are of use to samples and probes of the kernel too. 0: there is none, or, with a batch that
 * comes later, they have been sent. */
static uint64_t target_of(const struct vp_session *s, const struct vp_feed *feed)
{
	bool first = feed >= s->feeds && feed < s->feeds + s->nfeeds;

	return first ? vp_probes_target(feed->link->probes) : 0;
}

static struct ot_err *find_target(struct vp_probes *probes, uint64_t pid)
{
	struct vp_pid_processes *all;
	struct vp_pid_process *process;

	return pid ? vp_pid_process_find(probes, pid, &all, &process) : NULL;
}

static struct ot_err *add_all(struct vp_frames_making *m, const struct vp_feed *feed, uint64_t target)
{
	for (size_t i = 0; i < m->all->count; i++) {
		struct vp_pid_process *p = m->all->list[i];

		if (p->superseded) /* it was read again */
			continue;
		if ((target && p->id.pid == target) || is_in_batch(feed, p))
			OT_TRY(vp_frames_add(m, p));
	}
	return NULL;
}

/* --- sending ----------------------------------------------------------------------------------------- */

static struct ot_err *send(struct vp_feed *feed, const struct vp_frames_making *m)
{
	ot_auto(ot_buf_deinit) struct ot_buf whole = { 0 };
	ot_auto_close int fd = -1;

	OT_TRY(vp_frames_assemble(m, &whole));
	if (!whole.len)
		return NULL;
	OT_TRY(ot_memfd_create("outsight-frames", whole.len, &fd));
	OT_TRY(ot_write_all(fd, whole.data, whole.len));
	return vp_client_frames(&feed->link->client, fd);
}

/* What was added before a limit was met is sent. */
static struct ot_err *make_and_send(struct vp_session *s, struct vp_feed *feed, struct vp_pid_processes *all,
				    uint64_t target)
{
	struct vp_frames_making m;

	vp_frames_init(&m, all, s->config.sysroot, say, s);
	struct ot_err *err = add_all(&m, feed, target);
	struct ot_err *sent = err && ot_err_code(err) == OT_ERR_NO_MEMORY ? NULL : send(feed, &m);

	vp_frames_deinit(&m);
	if (!err)
		return sent;
	ot_err_destroy(sent);
	return err;
}

static struct ot_err *make(struct vp_session *s, struct vp_feed *feed)
{
	struct vp_probes *probes = feed->link->probes;
	uint64_t target = target_of(s, feed);

	OT_TRY(find_target(probes, target));
	struct vp_pid_processes *all = *vp_probes_processes(probes);

	return all ? make_and_send(s, feed, all, target) : NULL;
}

struct ot_err *vp_frames_send(struct vp_session *s, struct vp_feed *feed)
{
	struct vp_guest_link *link = feed->link;
	struct vp_budget budget;
	char text[512];

	if (feed->sent_frames || !link->guest || !link->probes || !link->client.has_processes ||
	    !program_asks(s->program.prog))
		return NULL;
	feed->sent_frames = true;
	vp_guest_budget_begin(link->guest, &budget, &vp_readings[VP_READ_FRAMES]);
	struct ot_err *err = make(s, feed);
	vp_budget_end(&budget);
	if (!err || ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_GUEST_GONE)
		return err;
	snprintf(text, sizeof(text), "stacks of programs: %s", ot_err_message(err));
	ot_err_destroy(err);
	if (!s->said_frames)
		vp_session_say(s, text);
	s->said_frames = true;
	return NULL;
}
