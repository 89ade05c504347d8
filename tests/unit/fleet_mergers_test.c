/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/operator: mergers. What members hand over is theirs, and sums are a merger's. */
#include "tests/unit/fleet_mergers_fixture.h"

/* Each of its share, as soon as the merger has said that it is there; what they run is signed. */
static void members_are_invited_by_the_operator(void **state)
{
	struct mergers m;
	struct heard heard;

	(void)state;
	open_fleet(&m, counting, 2, 3);
	m.f.fleet->is_strict = true;
	assert_false(hear(&m, 0, &heard));
	greet(&m.f.hosts[0], 0);
	assert_null(fl_host_pump_strictly(m.mergers[0]));
	expect_member(&m, 0, 0, 0);
	expect_member(&m, 0, 1, 2);
	assert_false(hear(&m, 0, &heard));
	assert_false(hear(&m, 1, &heard));
	greet(&m.f.hosts[1], 0);
	assert_null(fl_host_pump_strictly(m.mergers[1]));
	expect_member(&m, 1, 0, 1);
	close_fleet(&m);
}

static void members_are_hosts(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 1, 2);
	assert_int_equal(fl_fleet_matched(m.f.fleet), 6);
	struct canned *h = &m.f.hosts[0];

	/* what a record needs comes before it */
	put_program(&m.f, h);
	say_of(h, 1, FL_PROGRAM);
	put_enabled(h, 5, 0);
	say_of(h, 1, FL_ENABLED);
	put_clock(h);
	put_record(h, 5, 1, ot_now_ns(), 42, 24);
	say_of(h, 1, FL_RECORDS);
	take(&m.f);
	m.f.fleet->order.waits = false;
	assert_null(fl_order_release(&m.f.fleet->order, UINT64_MAX, ot_now_ns()));
	assert_int_equal(m.f.seen.records, 1);
	const struct vp_enabled *ecb = m.f.seen.record.ecb;
	assert_int_equal(ecb->guest, FL_GUEST_BASE + m.members[1]->index * VP_GUESTS_MAX);
	assert_string_equal(m.members[1]->there[0].name, "h2/web01");
	assert_int_equal(con_load(m.f.seen.data + ecb->layout->recs[0].offset, 8), 42);
	/* what does not add up is the host's too */
	put_enabled(h, 6, 1);
	say_of(h, 1, FL_ENABLED);
	put_aggregate(h, 6, 2, "do_exit", 8 + STRSIZE, 7, 8);
	say_of(h, 1, FL_AGGREGATES);
	take(&m.f);
	assert_int_equal(m.f.seen.aggregates, 1);
	close_fleet(&m);
}

/* A merger's own data: it has hosts' names in it, and names of its own numbers. */
static void sums_are_the_mergers(void **state)
{
	static const char text[] = "fbt::do_exit:entry { @[guest] = count(); @s[stack(1)] = count(); }";
	struct con_symbols symbols = { .nguests = 1 };
	struct mergers m;
	char name[64];

	(void)state;
	begin_fleet(&m, text, 1, 2);
	struct canned *h = &m.f.hosts[0];

	put_program(&m.f, h);
	say(h, FL_PROGRAM);
	put_enabled(h, 1, 0);
	say(h, FL_ENABLED);
	fl_put_name(&h->body, &(struct fl_name){ 0, 70000, "vmlinux`do_exit", "" });
	say(h, FL_NAMES);
	put_aggregate(h, 1, 1, "h2/web01", 8 + STRSIZE, 7, 8);
	say(h, FL_AGGREGATES);
	fl_put_drop(&h->body, &(struct fl_drop){ VP_DROP_AGGREGATION, 0, 12 });
	say(h, FL_DROPS);
	take(&m.f);
	assert_int_equal(m.f.seen.aggregates, 1);
	assert_int_equal(m.f.seen.drops, 1);
	assert_string_equal((const char *)m.f.seen.tuple + 8, "h2/web01"); /* not "m1/m" */
	fl_fleet_names(m.f.fleet, &symbols);
	symbols.kernel(symbols.arg, m.f.seen.aggregate.ecb->guest, 70000, VP_SYM_OFFSET, name, sizeof(name));
	assert_string_equal(name, "vmlinux`do_exit");
	assert_int_equal(m.f.seen.news, 0); /* it is no guest that has joined */
	close_fleet(&m);
}

/* exit() in a clause of a member's is the session's. */
static void ended_one_by_one(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 1, 2);
	say_ended(&m.f.hosts[0], 0, true, 7);
	say_ended(&m.f.hosts[0], 1, false, 0);
	bool exited;
	int status;

	assert_false(fl_fleet_has_ended(m.f.fleet));
	assert_null(fl_fleet_take(m.f.fleet, &exited, &status));
	assert_true(exited);
	assert_int_equal(status, 7);
	assert_true(fl_fleet_has_ended(m.f.fleet));
	expect_report(&m, true, "");
	close_fleet(&m);
}

static void lost_one_by_one(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 1, 3);
	say_ended(&m.f.hosts[0], 0, false, 0);
	say_gone(&m.f.hosts[0], 1, 12000000000ull, "nothing was received for 10 s");
	take(&m.f);
	assert_non_null(strstr(m.f.seen.said, "h2: the host is lost: nothing was received for 10 s\n"));
	say_ended(&m.f.hosts[0], 2, false, 0);
	take(&m.f);
	assert_true(fl_fleet_has_ended(m.f.fleet));
	expect_report(&m, false, "hosts: 2 whole, 1 lost: h2, last heard 12 s ago");
	close_fleet(&m);
}

