/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptions with another system's names: each probe is in a clause once, by its name here. */
#include "tests/unit/dif_lang_fixture.h"

#define STARTS "do_fork" /* lx_match() has such a function */

/* "cfork" and "vfork1" are that; "nothing" is not known at all. */
static bool named_here(void *env, const struct dif_probedesc *desc, struct dif_probedesc *ret)
{
	(void)env;
	if (strcmp(desc->function, "cfork") != 0 && strcmp(desc->function, "vfork1") != 0)
		return false;
	*ret = *desc;
	ret->function = STARTS;
	return true;
}

static const struct dif_program *compile(struct lx *lx, struct dif_compiler **comp, const char *text)
{
	static struct dif_world world;
	const struct dif_source src = { .name = "test.d", .text = text, .len = strlen(text) };
	const struct dif_diag *diag;
	uint32_t first;

	world = lx_world;
	world.named_here = named_here;
	lx_init(lx);
	assert_null(dif_compiler_create(&world, &lx->opts, comp));
	assert_null(dif_compile(*comp, &src, &lx->prog, &first, &diag));
	return &lx->prog;
}

/* The functions of a text's clauses, of which there are @n. */
static void assert_functions(const char *text, unsigned n, const char *first, const char *second)
{
	struct dif_compiler *comp;
	struct lx lx;
	const struct dif_program *prog = compile(&lx, &comp, text);

	assert_int_equal(prog->nclauses, n);
	assert_string_equal(prog->clauses[0].probe.function, first);
	if (second)
		assert_string_equal(prog->clauses[1].probe.function, second);
	dif_compiler_destroy(comp);
	lx_deinit(&lx);
}

static void a_probe_is_compiled_by_its_name_here(void **state)
{
	(void)state;
	assert_functions("fbt::cfork:entry { trace(1); }", 1, STARTS, NULL);
	assert_functions("fbt::cfork:entry { trace(args[0]); }", 1, STARTS, NULL);
}

static void two_names_of_a_probe_are_one(void **state)
{
	(void)state;
	assert_functions("fbt::cfork:entry, fbt::vfork1:entry { trace(1); }", 1, STARTS, NULL);
	assert_functions("fbt::cfork:entry, fbt::do_fork:entry { trace(1); }", 1, STARTS, NULL);
	assert_functions("fbt::do_*:entry, fbt::vfork1:entry { trace(1); }", 1, "do_*", NULL);
	assert_functions("fbt::cfork:entry, fbt::do_exit:entry { trace(1); }", 2, STARTS, "do_exit");
}

/* What is written twice by its own name is two, as it always was. */
static void a_repeated_description_stays(void **state)
{
	(void)state;
	assert_functions("fbt::do_fork:entry, fbt::do_fork:entry, fbt::cfork:entry { trace(1); }", 2, STARTS,
			 STARTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_probe_is_compiled_by_its_name_here),
		cmocka_unit_test(two_names_of_a_probe_are_one),
		cmocka_unit_test(a_repeated_description_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
