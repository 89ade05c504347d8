/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments of probes: registers by the calling convention, a system call's struct pt_regs, or the results of
 * a site's programs. Programs form levels: the probe's (level 0) read the place's (level 1), which read
 * registers (level 2). Hit path.
 */
#include "vmm-probe/engine/hit/args.h"
#include "vmm-probe/engine/hit/walk.h"

/* --- the place's own ----------------------------------------------------------------------- */

/* Arguments that are in no register. */
static uint64_t stack_arg(struct vp_vcpu_session *v, unsigned n, enum dif_fault *fault)
{
	uint64_t value = 0, at = vp_reg(v, VP_REG_SP) + VP_STACK_ARG_AT(n);
	bool user = v->at && vp_site_is_user(v->at);

	if (!(user ? vp_load_user(v, at, &value, sizeof(value)) : vp_load_u64(v, at, &value)))
		*fault = DIF_FAULT_BADADDR;
	return value;
}

static uint64_t fbt_entry_arg(struct vp_vcpu_session *v, unsigned n, enum dif_fault *fault)
{
	static const uint8_t regs[] = { VP_REGS_ARGS };

	return n < VP_NREGS_ARGS ? vp_reg(v, (enum vp_reg)regs[n]) : stack_arg(v, n, fault);
}

/* System calls have their arguments in a struct pt_regs that the first C argument points to. */
static uint64_t syscall_arg(struct vp_vcpu_session *v, const uint32_t offsets[VP_SYSCALL_ARGS], unsigned n,
			    enum dif_fault *fault)
{
	uint64_t value = 0;

	if (n >= VP_SYSCALL_ARGS || offsets[n] == VP_NO_OFFSET)
		return 0;
	if (!vp_load_u64(v, vp_reg(v, VP_REG_ARG0) + offsets[n], &value))
		*fault = DIF_FAULT_BADADDR;
	return value;
}

static uint64_t place_arg(struct vp_vcpu_session *v, unsigned n, enum dif_fault *fault)
{
	switch (vp_place_args(v)) {
	case VP_ARGS_FBT_ENTRY:
		return fbt_entry_arg(v, n, fault);
	case VP_ARGS_SYSCALL_ENTRY:
		return syscall_arg(v, v->es->facts.ptregs_args, n, fault);
	case VP_ARGS_SYSCALL32_ENTRY:
		return syscall_arg(v, v->es->facts.ptregs_args_32, n, fault);
	case VP_ARGS_FBT_RETURN:
		if (n == 0)
			return v->at ? v->at->gva - v->at->func_gva : 0;
		return n == 1 ? vp_reg(v, VP_REG_RESULT) : 0;
	case VP_ARGS_SYSCALL_RETURN:
		return n < 2 ? vp_reg(v, VP_REG_RESULT) : 0;
	case VP_ARGS_NONE:
	case VP_ARGS_PROFILE:
	case VP_ARGS_ERROR:
	case VP_ARGS_AGENT:
	case VP_ARGS_SITE:
		return 0;
	}
	return 0;
}

/* --- programs ---------------------------------------------------------------------------------- */

/* Evaluate @p obj, with the arguments of @p level. */
static uint64_t evaluate(struct vp_vcpu_session *v, const struct dif_object *obj, unsigned level,
			 enum dif_fault *fault)
{
	unsigned keep = v->level;
	uint64_t value;

	v->level = level;
	*fault = dif_vm_eval_within(&v->vm, obj, &value);
	v->level = keep;
	return value;
}

static uint64_t program_arg(struct vp_vcpu_session *v, const struct vp_site_program *p, unsigned n,
			    unsigned level, enum dif_fault *fault)
{
	return n < p->nargs ? evaluate(v, p->args[n], level, fault) : 0;
}

/* The probe's: the results of its last program. */
static uint64_t probe_arg(struct vp_vcpu_session *v, unsigned n, enum dif_fault *fault)
{
	const struct vp_enabled_site *at = v->at;
	struct vp_known *known = v->known;
	uint64_t scratch = v->vm.scratch_used;

	if (known->args & 1u << n)
		return known->arg[n];
	known->arg[n] =
	    at->program ? program_arg(v, at->program, n, 1, fault) : program_arg(v, at->raw, n, 2, fault);
	if (*fault == DIF_FAULT_NONE)
		known->args |= 1u << n;
	if (v->vm.scratch_used != scratch)
		known->in_scratch |= 1u << n;
	return known->arg[n];
}

uint64_t vp_arg(struct vp_vcpu_session *v, unsigned n, enum dif_fault *fault)
{
	const struct vp_enabled_site *at = v->at;

	if (n >= VP_SITE_ARGS)
		return 0;
	if (v->ecb->probe->kind == VP_PROBE_ERROR)
		return v->error_args[n];
	if (v->fired_args)
		return v->fired_args[n];
	if (v->known && v->level == 0)
		return probe_arg(v, n, fault);
	if (at && at->raw && v->level <= 1)
		return program_arg(v, at->raw, n, 2, fault);
	return place_arg(v, n, fault);
}

static bool holds(struct vp_vcpu_session *v, const struct vp_site_program *p, unsigned level,
		  enum dif_fault *fault)
{
	return !p || !p->condition || evaluate(v, p->condition, level, fault) != 0;
}

bool vp_site_condition(struct vp_vcpu_session *v, enum dif_fault *fault)
{
	struct vp_known *known = v->known;

	if (!known)
		return true;
	if (!known->decided) {
		known->fires = holds(v, v->at->raw, 2, fault) && holds(v, v->at->program, 1, fault);
		known->decided = *fault == DIF_FAULT_NONE;
	}
	return known->fires;
}

/* --- what is known ------------------------------------------------------------------------------- */

static struct vp_known *known_of(struct vp_vcpu_session *v, const struct vp_enabled_site *at)
{
	struct vp_known *known;

	for (uint32_t i = 0; i < v->nknown; i++)
		if (v->known_sites[i].at == at)
			return &v->known_sites[i];
	if (v->nknown < VP_KNOWN_SITES)
		v->nknown++;
	known = &v->known_sites[v->nknown - 1];
	known->at = at;
	known->decided = false;
	known->args = known->in_scratch = 0;
	return known;
}

void vp_firing_at(struct vp_vcpu_session *v, const struct vp_enabled_site *at)
{
	v->at = at;
	v->known = NULL;
	if (!at->raw && !at->program)
		return;
	v->known = known_of(v, at);
	v->known->args &= ~v->known->in_scratch;
	v->known->in_scratch = 0;
}
