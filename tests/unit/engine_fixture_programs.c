/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs of the engine tests, assembled by hand: objects, clauses, actions. */
#include "tests/unit/engine_fixture.h"

#include <string.h>

static const struct dif_rtype u64_type = { .ckind = DIF_CTF_INTEGER, .size = 8 };
static const struct dif_rtype string_type = { .kind = DIF_TYPE_STRING,
					      .ckind = DIF_CTF_UNKNOWN,
					      .flags = DIF_TF_BYREF };

static void *need(void *p)
{
	assert_non_null(p);
	return p;
}

struct dif_object *ef_obj(struct ef *f, const uint32_t *text, uint32_t len, struct dif_rtype ret)
{
	struct dif_object *o = need(ot_arena_new(&f->prog.arena, struct dif_object));

	o->text = need(ot_arena_alloc(&f->prog.arena, len * sizeof(*text)));
	memcpy(o->text, text, len * sizeof(*text));
	o->text_len = len;
	o->ints = need(ot_arena_alloc(&f->prog.arena, 4 * sizeof(uint64_t)));
	o->strs = need(ot_arena_strdup(&f->prog.arena, ""));
	o->str_len = 1;
	o->ret = ret;
	return o;
}

static void set_int(struct dif_object *o, uint64_t value)
{
	o->ints[0] = value;
	o->int_len = 1;
}

struct dif_object *ef_int(struct ef *f, uint64_t value)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_setx, 0, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);

	set_int(o, value);
	return o;
}

struct dif_object *ef_var(struct ef *f, uint32_t var)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_ldgs, var, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };

	return ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);
}

struct dif_object *ef_elem(struct ef *f, uint32_t array, uint64_t index)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_setx, 0, 1), dif_insn(DIF_OP_ldga, array, 1, 1),
				  dif_insn(DIF_OP_ret, 0, 0, 1) };
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);

	o->ints[0] = index;
	o->int_len = 1;
	return o;
}

struct dif_object *ef_string_var(struct ef *f, uint32_t var)
{
	struct dif_object *o = ef_var(f, var);

	o->ret = string_type;
	return o;
}

struct dif_object *ef_string(struct ef *f, const char *s)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_sets, 1, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), string_type);

	o->strs = need(ot_arena_alloc(&f->prog.arena, strlen(s) + 2));
	memcpy(o->strs + 1, s, strlen(s) + 1);
	o->str_len = (uint32_t)strlen(s) + 2;
	return o;
}

struct dif_object *ef_var_eq(struct ef *f, uint32_t var, uint64_t value)
{
	const uint32_t text[] = {
		dif_insn_index(DIF_OP_ldgs, var, 1), dif_insn_index(DIF_OP_setx, 0, 2),
		dif_insn(DIF_OP_cmp, 1, 2, 0),       dif_insn_branch(DIF_OP_be, 6),
		dif_insn(DIF_OP_mov, 0, 0, 1),       dif_insn(DIF_OP_ret, 0, 0, 1),
		dif_insn_index(DIF_OP_setx, 1, 1),   dif_insn(DIF_OP_ret, 0, 0, 1),
	};
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);

	o->ints[0] = value;
	o->ints[1] = 1;
	o->int_len = 2;
	return o;
}

struct dif_object *ef_deref(struct ef *f, uint64_t address, bool user)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_setx, 0, 1),
				  dif_insn(user ? DIF_OP_uldx : DIF_OP_ldx, 1, 0, 1),
				  dif_insn(DIF_OP_ret, 0, 0, 1) };
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);

	set_int(o, address);
	return o;
}

static void add_variable(struct ef *f, struct dif_object *o, uint32_t id, unsigned scope)
{
	o->vars = need(ot_arena_new(&f->prog.arena, struct dif_var));
	*o->vars = (struct dif_var){
		.id = id,
		.kind = DIF_VARKIND_SCALAR,
		.scope = (uint8_t)scope,
		.flags = DIF_VARF_REF | DIF_VARF_MOD,
		.type = u64_type,
	};
	o->var_len = 1;
}

