/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a guest's processes; finding one by its PID; its memory. */
#include "vmm-probe/guest/process/processes.h"

#include <stdlib.h>
#include <string.h>

#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest_internal.h"
#include "vmm-probe/guest/process/internal.h"
#include "vmm-probe/guest/process/xarray.h"

#define PID_MAX      (4u << 20) /* PID_MAX_LIMIT, include/linux/threads.h */
#define TORN_MAX     64         /* a kernel that runs replaces nodes and processes one at a time */
#define TOGETHER_MAX 1024       /* bytes that are read for members among them */

struct ot_err *vp_kernel_read(struct vp_processes *ps, uint64_t gva, void *dst, size_t len)
{
	return vp_mmu_read(vp_guest_phys(ps->guest), vp_guest_mmu(ps->guest), vp_gva(gva), dst, len);
}

struct ot_err *vp_kernel_u64(struct vp_processes *ps, uint64_t gva, uint64_t *ret)
{
	return vp_kernel_read(ps, gva, ret, sizeof(*ret));
}

struct ot_err *vp_kernel_u32(struct vp_processes *ps, uint64_t gva, uint32_t *ret)
{
	return vp_kernel_read(ps, gva, ret, sizeof(*ret));
}

struct span {
	uint32_t first, end;
};

static struct span span_of(const struct vp_member *members, size_t n)
{
	struct span ret = { UINT32_MAX, 0 };

	for (size_t i = 0; i < n; i++) {
		const struct vp_member *m = &members[i];

		if (m->offset == VP_NO_MEMBER)
			continue;
		ret.first = m->offset < ret.first ? m->offset : ret.first;
		ret.end = m->offset + m->size > ret.end ? m->offset + m->size : ret.end;
	}
	return ret;
}

static struct ot_err *read_each(struct vp_processes *ps, uint64_t at, const struct vp_member *members,
				size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (members[i].offset != VP_NO_MEMBER)
			OT_TRY(vp_kernel_read(ps, at + members[i].offset, members[i].to, members[i].size));
	return NULL;
}

struct ot_err *vp_kernel_members(struct vp_processes *ps, uint64_t at, const struct vp_member *members,
				 size_t n)
{
	struct span span = span_of(members, n);
	uint8_t bytes[TOGETHER_MAX];

	if (span.first >= span.end || span.end - span.first > sizeof(bytes))
		return read_each(ps, at, members, n);
	OT_TRY(vp_kernel_read(ps, at + span.first, bytes, span.end - span.first));
	for (size_t i = 0; i < n; i++)
		if (members[i].offset != VP_NO_MEMBER)
			memcpy(members[i].to, bytes + (members[i].offset - span.first), members[i].size);
	return NULL;
}

struct ot_err *vp_near_members(struct vp_processes *ps, struct vp_near *near, uint64_t at,
			       const struct vp_member *members, size_t n)
{
	struct span span = span_of(members, n);
	uint64_t page = at & VP_PAGE_MASK, offset = at - page;

	if (!near || span.first >= span.end || span.end > VP_PAGE_SIZE - offset)
		return vp_kernel_members(ps, at, members, n);
	if (near->page != page) {
		near->page = 0;
		OT_TRY(vp_kernel_read(ps, page, near->bytes, VP_PAGE_SIZE));
		near->page = page;
	}
	for (size_t i = 0; i < n; i++)
		if (members[i].offset != VP_NO_MEMBER)
			memcpy(members[i].to, near->bytes + offset + members[i].offset, members[i].size);
	return NULL;
}

struct ot_err *vp_process_torn(void)
{
	return ot_err_new(OT_ERR_BUSY, "it changed while it was read");
}

bool vp_process_again(struct vp_processes *ps, unsigned nth, struct ot_err **err)
{
	enum ot_err_code code = *err ? ot_err_code(*err) : 0;

	if (nth && code != OT_ERR_BUSY && code != OT_ERR_FAULT)
		return false;
	if (nth >= VP_PROCESS_TRIES || (nth && vp_budget_is_over()))
		return false;
	ot_err_destroy(*err);
	*err = NULL;
	if (nth || !ps->known.kept) {
		vp_mmu_flush(vp_guest_mmu(ps->guest));
		ps->known.pids.last = 0;
	}
	return true;
}

/* A variable has the address where a boot chooses it, at random or by the number of page table levels. A
 * kernel without the variable has the table at its architecture's constant, if it has one: then that is
 * mapped. */
