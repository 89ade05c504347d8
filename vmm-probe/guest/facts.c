/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading struct vp_facts: member offsets from BTF, addresses from symbols, and the constants that neither
 * has. */
#include "vmm-probe/guest/facts.h"

#include <string.h>

#include "vmm-probe/arch/arch.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/facts_families.h"
#include "vmm-probe/guest/facts_mappings.h"
#include "vmm-probe/guest/facts_percpu.h"
#include "vmm-probe/guest/facts_resident.h"
#include "vmm-probe/guest/guest_internal.h"

/* include/linux/preempt.h: 8 bits of preemption, 8 of soft interrupts, 4 of hard ones, 4 (once 1) of NMIs.
 * Macros are in neither types nor symbols; these have not changed since 2009. */
#define SOFTIRQ_MASK 0x0000ff00u
#define HARDIRQ_MASK 0x000f0000u
#define NMI_MASK     0x00f00000u

/* THREAD_SIZE if the types don't have it; larger values are rejected. */
#define STACK_DEFAULT (16u << 10)
#define STACK_MAX     (1u << 20)

void vp_facts_none(struct vp_facts *ret)
{
	struct vp_facts facts;

	/* All ones is "absent" for 32-bit and 64-bit offsets alike. */
	memset(&facts, 0xff, sizeof(facts));
	facts.size = sizeof(facts);
	facts.guest_id = ret->guest_id;
	memcpy(facts.guest_name, ret->guest_name, sizeof(facts.guest_name));
	memset(facts.percpu_base, 0, sizeof(facts.percpu_base));
	facts.kernel_root = 0;
	facts.levels = facts.nvcpus = 0;
	facts.user_pgd_mask = vp_native_paging.address;
	facts.hardirq_mask = facts.softirq_mask = facts.nmi_mask = 0;
	facts.task_comm_size = facts.ptregs_size = 0;
	facts.text_start = facts.text_end = facts.modules_start = facts.modules_end = 0;
	facts.syscall_caller = (struct vp_text_range){ 0 };
	memset(facts.syscall_callers_32, 0, sizeof(facts.syscall_callers_32));
	memset(facts.text_locks, 0, sizeof(facts.text_locks));
	facts.key_lock = 0;
	facts.stack_size = STACK_DEFAULT;
	facts.stack_padding = 0;
	facts.families = (struct vp_family_facts){ 0 };
	facts.mappings = (struct vp_mapping_facts){ 0 };
	facts.resident = (struct vp_resident_facts){ 0 };
	*ret = facts;
}

struct member {
	const char *type, *path;
	uint32_t *offset;
};

/* @path NULL: this architecture has no such member. */
static void read_member(const struct vp_btf *btf, const char *type, const char *path, uint32_t *ret)
{
	if (!path || !vp_btf_member_offset(btf, type, path, ret, NULL))
		*ret = VP_NO_OFFSET;
}

static void read_members(const struct vp_btf *btf, struct vp_facts *f)
{
	const struct vp_arch_ops *arch = &vp_arch_native;
	const struct member members[] = {
		{ "task_struct", "comm", &f->task_comm },
		{ "task_struct", "pid", &f->task_pid },
		{ "task_struct", "tgid", &f->task_tgid },
		{ "task_struct", "real_parent", &f->task_real_parent },
		{ "task_struct", "cred", &f->task_cred },
		{ "task_struct", "start_time", &f->task_start_time },
		{ "task_struct", "se.sum_exec_runtime", &f->task_sum_exec_runtime },
		{ "task_struct", "se.exec_start", &f->task_exec_start },
		{ "task_struct", "stack", &f->task_stack },
		{ "task_struct", "mm", &f->task_mm },
		{ "task_struct", "group_leader", &f->task_group_leader },
		{ "task_struct", arch->thread_pointer, &f->task_thread_pointer },
		{ "task_struct", "thread_info.status", &f->task_status },
		{ "cred", "uid", &f->cred_uid },
		{ "cred", "gid", &f->cred_gid },
		{ "pt_regs", arch->ptregs.pc, &f->ptregs_pc },
		{ "pt_regs", arch->ptregs.sp, &f->ptregs_sp },
		{ "pt_regs", arch->ptregs.fp, &f->ptregs_fp },
		{ "pt_regs", arch->ptregs.mode, &f->ptregs_mode },
		{ "pt_regs", arch->ptregs.syscall, &f->ptregs_syscall },
		{ "rq", "clock_task", &f->rq_clock_task },
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(members); i++)
		read_member(btf, members[i].type, members[i].path, members[i].offset);
	for (size_t i = 0; i < VP_SYSCALL_ARGS; i++) {
		read_member(btf, "pt_regs", arch->ptregs.args[i], &f->ptregs_args[i]);
		read_member(btf, "pt_regs", arch->ptregs.args_32[i], &f->ptregs_args_32[i]);
	}
	for (size_t i = 0; i < VP_NREGS_GENERAL; i++) {
		f->ptregs_general[i] = VP_NO_OFFSET;
		if (arch->ptregs.general[i])
			read_member(btf, "pt_regs", arch->ptregs.general[i], &f->ptregs_general[i]);
	}
	f->ptregs_size = (uint32_t)vp_btf_sizeof(btf, "pt_regs");
}

