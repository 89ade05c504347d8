/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VP_KVM_INTERNAL_H
#define VP_KVM_INTERNAL_H

#include <linux/kvm.h>
#include <pthread.h>
#include <stdatomic.h>

#include "vmm-probe/backend/kvm/insn.h"
#include "vmm-probe/backend/kvm/kvm.h"

/* The ports of traps. Sites that touch take different ones: then a port and a RIP say which it was, on hosts that
 * leave RIP at the `out` and on those that move it behind. */
#define VP_KVM_PORT_A 0x98u
#define VP_KVM_PORT_B 0x99u

struct vp_kvm_trap {
	const struct vp_site *site;
	uint8_t *host;
	struct vp_insn insn;
	uint8_t len, port;
	uint8_t old[15], now[15]; /* what was there; what we wrote. The undo record */
	bool planted;
};

/* In order of host address, with a hash table by virtual address. Immutable while vCPUs may look, but `planted`. */
struct vp_kvm_traps {
	const struct vp_plan *plan;
	struct vp_kvm_trap *list;
	uint32_t n, mask;
	uint32_t *slots; /* index + 1; 0: empty */
};

struct vp_kvm_vcpu {
	_Alignas(64) int fd;
	struct kvm_run *run;
	_Atomic uint32_t running; /* between before() and after() */
	_Atomic uint32_t sample;  /* one was asked for */
};

struct vp_kvm {
	struct vp_kvm_config config;
	struct vp_engine *engine;
	struct vp_kvm_vcpu *vcpus;
	struct vp_ram_range *ram;
	_Atomic(struct vp_kvm_traps *) traps;
	_Atomic uint64_t valid_regs; /* what is wanted in kvm_run at each exit */
	_Atomic uint32_t held;
	_Atomic uint64_t lost; /* sites whose bytes were not ours when we came to take them out */
	pthread_mutex_t lock;  /* only for waiting: held and running are atomics */
	pthread_cond_t changed;
};

extern const struct vp_backend_ops vp_kvm_ops;

/** Get every vCPU out of the guest and keep it out. Service thread; not nested. */
void vp_kvm_hold(struct vp_kvm *kvm);
void vp_kvm_release(struct vp_kvm *kvm);

/* traps.c */
OT_MUST_CHECK struct ot_err *vp_kvm_traps_create(const struct vp_plan *plan, struct vp_kvm_traps **ret);
void vp_kvm_traps_destroy(struct vp_kvm_traps *traps);
/** The trap at @p gva; NULL: none. Hit path. */
const struct vp_kvm_trap *vp_kvm_traps_find(const struct vp_kvm_traps *traps, uint64_t gva);
/** Make guest text that of @p to instead of @p from (either may be NULL). The vCPUs are held. */
void vp_kvm_traps_exchange(struct vp_kvm *kvm, struct vp_kvm_traps *from, struct vp_kvm_traps *to);

/* regs.c */
uint64_t vp_kvm_reg(void *backend, void *ctx, enum vp_reg reg);
uint32_t vp_kvm_snapshot(void *backend, struct vp_regs *regs, uint32_t max);
/** KVM_SYNC_X86_* that reading @p regs needs. */
uint64_t vp_kvm_sync_for(uint64_t regs);

#endif
