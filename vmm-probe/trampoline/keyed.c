/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregations by a key that differs from hit to hit: `@[execname, pid] = count()`. The trampoline looks the
 * key up in a table of keys that the engine fills as they occur, and changes that entry's words of its CPU.
 * For a key that is not there the vCPU exits, and the hit is taken as any other.
 *
 * An exit carries out all of the site's clauses, so nothing may have been done before. Hence one key for all
 * of them, looked up once, before anything else; it stays in the table, so the entry is good for all clauses
 * with that key. Behind them come those whose keys are the same at each hit.
 */
#include <string.h>

#include "dif/obj/layout.h"
#include "vmm-probe/trampoline/maker.h"

#define REFUSED(...) ot_err_new(OT_ERR_UNSUPPORTED, __VA_ARGS__)

/* --- the key -------------------------------------------------------------------------------------- */

/* The built-in variable that is all of the object; 0: it is something else. */
static uint32_t variable_of(const struct dif_object *o)
{
	if (o->text_len != 2 || dif_insn_op(o->text[0]) != DIF_OP_ldgs ||
	    dif_insn_op(o->text[1]) != DIF_OP_ret || dif_insn_rd(o->text[0]) != dif_insn_rd(o->text[1]))
		return 0;
	return dif_insn_idx(o->text[0]);
}

static bool is_number(const struct dif_object *o)
{
	return !(o->ret.flags & (DIF_TF_BYREF | DIF_TF_BYUREF));
}

/* A name of the probe's, which is the same at each hit of a site. */
static bool names_probe(const struct dif_object *o)
{
	uint32_t var = variable_of(o);

	return var >= DIF_VAR_probeprov && var <= DIF_VAR_probename;
}

/* How many words of a key the element is; 0: it can't be part of one. The engine's own keys have one for a
 * name of the probe's too. */
static uint32_t words_of(const struct dif_object *o)
{
	if (variable_of(o) == DIF_VAR_execname)
		return 2;
	return is_number(o) || names_probe(o) ? 1 : 0;
}

static bool is_same_object(const struct dif_object *a, const struct dif_object *b)
{
	return a->text_len == b->text_len && a->int_len == b->int_len && a->str_len == b->str_len &&
	       a->ret.flags == b->ret.flags && !memcmp(a->text, b->text, a->text_len * sizeof(*a->text)) &&
	       (!a->int_len || !memcmp(a->ints, b->ints, a->int_len * sizeof(*a->ints))) &&
	       (!a->str_len || !memcmp(a->strs, b->strs, a->str_len));
}

static bool is_same_tuple(const struct vp_tramp_tuple *a, const struct vp_tramp_tuple *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!is_same_object(a->keys[i].object, b->keys[i].object))
			return false;
	return true;
}

/* The table's words of a key: 0, if a table has no room for so many. */
static uint32_t table_words(const struct vp_tramp_tuple *tuple)
{
	uint32_t numbers = 0, names = 0, n;

	for (uint32_t i = 0; i < tuple->n; i++) {
		names += words_of(tuple->keys[i].object) == 2;
		numbers += is_number(tuple->keys[i].object);
	}
	n = names ? 2 + numbers : 1 + numbers;
	return names > 1 || n > VP_TRAMP_KEY_WORDS ? 0 : n;
}

static struct ot_err *check_tuple(const struct vp_tramp_tuple *tuple)
{
	uint32_t nwords = 0;

	for (uint32_t i = 0; i < tuple->n; i++) {
		uint32_t n = words_of(tuple->keys[i].object);
		if (!n)
			return REFUSED("a key that is neither a number, execname nor a name of the probe's");
		nwords += n;
	}
	if (nwords > VP_TRAMP_KEY_WORDS || !table_words(tuple))
		return REFUSED(
		    "a key of more than three numbers, or of more than four words (execname has two)");
	return NULL;
}

/* All of the clauses' actions are aggregations, by constant keys or by one that differs, which is *ret. */
static struct ot_err *find_key(const struct vp_tramp_maker *m, struct vp_tramp_tuple *ret)
{
	struct vp_tramp_tuple found = { .n = 0 };

	for (uint32_t i = 0; i < m->site->nclauses; i++) {
		const struct dif_clause *c = m->site->clauses[i].clause;
		OT_TRY(ot_err_prefix(vp_tramp_check_actions(c), "clause %u", i + 1));
		for (uint32_t k = 0; k < c->nactions; k++) {
			struct vp_tramp_tuple tuple = vp_tramp_tuple_of(c, k);
			if (!DIF_ACT_IS_AGG(c->actions[k].kind) || vp_tramp_is_constant(&tuple))
				continue;
			if (found.n && !is_same_tuple(&found, &tuple))
				return REFUSED("clause %u: another key than an earlier aggregation's", i + 1);
			found = tuple;
		}
	}
	if (!found.n)
		return REFUSED("no key that differs");
	*ret = found;
	return ot_err_prefix(check_tuple(&found), "its key");
}

