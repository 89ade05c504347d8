/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the process that has called exec() since the last poll. A process that existed before has another
 * memory then. A new one was forked: the kernel counts a task's exec()s, and copies the count at a fork.
 */
#include "vmm-probe/guest/process/execs.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/process/files.h"
#include "vmm-probe/guest/process/internal.h"
#include "vmm-probe/guest/process/vmas.h"

#define NAMED_NS  OT_NS_PER_SEC       /* exec() changes the memory first, then the name and the count … */
#define NAMED_N   3u                  /* … and polls may be rarer than that */
#define GONE_NS   OT_NS_PER_SEC       /* a poll may miss a process, as the list changes meanwhile */
#define SETTLE_NS 20000000u           /* for which a program's mappings do not change … */
#define LOADS_NS  (OT_NS_PER_SEC / 2) /* … unless it maps something all the time */

/* A process at a poll. */
struct known {
	uint64_t pid, since_ns, mm;
	uint64_t first_ns, last_ns; /* by this host's clock: when it was first seen with this memory */
	uint32_t polls;             /* … and by how many polls */
	bool is_new;                /* the first poll did not find it */
	bool has_execed, is_match;
};

struct vp_execs {
	struct vp_processes *ps;
	char *name;
	uint32_t own_id, parent_id; /* offsets in struct task_struct */
	struct known *was, *is;     /* of the last poll, and of this one: by PID */
	size_t nwas, was_cap, nis, is_cap;
	bool polled;                    /* there was a poll before */
	struct vp_guest_process chosen; /* pid 0: none */
	uint64_t chosen_ns, same_ns;    /* time of the first poll; time of the last change of its mappings */
	uint64_t mark;                  /* … by this */
};

static struct ot_err *find_members(struct vp_execs *e, struct vp_guest *guest)
{
	const struct vp_btf *btf = vp_guest_btf(guest);

	if (vp_btf_member_offset(btf, "task_struct", "self_exec_id", &e->own_id, NULL) &&
	    vp_btf_member_offset(btf, "task_struct", "parent_exec_id", &e->parent_id, NULL) &&
	    e->ps->l.mm_exe_file != VP_NO_MEMBER)
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "the guest's types have no task_struct.self_exec_id: its exec()s can't be seen");
}

struct ot_err *vp_execs_open(struct vp_guest *guest, const char *name, struct vp_execs **ret)
{
	struct vp_execs *e = calloc(1, sizeof(*e));
	struct ot_err *err;

	if (!e)
		return ot_err_nomem();
	e->name = strdup(name);
	err = e->name ? vp_processes_open(guest, &e->ps) : ot_err_nomem();
	if (!err)
		err = find_members(e, guest);
	if (err) {
		vp_execs_close(e);
		return err;
	}
	*ret = e;
	return NULL;
}

void vp_execs_close(struct vp_execs *execs)
{
	if (!execs)
		return;
	vp_processes_close(execs->ps);
	free(execs->was);
	free(execs->is);
	free(execs->name);
	free(execs);
}

/* --- has it called exec()? ---------------------------------------------------------------------------- */

static struct ot_err *append(struct vp_execs *e, const struct known *k)
{
	OT_TRY(vp_budget_take(sizeof(*k)));
	if (!ot_grow(&e->is, &e->is_cap, e->nis + 1, sizeof(*e->is)))
		return ot_err_nomem();
	e->is[e->nis++] = *k;
	return NULL;
}

/* Keep the processes below @pid of the last poll for a while, even if this one did not find them. */
static struct ot_err *carry(struct vp_execs *e, uint64_t pid, size_t *at, uint64_t now)
{
	for (; *at < e->nwas && e->was[*at].pid < pid; ++*at)
		if (now - e->was[*at].last_ns < GONE_NS)
			OT_TRY(append(e, &e->was[*at]));
	return NULL;
}

static struct ot_err *has_execed_since_fork(struct vp_execs *e, const struct vp_guest_process *p, bool *ret)
{
	uint32_t own, parent;

	OT_TRY(vp_kernel_u32(e->ps, p->task + e->own_id, &own));
	OT_TRY(vp_kernel_u32(e->ps, p->task + e->parent_id, &parent));
	*ret = own != parent;
	return NULL;
}

/* Is exec() perhaps incomplete? Then a mismatch is read again. */
static bool is_young(const struct known *k, uint64_t now)
{
	return k->polls <= NAMED_N || now - k->first_ns <= NAMED_NS;
}

