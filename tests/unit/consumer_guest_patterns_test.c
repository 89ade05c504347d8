/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which guests a pattern means once a session runs: consumer/guest_patterns.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "consumer/guest_patterns.h"

static struct vp_machine machine(const char *name)
{
	struct vp_machine m = { .how = VP_HOW_NOW };

	m.guest.pid = 42;
	m.guest.rank = VP_RANK_OWN;
	snprintf(m.guest.name, sizeof(m.guest.name), "%s", name);
	return m;
}

static const struct con_guest_owner own = { .rank = VP_RANK_OWN };

static bool only_web1(void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "web1");
}

static bool is_meant(const char *pattern, const char *name)
{
	const struct con_guest_filter all = { 0 };
	const struct vp_machine m = machine(name);
	bool ret;

	assert_null(con_guest_matches(pattern, &all, &own, &m, &ret));
	return ret;
}

static void test_patterns(void **state)
{
	(void)state;
	assert_true(is_meant("web*", "web1"));
	assert_false(is_meant("web*", "db"));
	assert_true(is_meant("all", "db"));
	assert_true(con_is_guest_pattern("web[12]"));
	assert_true(con_is_guest_pattern("all"));
	assert_false(con_is_guest_pattern("web1"));
	assert_false(con_is_guest_pattern("dump:ram[1]"));
}

/* One that is not meant is nobody's business, and one that may not be traced is not meant. */
static void test_filter(void **state)
{
	const struct con_guest_filter filter = { .may = only_web1 };
	struct vp_machine m = machine("web1");
	bool ret;

	(void)state;
	assert_null(con_guest_matches("web*", &filter, &own, &m, &ret));
	assert_true(ret);
	m = machine("db");
	assert_null(con_guest_matches("web*", &filter, &own, &m, &ret));
	assert_false(ret);
	m = machine("web2");
	assert_null(con_guest_matches("web*", &filter, &own, &m, &ret));
	assert_false(ret);
	m.guest.uid++; /* of somebody else, either: its owner is not told */
	assert_null(con_guest_matches("all", &filter, &own, &m, &ret));
	assert_false(ret);
}

static void test_owner(void **state)
{
	const struct con_guest_filter all = { 0 };
	struct vp_machine m = machine("web1");
	bool ret;

	(void)state;
	m.guest.rank = VP_RANK_OWN + 1;
	m.guest.uid = 1000;
	struct ot_err *err = con_guest_matches("web*", &all, &own, &m, &ret);
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_PERMISSION);
	ot_err_destroy(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
