/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One program compiled for two kernels: the second one has a member at another offset, lacks a function, and
 * BEGIN is the first one's. */
#include "tests/unit/dif_lang_fixture.h"

#include "dif/obj/opcodes.h"

static struct dif_member lx_task_members_2[] = {
	{ "parent", &lx_taskp, 0, 0 },
	{ "pid", &lx_int, 64, 0 },
};
static struct dif_type lx_task_2 = { .kind = DIF_C_STRUCT,
				     .complete = true,
				     .name = "task_struct",
				     .size = 16,
				     .members = lx_task_members_2,
				     .nmembers = 2 };

static struct dif_type *find_type_2(void *env, const char *module, enum dif_ckind kind, const char *name)
{
	(void)env;
	(void)module;
	return kind == DIF_C_STRUCT && !strcmp(name, "task_struct") ? &lx_task_2 : NULL;
}

static bool is_first_only(const struct dif_probe_info *p)
{
	return !strcmp(p->provider, "dtrace") || !strcmp(p->function, "do_fork");
}

struct taking {
	bool first_only;
	bool (*each)(void *arg, const struct dif_probe_info *probe);
	void *arg;
	uint64_t count;
};

static bool take(void *arg, const struct dif_probe_info *p)
{
	struct taking *t = arg;

	if (is_first_only(p) != t->first_only)
		return true;
	t->count++;
	return t->each(t->arg, p);
}

static struct ot_err *match_2(void *env, const struct dif_probedesc *desc,
			      bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg,
			      uint64_t *ret)
{
	struct taking t = { false, each, arg, 0 };
	struct ot_err *err = lx_match(env, desc, take, &t, ret);

	*ret = t.count;
	return err;
}

static bool elsewhere_2(void *env, const struct dif_probedesc *desc,
			bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg)
{
	struct taking t = { true, each, arg, 0 };
	uint64_t count;

	assert_null(lx_match(env, desc, take, &t, &count));
	return t.count;
}

static const struct dif_world world_2 = {
	.find_type = find_type_2,
	.find_symbol = lx_find_symbol,
	.match = match_2,
	.elsewhere = elsewhere_2,
	.probe_arg = lx_probe_arg,
	.macro = lx_macro,
};

struct two {
	struct lx lx;
	struct dif_compiler *second;
	uint32_t first_of_second;
};

static void init(struct two *two)
{
	lx_init(&two->lx);
	assert_null(dif_compiler_create(&world_2, &two->lx.opts, &two->second));
	dif_compiler_share(two->second, two->lx.comp);
}

static void deinit(struct two *two)
{
	dif_compiler_destroy(two->second);
	lx_deinit(&two->lx);
}

/* The error of the second compilation; NULL: both succeed, and fit together. */
static const struct dif_diag *compile(struct two *two, const char *text)
{
	const struct dif_source src = {
		.name = "test.d", .text = text, .len = strlen(text), .args = two->lx.args, .nargs = 1
	};
	const struct dif_diag *diag = NULL;

	assert_true(lx_compile(&two->lx, text));
	struct ot_err *err = dif_compile(two->second, &src, &two->lx.prog, &two->first_of_second, &diag);
	if (err) {
		ot_err_destroy(err);
		return diag;
	}
	assert_null(dif_program_verify(&two->lx.prog));
	return NULL;
}

static uint32_t variable_of(const struct dif_clause *clause)
{
	const struct dif_object *o = clause->actions[0].object;

	for (uint32_t i = 0; i < o->var_len; i++)
		if (o->vars[i].id >= DIF_VAR_USER_MIN)
			return o->vars[i].id;
	fail_msg("no variable");
	return 0;
}