/* --- the table ------------------------------------------------------------------------------------ */

/* The words of an entry that a clause has. */
static uint32_t clause_words(const struct dif_clause *c)
{
	uint32_t n = 0, uncounted = 0;

	for (uint32_t i = 0; i < c->nactions; i++) {
		struct vp_tramp_tuple tuple = vp_tramp_tuple_of(c, i);
		if (!DIF_ACT_IS_AGG(c->actions[i].kind) || vp_tramp_is_constant(&tuple))
			continue;
		n += dif_agg_words((enum dif_agg_kind)c->actions[i].kind, c->actions[i].arg);
		uncounted |= !vp_tramp_counts_hits((unsigned)c->actions[i].kind);
	}
	return n + uncounted;
}

/* Bytes of each CPU's data that an entry has. */
static uint32_t entry_bytes(const struct vp_tramp_maker *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->site->nclauses; i++)
		n += clause_words(m->site->clauses[i].clause);
	return n * 8;
}

/* Entries of many words, and tables for which little room is left, have fewer entries. */
static struct ot_err *take_table(struct vp_tramp_maker *m, const struct vp_tramp_tuple *tuple)
{
	const struct vp_tramp_guest *g = m->guest;
	struct vp_tramp_table t = { .sets_log = g->sets_log ? g->sets_log : VP_TRAMP_SETS_LOG };
	uint32_t bytes = entry_bytes(m);
	uint64_t keys = g->world.keys_end - g->world.keys_from;
	uint64_t end = g->world.ring.count ? g->world.ring.at : g->data_size;
	uint64_t left = end > m->out->data_used ? end - m->out->data_used : 0;

	t.nwords = table_words(tuple);
	left = left > VP_TRAMP_TABLE_MAX ? VP_TRAMP_TABLE_MAX : left;
	while (t.sets_log > VP_TRAMP_SETS_LEAST &&
	       ((uint64_t)bytes * vp_tramp_entries(&t) > left || vp_tramp_table_bytes(&t) > keys))
		t.sets_log--;
	if ((uint64_t)bytes * vp_tramp_entries(&t) > left || vp_tramp_table_bytes(&t) > keys)
		return ot_err_new(
		    keys ? OT_ERR_LIMIT : OT_ERR_UNSUPPORTED,
		    "no room for another table of %u keys, %u bytes for them and %llu for each CPU",
		    vp_tramp_entries(&t), vp_tramp_table_bytes(&t),
		    (unsigned long long)bytes * vp_tramp_entries(&t));
	t.keys = g->world.keys_end - vp_tramp_table_bytes(&t);
	m->out->table = t;
	return NULL;
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

	if (g->facts->task_comm > g->task_size || g->facts->task_comm_size != 16 || g->strsize <= 16)
		return REFUSED("execname, whose place or size is not as expected");
	load_word(m, VP_TRAMP_WORD, g->facts->task_comm);
	load_word(m, VP_TRAMP_WORD + 1, g->facts->task_comm + 8);
	return NULL;
}

static struct ot_err *number(struct vp_tramp_maker *m, const struct dif_object *o, uint32_t word)
{
	OT_TRY(vp_tramp_object(m, o));
	struct vp_tramp_op *op = vp_tramp_add(m, VP_TRAMP_MOV);
	op->dst = (uint8_t)(VP_TRAMP_WORD + word);
	op->a = VP_TRAMP_RESULT;
	if (word)
		return NULL;
	op = vp_tramp_add(m, VP_TRAMP_CONST);
	op->dst = VP_TRAMP_WORD + 1;
	op->value = 0;
	return NULL;
}

/* The key's words, in the order of struct vp_tramp_table. */
static struct ot_err *words(struct vp_tramp_maker *m, const struct vp_tramp_tuple *tuple)
{
	uint32_t word = 0;

	for (uint32_t i = 0; i < tuple->n; i++)
		if (words_of(tuple->keys[i].object) == 2) {
			OT_TRY(name(m));
			word = 2;
		}
	for (uint32_t i = 0; i < tuple->n; i++)
		if (is_number(tuple->keys[i].object)) {
			OT_TRY(number(m, tuple->keys[i].object, word));
			word = word ? word + 1 : 2;
		}
	return NULL;
}

static struct ot_err *look_up(struct vp_tramp_maker *m, const struct vp_tramp_tuple *tuple)
{
	const struct vp_tramp_table *t = &m->out->table;
	uint32_t first = m->out->nops;

