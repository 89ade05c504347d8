/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines for the system's log: nothing that is not ours makes lines or fields of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "consumer/journal.h"

static const char *who(struct ot_buf *out, const struct con_journal_user *user, const char *a, const char *b)
{
	const char *items[] = { a, b };
	const struct con_strings guests = { .items = items, .count = b ? 2 : 1 };

	ot_buf_deinit(out);
	ot_buf_init(out);
	con_journal_who(out, user, &guests);
	return ot_buf_str(out);
}

static void test_who(void **state)
{
	const struct con_journal_user alice = { .uid = 0, .name = "root", .login = "alice" };
	const struct con_journal_user nobody = { .uid = 4242 };
	struct ot_buf out;

	(void)state;
	ot_buf_init(&out);
	assert_string_equal(who(&out, &alice, "web01", NULL), "user=root uid=0 login=alice guests=\"web01\"");
	assert_string_equal(who(&out, &nobody, "web01", "127.0.0.1:1234"),
			    "user=- uid=4242 login=- guests=\"web01,127.0.0.1:1234\"");
	assert_string_equal(who(&out, &nobody, "a\" user=root", "b\n\033[2J"),
			    "user=- uid=4242 login=- guests=\"a? user=root,b ?[2J\"");
	ot_buf_deinit(&out);
}

static const char *what(struct ot_buf *out, struct con_program *programs, size_t n, bool destructive)
{
	struct dif_options opts = { .destructive = destructive };
	const struct con_texts texts = { .opts = &opts, .items = programs, .count = n };

	ot_buf_deinit(out);
	ot_buf_init(out);
	con_journal_what(out, &texts, 12);
	return ot_buf_str(out);
}

static void test_what(void **state)
{
	struct con_program program[] = { { .arg = "syscall::read:entry\n{\n\t@[execname] = count();\n}\n" },
					 { .arg = "/root/a.d", .is_script = true } };
	struct ot_buf out;

	(void)state;
	ot_buf_init(&out);
	assert_string_equal(
	    what(&out, program, 1, false),
	    "probes=12 destructive=no program=\"syscall::read:entry { @[execname] = count(); }\"");
	assert_string_equal(what(&out, program, 2, true),
			    "probes=12 destructive=yes "
			    "program=\"syscall::read:entry { @[execname] = count(); } -s /root/a.d\"");
	assert_string_equal(what(&out, program, 0, false), "probes=12 destructive=no program=\"\"");
	program[0].arg = "\x80\x01\x7f\" x=\"";
	assert_string_equal(what(&out, program, 1, false), "probes=12 destructive=no program=\"???? x=?\"");
	ot_buf_deinit(&out);
}

static void test_long_programs(void **state)
{
	static char text[100000];
	struct con_program program = { .arg = text };
	struct ot_buf out;

	(void)state;
	ot_buf_init(&out);
	memset(text, 'x', sizeof(text) - 1);
	size_t len = strlen(what(&out, &program, 1, false));
	assert_true(len >= CON_JOURNAL_TEXT && len <= CON_JOURNAL_TEXT + 50);
	assert_string_equal(ot_buf_str(&out) + len - 6, "xx...\"");
	ot_buf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who),
		cmocka_unit_test(test_what),
		cmocka_unit_test(test_long_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
