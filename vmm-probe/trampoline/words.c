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

static struct ot_err *check_key(const struct dif_action *a)
{
	if (a->is_increment)
		return REFUSED("an increment");
	if (a->kind != DIF_ACT_difexpr || !a->object)
		return REFUSED("a key by %s()", dif_action_name(a->kind));
	for (uint32_t i = 0; i < a->object->text_len; i++)
		if (!is_constant_insn(a->object->text[i]))
			return REFUSED("a key that is not constant");
	return NULL;
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
	default:
		return VP_TRAMP_NOP;
	}
}

static struct ot_err *take_words(struct vp_tramp_maker *m, uint32_t action, uint32_t nwords, uint32_t *ret_at)
{
	struct vp_trampoline *t = m->out;
	const struct vp_tramp_guest *g = m->guest;
	uint64_t end = g->world.ring.count ? g->world.ring.at : g->data_size;

	if (t->ncells == VP_TRAMP_CELLS_MAX || t->data_used + nwords * 8ull > end)
		return ot_err_new(OT_ERR_LIMIT, "no room for another aggregation's words");
	t->cells[t->ncells++] =
	    (struct vp_tramp_cell){ (uint32_t)(m->clause - m->site->clauses), action, t->data_used, nwords };
	*ret_at = t->data_used;
	t->data_used += nwords * 8;
	return NULL;
}

static struct ot_err *aggregate(struct vp_tramp_maker *m, uint32_t index, const struct dif_action *a)
{
	enum vp_tramp_kind kind = kind_of(a->kind);
	uint32_t first = m->out->nops, at = 0;

	if (kind == VP_TRAMP_NOP || (kind != VP_TRAMP_COUNT && !a->object))
		return REFUSED("no operation does it in place");
	OT_TRY(take_words(m, index, dif_agg_words((enum dif_agg_kind)a->kind, a->arg), &at));
	if (a->object)
		OT_TRY(vp_tramp_object(m, a->object));
	if (kind != VP_TRAMP_COUNT) {
		struct vp_tramp_op *op = vp_tramp_add(m, kind);
		op->a = VP_TRAMP_RESULT;
		op->value = (unsigned)a->kind == DIF_AGG_avg ? at + 8 : at; /* avg() has its count first */
	}
	if (kind == VP_TRAMP_COUNT || (unsigned)a->kind == DIF_AGG_avg)
		vp_tramp_add(m, VP_TRAMP_COUNT)->value = at;
	return vp_tramp_registers(m, first);
}

/* Has it a word that differs after each hit? */
static bool counts_hits(unsigned kind)
{
	return kind == DIF_AGG_count || kind == DIF_AGG_avg || kind == DIF_AGG_quantize;
}

/* Behind the aggregations: a reader that sees it counted also sees their values. */
static struct ot_err *count_firing(struct vp_tramp_maker *m)
{
	uint32_t first = m->out->nops, at = 0;

	OT_TRY(take_words(m, VP_TRAMP_FIRED, 1, &at));
	vp_tramp_add(m, VP_TRAMP_COUNT)->value = at;
	return vp_tramp_registers(m, first);
}

struct ot_err *vp_tramp_words(struct vp_tramp_maker *m)
{
	const struct dif_clause *c = m->clause->clause;
	bool counted = true;

	if (!c->nactions)
		return REFUSED("a record");
	for (uint32_t i = 0; i < c->nactions; i++) {
		const struct dif_action *a = &c->actions[i];
		if (DIF_ACT_IS_AGG(a->kind))
			OT_TRY(ot_err_prefix(aggregate(m, i, a), "@%s()", dif_action_name(a->kind)));
		else if (a->is_key || a->is_increment)
			OT_TRY(check_key(a));
		else if (a->kind == DIF_ACT_difexpr)
			return REFUSED("a record, which the host keeps");
		else
			return REFUSED("%s()", dif_action_name(a->kind));
		counted = counted && (!DIF_ACT_IS_AGG(a->kind) || counts_hits((unsigned)a->kind));
	}
	return counted ? NULL : count_firing(m);
}
