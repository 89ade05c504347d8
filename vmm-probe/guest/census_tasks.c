/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes in three ways. Most of the kernel walks the list of tasks. /proc and kill() use the allocated
 * PIDs (an IDR, whose tree is an xarray's, include/linux/idr.h). wait() uses the tree of children.
 */
#include "vmm-probe/guest/census_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/guest/guest_internal.h"

#define COMM_MAX     64u
#define SLOTS_MAX    64u
#define SHIFT_MAX    60u
#define PID_MAX      (4u << 20) /* PID_MAX_LIMIT, include/linux/threads.h */
#define CHECK_NODES  64u
#define XA_TAG       3u /* low bits of an entry, include/linux/xarray.h */
#define XA_NODE      2u /* internal: a node, or, up to XA_NOT_NODES, a special entry */
#define XA_NOT_NODES 4096u

struct layout {
	uint32_t tasks, pid, comm, start_time;
	uint32_t children, sibling, signal, thread_node, thread_head;
	uint32_t pid_links, pid_tasks, idr, xa_shift, xa_slots;
	uint32_t comm_size, nslots;
	int64_t tgid; /* PIDTYPE_TGID */
};

struct ctx {
	struct vp_guest *guest;
	struct layout l;
	uint64_t init_task, init_pid_ns;
	/* the current walk */
	struct vp_census *census;
	uint32_t way;
	size_t nodes;       /* of the table of numbers */
	struct ot_buf todo; /* tree: addresses of processes whose children have not been visited */
	struct ot_buf seen; /* tree: a bit for each PID up to the highest that was visited */
	size_t threads;
};

/* --- layout ----------------------------------------------------------------------------------------- */

/* The ways that the kernel's types allow. 0: struct task_struct itself is unknown. */
static uint32_t find_layout(const struct vp_btf *btf, struct layout *l)
{
	const struct vp_member task[] = {
		{ "task_struct", "pid", &l->pid },
		{ "task_struct", "comm", &l->comm },
		{ "task_struct", "start_time", &l->start_time },
	};
	const struct vp_member list[] = { { "task_struct", "tasks", &l->tasks } };
	const struct vp_member pids[] = {
		{ "task_struct", "pid_links", &l->pid_links },
		{ "pid", "tasks", &l->pid_tasks },
		{ "pid_namespace", "idr.idr_rt.xa_head", &l->idr },
		{ "xa_node", "shift", &l->xa_shift },
		{ "xa_node", "slots", &l->xa_slots },
	};
	const struct vp_member tree[] = {
		{ "task_struct", "children", &l->children },
		{ "task_struct", "sibling", &l->sibling },
		{ "task_struct", "signal", &l->signal },
		{ "task_struct", "thread_node", &l->thread_node },
		{ "signal_struct", "thread_head", &l->thread_head },
	};
	uint32_t have = 0;

	l->comm_size = vp_btf_array_length(btf, "task_struct", "comm");
	if (!vp_census_members(btf, task, OT_ARRAY_SIZE(task)) || !l->comm_size || l->comm_size > COMM_MAX)
		return 0;
	if (vp_census_members(btf, list, OT_ARRAY_SIZE(list)))
		have |= VP_TASK_LIST;
	l->nslots = vp_btf_array_length(btf, "xa_node", "slots");
	if (vp_census_members(btf, pids, OT_ARRAY_SIZE(pids)) &&
	    vp_btf_enum_named(btf, "pid_type", "PIDTYPE_TGID", &l->tgid) && l->tgid >= 0 && l->tgid < 8 &&
	    l->nslots && l->nslots <= SLOTS_MAX && !(l->nslots & (l->nslots - 1)))
		have |= VP_TASK_PIDS;
	if (vp_census_members(btf, tree, OT_ARRAY_SIZE(tree)))
		have |= VP_TASK_TREE;
	return have;
}

/* --- a task ------------------------------------------------------------------------------------------ */

static struct ot_err *add_task(struct ctx *c, uint64_t task, uint32_t *ret_pid)
{
	char comm[COMM_MAX];
	uint64_t start;
	uint32_t pid;

	OT_TRY(vp_guest_read_u32(c->guest, vp_gva(task + c->l.pid), &pid));
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(task + c->l.start_time), &start));
	OT_TRY(vp_guest_read(c->guest, vp_gva(task + c->l.comm), comm, c->l.comm_size));
	if (!pid || pid > PID_MAX) /* its memory has been freed and reused */
		return vp_census_torn();
	*ret_pid = pid;
	return vp_census_add(c->census, pid, start, c->way, comm, c->l.comm_size);
}

/* --- the list ------------------------------------------------------------------------------------------ */

static struct ot_err *list_node(void *arg, uint64_t node)
{
	struct ctx *c = arg;
	uint32_t pid;

	return add_task(c, node - c->l.tasks, &pid);
}

static struct ot_err *walk_list(void *arg, struct vp_census *census)
{
	struct ctx *c = arg;

	c->census = census;
	c->way = VP_TASK_LIST;
	return vp_census_list(c->guest, c->init_task + c->l.tasks, VP_FOUND_MAX, list_node, c);
}

/* --- PIDs ---------------------------------------------------------------------------------------------- */

/* Add the process of a struct pid. One that is only a thread's, a group's or a session's has none. */
static struct ot_err *add_pid(struct ctx *c, uint64_t pid, uint64_t number)
{
	uint64_t tgid = (uint64_t)c->l.tgid, first;
	uint32_t found = 0;

	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(pid + c->l.pid_tasks + 8 * tgid), &first));
	if (!first)
		return NULL;
	OT_TRY(add_task(c, first - c->l.pid_links - 16 * tgid, &found));
	return found == number ? NULL : vp_census_torn();
}