struct dif_object *ef_global_add(struct ef *f, uint32_t id, uint64_t value)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_ldgs, id, 1), dif_insn_index(DIF_OP_setx, 0, 2),
				  dif_insn(DIF_OP_add, 1, 2, 1), dif_insn_index(DIF_OP_stgs, id, 1),
				  dif_insn(DIF_OP_ret, 0, 0, 1) };
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);

	set_int(o, value);
	add_variable(f, o, id, DIF_SCOPE_GLOBAL);
	return o;
}

struct dif_object *ef_global(struct ef *f, uint32_t id)
{
	struct dif_object *o = ef_var(f, id);

	add_variable(f, o, id, DIF_SCOPE_GLOBAL);
	return o;
}

struct dif_object *ef_call(struct ef *f, uint32_t subr)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_call, subr, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };

	return ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);
}

struct dif_object *ef_self_set(struct ef *f, uint32_t id, struct dif_object *value)
{
	uint32_t text[16], n = value->text_len - 1; /* all but its ret */

	assert_true(n + 3 <= OT_ARRAY_SIZE(text));
	memcpy(text, value->text, n * sizeof(*text));
	text[n++] = dif_insn_index(DIF_OP_stts, id, 1);
	text[n++] = dif_insn_index(DIF_OP_ldts, id, 1);
	text[n++] = dif_insn(DIF_OP_ret, 0, 0, 1);
	struct dif_object *o = ef_obj(f, text, n, u64_type);
	memcpy(o->ints, value->ints, value->int_len * sizeof(*o->ints));
	o->int_len = value->int_len;
	add_variable(f, o, id, DIF_SCOPE_THREAD);
	return o;
}

struct dif_object *ef_self(struct ef *f, uint32_t id)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_ldts, id, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };
	struct dif_object *o = ef_obj(f, text, OT_ARRAY_SIZE(text), u64_type);

	add_variable(f, o, id, DIF_SCOPE_THREAD);
	return o;
}

uint32_t ef_clause(struct ef *f, struct dif_object *predicate)
{
	uint32_t i = f->prog.nclauses++;

	assert_true(i < EF_CLAUSES_MAX);
	f->prog.clauses[i] = (struct dif_clause){
		.probe = { "", "", "", "", "", 0 },
		.predicate = predicate,
		.actions = need(ot_arena_alloc(&f->prog.arena, EF_ACTIONS_MAX * sizeof(struct dif_action))),
	};
	return i;
}

struct dif_action *ef_action(struct ef *f, uint32_t clause, uint32_t kind, struct dif_object *object)
{
	struct dif_clause *c = &f->prog.clauses[clause];
	struct dif_action *a = &c->actions[c->nactions++];

	assert_true(c->nactions <= EF_ACTIONS_MAX);
	*a = (struct dif_action){ .kind = (enum dif_action_kind)kind, .object = object };
	return a;
}

struct dif_action *ef_key(struct ef *f, uint32_t clause, struct dif_object *object)
{
	struct dif_action *a = ef_action(f, clause, DIF_ACT_difexpr, object);

	a->is_key = true;
	return a;
}

struct dif_action *ef_agg(struct ef *f, uint32_t clause, uint32_t kind, struct dif_object *object,
			  uint32_t nkeys)
{
	struct dif_action *a = ef_action(f, clause, kind, object);
	uint32_t id = ++f->prog.naggs;

	assert_true(id <= EF_AGGS_MAX);
	a->ntuple = nkeys + 1;
	a->aggid = id;
	f->prog.aggs[id - 1] = (struct dif_aggvar){
		.name = need(ot_arena_printf(&f->prog.arena, "a%u", id)),
		.id = id,
		.kind = (enum dif_agg_kind)kind,
		.nkeys = nkeys,
	};
	return a;
}