/* @at: the position in the last poll's list; both are sorted by PID. */
static struct ot_err *remember(struct vp_execs *e, const struct vp_guest_process *p, size_t *at, uint64_t now)
{
	struct known new = { .pid = p->pid, .since_ns = p->since_ns, .mm = p->mm, .first_ns = now };
	const struct known *old;

	OT_TRY(carry(e, p->pid, at, now));
	old = *at < e->nwas && e->was[*at].pid == p->pid ? &e->was[(*at)++] : NULL;
	if (old && old->since_ns != p->since_ns)
		old = NULL; /* the PID belonged to another process */
	if (old && old->mm == p->mm)
		new = *old;
	else if (old)
		new.has_execed = true;
	else
		new.is_new = e->polled;
	new.last_ns = now;
	new.polls++;
	if (new.is_new && !new.has_execed && is_young(&new, now))
		OT_TRY(has_execed_since_fork(e, p, &new.has_execed));
	return append(e, &new);
}

/* --- is it the named program? ----------------------------------------------------------------------------------- */

static bool is_path(struct vp_execs *e, const struct vp_guest_process *p)
{
	struct vp_file file;
	uint64_t at = 0;
	struct ot_err *err = vp_kernel_u64(e->ps, p->mm + e->ps->l.mm_exe_file, &at);

	if (!err && at)
		err = vp_file_read(e->ps, NULL, at, &file);
	if (err || !at) {
		ot_err_destroy(err);
		return false;
	}
	const char *path = strchr(e->name, '/') ? file.path : vp_path_name(file.path);
	bool is = !strcmp(path, e->name);

	vp_file_deinit(&file);
	return is;
}

/* A script has its interpreter's path, and a program called by a link has the link's name. */
static bool is_match(struct vp_execs *e, const struct vp_guest_process *p)
{
	return !strcmp(p->name, e->name) || is_path(e, p);
}

static struct ot_err *take(struct vp_execs *e, const struct vp_guest_process *p, size_t *at, uint64_t now)
{
	struct known *k;

	OT_TRY(remember(e, p, at, now));
	k = &e->is[e->nis - 1];
	if (k->has_execed && !k->is_match && is_young(k, now))
		k->is_match = is_match(e, p);
	if (e->chosen.pid || !k->is_match)
		return NULL;
	e->chosen = *p;
	e->chosen_ns = e->same_ns = now;
	e->mark = 0;
	return NULL;
}

/* A process that can't be read is retried at the next poll. */
static struct ot_err *pass_over(struct ot_err *err)
{
	if (err && (ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_GUEST_GONE ||
		    vp_budget_is_over()))
		return err;
	ot_err_destroy(err);
	return NULL;
}

static struct ot_err *walk(struct vp_execs *e)
{
	struct vp_guest_process p = { 0 };
	uint64_t now = ot_now_ns();
	size_t at = 0;
	bool more;

	e->nis = 0;
	for (;;) {
		uint64_t before = p.pid;
		struct ot_err *err = vp_guest_process_next(e->ps, before, &p, &more);

		if (err && (ot_err_code(err) != OT_ERR_BUSY || p.pid <= before))
			return err;
		if (!err && !more)
			return carry(e, UINT64_MAX, &at, now);
		if (!err && p.mm && !p.is_over)
			err = take(e, &p, &at, now);
		OT_TRY(pass_over(err));
	}
}

/* This poll's list becomes the last one's. */
static void swap(struct vp_execs *e)
{
	struct known *list = e->was;
	size_t cap = e->was_cap;

	e->was = e->is;
	e->nwas = e->nis;
	e->was_cap = e->is_cap;
	e->is = list;
	e->is_cap = cap;
	e->polled = true;
}

/* Has it mapped its libraries? False, too, if it has ended or calls exec() again: another one is awaited. */
static bool is_settled(struct vp_execs *e)
{
	uint64_t now = ot_now_ns(), mark = 0;

	if (!vp_guest_process_is(e->ps, &e->chosen)) {
		e->chosen.pid = 0;
		return false;
	}
	if (!vp_vmas_mark(e->ps, &e->chosen, &mark) || mark != e->mark)
		e->same_ns = now;
	e->mark = mark;
	return now - e->same_ns >= SETTLE_NS || now - e->chosen_ns >= LOADS_NS;
}

struct ot_err *vp_execs_poll(struct vp_execs *execs, struct vp_guest_process *ret, bool *ret_found)
{
	*ret_found = execs->chosen.pid && is_settled(execs);
	if (*ret_found) {
		*ret = execs->chosen;
		return NULL;
	}
	OT_TRY(walk(execs));
	swap(execs);
	return NULL;
}