	OT_TRY(ot_err_prefix(words(m, tuple), "its key"));
	struct vp_tramp_op *op = vp_tramp_add(m, VP_TRAMP_KEYED);
	op->dst = VP_TRAMP_ENTRY;
	op->a = VP_TRAMP_WORD;
	op->b = VP_TRAMP_WORD + 1;
	op->c = t->nwords > 2 ? VP_TRAMP_WORD + 2 : VP_TRAMP_IMM;
	op->d = t->nwords > 3 ? VP_TRAMP_WORD + 3 : VP_TRAMP_IMM;
	op->size = (uint8_t)t->sets_log;
	op->value = t->keys;
	op->target = VP_TRAMP_MISS;
	return vp_tramp_registers(m, first);
}

/* --- the clauses ---------------------------------------------------------------------------------- */

static bool has_key(const struct dif_clause *c)
{
	for (uint32_t i = 0; i < c->nactions; i++) {
		struct vp_tramp_tuple tuple = vp_tramp_tuple_of(c, i);
		if (DIF_ACT_IS_AGG(c->actions[i].kind) && !vp_tramp_is_constant(&tuple))
			return true;
	}
	return false;
}

/* Clauses with the key, and without. @told: their predicates are known to be true. */
static struct ot_err *clauses(struct vp_tramp_maker *m, bool keyed, bool told)
{
	for (uint32_t i = 0; i < m->site->nclauses; i++) {
		uint32_t first = m->out->nops;
		m->clause = &m->site->clauses[i];
		if (has_key(m->clause->clause) != keyed)
			continue;
		if (!told)
			OT_TRY(vp_tramp_predicate(m, VP_TRAMP_EQUAL));
		OT_TRY(ot_err_prefix(vp_tramp_aggregations(m), "clause %u", i + 1));
		vp_tramp_land(m, first);
	}
	return NULL;
}

/* Is a clause with the key certain to fire? Else *ret_n says how many there are. */
static bool is_needed(const struct vp_tramp_maker *m, uint32_t *ret_n)
{
	bool needed = false;

	*ret_n = 0;
	for (uint32_t i = 0; i < m->site->nclauses; i++) {
		const struct dif_clause *c = m->site->clauses[i].clause;
		needed |= has_key(c) && !c->predicate;
		*ret_n += has_key(c);
	}
	return needed;
}

/* Go on behind the lookup, at VP_TRAMP_SKIP, unless one of them fires. With more than one of them, each
 * predicate is evaluated again behind the lookup, as there is no register for what they said. If what they
 * read has changed, it is the second answer that counts, which is one at this hit too. */
static struct ot_err *ask(struct vp_tramp_maker *m, uint32_t n)
{
	uint32_t first = m->out->nops;

	for (uint32_t i = 0; i < m->site->nclauses; i++) {
		m->clause = &m->site->clauses[i];
		if (has_key(m->clause->clause))
			OT_TRY(vp_tramp_predicate(m, n == 1 ? VP_TRAMP_EQUAL : VP_TRAMP_NOT_EQUAL));
	}
	if (n == 1)
		return NULL;
	struct vp_tramp_op *past = vp_tramp_add(m, VP_TRAMP_JUMP);
	vp_tramp_land(m, first);
	past->target = VP_TRAMP_SKIP;
	return NULL;
}

/* A register that no operation of the site's spends. */
static uint8_t entry_register(const struct vp_tramp_maker *m)
{
	for (uint32_t i = 0; i < m->site->nclauses; i++)
		for (uint32_t k = 0; k < m->site->clauses[i].clause->nactions; k++)
			switch ((unsigned)m->site->clauses[i].clause->actions[k].kind) {
			case DIF_AGG_min:
			case DIF_AGG_max:
			case DIF_AGG_quantize:
			case DIF_AGG_lquantize:
				return VP_TRAMP_SPENT;
			default:
				break;
			}
	return VP_TRAMP_SPENT - 1;
}

struct ot_err *vp_tramp_keyed(struct vp_tramp_maker *m)
{
	struct vp_tramp_tuple tuple;
	uint32_t first = m->out->nops, n;

	OT_TRY(find_key(m, &tuple));
	OT_TRY(take_table(m, &tuple));
	bool needed = is_needed(m, &n);
	if (!needed)
		OT_TRY(ask(m, n));
	m->entry = entry_register(m);
	struct ot_err *err = look_up(m, &tuple);
	if (!err)
		err = clauses(m, true, !needed && n == 1);
	m->entry = 0;
	if (err)
		return err;
	vp_tramp_land(m, first);
	OT_TRY(clauses(m, false, false));
	return m->full ? ot_err_new(OT_ERR_LIMIT, "a trampoline of more than %u operations", VP_TRAMP_OPS_MAX)
		       : NULL;
}