uint64_t vp_guest_vmemmap(struct vp_guest *guest)
{
	uint64_t variable = vp_guest_address(vp_guest_symtab(guest), "vmemmap_base"), value = 0;
	uint64_t at = variable ? variable : vp_arch_native.vmemmap;
	struct ot_err *err = at ? vp_guest_read_u64(guest, vp_gva(at), &value) : NULL;
	bool read = at && !err;

	ot_err_destroy(err);
	if (!read)
		return 0;
	return variable ? value : at;
}

struct ot_err *vp_processes_open(struct vp_guest *guest, struct vp_processes **ret)
{
	struct vp_process_layout l;
	struct vp_gva init_pid_ns;

	OT_TRY(vp_process_layout_read(vp_guest_btf(guest), &l));
	OT_TRY(vp_guest_symbol(guest, "init_pid_ns", &init_pid_ns));

	struct vp_processes *ps = calloc(1, sizeof(*ps));

	if (!ps)
		return ot_err_nomem();
	*ps = (struct vp_processes){
		.guest = guest, .l = l, .init_pid_ns = init_pid_ns.v, .vmemmap = vp_guest_vmemmap(guest)
	};
	vp_paths_init(&ps->known);
	*ret = ps;
	return NULL;
}

void vp_processes_close(struct vp_processes *ps)
{
	if (ps)
		vp_paths_deinit(&ps->known);
	free(ps);
}

/* Counts threads that have not called exit() yet. A task that is being released has no signal_struct any
 * more. */
static struct ot_err *read_is_over(struct vp_processes *ps, uint64_t signal, bool *ret)
{
	uint32_t live;

	*ret = false;
	if (ps->l.task_signal == VP_NO_MEMBER || ps->l.signal_live == VP_NO_MEMBER)
		return NULL;
	if (!signal)
		return vp_process_torn();
	OT_TRY(vp_kernel_u32(ps, signal + ps->l.signal_live, &live));
	*ret = !live;
	return NULL;
}

static struct ot_err *read_task(struct vp_processes *ps, uint64_t task, struct vp_guest_process *ret)
{
	struct vp_guest_process p = { .task = task };
	uint32_t tgid;
	uint64_t signal = 0;
	const struct vp_member members[] = {
		VP_MEMBER(ps->l.task_tgid, &tgid),
		VP_MEMBER(ps->l.task_start_time, &p.since_ns),
		VP_MEMBER(ps->l.task_mm, &p.mm),
		VP_MEMBER(ps->l.task_signal, &signal),
		{ ps->l.task_comm, ps->l.task_comm_size, p.name },
	};

	OT_TRY(vp_kernel_members(ps, task, members, OT_ARRAY_SIZE(members)));
	p.name[VP_PROCESS_NAME - 1] = '\0';
	OT_TRY(read_is_over(ps, signal, &p.is_over));
	p.pid = tgid;
	*ret = p;
	return NULL;
}

/* What a struct pid says. */
struct number {
	uint64_t task; /* the first of the tasks whose process it numbers; 0: none, or only a thread's */
	uint32_t nr;   /* itself … */
	bool has_nr;   /* … if this kernel's has it */
};

static struct ot_err *read_number(struct vp_processes *ps, uint64_t at, struct number *ret)
{
	const struct vp_process_layout *l = &ps->l;
	uint64_t tgid = (uint64_t)l->pid_type_tgid, first;
	bool has_nr = l->pid_numbers != VP_NO_MEMBER && l->upid_nr != VP_NO_MEMBER;
	const struct vp_member members[] = {
		VP_MEMBER(l->pid_tasks + 8 * (uint32_t)tgid, &first),
		VP_MEMBER(has_nr ? l->pid_numbers + l->upid_nr : VP_NO_MEMBER, &ret->nr),
	};

	ret->has_nr = has_nr;
	OT_TRY(vp_kernel_members(ps, at, members, OT_ARRAY_SIZE(members)));
	ret->task = first ? first - l->task_pid_links - 16 * tgid : 0;
	return NULL;
}

/* One attempt: number → struct pid → task. */
static struct ot_err *find_once(struct vp_processes *ps, uint64_t pid, struct vp_guest_process *ret)
{
	struct vp_guest_process p = { 0 };
	struct number number = { 0 };
	uint64_t at;

	OT_TRY(vp_xarray_load(ps, ps->init_pid_ns + ps->l.pid_ns_idr, pid, &at));
	if (at)
		OT_TRY(read_number(ps, at, &number));
	if (!number.task)
		return ot_err_new(OT_ERR_NOT_FOUND, "the guest has no process %llu", (unsigned long long)pid);
	OT_TRY(read_task(ps, number.task, &p));
	if (p.pid != pid)
		return vp_process_torn();
	*ret = p;
	return NULL;
}