/* In the other order, and with one more before it: a name is what the first compiler has made of it. */
static void a_name_has_one_number(void **state)
{
	struct two two;

	(void)state;
	init(&two);
	assert_null(compile(
	    &two, "fbt::do_fork:entry { a = 1; } fbt::do_exit:entry { b = 1; @x = count(); @y = sum(b); } "
		  "END { c = 1; printa(@y); }"));
	const struct dif_clause *c = two.lx.prog.clauses;
	assert_int_equal(two.lx.prog.nclauses, 6);
	assert_int_equal(two.first_of_second, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(variable_of(&c[i]), variable_of(&c[i + 3]));
	assert_int_not_equal(variable_of(&c[0]), variable_of(&c[1]));
	assert_int_equal(two.lx.prog.naggs, 2);
	assert_int_equal(c[4].actions[1].aggid, 1);
	assert_int_equal(c[4].actions[2].aggid, 2);
	deinit(&two);
}

static void each_has_its_offsets(void **state)
{
	struct two two;

	(void)state;
	init(&two);
	assert_null(compile(&two, "fbt::do_exit:entry { p = (struct task_struct *)arg1; trace(p->pid); }"));
	assert_int_equal(two.lx.prog.nclauses, 2);
	const struct dif_object *a = two.lx.prog.clauses[0].actions[1].object,
				*b = two.lx.prog.clauses[1].actions[1].object;
	assert_true(a->text_len != b->text_len || memcmp(a->text, b->text, a->text_len * 4) ||
		    a->int_len != b->int_len);
	deinit(&two);
}

/* A clause that only the first kernel's probes are meant by may use what only that kernel has; its names are
 * known. */
static void what_is_elsewhere_need_not_fit(void **state)
{
	struct two two;

	(void)state;
	init(&two);
	assert_null(compile(&two,
			    "fbt::do_fork:entry { @a[((struct task_struct *)arg1)->comm] = count(); t = 1; } "
			    "fbt::do_exit:entry { trace(1); } END { printa(@a); }"));
	assert_int_equal(two.lx.prog.nclauses, 4); /* the second do_fork, and END, which needs its @a */
	assert_string_equal(two.lx.prog.clauses[3].probe.function, "do_exit");
	const struct dif_diag *diag =
	    compile(&two, "fbt::do_exit:entry { trace(((struct task_struct *)arg1)->comm); }");
	assert_non_null(diag);
	assert_non_null(strstr(diag->message, "comm"));
	deinit(&two);
}

static void nowhere_is_an_error(void **state)
{
	struct two two;

	(void)state;
	init(&two);
	assert_false(lx_compile(&two.lx, "fbt::nothing:entry { trace(1); }"));
	assert_string_equal(two.lx.diag->tag, "D_PDESC_ZERO");
	deinit(&two);
}

/* Whichever of its descriptions comes first. */
static void one_clause_for_both(void **state)
{
	struct two two;

	(void)state;
	init(&two);
	assert_null(compile(&two, "fbt::do_fork:entry, fbt::do_exit:entry { @[probefunc] = count(); }"));
	assert_null(compile(&two, "fbt::do_fork:entry, fbt::do_exit:entry { @b[args[0]] = count(); }"));
	assert_int_equal(two.lx.prog.nclauses, 8);
	deinit(&two);
}

/* What the second compiler can't make of a clause, it knows of the first one's program. */
static void what_is_elsewhere_is_expected(void **state)
{
	static const char text[] =
	    "fbt::do_fork:entry { this->p = (struct task_struct *)arg1; name = this->p->comm; "
	    "when[this->p->comm] = 1; @b[this->p->comm, arg0, stack()] = max(arg0); @c = count(); } "
	    "fbt::do_exit:entry { printa(\"%s %d %k %@d\\n\", @b); printf(\"%s %d\", name, when[\"x\"]); "
	    "trunc(@c); }";
	struct two two;

	(void)state;
	init(&two);
	const struct dif_diag *diag = compile(&two, text);
	assert_non_null(diag);
	deinit(&two);
	init(&two);
	assert_true(lx_compile(&two.lx, text));
	assert_null(dif_compiler_expect(two.second, &two.lx.prog));
	assert_null(compile(&two, text));
	assert_int_equal(two.lx.prog.naggs, 2);
	assert_int_equal(two.lx.prog.aggs[0].kind, DIF_AGG_max);
	assert_int_equal(two.lx.prog.aggs[0].nkeys, 3);
	deinit(&two);
}

/* An aggregation is known without a clause that succeeds here, and its function with it. */
static void its_aggregations_are_known(void **state)
{
	static const char printing[] = "fbt::do_exit:entry { printa(@q); }";
	struct two two;

	(void)state;
	init(&two);
	assert_true(lx_compile(
	    &two.lx,
	    "fbt::do_fork:entry { @q[((struct task_struct *)arg1)->comm] = lquantize(arg0, 0, 8, 2); }"));
	assert_null(dif_compiler_expect(two.second, &two.lx.prog));
	struct dif_program prog;
	const struct dif_diag *diag = NULL;
	const struct dif_source src = {
		.name = "t.d", .text = printing, .len = strlen(printing), .args = two.lx.args, .nargs = 1
	};
	uint32_t first;
	dif_program_init(&prog);
	assert_null(dif_compile(two.second, &src, &prog, &first, &diag));
	assert_int_equal(prog.naggs, 1);
	assert_string_equal(prog.aggs[0].name, "q");
	assert_int_equal(prog.aggs[0].kind, DIF_AGG_lquantize);
	assert_int_equal(prog.aggs[0].arg, two.lx.prog.aggs[0].arg);
	dif_program_deinit(&prog);
	deinit(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_has_one_number),
		cmocka_unit_test(each_has_its_offsets),
		cmocka_unit_test(what_is_elsewhere_need_not_fit),
		cmocka_unit_test(what_is_elsewhere_is_expected),
		cmocka_unit_test(its_aggregations_are_known),
		cmocka_unit_test(nowhere_is_an_error),
		cmocka_unit_test(one_clause_for_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
