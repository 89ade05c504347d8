/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compiling a clause into steps: each action's destination, the registers that it may read, and whether the
 * whole clause only counts. Done once, when a session opens.
 */
#include "vmm-probe/engine/service/parts.h"

#define REGS_FRAME \
	(VP_REG_BIT(VP_REG_PC) | VP_REG_BIT(VP_REG_SP) | VP_REG_BIT(VP_REG_FP) | VP_REG_BIT(VP_REG_MODE))
#define REGS_USER  (REGS_FRAME | VP_REG_BIT(VP_REG_ROOT))
#define REGS_ALL   (VP_REG_BIT(VP_NREGS) - 1)
#define ARGS_ALL   0x3ffu
#define TUPLE_MAX  (16u << 20)
/* errno is read like an argument: only a system call's return has it. */
#define NEED_ERRNO (1u << 10)

/* Registers that unwind rules can start from. */
static uint64_t regs_stack(void)
{
	static const uint8_t live[] = { VP_REGS_UNWIND };
	uint64_t regs = REGS_FRAME;

	for (size_t i = 0; i < OT_ARRAY_SIZE(live); i++)
		regs |= VP_REG_BIT(live[i]);
	return regs;
}

/* --- what an object reads ------------------------------------------------------------- */

static void scan_variable(uint32_t id, struct vp_needs *needs)
{
	if (id >= DIF_VAR_arg0 && id <= DIF_VAR_arg9)
		needs->args |= 1u << (id - DIF_VAR_arg0);
	else if (id == DIF_VAR_errno)
		needs->args |= NEED_ERRNO;
	else if (id == DIF_VAR_caller || id == DIF_VAR_stackdepth)
		needs->regs |= regs_stack();
	else if (id == DIF_VAR_ucaller || id == DIF_VAR_ustackdepth)
		needs->regs |= REGS_USER;
}

static void scan_insn(uint32_t insn, struct vp_needs *needs)
{
	uint32_t op = dif_insn_op(insn), index = dif_insn_idx(insn);

	if (op == DIF_OP_ldgs)
		scan_variable(index, needs);
	else if (op == DIF_OP_ldga && dif_insn_r1(insn) == DIF_VAR_args)
		needs->args |= ARGS_ALL;
	else if (op == DIF_OP_ldga)
		needs->regs |= REGS_ALL;
	else if (op >= DIF_OP_uldsb && op <= DIF_OP_uldx)
		needs->regs |= VP_REG_BIT(VP_REG_ROOT);
	else if (op == DIF_OP_call && dif_subr_find(index)->trait == DIF_TRAIT_user)
		needs->regs |= VP_REG_BIT(VP_REG_ROOT);
}

void vp_object_needs(const struct dif_object *obj, struct vp_needs *needs)
{
	if (!obj)
		return;
	for (uint32_t i = 0; i < obj->text_len; i++)
		scan_insn(obj->text[i], needs);
	if (obj->ret.flags & DIF_TF_BYUREF)
		needs->regs |= VP_REG_BIT(VP_REG_ROOT);
}

static void scan_action(const struct dif_action *action, struct vp_needs *needs)
{
	vp_object_needs(action->object, needs);
	if (action->kind == DIF_ACT_stack)
		needs->regs |= regs_stack();
	else if (action->kind == DIF_ACT_ustack || action->kind == DIF_ACT_jstack)
		needs->regs |= REGS_USER;
}

uint64_t vp_needs_regs(const struct vp_needs *needs, enum vp_args args)
{
	static const uint8_t in_regs[] = { VP_REGS_ARGS };
	uint32_t used = needs->args;
	uint64_t regs = needs->regs;

	if (args == VP_ARGS_FBT_ENTRY) {
		for (unsigned i = 0; i < VP_NREGS_ARGS; i++)
			if (used & 1u << i)
				regs |= VP_REG_BIT(in_regs[i]);
		if (used & ARGS_ALL & ~((1u << VP_NREGS_ARGS) - 1))
			regs |= VP_REG_BIT(VP_REG_SP);
	} else if ((args == VP_ARGS_SYSCALL_ENTRY || args == VP_ARGS_SYSCALL32_ENTRY) && used) {
		regs |= VP_REG_BIT(VP_REG_ARG0);
	} else if ((args == VP_ARGS_SYSCALL_RETURN || args == VP_ARGS_FBT_RETURN) && used) {
		regs |= VP_REG_BIT(VP_REG_RESULT);
	}
	return regs;
}

/* --- counters ---------------------------------------------------------------------------- */

/* Is this instruction's result the same at each firing? It reads no memory, and only variables that describe
 * the probe. */
static bool insn_is_constant(uint32_t insn, bool *per_probe)
{
	uint32_t op = dif_insn_op(insn), id = dif_insn_idx(insn);

	if (op == DIF_OP_setx || op == DIF_OP_sets || op == DIF_OP_ret || op == DIF_OP_nop)
		return true;
	if (op == DIF_OP_ldgs) {
		*per_probe = true;
		return (id >= DIF_VAR_probeprov && id <= DIF_VAR_probename) || id == DIF_VAR_id ||
		       id == DIF_VAR_epid;
	}
	if (op >= DIF_OP_sdiv && op <= DIF_OP_urem)
		return false; /* could fault, and a fault is reported at each hit */
	return op >= DIF_OP_or && op <= DIF_OP_bleu;
}

static bool object_is_constant(const struct dif_object *obj, bool *per_probe)
{
	for (uint32_t i = 0; i < obj->text_len; i++)
		if (!insn_is_constant(obj->text[i], per_probe))
			return false;
	return true;
}

