/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/service/access.c: who has used the engines of a process. No client grows it, writes another's
 * record, or makes a line of its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm-probe/engine/service/access.h"

static const struct ucred root = { .pid = 999999, .uid = 0 }, alice = { .pid = 999998, .uid = 1000 };

static struct vp_msg_access_reply now;

/* The records, as root sees them. */
static const struct vp_msg_access_reply *accesses(void)
{
	vp_access_answer(&root, 0, &now);
	return &now;
}

/* The record of that number; NULL: none. */
static const struct vp_access *record(uint64_t number)
{
	accesses();
	for (uint32_t i = 0; i < now.n; i++)
		if (now.list[i].number == number)
			return &now.list[i];
	return NULL;
}

/* All that there are are in a log. */
static uint64_t all_logged(void)
{
	uint64_t last = vp_access_open(&alice, false);

	vp_access_answer(&root, last, &now);
	return last;
}

static void a_session_is_a_record(void **state)
{
	(void)state;
	uint64_t n = vp_access_open(&alice, true);
	const struct vp_access *a = record(n);

	assert_non_null(a);
	assert_int_equal(a->uid, alice.uid);
	assert_int_equal(a->pid, alice.pid);
	assert_true(a->began_s > 0);
	assert_int_equal(a->ended_s, 0);
	assert_int_equal(a->flags, VP_ACCESS_DESTRUCTIVE);
	vp_access_enable(n, 0, "");
	vp_access_enable(n, 3, "syscall:vmlinux:read:entry");
	vp_access_enable(n, 2, "syscall:vmlinux:write:entry");
	vp_access_start(n, "web01");
	vp_access_close(n);
	a = record(n);
	assert_int_equal(a->enablings, 5);
	assert_string_equal(a->first, "syscall:vmlinux:read:entry");
	assert_true(a->flags & VP_ACCESS_STARTED);
	assert_true(a->ended_s >= a->began_s);
	vp_access_enable(n, UINT32_MAX, "");
	assert_int_equal(record(n)->enablings, UINT32_MAX);
}

/* An engine in the operator's process has that process as its client, whose line is in the log. */
static void this_process_is_none(void **state)
{
	const struct ucred self = { .pid = getpid(), .uid = getuid() };
	(void)state;
	uint32_t before = accesses()->n, times = now.reads[0].times;

	assert_int_equal(vp_access_open(&self, false), 0);
	vp_access_enable(0, 1, "a:b:c:d");
	vp_access_start(0, "web01");
	vp_access_close(0);
	vp_access_read(&self);
	assert_int_equal(accesses()->n, before);
	assert_int_equal(now.reads[0].times, times);
}

static void text_of_a_client_is_text(void **state)
{
	char longer[4 * VP_ACCESS_PROBE];
	(void)state;

	uint64_t n = vp_access_open(&alice, false);
	vp_access_enable(n, 1, "a:\" uid=0\nroot\033[2J\x80:x");
	assert_string_equal(record(n)->first, "a:??uid=0?root?[2J?:x");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	n = vp_access_open(&alice, false);
	vp_access_enable(n, 1, longer);
	assert_int_equal(strlen(record(n)->first), VP_ACCESS_PROBE - 1);
}

static void only_root_says_what_is_logged(void **state)
{
	(void)state;
	uint64_t n = vp_access_open(&alice, false);

	vp_access_answer(&alice, UINT64_MAX, &now);
	assert_false(record(n)->flags & VP_ACCESS_LOGGED);
	vp_access_answer(&root, n - 1, &now);
	assert_false(record(n)->flags & VP_ACCESS_LOGGED);
	vp_access_answer(&root, n, &now);
	assert_true(record(n)->flags & VP_ACCESS_LOGGED);
}

/* What is in no log is forgotten last, and that it was is told until root has written that down. */
static void memory_is_bounded(void **state)
{
	(void)state;
	all_logged();
	uint64_t lost = accesses()->lost;
	for (unsigned i = 0; i < 10 * VP_ACCESS_KEPT; i++) {
		vp_access_answer(&root, vp_access_open(&root, false), &now);
		assert_true(now.n <= VP_ACCESS_KEPT);
	}
	assert_int_equal(accesses()->lost, lost);
	uint64_t last = all_logged();
	for (unsigned i = 0; i < VP_ACCESS_KEPT; i++)
		vp_access_open(&alice, false);
	assert_null(record(last));
	assert_int_equal(accesses()->lost, 0);
	for (unsigned i = 0; i < 7; i++)
		last = vp_access_open(&alice, false);
	assert_int_equal(accesses()->lost, 7);
	assert_int_equal(now.n, VP_ACCESS_KEPT);
	for (uint32_t i = 0; i < now.n; i++)
		assert_int_equal(now.list[i].number, last - VP_ACCESS_KEPT + 1 + i);
	vp_access_answer(&alice, last, &now);
	assert_int_equal(accesses()->lost, 7);
	vp_access_answer(&root, last, &now);
	assert_int_equal(accesses()->lost, 0);
}

static void an_unlogged_one_outlives_logged_ones(void **state)
{
	(void)state;
	all_logged();
	for (unsigned i = 0; i < VP_ACCESS_KEPT; i++)
		vp_access_answer(&root, vp_access_open(&root, false), &now);
	uint64_t kept = vp_access_open(&alice, false);
	for (unsigned i = 0; i < VP_ACCESS_KEPT - 1; i++)
		assert_true(vp_access_open(&root, false) > kept);
	assert_non_null(record(kept));
	assert_int_equal(now.lost, 0);
}

static void readers_are_counted(void **state)
{
	(void)state;
	accesses();
	uint32_t of_root = now.reads[0].times, of_alice = now.reads[1].times;

	vp_access_read(&root);
	vp_access_read(&alice);
	vp_access_read(&root);
	accesses();
	assert_int_equal(now.reads[0].uid, 0);
	assert_int_equal(now.reads[0].times, of_root + 2);
	assert_int_equal(now.reads[1].uid, 1000);
	assert_int_equal(now.reads[1].times, of_alice + 1);
	assert_true(now.reads[1].last_s > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_is_a_record),
		cmocka_unit_test(this_process_is_none),
		cmocka_unit_test(text_of_a_client_is_text),
		cmocka_unit_test(only_root_says_what_is_logged),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(an_unlogged_one_outlives_logged_ones),
		cmocka_unit_test(readers_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