static void read_comm_size(const struct vp_btf *btf, struct vp_facts *f)
{
	struct vp_btf_field field;
	uint64_t size;
	uint32_t task = vp_btf_find(btf, VP_BTF_STRUCT, "task_struct");

	if (task && vp_btf_field(btf, task, "comm", &field) && vp_btf_size(btf, field.type, &size) &&
	    size <= 256)
		f->task_comm_size = (uint32_t)size;
	else
		f->task_comm = VP_NO_OFFSET;
}

static void read_stack_size(const struct vp_btf *btf, struct vp_facts *f)
{
	/* union thread_union { …; unsigned long stack[THREAD_SIZE / sizeof(long)]; } */
	uint64_t size = vp_btf_sizeof(btf, "thread_union");

	if (size >= 4096 && size <= STACK_MAX && !(size & (size - 1)))
		f->stack_size = size;
}

/* `current` and the preemption count are separate per-CPU variables, or, in some releases, members of the
 * per-CPU struct pcpu_hot. */
static void read_percpu(const struct vp_guest *guest, const struct vp_btf *btf, struct vp_facts *f)
{
	uint64_t hot;
	uint32_t offset;
	bool has_hot = btf && vp_guest_find_symbol(guest, "pcpu_hot", &hot);

	if (!vp_guest_find_symbol(guest, "current_task", &f->current_task)) {
		f->current_task = ~0ull;
		if (has_hot && vp_btf_member_offset(btf, "pcpu_hot", "current_task", &offset, NULL))
			f->current_task = hot + offset;
	}
	if (!vp_guest_find_symbol(guest, "__preempt_count", &f->preempt_count)) {
		f->preempt_count = ~0ull;
		if (has_hot && vp_btf_member_offset(btf, "pcpu_hot", "preempt_count", &offset, NULL))
			f->preempt_count = hot + offset;
	}
	if (f->preempt_count != ~0ull) {
		f->softirq_mask = SOFTIRQ_MASK;
		f->hardirq_mask = HARDIRQ_MASK;
		f->nmi_mask = NMI_MASK;
	}
	if (!vp_guest_find_symbol(guest, "runqueues", &f->runqueues))
		f->runqueues = ~0ull;
}

static struct vp_text_range range_of(const struct vp_guest *guest, const char *function)
{
	const struct vp_symtab *tab = vp_guest_symtab(guest);
	const struct vp_symbol *sym = vp_symtab_find(tab, "vmlinux", function);

	if (!sym)
		return (struct vp_text_range){ 0 };
	return (struct vp_text_range){ sym->addr, sym->addr + vp_symbol_size(tab, sym) };
}

/* The only functions that call those of system calls. */
static void read_dispatchers(const struct vp_guest *guest, struct vp_facts *f)
{
	const char *const *names = vp_arch_native.syscall_dispatchers_32;

	f->syscall_caller = range_of(guest, vp_arch_native.syscall_dispatcher);
	for (unsigned i = 0; i < VP_SYSCALL_CALLERS && names[i]; i++)
		f->syscall_callers_32[i] = range_of(guest, names[i]);
}

/* Some kernels leave words free at the top of each stack. */
static void read_padding(const struct vp_guest *guest, struct vp_facts *f)
{
	uint64_t unused;

	if (vp_guest_find_symbol(guest, vp_arch_native.stack_padding.symbol, &unused))
		f->stack_padding = vp_arch_native.stack_padding.bytes;
}

static void read_text(const struct vp_guest *guest, struct vp_facts *f)
{
	const struct vp_kernel *k = vp_guest_kernel(guest);

	if (!vp_guest_find_symbol(guest, "_stext", &f->text_start))
		f->text_start = k->base.v;
	if (!vp_guest_find_symbol(guest, "_etext", &f->text_end) || f->text_end <= f->text_start)
		f->text_end = k->base.v + k->size;
	read_dispatchers(guest, f);
	f->modules_start = k->base.v + k->size;
	f->modules_end = VP_MODULES_END > f->modules_start ? VP_MODULES_END : f->modules_start;
}

