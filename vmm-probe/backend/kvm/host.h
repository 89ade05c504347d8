/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The behaviour of this host's KVM at a hit, detected by trying it on a VM of a few bytes. Everything that
 * differs between hosts (VMX, SVM, nested, emulating) depends on this struct and on nothing else; `outsight
 * doctor -v` prints it.
 *
 * Sources: Documentation/virt/kvm/api.rst of Linux (KVM_RUN, KVM_SET_GUEST_DEBUG, KVM_IOEVENTFD,
 * KVM_CAP_SYNC_REGS); where hosts differ from it, trying is the only source.
 */
#ifndef VP_KVM_HOST_H
#define VP_KVM_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* How an int3 in kernel mode is reported to us under KVM_GUESTDBG_USE_SW_BP. */
enum vp_kvm_int3 {
	VP_INT3_NEVER,             /* the guest gets it: never plant one here */
	VP_INT3_DEBUG_EXIT,        /* KVM_EXIT_DEBUG, as documented */
	VP_INT3_EMULATION_FAILURE, /* KVM_EXIT_INTERNAL_ERROR with the bytes: KVM can't emulate it */
};

/* How to return an int3 of its own to the guest, so that its handler sees the address after it. */
enum vp_kvm_inject {
	VP_INJECT_NEVER,    /* none works */
	VP_INJECT_RIP,      /* KVM_GUESTDBG_INJECT_BP with RIP at the int3 */
	VP_INJECT_RIP_NEXT, /* with RIP moved after it first */
};

/* Nanoseconds of one operation, over several rounds. 0: not measured. */
struct vp_kvm_cost {
	double min, median, max;
};

struct vp_kvm_host {
	enum vp_kvm_int3 int3;
	enum vp_kvm_inject inject;
	bool out;     /* a one-instruction `3e 3e 3e e6 PORT` exits, and a RIP set at the exit is honoured */
	bool hw;      /* a debug register stops at an instruction */
	bool hw_user; /* … in user mode too, and RFLAGS.RF has the instruction executed */
	bool hw_misses; /* … but not if an interrupt came just before it: some hits are missed */
	bool step;      /* KVM_GUESTDBG_SINGLESTEP executes exactly one */
	bool block_irq; /* KVM_GUESTDBG_BLOCKIRQ is supported */
	bool ioeventfd; /* an `out` is counted without an exit */
	bool sync_regs; /* registers are synchronised in kvm_run */
	bool user;      /* processes: user mode makes system calls and continues */
	uint32_t max_vcpus;
	struct vp_kvm_cost insn_cost;      /* an instruction of kernel mode, in a loop of two */
	struct vp_kvm_cost exit_cost;      /* the `out` above, to here and back */
	struct vp_kvm_cost ioeventfd_cost; /* the same, counted by KVM */
	struct vp_kvm_cost int3_cost;      /* an int3 and the step over it by a register write */
	struct vp_kvm_cost hw_cost;
	struct vp_kvm_cost step_cost;
};

/**
 * Try @p path ("/dev/kvm") out. Takes a tenth of a second where an exit costs 10 us.
 *
 * @return NOT_FOUND: there is no such device. PERMISSION: it can't be opened. UNSUPPORTED: another KVM API
 *         than version 12, or no 64-bit VMs. Missing features are no error but recorded in @p ret.
 */
OT_MUST_CHECK struct ot_err *vp_kvm_host_probe(const char *path, struct vp_kvm_host *ret);

/** Can a guest be traced on such a host at all? */
bool vp_kvm_host_traces(const struct vp_kvm_host *host);

/** The traps that an engine on such a host plants: VP_TRAPS_*. */
uint32_t vp_kvm_host_traps(const struct vp_kvm_host *host);

/** Can it run a stock kernel too? If not, @p why is set to the reason: "this KVM …". */
bool vp_kvm_host_good(const struct vp_kvm_host *host, char *why, size_t size);

/** The few instructions of a guest's kernel that a short resident probe takes, ns; 0: not measured. A host
 * that executes each of the kernel's instructions itself may take longer for these than for an exit. */
double vp_kvm_host_resident_ns(const struct vp_kvm_host *host);
/** Is that less than an exit, as far as it was measured? */
bool vp_kvm_host_gains(const struct vp_kvm_host *host);

/**
 * The same on an open device (borrowed), in a hundredth of the time: only what a backend needs, so neither
 * `user` nor insn_cost, and costs are of one round.
 */
OT_MUST_CHECK struct ot_err *vp_kvm_host_try(int kvm, struct vp_kvm_host *ret);

/** "never", "debug-exit", "emulation-failure"; "never", "rip", "rip+1". Static. */
const char *vp_kvm_int3_name(enum vp_kvm_int3 v);
const char *vp_kvm_inject_name(enum vp_kvm_inject v);

#endif
