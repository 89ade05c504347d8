/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules about whole programs: each broken by a program that is right but for it. */
#include "tests/unit/dif_rules.h"

/* A program of one clause with up to 8 actions, all with objects of their own. */
struct fixture {
	struct dif_program prog;
	struct dif_clause clause;
	struct dif_action actions[8];
	struct dif_aggvar aggs[2];
	struct fx_object value, string, predicate;
};

static void fixture_init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->clause.probe = (struct dif_probedesc){ "", "fbt", "", "vfs_*", "entry", 0 };
	f->clause.actions = f->actions;
	f->prog.clauses = &f->clause;
	f->prog.nclauses = 1;
	f->aggs[0] = (struct dif_aggvar){ "_", 1, DIF_AGG_count, 0, 0 };
	f->aggs[1] = (struct dif_aggvar){ "q", 2, DIF_AGG_quantize, 0, 1 };
	f->prog.aggs = f->aggs;
	f->prog.naggs = 2;
	fx_object_init(&f->value);
	fx_ret(&f->value, 0);
	fx_object_init(&f->predicate);
	fx_ret(&f->predicate, 0);
	fx_object_init(&f->string);
	f->string.obj.ret = FX_STRING;
	fx_ret(&f->string, 0);
}

static struct dif_action *add(struct fixture *f, uint32_t kind, struct fx_object *o)
{
	struct dif_action *a = &f->actions[f->clause.nactions++];

	*a = (struct dif_action){ .kind = (enum dif_action_kind)kind, .object = o ? &o->obj : NULL };
	return a;
}

static void expect(struct fixture *f, const char *rule)
{
	rule_expect(dif_program_verify(&f->prog), rule);
}

static void add_quantize(struct fixture *f)
{
	add(f, DIF_ACT_difexpr, &f->string)->is_key = true;
	struct dif_action *incr = add(f, DIF_ACT_difexpr, &f->value);
	incr->is_increment = true;
	struct dif_action *agg = add(f, DIF_AGG_quantize, &f->value);
	agg->aggid = 2;
	agg->ntuple = 3;
}

static void right_programs(void **state)
{
	struct fixture f;
	(void)state;

	fixture_init(&f);
	expect(&f, NULL); /* the default action */
	f.clause.predicate = &f.predicate.obj;
	add(&f, DIF_ACT_difexpr, &f.value);
	add(&f, DIF_ACT_printf, NULL)->format = "hello";
	add(&f, DIF_ACT_stack, NULL);
	add_quantize(&f);
	struct dif_action *count = add(&f, DIF_AGG_count, NULL);
	count->aggid = count->ntuple = 1;
	add(&f, DIF_ACT_exit, &f.value);
	expect(&f, NULL);
}

static void rule_31_numbers(void **state)
{
	struct fixture f;
	(void)state;

	about(31, 31);
	fixture_init(&f);
	expect(&f, NULL);
	f.clause.nactions = 16385;
	expect(&f, "rule 31 ");
	fixture_init(&f);
	f.prog.naggs = 4097;
	expect(&f, "rule 31 ");
}

static void rule_32_probe(void **state)
{
	char name[193];
	struct fixture f;
	(void)state;

	about(32, 32);
	memset(name, 'n', sizeof(name));
	name[192] = 0;
	fixture_init(&f);
	f.clause.probe.function = name + 1;
	expect(&f, NULL);
	f.clause.probe.function = name;
	expect(&f, "rule 32 ");
	f.clause.probe.function = "";
	f.clause.probe.provider = name + 192 - 63;
	expect(&f, NULL);
	f.clause.probe.provider = name + 192 - 64;
	expect(&f, "rule 32 ");
}

static void rule_33_to_35_actions(void **state)
{
	struct fixture f;
	(void)state;

	about(33, 35);
	fixture_init(&f);
	add(&f, DIF_ACT_exit, &f.value);
	add(&f, DIF_ACT_tracemem, &f.string);
	add(&f, DIF_ACT_stack, NULL);
	expect(&f, NULL);
	fixture_init(&f);
	add(&f, 0x0a00, NULL);
	expect(&f, "rule 33 ");
	fixture_init(&f);
	add(&f, DIF_ACT_difexpr, NULL);
	expect(&f, "rule 34 ");
	fixture_init(&f);
	add(&f, DIF_ACT_stack, &f.value);
	expect(&f, "rule 34 ");
	fixture_init(&f);
	add(&f, DIF_ACT_exit, &f.string);
	expect(&f, "rule 35 ");
	fixture_init(&f);
	add(&f, DIF_ACT_tracemem, &f.value);
	expect(&f, "rule 35 ");
	fixture_init(&f);
	f.clause.predicate = &f.string.obj;
	expect(&f, "rule 35 ");
	fixture_init(&f);
	f.value.text[0] = 0; /* the objects themselves are verified */
	add(&f, DIF_ACT_difexpr, &f.value);
	expect(&f, "rule 2 ");
}

static void rule_36_variables(void **state)
{
	struct dif_rtype sized = FX_STRING;
	struct fixture f;
	(void)state;

	about(36, 36);
	for (int i = 0; i < 4; i++) {
		fixture_init(&f);
		sized.size = i == 1 ? 64 : 0;
		fx_var(&f.value, "v", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, i == 0 ? FX_INT : sized);
		sized.size = i == 1 ? 65 : 64;
		fx_var(&f.predicate, "v", 0x500, DIF_VARKIND_SCALAR,
		       i == 3 ? DIF_SCOPE_THREAD : DIF_SCOPE_GLOBAL, sized);
		f.clause.predicate = &f.predicate.obj;
		add(&f, DIF_ACT_difexpr, &f.value);
		/* 0: other type; 1: other size; 2: a size of 0 matches; 3: another scope is another one */
		expect(&f, i < 2 ? "rule 36 " : NULL);
	}
	fixture_init(&f);
	fx_var(&f.value, "v", 0x500, DIF_VARKIND_ARRAY, DIF_SCOPE_GLOBAL, FX_INT);
	fx_var(&f.predicate, "v", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, FX_INT);
	f.clause.predicate = &f.predicate.obj;
	add(&f, DIF_ACT_difexpr, &f.value);
	expect(&f, "rule 36 ");
}