/* The mutexes under which the kernel compares and patches its text: text_poke() (jump labels and others),
 * kprobes, function tracing; and, from before a branch on a static key is compared until after it is patched,
 * jump_label_mutex (kernel/jump_label.c). A mutex begins with its owner, unless BTF shows otherwise
 * (PREEMPT_RT). */
static void read_text_locks(const struct vp_guest *guest, const struct vp_btf *btf, struct vp_facts *f)
{
	static const char *const names[] = { "text_mutex", "kprobe_mutex", "ftrace_lock" };
	uint32_t owner = 0;

	_Static_assert(OT_ARRAY_SIZE(names) <= VP_TEXT_LOCKS, "as many as there is room for");
	if (btf && !vp_btf_member_offset(btf, "mutex", "owner", &owner, NULL) &&
	    !vp_btf_member_offset(btf, "mutex", "rtmutex.owner", &owner, NULL))
		return;
	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		if (vp_guest_find_symbol(guest, names[i], &f->text_locks[i]))
			f->text_locks[i] += owner;
	if (vp_guest_find_symbol(guest, "jump_label_mutex", &f->key_lock))
		f->key_lock += owner;
}

/* Does each process have two page tables? Then the full one is at the root without user_root. Otherwise a
 * table may be at an odd page, and the bit must be kept. */
static bool has_user_root(struct vp_guest *guest, const struct vp_btf *btf)
{
	const struct vp_cpu_feature *when = &vp_arch_native.user_root_when;
	uint64_t cpu;
	uint32_t offset, word = 0;

	if (!btf || !vp_guest_find_symbol(guest, when->symbol, &cpu) ||
	    !vp_btf_member_offset(btf, when->type, when->member, &offset, NULL))
		return false;

	struct ot_err *err = vp_guest_read_u32(guest, vp_gva(cpu + offset + 4 * when->word), &word);

	ot_err_destroy(err);
	return !err && (word >> when->bit & 1);
}

/* If only some were found, a predicate on pid or execname would work on these vCPUs and be false on the
 * others, and the data would seem complete. If none was found, or if the kernel has no types, there is no
 * such data. */
static struct ot_err *read_bases(struct vp_guest *guest, const struct vp_regs *regs, uint32_t nvcpus,
				 uint64_t *ret)
{
	static const char what[] =
	    "not every vCPU's running process is known (pid is 0 there, execname empty)";
	struct ot_err *err = vp_facts_percpu_bases(guest, regs, nvcpus, ret);
	uint32_t known = 0;

	for (uint32_t i = 0; i < nvcpus; i++)
		known += ret[i] != 0;
	return known && known < nvcpus && vp_guest_btf(guest) ? vp_guest_warn(guest, what, err)
							      : vp_guest_note_missing(guest, what, err);
}

static struct ot_err *read_all(struct vp_guest *guest, const struct vp_regs *regs, uint32_t nvcpus,
			       struct vp_facts *ret)
{
	const struct vp_btf *btf = vp_guest_btf(guest);
	const struct vp_mmu *mmu = vp_guest_mmu(guest);

	vp_facts_none(ret);
	ret->kernel_root = mmu->root.v;
	ret->levels = mmu->levels;
	ret->nvcpus = nvcpus;
	if (has_user_root(guest, btf))
		ret->user_pgd_mask &= ~vp_arch_native.user_root;
	read_text(guest, ret);
	read_percpu(guest, btf, ret);
	read_text_locks(guest, btf, ret);
	vp_facts_resident(guest, &ret->resident);
	OT_TRY(read_bases(guest, regs, nvcpus, ret->percpu_base));
	if (!btf)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "the guest's kernel has no BTF: its structures are unknown");
	read_members(btf, ret);
	read_comm_size(btf, ret);
	read_stack_size(btf, ret);
	read_padding(guest, ret);
	vp_facts_families(guest, &ret->families);
	vp_facts_mappings(guest, &ret->mappings);
	return NULL;
}

struct ot_err *vp_facts_read(struct vp_guest *guest, const struct vp_regs *regs, uint32_t nvcpus,
			     struct vp_facts *ret)
{
	struct vp_budget budget;

	if (nvcpus > VP_VCPUS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "%u vCPUs, at most %u can be traced", nvcpus, VP_VCPUS_MAX);
	vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_CONSTANTS]);
	struct ot_err *err = read_all(guest, regs, nvcpus, ret);
	vp_budget_end(&budget);
	return err;
}
