// SPDX-License-Identifier: GPL-2.0-or-later
/* Turning slots on and off, and the functions that run when one fires. */
#include <linux/compat.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "ga.h"

struct ga_kprobe {
	struct ga_slot *slot;
	bool is_return;
	union {
		struct kprobe kp;
		struct kretprobe rp;
	};
};

/*
 * A probe of a tracepoint is called with that tracepoint's own prototype, of which there are a
 * thousand and each in a header of its own. One function serves them all: by the calling
 * convention (System V, x86-64) `data` and the first five words of arguments are in registers
 * for any types, the others on the stack above the return address, where the caller has put
 * them. If a tracepoint has fewer, the others are leftovers in registers or on the stack,
 * harmless to read, and the host, which knows the prototype from BTF, ignores them. Words are
 * as wide as registers: the bits above a narrow argument are undefined.
 *
 * A kernel that checks prototypes at indirect calls would trap.
 */
#if defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI)
#error "outsight: kernels with CONFIG_CFI (CONFIG_CFI_CLANG) are not supported"
#endif
#ifndef CONFIG_X86_64
#error "outsight: x86-64 only"
#endif

static void notrace ga_on_tracepoint5(void *data, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4)
{
	const u64 args[GA_ARGS] = { a0, a1, a2, a3, a4 };

	ga_emit(data, 0, args);
}

NOKPROBE_SYMBOL(ga_on_tracepoint5);

/*
 * By value, and too large for registers: it is where the caller has put the words behind the
 * fifth.
 */
struct ga_stack_words {
	u64 w[GA_ARGS - 5];
};

/*
 * For tracepoints that have so many. The host decides which do, and it may be wrong: then the
 * words may lie beyond the end of the stack, as in an interrupt, where the next page is not
 * mapped.
 */
static void notrace ga_on_tracepoint8(void *data, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4,
				      const struct ga_stack_words rest)
{
	u64 args[GA_ARGS] = { a0, a1, a2, a3, a4 };
	const void *from = &rest;
	unsigned long at;

	/* To the compiler a parameter is always there: it might read it before the check. */
	OPTIMIZER_HIDE_VAR(from);
	at = (unsigned long)from;
	/* The return address is in front of them: its page is there. */
	if ((at - sizeof(long)) >> PAGE_SHIFT == (at + sizeof(rest) - 1) >> PAGE_SHIFT)
		memcpy(&args[5], from, sizeof(rest));
	else
		copy_from_kernel_nofault(&args[5], from, sizeof(rest));
	ga_emit(data, 0, args);
}

NOKPROBE_SYMBOL(ga_on_tracepoint8);

/*
 * For tracepoints about a task other than the running one, such as sched_switch. The host
 * chooses that word: it is checked before use.
 */
static void notrace ga_on_tracepoint_task(void *data, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4)
{
	const struct ga_slot *slot = data;
	u64 args[GA_ARGS] = { a0, a1, a2, a3, a4 };
	const struct task_struct *task = (void *)(unsigned long)args[GA_TASK_WORD(slot->flags)];
	char comm[GA_COMM];
	pid_t pid, tgid;

	BUILD_BUG_ON(sizeof(task->comm) != sizeof(comm));
	if (!copy_from_kernel_nofault(&pid, &task->pid, sizeof(pid)) &&
	    !copy_from_kernel_nofault(&tgid, &task->tgid, sizeof(tgid)) &&
	    !copy_from_kernel_nofault(comm, task->comm, sizeof(comm))) {
		args[5] = (u64)(u32)tgid << 32 | (u32)pid;
		memcpy(&args[6], comm, sizeof(comm));
	}
	ga_emit(slot, 0, args);
}

NOKPROBE_SYMBOL(ga_on_tracepoint_task);

static u32 notrace ga_syscall_flags(void)
{
	return in_32bit_syscall() ? GA_RECORD_32BIT : 0;
}

NOKPROBE_SYMBOL(ga_syscall_flags);

/* These two have the prototype that their tracepoint has. */
static void notrace ga_on_sys_enter(void *data, struct pt_regs *regs, long id)
{
	const u64 args[GA_ARGS] = { (unsigned long)regs, id,       regs->di, regs->si, regs->dx,
				    regs->r10,           regs->r8, regs->r9 };

	ga_emit(data, ga_syscall_flags(), args);
}

NOKPROBE_SYMBOL(ga_on_sys_enter);

static void notrace ga_on_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	const u64 args[GA_ARGS] = { (unsigned long)regs, ret, regs->orig_ax };

	ga_emit(data, ga_syscall_flags(), args);
}

