/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jumps to the trampolines of resident probes. A jump is one more kind of trap: it replaces the same bytes
 * under the same rules, and is removed while the guest patches its text. While the guest has another
 * instruction there (function tracing's call), the site is trapped. At a return it also replaces the padding
 * behind a `ret`, which is never executed.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/arch/trampoline.h"
#include "vmm-probe/backend/kvm/internal.h"

#define OUT_LENGTH 2u

bool vp_kvm_aim_jump(struct vp_kvm_trap *t)
{
	const struct vp_site *site = t->site;

	if (!site->jump || site->room < VP_TRAMP_SITE || memcmp(t->old, site->bytes, VP_TRAMP_SITE) != 0 ||
	    !vp_trampoline_jump(site->gva, site->jump, t->now))
		return false;
	t->kind = VP_TRAP_JUMP;
	t->len = VP_TRAMP_SITE;
	return true;
}

struct ot_err *vp_kvm_exits_create(struct vp_kvm_traps *traps)
{
	uint32_t i = 0;

	while (i < traps->n && !traps->list[i].site->exit)
		i++;
	if (i == traps->n)
		return NULL;
	traps->exits = calloc(traps->mask + 1u, sizeof(*traps->exits));
	if (!traps->exits)
		return ot_err_nomem();
	for (; i < traps->n; i++) {
		if (!traps->list[i].site->exit)
			continue;
		uint32_t at = vp_kvm_hash(traps->list[i].site->exit) & traps->mask;
		while (traps->exits[at])
			at = (at + 1) & traps->mask;
		traps->exits[at] = i + 1;
	}
	return NULL;
}

static const struct vp_kvm_trap *find(const struct vp_kvm_traps *traps, uint64_t exit)
{
	for (uint32_t at = vp_kvm_hash(exit) & traps->mask; traps->exits[at]; at = (at + 1) & traps->mask) {
		const struct vp_kvm_trap *t = &traps->list[traps->exits[at] - 1];
		if (t->site->exit == exit)
			return t;
	}
	return NULL;
}

const struct vp_kvm_trap *vp_kvm_exits_find(const struct vp_kvm_traps *traps, uint64_t rip)
{
	if (!traps->exits)
		return NULL;
	const struct vp_kvm_trap *t = find(traps, rip);

	return t ? t : find(traps, rip - OUT_LENGTH);
}
