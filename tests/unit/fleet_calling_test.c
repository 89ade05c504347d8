/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fl_calling_await(): whoever can write to the broker may never let the answers end, and keeps nobody waiting
 * by it. The inbox is this test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "fleet/operator/nats.h"

bool __wrap_fl_inbox_next(struct fl_inbox *inbox, struct fl_broker_message *ret);
int __wrap_fl_inbox_fd(const struct fl_inbox *inbox);

static int readable;
static unsigned taken;

bool __wrap_fl_inbox_next(struct fl_inbox *inbox, struct fl_broker_message *ret)
{
	(void)inbox;
	*ret = (struct fl_broker_message){ .subject = "_INBOX.1", .data = "x", .len = 1 };
	taken++;
	return true;
}

int __wrap_fl_inbox_fd(const struct fl_inbox *inbox)
{
	(void)inbox;
	return readable;
}

static int setup(void **state)
{
	(void)state;
	taken = 0;
	readable = eventfd(1, EFD_CLOEXEC);
	return readable < 0;
}

static int teardown(void **state)
{
	(void)state;
	return close(readable);
}

static void time_is_up(void **state)
{
	struct fl_calling c = { .wake_fd = -1 };
	const uint64_t until = ot_now_ns() + 20000000;
	struct fl_broker_message m;
	bool is_there = true;

	(void)state;
	while (is_there) {
		assert_null(fl_calling_await(&c, until, &m, &is_there));
		assert_true(ot_now_ns() < until + 60000000000ull);
	}
	assert_true(ot_now_ns() >= until);
	assert_true(taken > 0);
}

/* Ctrl-C. */
static void user_is_heard(void **state)
{
	struct fl_calling c = { .wake_fd = readable };
	struct fl_broker_message m;
	bool is_there;
	struct ot_err *err = fl_calling_await(&c, ot_now_ns() + 60000000000ull, &m, &is_there);

	(void)state;
	assert_int_equal(ot_err_code(err), OT_ERR_BUSY);
	ot_err_destroy(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(time_is_up, setup, teardown),
		cmocka_unit_test_setup_teardown(user_is_heard, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