NOKPROBE_SYMBOL(ga_on_sys_exit);

/* NULL: not of this tracepoint. It does not change while a slot is armed. */
static void *ga_tracepoint_probe(const struct ga_slot *slot)
{
	if (slot->flags & GA_WANT_SYSCALL) {
		if (!slot->core)
			return NULL;
		if (!strcmp(slot->tp->name, "sys_enter"))
			return ga_on_sys_enter;
		return strcmp(slot->tp->name, "sys_exit") ? NULL : ga_on_sys_exit;
	}
	if (slot->flags & GA_WANT_TASK)
		return ga_on_tracepoint_task;
	return slot->nargs > 5 ? (void *)ga_on_tracepoint8 : (void *)ga_on_tracepoint5;
}

static int ga_on_kprobe(struct kprobe *kp, struct pt_regs *regs)
{
	const struct ga_kprobe *k = container_of(kp, struct ga_kprobe, kp);
	const u64 args[GA_ARGS] = { regs->di, regs->si, regs->dx, regs->cx, regs->r8, regs->r9 };

	ga_emit(k->slot, GA_RECORD_KPROBE, args);
	return 0;
}

NOKPROBE_SYMBOL(ga_on_kprobe);

static int ga_on_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs)
{
#ifdef GA_GET_KRETPROBE
	const struct kretprobe *rp = get_kretprobe(ri);
#else
	const struct kretprobe *rp = ri->rp;
#endif
	const u64 args[GA_ARGS] = { regs->ax };

	/* NULL: it is being unregistered. */
	if (rp)
		ga_emit(container_of(rp, struct ga_kprobe, rp)->slot, GA_RECORD_KPROBE | GA_RECORD_RETURN,
			args);
	return 0;
}

NOKPROBE_SYMBOL(ga_on_kretprobe);

static int ga_arm_tracepoint(struct ga_slot *slot, const struct ga_want *want)
{
	int ret;

	if (!slot->tp || want->address != (unsigned long)slot->tp)
		return -ENOENT;
	slot->nargs = want->nargs;
	slot->flags = want->flags;
	if (!ga_tracepoint_probe(slot))
		return -EINVAL;
	ret = tracepoint_probe_register(slot->tp, ga_tracepoint_probe(slot), slot);
	if (!ret)
		slot->armed = GA_TRACEPOINT;
	return ret;
}

/*
 * The host supplies the address: the kernel checks that it is one where an instruction can be
 * probed.
 */
static int ga_arm_kprobe(struct ga_slot *slot, const struct ga_want *want)
{
	struct ga_kprobe *k = kzalloc(sizeof(*k), GFP_KERNEL);
	int ret;

	if (!k)
		return -ENOMEM;
	slot->nargs = want->nargs;
	slot->flags = want->flags;
	k->slot = slot;
	k->is_return = want->kind == GA_KRETPROBE;
	if (k->is_return) {
		k->rp.kp.addr = (void *)want->address;
		k->rp.handler = ga_on_kretprobe;
		k->rp.maxactive = max(256U, 4 * num_possible_cpus());
		ret = register_kretprobe(&k->rp);
	} else {
		k->kp.addr = (void *)want->address;
		k->kp.pre_handler = ga_on_kprobe;
		ret = register_kprobe(&k->kp);
	}
	if (ret) {
		kfree(k);
		return ret;
	}
	slot->kprobe = k;
	slot->armed = want->kind;
	slot->address = want->address;
	return 0;
}

static u64 ga_missed(const struct ga_slot *slot)
{
	const struct ga_kprobe *k = slot->kprobe;

	if (!k)
		return 0;
	return k->is_return ? k->rp.nmissed + k->rp.kp.nmissed : k->kp.nmissed;
}

/* Many at once: the kernel waits a grace period a call, for any number of probes. */
#define GA_BATCH 64

struct ga_batch {
	struct kprobe *kps[GA_BATCH];
	struct kretprobe *rps[GA_BATCH];
	struct ga_slot *slots[GA_BATCH];
	int nkps, nrps, nslots;
};

static void ga_batch_flush(struct ga_batch *batch)
{
	int i;

	if (batch->nkps)
		unregister_kprobes(batch->kps, batch->nkps);
	if (batch->nrps)
		unregister_kretprobes(batch->rps, batch->nrps);
	for (i = 0; i < batch->nslots; i++) {
		struct ga_slot *slot = batch->slots[i];

		ga_catalogue[slot->index].missed += ga_missed(slot);
		kfree(slot->kprobe);
		slot->kprobe = NULL;
	}
	batch->nkps = 0;
	batch->nrps = 0;
	batch->nslots = 0;
}