static void rule_37_and_38_printf_stack(void **state)
{
	struct fixture f;
	(void)state;

	about(37, 38);
	fixture_init(&f);
	struct dif_action *a = add(&f, DIF_ACT_printf, &f.value);
	expect(&f, "rule 37 ");
	a->format = "%d %d";
	a->uarg = 7;
	add(&f, DIF_ACT_printf, &f.value)->uarg = 7;
	expect(&f, NULL);
	add(&f, DIF_ACT_printf, &f.value)->uarg = 8;
	expect(&f, "rule 37 ");
	fixture_init(&f);
	add(&f, DIF_ACT_printa, NULL)->aggid = 2;
	expect(&f, NULL);
	f.actions[0].aggid = 3;
	expect(&f, "rule 37 ");

	fixture_init(&f);
	a = add(&f, DIF_ACT_stack, NULL);
	a->arg = 1024;
	expect(&f, NULL);
	a->arg = 1025;
	expect(&f, "rule 38 ");
	a->kind = DIF_ACT_ustack;
	expect(&f, "rule 38 ");
	a->arg = 65537ull << 32 | 5;
	expect(&f, "rule 38 ");
}

static void rule_39_to_41_aggregations(void **state)
{
	struct fixture f;
	(void)state;

	about(39, 41);
	fixture_init(&f);
	add_quantize(&f);
	expect(&f, NULL);
	f.actions[2].aggid = 0;
	expect(&f, "rule 39 ");
	f.actions[2].aggid = 3;
	expect(&f, "rule 39 ");
	f.actions[2].aggid = 1;
	expect(&f, "rule 39 ");
	f.actions[2].aggid = 2;
	f.actions[2].arg = 1;
	expect(&f, "rule 39 ");
	f.actions[2].arg = 0;
	f.actions[2].ntuple = 2;
	expect(&f, "rule 40 ");
	f.actions[2].ntuple = 3;
	f.aggs[1].nkeys = 2;
	expect(&f, "rule 40 ");
	f.aggs[1].nkeys = 1;
	f.actions[1].object = &f.string.obj;
	expect(&f, "rule 40 ");
	f.actions[1].object = &f.value.obj;
	f.actions[0].kind = DIF_ACT_exit;
	f.actions[0].object = &f.value.obj;
	expect(&f, "rule 40 ");
	f.actions[0] = f.actions[1]; /* two increments */
	expect(&f, "rule 40 ");

	fixture_init(&f);
	add_quantize(&f);
	f.clause.nactions = 2; /* keys of nothing */
	expect(&f, "rule 40 ");
	add(&f, DIF_ACT_difexpr, &f.value);
	expect(&f, "rule 40 ");

	fixture_init(&f);
	f.aggs[0].kind = DIF_AGG_lquantize; /* no step */
	expect(&f, "rule 41 ");
}

static void rule_42_to_44_order(void **state)
{
	enum {
		SPEC = DIF_ACT_speculate,
		COMMIT = DIF_ACT_commit,
		TRACE = DIF_ACT_difexpr,
		AGG = DIF_AGG_count,
		EXIT = DIF_ACT_exit,
		DISCARD = DIF_ACT_discard
	};
	static const struct {
		uint32_t first, second;
		const char *rule;
	} cases[] = {
		{ SPEC, TRACE, NULL },         { DISCARD, TRACE, NULL },     { AGG, TRACE, NULL },
		{ AGG, COMMIT, NULL },         { SPEC, AGG, "rule 42 " },    { COMMIT, AGG, "rule 42 " },
		{ TRACE, SPEC, "rule 43 " },   { SPEC, SPEC, "rule 43 " },   { SPEC, EXIT, "rule 43 " },
		{ COMMIT, TRACE, "rule 44 " }, { COMMIT, SPEC, "rule 44 " }, { COMMIT, COMMIT, "rule 44 " },
		{ TRACE, COMMIT, "rule 44 " }, { SPEC, COMMIT, NULL },
	};
	struct fixture f;
	(void)state;

	about(42, 44);
	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		uint32_t kinds[2] = { cases[i].first, cases[i].second };
		fixture_init(&f);
		for (int k = 0; k < 2; k++) {
			struct dif_action *a = add(&f, kinds[k], kinds[k] == AGG ? NULL : &f.value);
			if (kinds[k] == AGG)
				a->aggid = a->ntuple = 1;
		}
		expect(&f, cases[i].rule);
	}
}

static void rule_45_aggregation_numbers(void **state)
{
	struct fixture f;
	(void)state;

	about(45, 45);
	fixture_init(&f);
	expect(&f, NULL);
	f.aggs[1].id = 3;
	expect(&f, "rule 45 ");
	f.aggs[1].id = 2;
	f.aggs[1].name = NULL;
	expect(&f, "rule 45 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_programs),
		cmocka_unit_test(rule_31_numbers),
		cmocka_unit_test(rule_32_probe),
		cmocka_unit_test(rule_33_to_35_actions),
		cmocka_unit_test(rule_36_variables),
		cmocka_unit_test(rule_37_and_38_printf_stack),
		cmocka_unit_test(rule_39_to_41_aggregations),
		cmocka_unit_test(rule_42_to_44_order),
		cmocka_unit_test(rule_45_aggregation_numbers),
		cmocka_unit_test(every_rule_has_both),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
