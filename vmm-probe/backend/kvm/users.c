/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites in processes. Nothing is written into a program's text, whose pages are those of its file: a debug
 * register stops every vCPU at the site's address, whichever process it runs. The page table shows whether
 * that is the site's; another one continues, and has lost the time of an exit.
 *
 * The CPU executes the instruction itself, with all its faults: RF keeps the register from stopping it a
 * second time. The CPU clears RF once the instruction is done, and saves it with the other flags where a
 * fault or an interrupt comes first; so does the guest's kernel, for signals too.
 */
#include <stdlib.h>

#include "vmm-probe/backend/kvm/internal.h"

#define RFLAGS_RF (1ull << 16)

static int by_address(const void *a, const void *b)
{
	const struct vp_site *const *x = a, *const *y = b;

	if ((*x)->gva != (*y)->gva)
		return (*x)->gva < (*y)->gva ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

struct ot_err *vp_kvm_users_add(const struct vp_kvm *kvm, struct vp_kvm_traps *traps)
{
	const struct vp_plan *plan = traps->plan;

	if (!plan->nusers)
		return NULL;
	if (!kvm->config.host.hw_user)
		return ot_err_new(OT_ERR_UNSUPPORTED, "debug registers do not stop programs on this host");
	traps->users = calloc(plan->nusers, sizeof(traps->users[0]));
	if (!traps->users)
		return ot_err_nomem();
	for (uint32_t i = 0; i < plan->nusers; i++) {
		traps->users[i] = &plan->sites[plan->nsites + i];
		OT_TRY(vp_kvm_add_hw(kvm, traps, traps->users[i]->gva));
	}
	traps->nusers = plan->nusers;
	qsort(traps->users, traps->nusers, sizeof(traps->users[0]), by_address);
	return NULL;
}

/* The first site at @gva or above. */
static uint32_t first_from(const struct vp_kvm_traps *traps, uint64_t gva)
{
	uint32_t from = 0, to = traps->nusers;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		if (traps->users[middle]->gva < gva)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

bool vp_kvm_at_user(struct vp_kvm *kvm, struct vp_kvm_vcpu *v, uint32_t vcpu,
		    const struct vp_kvm_traps *traps)
{
	uint64_t pc = v->run->s.regs.regs.rip, root = vp_kvm_reg(kvm, v, VP_REG_ROOT);
	uint32_t first = first_from(traps, pc), i = first;
	bool fired = false;

	for (; i < traps->nusers && traps->users[i]->gva == pc; i++) {
		const struct vp_site *site = traps->users[i];
		if (!vp_site_is_of(site, pc, root) || !vp_site_is_there(site, vcpu))
			continue;
		vp_engine_hit(kvm->engine, vcpu, site, v);
		fired = true;
	}
	if (i == first)
		return false;
	if (!fired)
		vp_engine_pass(kvm->engine, vcpu, traps->users + first, i - first);
	v->run->s.regs.regs.rflags |= RFLAGS_RF;
	v->run->kvm_dirty_regs |= KVM_SYNC_X86_REGS;
	return true;
}
