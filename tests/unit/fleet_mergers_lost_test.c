/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/operator/again.c: a merger is lost, and its hosts begin again elsewhere. */
#include <time.h>

#include "tests/unit/fleet_mergers_fixture.h"

/* m1 has h1 and h3, m2 has h2 and h4. */
static void lose_first(struct mergers *m)
{
	begin_fleet(m, counting, 2, 4);
	m->f.fleet->restarts.wait_ns = 1;
	fl_link_destroy(m->f.hosts[0].link);
	m->f.hosts[0].link = NULL;
	take(&m->f);
}

static void hosts_go_to_another_merger(void **state)
{
	struct mergers m;

	(void)state;
	lose_first(&m);
	assert_non_null(
	    strstr(m.f.seen.said, "merger m1 is lost: its 2 hosts go to m2; what they counted since "));
	assert_int_equal(m.members[0]->state, FL_HOST_LEFT_OUT);
	assert_int_equal(m.members[2]->state, FL_HOST_LEFT_OUT);
	assert_false(fl_fleet_has_ended(m.f.fleet));
	/* numbers that were not used there, in the order of the last first */
	expect_member(&m, 1, 2, 2);
	expect_member(&m, 1, 3, 0);
	for (uint32_t member = 2; member < 4; member++) {
		of_hello(&m.f.hosts[1], member);
		of_ready(&m.f.hosts[1], member);
		expect_of(&m, 1, member, FL_START);
		say_of(&m.f.hosts[1], member, FL_STARTED);
		take(&m.f);
	}
	assert_int_equal(m.f.fleet->restarts.n, 0);
	for (uint32_t member = 0; member < 4; member++)
		say_ended(&m.f.hosts[1], member, false, 0);
	take(&m.f);
	assert_true(fl_fleet_has_ended(m.f.fleet));
	expect_report(&m, false, "hosts: 4 whole; 1 merger lost");
	close_fleet(&m);
}

/* What is uncertain began as long before the last sums as hosts may gather. */
static void since_when(void **state)
{
	static const char before[] = "what they counted since ";
	struct mergers m;
	unsigned h, min, s;
	struct tm tm;

	(void)state;
	begin_fleet(&m, counting, 2, 2);
	m.f.lx.opts.aggrate_ns = 100000000000ull;
	fl_link_destroy(m.f.hosts[0].link);
	m.f.hosts[0].link = NULL;
	time_t now = time(NULL);

	take(&m.f);
	const char *at = strstr(m.f.seen.said, before);

	assert_non_null(at);
	assert_int_equal(sscanf(at + strlen(before), "%2u:%2u:%2u may be missing", &h, &min, &s), 3);
	assert_non_null(localtime_r(&now, &tm));
	const int ago =
	    (tm.tm_hour - (int)h) * 3600 + (tm.tm_min - (int)min) * 60 + tm.tm_sec - (int)s + 86400;

	assert_in_range(ago % 86400, 100, 160); /* a busy machine takes its time */
	close_fleet(&m);
}

/* RUN that a host gets directly then is the one that invitations of it are for. */
static void the_same_program_directly(void **state)
{
	struct fl_carrier *near, *far;
	struct fl_channel *channel;
	struct canned other = { 0 };
	struct mergers m;
	struct ot_buf member = { 0 };
	struct fl_member got;
	enum fl_kind kind;
	const void *data;
	size_t len;
	int ends[2];

	(void)state;
	begin_fleet(&m, counting, 1, 1);
	assert_null(fl_calling_member(m.f.fleet->calling, m.members[0]->invited, 0, m.keys[0], &member));
	assert_null(fl_get_member(member.data, member.len, &m.arena, &got));
	connect_merger(&m, 1); /* with room, so that the host is not lost */
	fl_link_destroy(m.f.hosts[0].link);
	m.f.hosts[0].link = NULL;
	take(&m.f);
	struct fl_host *h = m.f.fleet->hosts[m.f.fleet->nhosts - 1];

	assert_string_equal(h->name, "h1");
	assert_int_equal(h->state, FL_HOST_WAITING);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_null(fl_pipe_create(ends[0], ends[0], &near));
	assert_null(fl_pipe_create(ends[1], ends[1], &far));
	assert_null(fl_link_create(far, NULL, NULL, NULL, &other.link));
	assert_null(fl_channel_open(near, NULL, &channel));
	assert_null(fl_host_connect(h, channel));
	say_hello(&other, FL_PROTOCOL);
	take(&m.f);
	do {
		ot_err_destroy(fl_link_poll(other.link));
		assert_true(fl_link_receive(other.link, &kind, &data, &len));
	} while (kind == FL_HELLO);
	assert_int_equal(kind, FL_RUN);
	assert_int_equal(len, got.run.len);
	assert_memory_equal(data, got.run.data, len);
	fl_link_destroy(other.link);
	ot_buf_deinit(&other.body);
	ot_buf_deinit(&member);
	close_fleet(&m);
}

/* The next one is lost before they have begun: there is none, and no broker. */
static void no_merger_is_left(void **state)
{
	struct mergers m;

	(void)state;
	lose_first(&m);
	fl_link_destroy(m.f.hosts[1].link);
	m.f.hosts[1].link = NULL;
	for (unsigned i = 0; i < 4; i++)
		take(&m.f);
	assert_true(fl_fleet_has_ended(m.f.fleet));
	struct ot_buf out = { 0 };

	assert_false(fl_fleet_report(m.f.fleet, &out));
	assert_non_null(strstr(ot_buf_str(&out), "hosts: 0 whole, 4 lost: "));
	assert_non_null(strstr(ot_buf_str(&out), "; 2 mergers lost"));
	ot_buf_deinit(&out);
	close_fleet(&m);
}

/* One that ends by itself, since it has to, is no better. */
static void a_merger_is_stopped(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 2, 4);
	m.f.fleet->restarts.wait_ns = 1;
	fl_put_ended(&m.f.hosts[0].body,
		     &(struct fl_ended){ .failed = true, .text = "stopped by signal 15" });
	say(&m.f.hosts[0], FL_ENDED);
	take(&m.f);
	assert_non_null(strstr(m.f.seen.said, "merger m1 is lost: its 2 hosts go to m2"));
	close_fleet(&m);
}

/* The loss of a merger whose hosts have all ended is not reported. */
static void lost_after_all(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 1, 1);
	say_ended(&m.f.hosts[0], 0, false, 0);
	take(&m.f);
	fl_link_destroy(m.f.hosts[0].link);
	m.f.hosts[0].link = NULL;
	take(&m.f);
	expect_report(&m, true, "");
	close_fleet(&m);
}

/* Hosts that wait for their turn when the session ends have not begun again. */
static void stopped_while_waiting(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 2, 2);
	fl_link_destroy(m.f.hosts[0].link);
	m.f.hosts[0].link = NULL;
	take(&m.f);
	assert_false(fl_fleet_has_ended(m.f.fleet));
	say_ended(&m.f.hosts[1], 0, false, 0);
	assert_null(fl_fleet_stop(m.f.fleet, NULL, NULL));
	assert_non_null(strstr(m.f.seen.said, "h1: the host is lost: it did not restart"));
	close_fleet(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_go_to_another_merger), cmocka_unit_test(since_when),
		cmocka_unit_test(the_same_program_directly),  cmocka_unit_test(no_merger_is_left),
		cmocka_unit_test(a_merger_is_stopped),        cmocka_unit_test(lost_after_all),
		cmocka_unit_test(stopped_while_waiting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