/* A kprobe is gone when the batch has been flushed. */
static void ga_disarm(struct ga_slot *slot, struct ga_batch *batch)
{
	if (slot->armed == GA_TRACEPOINT) {
		tracepoint_probe_unregister(slot->tp, ga_tracepoint_probe(slot), slot);
	} else if (slot->armed) {
		if (batch->nslots == GA_BATCH)
			ga_batch_flush(batch);
		if (slot->kprobe->is_return)
			batch->rps[batch->nrps++] = &slot->kprobe->rp;
		else
			batch->kps[batch->nkps++] = &slot->kprobe->kp;
		batch->slots[batch->nslots++] = slot;
	}
	slot->armed = GA_OFF;
}

void ga_slot_off(struct ga_slot *slot)
{
	if (slot->armed != GA_TRACEPOINT)
		return;
	tracepoint_probe_unregister(slot->tp, ga_tracepoint_probe(slot), slot);
	slot->armed = GA_OFF;
	ga_catalogue[slot->index].armed = GA_OFF;
	outsight_agent.armed--;
}

/* A copy of the host's request for one slot, with its values bounded: each word is read once. */
static struct ga_want ga_read_want(const struct ga_want *want, u32 index)
{
	struct ga_want w = { .kind = GA_OFF };

	if (!want)
		return w;
	w.kind = READ_ONCE(want[index].kind);
	/* Pairs with the host's order: kind last. */
	smp_rmb();
	w.address = READ_ONCE(want[index].address);
	w.nargs = min_t(u16, READ_ONCE(want[index].nargs), GA_ARGS);
	w.flags = READ_ONCE(want[index].flags) & GA_WANT_FLAGS;
	if (index < GA_TRACEPOINTS ? w.kind != GA_TRACEPOINT : w.kind != GA_KPROBE && w.kind != GA_KRETPROBE)
		w.kind = GA_OFF;
	return w;
}

/* The function's module has gone: the probe never fires again, even if another module is there now. */
static bool ga_is_dead(const struct ga_slot *slot)
{
	struct ga_kprobe *k = slot->kprobe;

	return k && kprobe_gone(k->is_return ? &k->rp.kp : &k->kp);
}

static bool ga_is_as_wanted(const struct ga_slot *slot, const struct ga_want *w)
{
	if (slot->armed != w->kind || ga_is_dead(slot))
		return false;
	if (w->kind == GA_OFF)
		return true;
	return slot->nargs == w->nargs && slot->flags == w->flags &&
	       w->address == (w->kind == GA_TRACEPOINT ? (unsigned long)slot->tp : slot->address);
}

/* Off first: a slot's old probe must be gone before a new one is armed. */
static void ga_disarm_unwanted(const struct ga_want *want)
{
	struct ga_batch *batch = kzalloc(sizeof(*batch), GFP_KERNEL | __GFP_NOFAIL);
	u32 i;

	for (i = 0; i < GA_SLOTS; i++) {
		struct ga_want w = ga_read_want(want, i);

		if (ga_slots[i].armed && !ga_is_as_wanted(&ga_slots[i], &w)) {
			ga_disarm(&ga_slots[i], batch);
			ga_catalogue[i].armed = GA_OFF;
			outsight_agent.armed--;
		}
		if (w.kind == GA_OFF)
			ga_catalogue[i].error = 0;
		if (!(i % 256))
			cond_resched();
	}
	ga_batch_flush(batch);
	kfree(batch);
}

void ga_slots_apply(const struct ga_want *want)
{
	u32 i;

	lockdep_assert_held(&ga_lock);
	ga_disarm_unwanted(want);
	for (i = 0; want && i < GA_SLOTS; i++) {
		struct ga_want w = ga_read_want(want, i);
		struct ga_slot *slot = &ga_slots[i];
		int ret;

		/* One that has changed since is checked again, for its generation. */
		if (w.kind == GA_OFF || slot->armed)
			continue;
		if (w.kind == GA_TRACEPOINT)
			ret = ga_arm_tracepoint(slot, &w);
		else
			ret = ga_arm_kprobe(slot, &w);
		ga_catalogue[i].error = ret;
		ga_catalogue[i].armed = slot->armed;
		if (i >= GA_TRACEPOINTS)
			ga_catalogue[i].address = w.address;
		if (!ret)
			outsight_agent.armed++;
		cond_resched();
	}
}
