/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects the probe that fires where a process's own and its file's stand-in are at one place. The plan of a
 * site has both, or the stand-in alone. A vCPU executes code translated by one plan, so that whichever
 * callback comes first, one of the two fires and the other does not.
 */
#include "vmm-probe/engine/hit/stand_in.h"

#include "base/search.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/walk.h"

#define DIGITS_MAX 10 /* digits of a process's number */

/* --- its own ------------------------------------------------------------------------------------------ */

/* In the order of plan.c: those in processes are before those in files. */
static bool is_before(const struct vp_site *site, uint64_t root, uint64_t gva)
{
	if (site->file)
		return false;
	return site->root != root ? site->root < root : site->gva < gva;
}

static bool has_clause(struct vp_vcpu_session *v, const struct vp_site *site, const struct vp_ecb *ecb)
{
	for (uint32_t i = 0; i < site->necbs; i++)
		if (site->ecbs[i]->es == ecb->es && site->ecbs[i]->clause == ecb->clause &&
		    vp_in_process(v, &site->enabled[i]->probe->process))
			return true;
	return false;
}

bool vp_has_own(struct vp_vcpu_session *v, const struct vp_site *site, const struct vp_ecb *ecb)
{
	const struct vp_plan *plan = site->plan;
	const struct vp_site *users = plan->sites + plan->nsites;
	uint64_t root = vp_reg(v, VP_REG_ROOT) & site->root_mask, gva = v->site_gva;
	size_t first = OT_COUNT_BEFORE(plan->nusers, i, is_before(&users[i], root, gva));

	for (size_t i = first; i < plan->nusers && !users[i].file; i++) {
		if (users[i].root != root || users[i].gva != gva)
			return false;
		if (has_clause(v, &users[i], ecb))
			return true;
	}
	return false;
}

/* --- its name ----------------------------------------------------------------------------------------- */

static uint32_t pid_of(struct vp_vcpu_session *v)
{
	enum dif_fault fault = DIF_FAULT_NONE;

	return (uint32_t)vp_task_id(v, DIF_VAR_pid, &fault);
}

const char *vp_provider_of(struct vp_vcpu_session *v, const struct vp_enabled_probe *probe,
			   char room[VP_PROVIDER_MAX])
{
	char digits[DIGITS_MAX];
	uint32_t pid, n = 0;
	size_t len;

	if (!probe->stands_in)
		return probe->provider;
	len = strnlen(probe->provider, VP_PROVIDER_MAX - DIGITS_MAX - 1);
	len -= len != 0; /* the asterisk that stands for the number */
	memcpy(room, probe->provider, len);
	pid = pid_of(v);
	do {
		digits[n++] = (char)('0' + pid % 10);
		pid /= 10;
	} while (pid);
	while (n)
		room[len++] = digits[--n];
	room[len] = '\0';
	return room;
}

/* Otherwise it is the name's address, which is not in the upper half. */
uint64_t vp_provider_word(struct vp_vcpu_session *v, const struct vp_enabled_probe *probe)
{
	if (!probe->stands_in)
		return (uintptr_t)probe->provider;
	return 1ull << 63 | (uint64_t)pid_of(v) << 32 | probe->id;
}
