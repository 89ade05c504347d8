/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a program has stacks, so that rules to unwind them are made. */
#include "tests/unit/dif_lang_fixture.h"

#include "vmm-probe/session/stacks.h"

static void check(const char *text, bool kernel, bool user)
{
	struct lx lx;

	lx_init(&lx);
	if (!lx_compile(&lx, text))
		fail_msg("%s does not compile", text);
	if (vp_program_has_stacks(&lx.prog) != (kernel || user) ||
	    vp_program_has_user_stacks(&lx.prog) != user)
		fail_msg("%s", text);
	lx_deinit(&lx);
}

static void none(void **state)
{
	(void)state;
	check("BEGIN { trace(1); }", false, false);
	check("fbt::do_exit:entry /pid == 1/ { @[execname, arg0] = count(); self->a = timestamp; }", false,
	      false);
}

static void of_the_kernel(void **state)
{
	(void)state;
	check("fbt::do_exit:entry { stack(); }", true, false);
	check("fbt::do_exit:entry { stack(3); }", true, false);
	check("fbt::do_exit:entry { @[stack()] = count(); }", true, false);
	check("fbt::do_exit:entry /stackdepth > 2/ { trace(1); }", true, false);
	check("BEGIN { trace(1); } fbt::do_exit:entry { self->from = caller; }", true, false);
	check("fbt::do_exit:entry { trace(pid ? 0 : caller); }", true, false);
}

/* The way to a program's registers may lead through frames of the kernel's. */
static void of_programs(void **state)
{
	(void)state;
	check("fbt::do_exit:entry { ustack(); }", true, true);
	check("fbt::do_exit:entry { @[jstack(5, 100)] = count(); }", true, true);
	check("fbt::do_exit:entry /ucaller/ { trace(1); }", true, true);
	check("fbt::do_exit:entry { @ = max(ustackdepth); }", true, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none),
		cmocka_unit_test(of_the_kernel),
		cmocka_unit_test(of_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
