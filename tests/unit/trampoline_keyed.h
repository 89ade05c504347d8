/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clauses that aggregate by keys that differ, and what is in the table and the words of their trampolines. */
#ifndef TESTS_UNIT_TRAMPOLINE_KEYED_H
#define TESTS_UNIT_TRAMPOLINE_KEYED_H

#include "tests/unit/trampoline_cases.h"

#define NAME   "ldgs " EXECNAME " 1; ret 1"
#define NUMBER "ldgs " ARG0 " 1; ret 1"
#define OTHER  "ldgs " ARG1 " 1; ret 1"
#define THIRD  "ldgs " ARG2 " 1; ret 1"
#define FUNC   "ldgs " PROBEFUNC " 1; ret 1"

#define TK_KEYS 4u
#define TK_AGGS 4u

struct tk_agg {
	enum dif_agg_kind kind;
	const char *value; /* NULL: it has none */
	uint64_t arg;
};

/* `/predicate/ { @[keys] = kind(value); … }`, of texts; those behind the last one are NULL or 0. */
struct tk_text {
	const char *predicate, *keys[TK_KEYS];
	struct tk_agg aggs[TK_AGGS];
};

struct tk_clause {
	struct fx_object predicate, keys[TK_KEYS], values[TK_AGGS];
	struct dif_action actions[TK_AGGS * (TK_KEYS + 1)];
	struct dif_clause clause;
};

static inline struct dif_object *tk_object(struct fx_object *o, const char *text)
{
	if (!text)
		return NULL;
	asm_object(o, text);
	if (strstr(text, EXECNAME) || strstr(text, PROBEFUNC))
		o->obj.ret =
		    (struct dif_rtype){ .kind = DIF_TYPE_STRING, .flags = DIF_TF_BYREF, .size = TF_STRSIZE };
	fx_no_error(dif_verify(&o->obj));
	return &o->obj;
}

static inline void tk_make(struct tk_clause *k, const struct tk_text *text)
{
	uint32_t n = 0, nkeys = 0;

	while (nkeys < TK_KEYS && text->keys[nkeys])
		nkeys++;
	for (uint32_t i = 0; i < nkeys; i++)
		tk_object(&k->keys[i], text->keys[i]);
	for (uint32_t i = 0; i < TK_AGGS && text->aggs[i].kind; i++) {
		for (uint32_t key = 0; key < nkeys; key++)
			k->actions[n++] = (struct dif_action){ .kind = DIF_ACT_difexpr,
							       .is_key = true,
							       .object = &k->keys[key].obj };
		k->actions[n++] =
		    (struct dif_action){ .kind = (enum dif_action_kind)text->aggs[i].kind,
					 .ntuple = (uint16_t)(nkeys + 1),
					 .arg = text->aggs[i].arg,
					 .object = tk_object(&k->values[i], text->aggs[i].value) };
	}
	k->clause = (struct dif_clause){ .actions = k->actions, .nactions = n };
	k->clause.predicate = tk_object(&k->predicate, text->predicate);
}

/* The entry of a key that is put into a way of its set. */
static inline uint32_t tk_add(const struct tf_machine *m, const uint64_t *key, unsigned way)
{
	const struct vp_tramp_table *t = &m->t.table;
	uint32_t entry = vp_tramp_set_of(key, t->nwords, t->sets_log) * VP_TRAMP_WAYS + way;

	memcpy(tf_key(m, entry), key, t->nwords * sizeof(*key));
	return entry;
}

/* Word @word of a cell, of an entry if it has them. */
static inline uint64_t *tk_word(const struct tf_machine *m, unsigned cpu, uint32_t cell, uint32_t word,
				uint32_t entry)
{
	const struct vp_tramp_cell *c = &m->t.cells[cell];
	uint32_t at = c->keyed ? word * vp_tramp_entries(&m->t.table) + entry : word;

	return tf_word(m, cpu, c->at + at * 8);
}

/* The sum of a word of all entries, so that nothing is counted elsewhere. */
static inline uint64_t tk_all(const struct tf_machine *m, uint32_t cell, uint32_t word)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < vp_tramp_entries(&m->t.table); i++)
		n += *tk_word(m, m->cpu, cell, word, i);
	return n;
}

/* Compile clauses, with an empty table. */
static inline void tk_compile(struct tf_machine *m, struct tk_clause *clauses, uint32_t n)
{
	struct dif_clause list[4];

	for (uint32_t i = 0; i < n; i++)
		list[i] = clauses[i].clause;
	tf_give_keys(m);
	fx_no_error(tf_compile(m, list, n, VP_ARGS_FBT_ENTRY));
	assert_false(m->t.exits);
	assert_int_not_equal(m->t.table.nwords, 0);
	assert_int_not_equal(m->exit_at, 0);
}

/* How often a hit with these registers exits, with the registers that it began with. */
static inline unsigned tk_exits(struct tf_machine *m, struct tf_regs regs)
{
	tf_hit_checked(m, &regs);
	if (m->exits)
		for (unsigned i = 0; i < 16; i++)
			if (i != VP_RAX && i != VP_R10 && i != VP_R11 && i != VP_RSP)
				assert_int_equal(m->at_exit.r[i], regs.r[i]);
	return m->exits;
}

#endif
