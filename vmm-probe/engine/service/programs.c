/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Site programs: conditions and arguments that a batch brings with its sites, as clauses of DOF. They are
 * verified as the session's program is, and operations that only a clause may use are refused.
 */
#include <stdlib.h>

#include "dif/obj/verify.h"
#include "vmm-probe/engine/service/parts.h"

/* A variable must be one of the session's, with the same definition: the session's program reserved its
 * storage. */
static struct ot_err *check_variables(const struct vp_engine_session *es, const struct dif_object *obj)
{
	for (uint32_t i = 0; i < obj->var_len; i++) {
		const struct dif_var *v = &obj->vars[i];
		const struct dif_var_slot *slot;

		if (v->id < DIF_VAR_USER_MIN)
			continue;
		slot = dif_var_slot_find(&es->service->vars, v->scope, v->id);
		if (!slot || slot->kind != v->kind || slot->type.kind != v->type.kind ||
		    slot->type.flags != v->type.flags || (v->type.size && slot->type.size != v->type.size))
			return ot_err_new(OT_ERR_BAD_DATA, "variable %#x is not the session's", v->id);
	}
	return NULL;
}

static struct ot_err *check_object(const struct vp_engine_session *es, const struct dif_object *obj)
{
	if (!obj)
		return NULL;
	if (obj->destructive)
		return ot_err_new(OT_ERR_PERMISSION, "a destructive site program");
	return check_variables(es, obj);
}

static struct ot_err *compile(const struct vp_engine_session *es, const struct dif_clause *c,
			      struct vp_site_program *ret)
{
	if (c->nactions > VP_SITE_ARGS)
		return ot_err_new(OT_ERR_BAD_DATA, "%u arguments", c->nactions);
	OT_TRY(check_object(es, c->predicate));
	ret->condition = c->predicate;
	vp_object_needs(c->predicate, &ret->condition_needs);
	ret->nargs = c->nactions;
	for (uint32_t i = 0; i < c->nactions; i++) {
		const struct dif_action *a = &c->actions[i];

		if (a->kind != DIF_ACT_difexpr || !a->object || a->is_key || a->is_increment)
			return ot_err_new(OT_ERR_BAD_DATA, "argument %u is no expression", i);
		OT_TRY(check_object(es, a->object));
		ret->args[i] = a->object;
		vp_object_needs(a->object, &ret->arg_needs[i]);
	}
	return NULL;
}

static struct ot_err *read_programs(const struct vp_engine_session *es, const void *dof, size_t size,
				    struct vp_enabled_batch *b)
{
	OT_TRY(dif_dof_read(dof, size, &b->dof));
	OT_TRY(dif_program_verify(&b->dof));
	b->programs = calloc(b->dof.nclauses + 1u, sizeof(*b->programs));
	if (!b->programs)
		return ot_err_nomem();
	for (uint32_t i = 0; i < b->dof.nclauses; i++)
		OT_TRY(ot_err_prefix(compile(es, &b->dof.clauses[i], &b->programs[i]), "program %u", i + 1));
	return NULL;
}

struct ot_err *vp_programs_read(const struct vp_engine_session *es, const void *dof, size_t size,
				struct vp_enabled_batch *batch)
{
	dif_program_init(&batch->dof);
	return size ? ot_err_prefix(read_programs(es, dof, size, batch), "batch: site programs") : NULL;
}

void vp_programs_free(struct vp_enabled_batch *batch)
{
	free(batch->programs);
	dif_program_deinit(&batch->dof);
}

/* The arguments of the level below that @p program needs to give those in @p args. */
static struct vp_needs below(const struct vp_site_program *program, const struct vp_needs *of)
{
	struct vp_needs needs = { .regs = of->regs | program->condition_needs.regs,
				  .args = program->condition_needs.args };

	needs.args |= of->args & ~((1u << VP_SITE_ARGS) - 1); /* errno, which no program gives */

	for (uint32_t i = 0; i < program->nargs; i++) {
		if (!(of->args & 1u << i))
			continue;
		needs.regs |= program->arg_needs[i].regs;
		needs.args |= program->arg_needs[i].args;
	}
	return needs;
}

uint64_t vp_site_regs(const struct vp_enabled_site *site, const struct vp_clause *clause)
{
	struct vp_needs needs = clause->needs;
	uint64_t regs = site->syscall ? VP_REG_BIT(VP_REG_SP) : 0;

	if (site->program)
		needs = below(site->program, &needs);
	if (site->raw)
		needs = below(site->raw, &needs);
	return regs | vp_needs_regs(&needs, site->args);
}