static void find_counter(struct vp_clause *clause)
{
	const struct dif_clause *src = clause->source;

	if (src->predicate || !src->nactions || src->actions[src->nactions - 1].kind != (int)DIF_AGG_count)
		return;
	for (uint32_t i = 0; i + 1 < src->nactions; i++) {
		const struct dif_action *a = &src->actions[i];
		if (!a->is_key || a->kind != DIF_ACT_difexpr || !a->object ||
		    !object_is_constant(a->object, &clause->counts_per_probe))
			return;
	}
	clause->counts_only = true;
}

/* --- steps --------------------------------------------------------------------------------- */

static bool may_raise(const struct vp_engine *e)
{
	return e->ops->host && e->ops->host->raise;
}

/* An action that a backend cannot carry out on the context of its probes; NULL: it can. */
static const char *out_of_reach(const struct vp_engine *e, const struct dif_action *a)
{
	if (a->object && a->object->destructive && !e->host)
		return "copyout() and copyoutstr()";
	switch (a->kind) {
	case DIF_ACT_stop:
		return may_raise(e) ? NULL : "stop()";
	case DIF_ACT_raise:
		return may_raise(e) ? NULL : "raise()";
	case DIF_ACT_breakpoint:
		return "breakpoint()";
	case DIF_ACT_panic:
		return "panic()";
	default:
		return NULL;
	}
}

static struct ot_err *check_action(const struct vp_engine_session *es, const struct dif_action *a)
{
	bool allowed = es->open.flags & VP_OPEN_DESTRUCTIVE;
	uint32_t class = DIF_ACT_CLASS(a->kind);
	const char *beyond = out_of_reach(es->engine, a);

	if ((class == 0x0200 || class == 0x0500 || (a->object && a->object->destructive)) && !allowed)
		return ot_err_new(OT_ERR_PERMISSION, "destructive actions are not allowed");
	if (beyond)
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s cannot act on a guest from outside", beyond);
	return NULL;
}

/* Make the step for the key @rec of a tuple, or the datum of a record. */
static void place(struct vp_step *steps, const struct dif_rec *rec, uint32_t *at, enum vp_dest dest)
{
	struct vp_step *step = &steps[rec->action];

	step->dest = dest;
	step->offset = rec->offset;
	step->size = rec->size;
	step->gap = rec->offset - *at;
	*at = rec->offset + rec->size;
}

static struct ot_err *place_tuple(struct vp_engine_session *es, struct vp_step *steps,
				  const struct dif_agg_layout *agg)
{
	uint32_t at = sizeof(uint32_t);

	if (agg->tuple_size > TUPLE_MAX)
		return ot_err_new(OT_ERR_LIMIT, "aggregation key of %u bytes", agg->tuple_size);
	for (uint32_t i = 0; i < agg->nkeys; i++)
		place(steps, &agg->keys[i], &at, VP_TO_TUPLE);
	steps[agg->action].agg = agg;
	if (agg->increment_action >= 0)
		steps[agg->increment_action].dest = VP_TO_INCREMENT;
	vp_keys_choose(es, steps, agg);
	if (agg->tuple_size > es->service->tuple_max)
		es->service->tuple_max = agg->tuple_size;
	return NULL;
}

static struct ot_err *check_frames(const struct vp_engine_session *es, const struct dif_action *a)
{
	uint64_t frames = a->arg & 0xffffffff;

	if (a->kind == DIF_ACT_stack && !frames)
		frames = es->open.stackframes;
	if (frames > VP_FRAMES_MAX &&
	    (a->kind == DIF_ACT_stack || a->kind == DIF_ACT_ustack || a->kind == DIF_ACT_jstack))
		return ot_err_new(OT_ERR_LIMIT, "stack of more than %u frames", VP_FRAMES_MAX);
	return NULL;
}

struct ot_err *vp_clause_compile(struct vp_engine_session *es, const struct dif_clause *source,
				 struct vp_clause *ret)
{
	struct vp_clause c = { .source = source };
	uint32_t at = DIF_RECORD_HEADER;

	OT_TRY(dif_clause_layout(source, &es->service->layout_opts, &es->service->arena, &c.layout));
	c.steps = ot_arena_alloc(&es->service->arena, (source->nactions + 1) * sizeof(*c.steps));
	if (!c.steps)
		return ot_err_nomem();
	vp_object_needs(source->predicate, &c.needs);
	if (source->predicate && source->predicate->destructive && !(es->open.flags & VP_OPEN_DESTRUCTIVE))
		return ot_err_new(OT_ERR_PERMISSION, "destructive actions are not allowed");
	if (source->predicate && source->predicate->destructive && !es->engine->host)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "copyout() and copyoutstr() cannot act on a guest from outside");
	for (uint32_t i = 0; i < source->nactions; i++) {
		c.steps[i].action = &source->actions[i];
		OT_TRY(check_action(es, &source->actions[i]));
		OT_TRY(check_frames(es, &source->actions[i]));
		scan_action(&source->actions[i], &c.needs);
	}
	for (uint32_t i = 0; i < c.layout.nrecs; i++)
		place(c.steps, &c.layout.recs[i], &at, VP_TO_RECORD);
	for (uint32_t i = 0; i < c.layout.naggs; i++)
		OT_TRY(place_tuple(es, c.steps, &c.layout.aggs[i]));
	c.tail = c.layout.size > at ? c.layout.size - at : 0;
	es->service->speculates |= c.layout.speculates || c.layout.commits;
	find_counter(&c);
	*ret = c;
	return NULL;
}
