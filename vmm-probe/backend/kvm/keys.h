/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traps on branches on static keys. The guest's kernel compares such a branch with the form that it expects,
 * the nop or the jump, before it patches it, and panics if they differ. So the trap is removed when the
 * kernel is about to compare (KEY_ENTER), and planted again, over the form that is then there, when it has
 * patched (KEY_LEAVE). The other traps stay, and a branch without a trap costs its patcher no hold.
 *
 * The kernel patches with a mutex held from before it compares until after it has patched (facts.key_lock):
 * one task at a time, which KEY_LEAVE therefore need not identify. While all vCPUs are held, the mutex shows
 * whether a task is between the two. A branch without a trap gets one only if none is, or at KEY_LEAVE: a
 * task that is past KEY_ENTER would find it.
 */
#ifndef VP_KVM_KEYS_H
#define VP_KVM_KEYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "vmm-probe/engine/engine.h"

struct vp_kvm;
struct vp_kvm_trap;
struct vp_kvm_traps;

struct vp_kvm_keys {
	_Atomic uint32_t
	    patched; /* traps that are kept out because of this; changes while the vCPUs are held */
	_Atomic uint64_t since;         /* when the first of them was; CLOCK_MONOTONIC in ns */
	_Atomic uint64_t times, out_ns; /* number and total time of such removals */
};

/** A vCPU was at a KEY_ENTER or KEY_LEAVE; on its thread, within vp_kvm_after(). @p entry: KEY_ENTER's first
 * parameter. If a trap is concerned, waits for its turn to hold: see vp_kvm_hold_as_vcpu(). */
void vp_kvm_at_key_sentinel(struct vp_kvm *kvm, uint32_t vcpu, enum vp_sentinel kind, uint64_t entry);

/** Mark the traps of @p to that a patch of the guest keeps out, as in @p from (NULL: none). Before the
 * exchange; the vCPUs are held. */
void vp_kvm_keys_inherit(struct vp_kvm *kvm, const struct vp_kvm_traps *from, struct vp_kvm_traps *to);

/** Plant them if no task is patching any more. Does not wait for the guest, and holds only if needed; on the
 * service thread, nothing held. */
void vp_kvm_keys_check(struct vp_kvm *kvm);

/** After the exchange: wait until no patch keeps traps out, at most three seconds. They are planted later if
 * it takes longer, and count as removed meanwhile. On the service thread, nothing held. */
void vp_kvm_keys_settle(struct vp_kvm *kvm);

#endif