/* --- before it runs ---------------------------------------------------------------------------------------- */

static void open_greeted(struct mergers *m, bool without_silent)
{
	open_fleet(m, counting, 1, 2);
	m->nats.without_silent = without_silent;
	m->f.fleet->config.nats = &m->nats;
	greet(&m->f.hosts[0], 0);
	m->f.fleet->is_strict = true;
	assert_null(fl_host_pump_strictly(m->mergers[0]));
	of_hello(&m->f.hosts[0], 0);
	of_ready(&m->f.hosts[0], 0);
}

static void expect_failure(struct mergers *m, enum ot_err_code code, const char *text)
{
	struct ot_err *err = fl_fleet_prepare(m->f.fleet, -1);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), code);
	assert_string_equal(ot_err_message(err), text);
	ot_err_destroy(err);
	close_fleet(m);
}

static void refused_by_a_host(void **state)
{
	struct mergers m;

	(void)state;
	open_greeted(&m, false);
	fl_put_refused(&m.f.hosts[0].body, &(struct fl_refused){ FL_REASON_POLICY, "refused: no\n" });
	say_of(&m.f.hosts[0], 1, FL_REFUSED);
	expect_failure(&m, OT_ERR_PERMISSION, "host h2: refused: no");
}

static void silent_hosts(void **state)
{
	struct mergers m;

	(void)state;
	open_greeted(&m, false);
	say_gone(&m.f.hosts[0], 1, 0, "it does not answer");
	expect_failure(&m, OT_ERR_NOT_FOUND,
		       "host h2: it does not answer: -x hostloss=ok continues without it");

	open_greeted(&m, true);
	say_gone(&m.f.hosts[0], 1, 0, "it does not answer");
	assert_null(fl_fleet_prepare(m.f.fleet, -1));
	assert_string_equal(m.f.seen.said, "h2: it does not answer\n");
	assert_null(fl_fleet_bind(m.f.fleet, &m.f.lx.prog, &m.f.sink, 0));
	say_of(&m.f.hosts[0], 0, FL_STARTED);
	assert_null(fl_fleet_start(m.f.fleet));
	say_ended(&m.f.hosts[0], 0, false, 0);
	take(&m.f);
	assert_true(fl_fleet_has_ended(m.f.fleet));
	expect_report(&m, true, ""); /* as one that never was a part */
	close_fleet(&m);
}

/* --- what is wrong ------------------------------------------------------------------------------------------ */

/* A member's message that is not right is its end, here and there. */
static void one_members_fault(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 1, 2);
	put_clock(&m.f.hosts[0]);
	put_record(&m.f.hosts[0], 99, 1, 1, 1, 24);
	say_of(&m.f.hosts[0], 1, FL_RECORDS);
	take(&m.f);
	assert_int_equal(m.members[1]->state, FL_HOST_LOST);
	assert_int_equal(m.members[0]->state, FL_HOST_RUNNING);
	assert_int_equal(m.mergers[0]->state, FL_HOST_RUNNING);
	expect_of(&m, 0, 1, FL_STOP);
	/* what it says further is nothing */
	say_of(&m.f.hosts[0], 1, FL_RECORDS);
	take(&m.f);
	assert_int_equal(m.mergers[0]->state, FL_HOST_RUNNING);
	close_fleet(&m);
}

static void put_nothing(struct canned *h)
{
	(void)h;
}

static void put_strange_member(struct canned *h)
{
	fl_put_of(&h->body, &(struct fl_of){ 2, FL_READY, { NULL, 0 } });
}

static void put_strange_gone(struct canned *h)
{
	fl_put_gone(&h->body, &(struct fl_gone){ 2, 0, "" });
}

static void put_strange_sum(struct canned *h)
{
	put_aggregate(h, 44, 2, "x", 8 + STRSIZE, 7, 8);
}

/* A merger that is not honest is lost, and its hosts with it, as there is no other. */
static void a_mergers_fault(void **state)
{
	static const struct {
		enum fl_kind kind;
		void (*put)(struct canned *h);
	} bad[] = {
		{ FL_OF, put_nothing },     { FL_OF, put_strange_member },      { FL_GONE, put_strange_gone },
		{ FL_READY, put_nothing },  { FL_STARTED, put_nothing },        { FL_RECORDS, put_nothing },
		{ FL_FAULTS, put_nothing }, { FL_AGGREGATES, put_strange_sum }, { FL_HELLO, put_nothing },
		{ FL_MEMBER, put_nothing }, { FL_OVERLOAD, put_nothing },       { FL_RUN, put_nothing },
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++) {
		struct mergers m;

		begin_fleet(&m, counting, 1, 2);
		bad[i].put(&m.f.hosts[0]);
		say(&m.f.hosts[0], bad[i].kind);
		take(&m.f);
		assert_int_equal(m.mergers[0]->state, FL_HOST_LOST);
		assert_true(fl_fleet_has_ended(m.f.fleet));
		assert_non_null(strstr(m.f.seen.said,
				       "merger m1 is lost: of its 2 hosts 2 are lost; what they "
				       "counted since "));
		close_fleet(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_invited_by_the_operator),
		cmocka_unit_test(members_are_hosts),
		cmocka_unit_test(sums_are_the_mergers),
		cmocka_unit_test(ended_one_by_one),
		cmocka_unit_test(lost_one_by_one),
		cmocka_unit_test(refused_by_a_host),
		cmocka_unit_test(silent_hosts),
		cmocka_unit_test(one_members_fault),
		cmocka_unit_test(a_mergers_fault),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
