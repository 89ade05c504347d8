/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes in a guest on KVM: traps in its kernel's text, handled on its vCPU threads after KVM_RUN. It works
 * with any VMM's vCPUs: the VMM calls vp_kvm_before() and vp_kvm_after() around each KVM_RUN.
 *
 * A trap is an `out` to a port without a device, as long as the instruction that it covers (DS prefixes fill
 * it up), so that no return address can ever point into it. After the hit a nop needs nothing more; any other
 * instruction is emulated (insn.h) or stepped (step.c).
 *
 * Threads: before() and after() on vCPU threads, each with its own index; the engine's operations on its
 * service thread. Guest text changes only while every vCPU is out of the guest.
 */
#ifndef VP_KVM_KVM_H
#define VP_KVM_KVM_H

#include <sys/types.h>

#include "vmm-probe/backend/kvm/host.h"
#include "vmm-probe/engine/engine.h"

struct kvm_run;
struct vp_kvm;
struct vp_kvm_resident;

struct vp_kvm_config {
	const char *name; /* of the guest */
	struct vp_kvm_host host;
	int vm;
	uint32_t nvcpus;
	const int *vcpus;            /* descriptors; copied, must outlive the backend */
	struct kvm_run *const *runs; /* mapped; copied, the same */
	const struct vp_ram_range *ram;
	uint32_t nram;
	const int *ram_fds;
	uint32_t nram_fds;
	/* Guest physical addresses from here on, and slots of memory from this one on, that the backend may
	 * use; 0: there are none, and so no resident probes. */
	uint64_t spare_gpa;
	uint32_t spare_slot;
	/* With the next one, in place of these two, where memory of resident probes must be withdrawn before
	 * the VM ends: it is kept there, zeroed at first, and outlives the backend. NULL: the backend's own.
	 */
	struct vp_kvm_resident *resident;
	/* Where a guest with @p bits of physical address has @p size bytes without memory or a device, ever;
	 * the first of two slots for it. Service thread. */
	struct ot_err *(*place)(void *arg, uint32_t bits, uint64_t size, uint64_t *ret_gpa,
				uint32_t *ret_slot);
	/* Make this vCPU's KVM_RUN return soon. Any thread. */
	void (*kick)(void *arg, uint32_t vcpu);
	/* Optional: without it there are no counters of vCPUs. The thread that runs this vCPU; 0: it has not
	 * run yet. Service thread. */
	pid_t (*thread)(void *arg, uint32_t vcpu);
	/* With it: a signal with a handler that does nothing and is not blocked in these threads, as kick()
	 * sends it. SIGIO, which the kernel sends in its place when its queue is full, must not end the VMM.
	 */
	int kick_signal;
	/* Optional. Does the VMM debug this vCPU for itself? Then a debug exit that is not ours is the VMM's.
	 * vCPU's thread. */
	bool (*vmm_debugs)(void *arg, uint32_t vcpu);
	/* Optional. Has the VMM stopped the guest? Any thread. */
	bool (*paused)(void *arg);
	void *arg;
};

OT_MUST_CHECK struct ot_err *vp_kvm_create(const struct vp_kvm_config *config, struct vp_kvm **ret);
/** No vCPU may run any more. */
void vp_kvm_destroy(struct vp_kvm *kvm);

/* The first half of vp_kvm_destroy(), for a VM that goes on; vp_kvm_destroy() is the second. */
/** End the engine, and take everything out of guest text. No vCPU runs meanwhile. */
void vp_kvm_stop(struct vp_kvm *kvm);
/** After that: remove the memory of resident probes from the VM, if no task of the guest is there; false: one
 * may be. No vCPU runs meanwhile, but they may have run since. */
bool vp_kvm_withdraw(struct vp_kvm *kvm);

/** The I/O ports that traps use, on which the VMM must have no device: the @p i-th, or 0: no more. */
uint16_t vp_kvm_port(uint32_t i);

/** The engine, to serve a socket with. Borrowed. */
struct vp_engine *vp_kvm_engine(struct vp_kvm *kvm);

/** Before KVM_RUN: waits while guest text is being changed. */
void vp_kvm_before(struct vp_kvm *kvm, uint32_t vcpu);
/** After it, with its errno or 0. True: the exit was ours, run again. */
bool vp_kvm_after(struct vp_kvm *kvm, uint32_t vcpu, int err);
/** On the vCPU's thread, when it will not run the vCPU again, or not soon: ends an operation of it for which
 * others wait. */
void vp_kvm_leave(struct vp_kvm *kvm, uint32_t vcpu);
/** On the vCPU's thread, between before() and after(), while resident probes are in: could it, or the
 * interrupt that it is in, return to code of resident probes? The VMM may save such a vCPU, and no other VM
 * has that code. */
bool vp_kvm_is_in_room(struct vp_kvm *kvm, uint32_t vcpu);

#endif
