/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An aggregation by a key that differs from hit to hit: `@[execname] = count()`. The trampoline looks the key
 * up in a table of keys that the engine fills as they occur, and adds to that entry's words of its CPU. For a
 * key that is not there the vCPU exits, and the hit is taken as any other.
 *
 * An exit carries out the whole clause, so nothing may have been done before: the clause is the site's only
 * one, with one aggregation.
 */
#include "vmm-probe/trampoline/maker.h"

#define REFUSED(...) ot_err_new(OT_ERR_UNSUPPORTED, __VA_ARGS__)

/* --- the key -------------------------------------------------------------------------------------- */

static bool is_execname(const struct dif_object *o)
{
	return o->text_len == 2 && dif_insn_op(o->text[0]) == DIF_OP_ldgs &&
	       dif_insn_idx(o->text[0]) == DIF_VAR_execname && dif_insn_op(o->text[1]) == DIF_OP_ret &&
	       dif_insn_rd(o->text[0]) == dif_insn_rd(o->text[1]);
}

static void load_word(struct vp_tramp_maker *m, unsigned dst, uint32_t at)
{
	struct vp_tramp_op *op = vp_tramp_add(m, VP_TRAMP_LOAD_TASK);

	op->dst = (uint8_t)dst;
	op->disp = (int32_t)at;
	op->size = 8;
}

/* All bytes, with those behind the NUL: one name may have several keys, which the engine adds up. */
static struct ot_err *name(struct vp_tramp_maker *m)
{
	const struct vp_tramp_guest *g = m->guest;

	if (g->facts->task_comm > g->task_size || g->facts->task_comm_size != VP_TRAMP_KEY ||
	    g->strsize <= VP_TRAMP_KEY)
		return REFUSED("execname, whose place or size is not as expected");
	load_word(m, VP_TRAMP_FIRST, g->facts->task_comm);
	load_word(m, VP_TRAMP_SECOND, g->facts->task_comm + 8);
	return NULL;
}

static struct ot_err *number(struct vp_tramp_maker *m, const struct dif_object *o)
{
	OT_TRY(vp_tramp_object(m, o));
	struct vp_tramp_op *op = vp_tramp_add(m, VP_TRAMP_MOV);
	op->dst = VP_TRAMP_FIRST;
	op->a = VP_TRAMP_RESULT;
	op = vp_tramp_add(m, VP_TRAMP_CONST);
	op->dst = VP_TRAMP_SECOND;
	op->value = 0;
	return NULL;
}

static struct ot_err *key(struct vp_tramp_maker *m, const struct dif_action *a)
{
	if (!a->is_key || a->is_increment || a->kind != DIF_ACT_difexpr || !a->object)
		return REFUSED("a key by %s()", dif_action_name(a->kind));
	if (is_execname(a->object))
		return name(m);
	if (a->object->ret.flags & (DIF_TF_BYREF | DIF_TF_BYUREF))
		return REFUSED("a key that is neither a number nor execname");
	return number(m, a->object);
}

/* --- the aggregation ------------------------------------------------------------------------------ */

/* A count of hits, then sum() and avg() have the sum. */
static uint32_t words_of(unsigned kind)
{
	switch (kind) {
	case DIF_AGG_count:
		return 1;
	case DIF_AGG_sum:
	case DIF_AGG_avg:
		return 2;
	default:
		return 0;
	}
}

static struct ot_err *take_table(struct vp_tramp_maker *m, uint32_t action, uint32_t nwords)
{
	const struct vp_tramp_guest *g = m->guest;
	struct vp_trampoline *t = m->out;
	uint64_t end = g->world.ring.count ? g->world.ring.at : g->data_size;
	uint64_t bytes = (uint64_t)nwords * VP_TRAMP_ENTRIES * 8;

	if (!g->world.keys || t->data_used + bytes > end)
		return ot_err_new(OT_ERR_LIMIT, "no room for another table of keys");
	t->table =
	    (struct vp_tramp_table){ (uint32_t)(m->clause - m->site->clauses), action, t->data_used, nwords };
	t->data_used += (uint32_t)bytes;
	return NULL;
}

static void add_to_entry(struct vp_tramp_maker *m, enum vp_tramp_kind kind, uint32_t word)
{
	struct vp_tramp_op *op = vp_tramp_add(m, kind);

	op->a = VP_TRAMP_RESULT;
	op->b = VP_TRAMP_ENTRY;
	op->value = m->out->table.at + word * VP_TRAMP_ENTRIES * 8;
}

/* A reader that sees a hit counted also sees what it added. */
static struct ot_err *aggregate(struct vp_tramp_maker *m, const struct dif_action *a, uint32_t nwords)
{
	if (nwords > 1)
		OT_TRY(vp_tramp_object(m, a->object));
	struct vp_tramp_op *op = vp_tramp_add(m, VP_TRAMP_KEYED);
	op->dst = VP_TRAMP_ENTRY;
	op->a = VP_TRAMP_FIRST;
	op->b = VP_TRAMP_SECOND;
	op->target = VP_TRAMP_MISS;
	if (nwords > 1)
		add_to_entry(m, VP_TRAMP_SUM_KEYED, 1);
	add_to_entry(m, VP_TRAMP_COUNT_KEYED, 0);
	return NULL;
}

struct ot_err *vp_tramp_keyed(struct vp_tramp_maker *m)
{
	const struct dif_clause *c = m->clause->clause;
	const struct dif_action *a = &c->actions[1];
	uint32_t first = m->out->nops;

	if (m->site->nclauses != 1 || c->nactions != 2 || !DIF_ACT_IS_AGG(a->kind) || a->ntuple != 2)
		return REFUSED("more than one aggregation by one key");
	uint32_t nwords = words_of((unsigned)a->kind);
	if (!nwords || (nwords > 1) != (a->object != NULL))
		return REFUSED("@%s(), which no table does in place", dif_action_name(a->kind));
	OT_TRY(take_table(m, 1, nwords));
	OT_TRY(ot_err_prefix(key(m, &c->actions[0]), "its key"));
	OT_TRY(aggregate(m, a, nwords));
	return vp_tramp_registers(m, first);
}