static struct ot_err *walk_entry(struct ctx *c, uint64_t entry, uint64_t number, uint32_t above);

/* The slots of a node share its parent's slot among them, so no two leaves have one number, and a forged tree
 * has no more leaves than there are numbers. */
static struct ot_err *walk_node(struct ctx *c, uint64_t node, uint64_t number, uint32_t above)
{
	uint64_t slots[SLOTS_MAX];
	uint8_t shift;

	OT_TRY(vp_guest_read(c->guest, vp_gva(node + c->l.xa_shift), &shift, 1));
	if ((uint64_t)c->l.nslots << (shift & 63) > 1ull << above || shift >= above)
		return vp_census_torn();
	if (++c->nodes % CHECK_NODES == 0)
		OT_TRY(vp_budget_check());
	OT_TRY(vp_guest_read(c->guest, vp_gva(node + c->l.xa_slots), slots, c->l.nslots * sizeof(*slots)));
	for (uint32_t i = 0; i < c->l.nslots; i++)
		OT_TRY(walk_entry(c, slots[i], number + ((uint64_t)i << shift), shift));
	return NULL;
}

/* @p above: the shift of the node that contains the entry. */
static struct ot_err *walk_entry(struct ctx *c, uint64_t entry, uint64_t number, uint32_t above)
{
	if (!entry || number > PID_MAX)
		return NULL;
	if ((entry & XA_TAG) != XA_NODE)
		return entry & XA_TAG ? NULL : add_pid(c, entry, number);
	return entry > XA_NOT_NODES ? walk_node(c, entry - XA_NODE, number, above) : NULL;
}

static struct ot_err *walk_pids(void *arg, struct vp_census *census)
{
	struct ctx *c = arg;
	uint64_t head;

	c->census = census;
	c->way = VP_TASK_PIDS;
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(c->init_pid_ns + c->l.idr), &head));
	return walk_entry(c, head, 0, SHIFT_MAX + 1);
}

/* --- the tree ------------------------------------------------------------------------------------------ */

/* Forged tasks may share one list of threads, and be their own children by it. */
static struct ot_err *visit(struct ctx *c, uint32_t pid)
{
	uint8_t bit = (uint8_t)(1u << pid % 8), *byte;

	if (pid / 8 >= c->seen.len)
		ot_buf_zero(&c->seen, pid / 8 + 1 - c->seen.len);
	if (c->seen.failed)
		return ot_err_nomem();
	byte = (uint8_t *)c->seen.data + pid / 8;
	if (*byte & bit)
		return vp_census_torn();
	*byte |= bit;
	return NULL;
}

static struct ot_err *tree_child(void *arg, uint64_t node)
{
	struct ctx *c = arg;
	uint64_t task = node - c->l.sibling;
	uint32_t pid = 0;

	OT_TRY(add_task(c, task, &pid));
	OT_TRY(visit(c, pid));
	if (c->todo.len >= VP_FOUND_MAX * sizeof(task))
		return vp_census_endless();
	ot_buf_append(&c->todo, &task, sizeof(task));
	return c->todo.failed ? ot_err_nomem() : NULL;
}

/* Children are linked to the thread that created them. */
static struct ot_err *tree_thread(void *arg, uint64_t node)
{
	struct ctx *c = arg;

	if (++c->threads > VP_THREADS_MAX)
		return vp_census_endless();
	return vp_census_list(c->guest, node - c->l.thread_node + c->l.children, VP_FOUND_MAX, tree_child, c);
}

static struct ot_err *walk_tree(void *arg, struct vp_census *census)
{
	struct ctx *c = arg;
	uint64_t task, signal;

	c->census = census;
	c->way = VP_TASK_TREE;
	c->threads = 0;
	ot_buf_clear(&c->seen);
	ot_buf_clear(&c->todo);
	ot_buf_append(&c->todo, &c->init_task, sizeof(c->init_task));
	for (size_t i = 0; i < c->todo.len; i += sizeof(task)) {
		memcpy(&task, c->todo.data + i, sizeof(task));
		OT_TRY(vp_guest_read_u64(c->guest, vp_gva(task + c->l.signal), &signal));
		OT_TRY(vp_census_list(c->guest, signal + c->l.thread_head, VP_THREADS_MAX, tree_thread, c));
	}
	return c->todo.failed ? ot_err_nomem() : NULL;
}

/* --- all --------------------------------------------------------------------------------------------- */

struct ot_err *vp_census_tasks(struct vp_guest *guest, struct vp_census *ret)
{
	static const struct vp_way ways[] = {
		{ VP_TASK_LIST, "list of tasks", walk_list },
		{ VP_TASK_PIDS, "table of process numbers", walk_pids },
		{ VP_TASK_TREE, "tree of processes", walk_tree },
	};
	const struct vp_btf *btf = vp_guest_btf(guest);
	struct ctx c = { .guest = guest };
	struct vp_gva init_task;
	uint32_t have = btf ? find_layout(btf, &c.l) : 0;

	memset(ret, 0, sizeof(*ret));
	if (!have)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the guest's types do not describe its tasks");
	OT_TRY(vp_guest_symbol(guest, "init_task", &init_task));
	c.init_task = init_task.v;
	c.init_pid_ns = vp_guest_address(vp_guest_symtab(guest), "init_pid_ns");
	if (!c.init_pid_ns)
		have &= ~(uint32_t)VP_TASK_PIDS;
	ot_buf_init(&c.todo);
	ot_buf_init(&c.seen);
	vp_mmu_flush(vp_guest_mmu(guest));
	struct ot_err *err =
	    vp_census_walk(guest, &vp_readings[VP_READ_CENSUS], ways, OT_ARRAY_SIZE(ways), have, &c, ret);

	ot_buf_deinit(&c.seen);
	ot_buf_deinit(&c.todo);
	return err;
}