struct ot_err *vp_guest_process_find(struct vp_processes *ps, uint64_t pid, struct vp_guest_process *ret)
{
	struct ot_err *err = NULL;

	if (!pid || pid > PID_MAX)
		return ot_err_new(OT_ERR_NOT_FOUND, "%llu is no PID", (unsigned long long)pid);
	for (unsigned nth = 0; vp_process_again(ps, nth, &err); nth++)
		err = find_once(ps, pid, ret);
	return err;
}

/* From *pid on; *ret_more false: there is none. */
static struct ot_err *next_once(struct vp_processes *ps, uint64_t *pid, struct vp_guest_process *ret,
				bool *ret_more)
{
	struct number number = { 0 };
	uint64_t at;

	for (*ret_more = false; !number.task; *pid += !number.task) {
		OT_TRY(vp_xarray_next(ps, ps->init_pid_ns + ps->l.pid_ns_idr, &ps->known.pids, pid, &at));
		if (!at || *pid > PID_MAX)
			return NULL;
		OT_TRY(vp_budget_check());
		OT_TRY(read_number(ps, at, &number));
		/* It has its number in the first namespace, so two numbers can't share one. */
		if (number.has_nr && number.nr != *pid)
			return vp_process_torn();
	}
	OT_TRY(read_task(ps, number.task, ret));
	*ret_more = true;
	return ret->pid == *pid ? NULL : vp_process_torn();
}

/* A hostile table can contain four million numbers that never become consistent. */
static struct ot_err *bound_torn(struct vp_processes *ps, struct ot_err *err)
{
	bool torn = err && ot_err_code(err) == OT_ERR_BUSY;

	ps->torn = torn ? ps->torn + 1 : 0;
	if (ps->torn <= TORN_MAX)
		return err;
	ps->torn = 0;
	ot_err_destroy(err);
	return ot_err_new(OT_ERR_BAD_DATA, "the guest's table of processes contradicts itself");
}

struct ot_err *vp_guest_process_next(struct vp_processes *ps, uint64_t pid, struct vp_guest_process *ret,
				     bool *ret_more)
{
	struct ot_err *err = NULL;

	for (unsigned nth = 0; vp_process_again(ps, nth, &err); nth++) {
		uint64_t from = pid + 1;

		err = next_once(ps, &from, ret, ret_more);
		if (err)
			ret->pid = from;
	}
	return bound_torn(ps, err);
}

bool vp_guest_process_is(struct vp_processes *ps, const struct vp_guest_process *process)
{
	struct vp_guest_process now = { 0 };
	struct ot_err *err = vp_guest_process_find(ps, process->pid, &now);

	ot_err_destroy(err);
	return !err && now.task == process->task && now.since_ns == process->since_ns &&
	       now.mm == process->mm;
}

struct ot_err *vp_guest_process_root(struct vp_processes *ps, const struct vp_guest_process *process,
				     uint64_t *ret)
{
	struct vp_gpa root = { 0 };
	uint64_t pgd;

	if (!process->mm)
		return ot_err_new(OT_ERR_NOT_FOUND, "process %llu has no memory of its own",
				  (unsigned long long)process->pid);
	if (!ps->known.kept)
		vp_mmu_flush(vp_guest_mmu(ps->guest));
	OT_TRY(vp_kernel_u64(ps, process->mm + ps->l.mm_pgd, &pgd));
	OT_TRY(vp_mmu_translate(vp_guest_phys(ps->guest), vp_guest_mmu(ps->guest), vp_gva(pgd), &root, NULL));
	*ret = root.v;
	return NULL;
}

struct ot_err *vp_guest_process_read(struct vp_processes *ps, const struct vp_guest_process *process,
				     struct vp_gva gva, void *dst, size_t len)
{
	const struct vp_mmu *kernel = vp_guest_mmu(ps->guest);
	const struct vp_phys *phys = vp_guest_phys(ps->guest);
	struct vp_gpa root = { 0 };

	if (!vp_is_in_half(kernel->paging, kernel->levels, gva.v, len, false))
		return ot_err_new(OT_ERR_FAULT, "0x%llx is not an address of a process",
				  (unsigned long long)gva.v);
	OT_TRY(vp_guest_process_root(ps, process, &root.v));

	struct vp_mmu *mmu = malloc(sizeof(*mmu));

	if (!mmu)
		return ot_err_nomem();
	vp_mmu_init(mmu, kernel->paging, root, kernel->levels);
	struct ot_err *err = vp_mmu_read(phys, mmu, gva, dst, len);

	free(mmu);
	return err;
}
