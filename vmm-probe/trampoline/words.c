/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregations of numbers, done in place: each has its words in every CPU's data, and the consumer adds up
 * the CPUs' words. The key may be anything that is the same each time the probe fires; the tuple is made when
 * the words are folded.
 */
#include "dif/obj/layout.h"
#include "vmm-probe/trampoline/maker.h"

#define REFUSED(...) ot_err_new(OT_ERR_UNSUPPORTED, __VA_ARGS__)

static bool is_constant_insn(uint32_t insn)
{
	uint32_t op = dif_insn_op(insn), id = dif_insn_idx(insn);

	if (op == DIF_OP_ldgs)
		return (id >= DIF_VAR_probeprov && id <= DIF_VAR_probename) || id == DIF_VAR_id ||
		       id == DIF_VAR_epid;
	if (op >= DIF_OP_sdiv && op <= DIF_OP_urem)
		return false; /* it could fault, and each hit would tell */
	return op == DIF_OP_setx || op == DIF_OP_sets || op == DIF_OP_ret || op == DIF_OP_nop ||
	       (op >= DIF_OP_or && op <= DIF_OP_bleu);
}

static bool is_constant(const struct dif_object *o)
{
	for (uint32_t i = 0; i < o->text_len; i++)
		if (!is_constant_insn(o->text[i]))
			return false;
	return true;
}

struct vp_tramp_tuple vp_tramp_tuple_of(const struct dif_clause *clause, uint32_t action)
{
	uint32_t n = clause->actions[action].ntuple;

	n = n ? n - 1 : 0;
	n = n > action ? action : n;
	return (struct vp_tramp_tuple){ &clause->actions[action - n], n };
}

bool vp_tramp_is_constant(const struct vp_tramp_tuple *tuple)
{
	for (uint32_t i = 0; i < tuple->n; i++)
		if (!is_constant(tuple->keys[i].object))
			return false;
	return true;
}

/* The operation that aggregates a value; NOP: none does. */
static enum vp_tramp_kind kind_of(unsigned kind)
{
	switch (kind) {
	case DIF_AGG_count:
		return VP_TRAMP_COUNT;
	case DIF_AGG_sum:
	case DIF_AGG_avg:
		return VP_TRAMP_SUM;
	case DIF_AGG_min:
		return VP_TRAMP_LEAST;
	case DIF_AGG_max:
		return VP_TRAMP_MOST;
	case DIF_AGG_quantize:
		return VP_TRAMP_QUANTIZE;
	case DIF_AGG_lquantize:
		return VP_TRAMP_LQUANTIZE;
	default:
		return VP_TRAMP_NOP;
	}
}

/* lquantize()'s parameters, as dif_agg_init() has them. */
static uint32_t levels_of(uint64_t arg)
{
	return arg >> 32 & 0xffff;
}

static uint32_t step_of(uint64_t arg)
{
	return (uint32_t)(arg >> 48);
}

static uint32_t range_of(uint64_t arg)
{
	return levels_of(arg) * step_of(arg);
}

static struct ot_err *check_action(const struct dif_action *a)
{
	enum vp_tramp_kind kind = kind_of(a->kind);

	if (a->is_increment)
		return REFUSED("an increment");
	if (a->is_key)
		return a->kind == DIF_ACT_difexpr && a->object
			   ? NULL
			   : REFUSED("a key by %s()", dif_action_name(a->kind));
	if (a->kind == DIF_ACT_difexpr)
		return REFUSED("a record, which the host keeps");
	if (!DIF_ACT_IS_AGG(a->kind))
		return REFUSED("%s()", dif_action_name(a->kind));
	if (kind == VP_TRAMP_NOP || (kind != VP_TRAMP_COUNT && !a->object))
		return REFUSED("@%s(): no operation does it in place", dif_action_name(a->kind));
	if (kind == VP_TRAMP_LQUANTIZE && (!range_of(a->arg) || range_of(a->arg) >= VP_TRAMP_RANGE_MAX))
		return REFUSED("@lquantize() of so wide a range");
	return NULL;
}

struct ot_err *vp_tramp_check_actions(const struct dif_clause *clause)
{
	if (!clause->nactions)
		return REFUSED("a record");
	for (uint32_t i = 0; i < clause->nactions; i++)
		OT_TRY(check_action(&clause->actions[i]));
	return NULL;
}

/* --- words ---------------------------------------------------------------------------------------- */

/* Bytes from one of an aggregation's words to its next. */
static uint32_t stride(const struct vp_tramp_maker *m, bool keyed)
{
	return keyed ? vp_tramp_entries(&m->out->table) * 8 : 8;
}

