/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking the memory of resident probes away from a VM that goes on: the VMM saves the guest, wants the
 * memory's place, or is left. It is taken only if no task of the guest would return there (engine/room.h).
 * Until then the slots and their entries stay, and do no harm but that: nothing leads there any more.
 */
#include "vmm-probe/backend/kvm/internal.h"
#include "vmm-probe/engine/room.h"

static struct vp_room_search search_for(struct vp_kvm *kvm)
{
	const struct vp_kvm_resident *r = kvm->resident;

	return (struct vp_room_search){ .facts = &r->facts,
					.gpa_to_host = vp_kvm_gpa_to_host,
					.backend = kvm,
					.from = r->room.code_gva,
					.size = r->room.code_size };
}

/* A vCPU has no area of its own in a kernel that ran with fewer of them. */
static bool is_empty(struct vp_kvm *kvm)
{
	static struct vp_regs regs[VP_VCPUS_MAX]; /* the vCPUs are held by one thread */
	struct vp_room_search search = search_for(kvm);
	uint32_t n = kvm->config.nvcpus;

	return vp_room_can_search(search.facts) && n <= search.facts->nvcpus &&
	       vp_kvm_held_regs(kvm, regs, VP_VCPUS_MAX) == n && vp_room_is_empty(&search, regs, n);
}

bool vp_kvm_resident_take(struct vp_kvm *kvm)
{
	struct vp_kvm_resident *r = kvm->resident;

	if (!r->mem)
		return true;
	if (r->table && !is_empty(kvm))
		return false;
	vp_kvm_resident_unmap(r, kvm->ram, kvm->config.nram);
	vp_kvm_resident_free(r);
	return true;
}

/* An engine that could not end has left its plan in force. */
bool vp_kvm_withdraw(struct vp_kvm *kvm)
{
	return !atomic_load(&kvm->traps) && vp_kvm_resident_take(kvm);
}

/* Where its kernel's tasks can't be searched for, only the vCPU itself is looked at. */
bool vp_kvm_is_in_room(struct vp_kvm *kvm, uint32_t vcpu)
{
	const struct vp_kvm_traps *traps = atomic_load_explicit(&kvm->traps, memory_order_acquire);
	const struct vp_kvm_resident *r = kvm->resident;
	struct vp_regs regs = { 0 };

	if (!traps || !traps->jumps || !vp_kvm_read_regs(&kvm->vcpus[vcpu], &regs))
		return false;
	if (!vp_room_can_search(&r->facts))
		return regs.v[VP_REG_PC] - r->room.code_gva < r->room.code_size;
	struct vp_room_search search = search_for(kvm);
	return !vp_room_vcpu_is_out(&search, vcpu, &regs);
}
