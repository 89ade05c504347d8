/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making site programs and sites of tracepoints. */
#include "vmm-probe/provider/tracepoint_programs.h"

#include <stdlib.h>
#include <string.h>

#include "vmm-probe/arch/native.h"
#include "vmm-probe/provider/text.h"

static struct ot_err *object_of(struct ot_arena *arena, const struct vp_expr *e, struct dif_object **ret)
{
	*ret = ot_arena_new(arena, struct dif_object);
	return *ret ? vp_expr_dif(e, arena, *ret) : ot_err_nomem();
}

/* A word that is unknown, or needs too many registers, is 0: args[] has no type for it. */
static struct ot_err *add_word(struct vp_exprs *exprs, const struct vp_expr *e, struct dif_action *ret)
{
	struct ot_err *err = object_of(&exprs->arena, e, &ret->object);

	ret->kind = DIF_ACT_difexpr;
	if (!err || ot_err_code(err) != OT_ERR_UNSUPPORTED)
		return err;
	ot_err_destroy(err);
	return object_of(&exprs->arena, vp_expr_const(exprs, 0), &ret->object);
}

static struct ot_err *make(struct vp_exprs *exprs, const struct vp_event_site *site,
			   struct dif_clause *clause)
{
	if (site->when)
		OT_TRY(object_of(&exprs->arena, site->when, &clause->predicate));
	for (uint32_t i = 0; i < clause->nactions; i++)
		OT_TRY(add_word(exprs, site->args[i], &clause->actions[i]));
	return NULL;
}

struct ot_err *vp_event_program(struct vp_probes *probes, const struct vp_event_site *site, unsigned nargs,
				uint32_t *ret)
{
	struct dif_clause clause = {
		.probe = { .guest = "", .provider = "", .module = "", .function = "", .name = "" },
		.nactions = nargs < VP_BLOCK_ARGS ? nargs : VP_BLOCK_ARGS,
	};
	struct vp_exprs *exprs = vp_tracepoint_exprs(vp_probes_tracepoints(probes));

	clause.actions = ot_arena_alloc(&exprs->arena, (clause.nactions + 1) * sizeof(*clause.actions));
	if (!clause.actions)
		return ot_err_nomem();
	memset(clause.actions, 0, (clause.nactions + 1) * sizeof(*clause.actions));
	OT_TRY(make(exprs, site, &clause));
	return vp_probes_add_program(probes, &clause, ret);
}

struct ot_err *vp_event_batch_site(struct vp_probes *probes, const struct vp_event_site *site,
				   uint32_t program, struct vp_batch_site *ret)
{
	struct vp_text *text;
	const uint8_t *code;

	OT_TRY(vp_probes_text(probes, &text));
	OT_TRY(vp_text_read(text, site->gva, site->length, &code));
	if (vp_native_static_branch(code, site->length, (int64_t)(site->target - site->gva)) != site->length)
		return ot_err_new(OT_ERR_BAD_DATA, "the text at 0x%llx has changed",
				  (unsigned long long)site->gva);
	*ret = (struct vp_batch_site){
		.gva = site->gva,
		.offset = (uint32_t)(site->gva - site->function),
		.length = site->length,
		.room = site->length,
		.target = site->target,
		.args = VP_ARGS_NONE,
		.raw = program,
	};
	memcpy(ret->bytes, code, site->length);
	return NULL;
}