static struct ot_err *take_words(struct vp_tramp_maker *m, uint32_t action, uint32_t nwords, bool keyed,
				 uint32_t *ret_at)
{
	struct vp_trampoline *t = m->out;
	const struct vp_tramp_guest *g = m->guest;
	uint64_t end = g->world.ring.count ? g->world.ring.at : g->data_size;
	uint64_t bytes = (uint64_t)nwords * stride(m, keyed);

	if (t->ncells == VP_TRAMP_CELLS_MAX || t->data_used + bytes > end)
		return ot_err_new(OT_ERR_LIMIT,
				  "no room for another aggregation's words, %llu bytes for each CPU",
				  (unsigned long long)bytes);
	t->cells[t->ncells++] = (struct vp_tramp_cell){ (uint32_t)(m->clause - m->site->clauses), action,
							t->data_used, nwords, keyed };
	*ret_at = t->data_used;
	t->data_used += (uint32_t)bytes;
	return NULL;
}

static struct vp_tramp_op *add_word(struct vp_tramp_maker *m, enum vp_tramp_kind kind, uint32_t at,
				    bool keyed)
{
	struct vp_tramp_op *op = vp_tramp_add(m, kind);

	op->value = at;
	op->keyed = keyed;
	if (keyed) {
		op->b = VP_TRAMP_ENTRY;
		op->size = (uint8_t)m->out->table.sets_log;
	}
	return op;
}

/* A reader that sees a hit counted also sees what it added. */
static struct ot_err *aggregate(struct vp_tramp_maker *m, uint32_t index, const struct dif_action *a,
				bool keyed)
{
	enum vp_tramp_kind kind = kind_of(a->kind);
	uint32_t first = m->out->nops, at = 0;
	bool avg = (unsigned)a->kind == DIF_AGG_avg; /* has its count first */

	OT_TRY(take_words(m, index, dif_agg_words((enum dif_agg_kind)a->kind, a->arg), keyed, &at));
	if (a->object)
		OT_TRY(vp_tramp_object(m, a->object));
	if (kind != VP_TRAMP_COUNT) {
		struct vp_tramp_op *op = add_word(m, kind, avg ? at + stride(m, keyed) : at, keyed);
		op->a = VP_TRAMP_RESULT;
		if (kind == VP_TRAMP_LQUANTIZE) {
			op->disp = (int32_t)(uint32_t)a->arg;
			op->step = (uint16_t)step_of(a->arg);
			op->levels = (uint16_t)levels_of(a->arg);
		}
	}
	if (kind == VP_TRAMP_COUNT || avg)
		add_word(m, VP_TRAMP_COUNT, at, keyed);
	return vp_tramp_registers(m, first);
}

bool vp_tramp_counts_hits(unsigned kind)
{
	return kind != DIF_AGG_sum && kind != DIF_AGG_min && kind != DIF_AGG_max;
}

/* Behind the aggregations: a reader that sees it counted also sees their values. */
static struct ot_err *count_firing(struct vp_tramp_maker *m, bool keyed)
{
	uint32_t first = m->out->nops, at = 0;

	OT_TRY(take_words(m, VP_TRAMP_FIRED, 1, keyed, &at));
	add_word(m, VP_TRAMP_COUNT, at, keyed);
	return vp_tramp_registers(m, first);
}

struct ot_err *vp_tramp_aggregations(struct vp_tramp_maker *m)
{
	const struct dif_clause *c = m->clause->clause;
	bool uncounted[2] = { false }; /* by `keyed` */

	for (uint32_t i = 0; i < c->nactions; i++) {
		const struct dif_action *a = &c->actions[i];
		if (!DIF_ACT_IS_AGG(a->kind))
			continue;
		struct vp_tramp_tuple tuple = vp_tramp_tuple_of(c, i);
		bool keyed = !vp_tramp_is_constant(&tuple);
		OT_TRY(ot_err_prefix(aggregate(m, i, a, keyed), "@%s()", dif_action_name(a->kind)));
		uncounted[keyed] |= !vp_tramp_counts_hits((unsigned)a->kind);
	}
	if (uncounted[false])
		OT_TRY(count_firing(m, false));
	return uncounted[true] ? count_firing(m, true) : NULL;
}

struct ot_err *vp_tramp_words(struct vp_tramp_maker *m)
{
	const struct dif_clause *c = m->clause->clause;

	OT_TRY(vp_tramp_check_actions(c));
	for (uint32_t i = 0; i < c->nactions; i++)
		if (c->actions[i].is_key && !is_constant(c->actions[i].object))
			return REFUSED("a key that is not constant");
	return vp_tramp_aggregations(m);
}
