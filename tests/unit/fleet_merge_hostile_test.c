/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/merge: a hostile host is out and hurts nobody else; what no operator says ends the session. */
#include "tests/unit/fleet_merge_fixture.h"

/* --- hosts ---------------------------------------------------------------------------------------------------- */

static void count(struct merging *t, unsigned host, uint64_t word)
{
	put_aggregate(&t->f.hosts[host], 2, 2, "x", 8 + STRSIZE, word, 8);
	say(&t->f.hosts[host], FL_AGGREGATES);
}

/* The text of GONE. */
static const char *why(const struct merging *t, struct ot_arena *arena, uint32_t *ret_member)
{
	const struct got *got = &t->got[find(t, 0, -1, FL_GONE)];
	struct fl_gone gone;

	assert_true(find(t, 0, -1, FL_GONE) < t->n);
	assert_null(fl_get_gone(got->body.data, got->body.len, arena, &gone));
	*ret_member = gone.member;
	return gone.text;
}

/* Host 1 is out behind what it had handed over before, and host 0 counts on. */
static void expect_out(struct merging *t, const char *text)
{
	struct ot_arena arena;
	uint32_t member;

	ot_arena_init(&arena);
	for (uint64_t until = ot_now_ns() + 60000000000ull; !has(t, -1, FL_GONE) && ot_now_ns() < until;)
		work(t);
	assert_null(t->err);
	if (!strstr(why(t, &arena, &member), text))
		fail_msg("%s", why(t, &arena, &member));
	assert_int_equal(member, 1);
	assert_true(find(t, 0, -1, FL_AGGREGATES) < find(t, 0, -1, FL_GONE));
	assert_false(has(t, 1, FL_RECORDS) || has(t, 1, FL_FAULTS) || has(t, 1, FL_ENDED));
	forget(t);
	count(t, 0, 1);
	work(t);
	assert_true(has(t, -1, FL_AGGREGATES));
	tell_of(t, 1, FL_STOP); /* which may cross */
	work(t);
	assert_null(t->err);
	ot_arena_deinit(&arena);
}

static void unknown_epid(struct canned *h)
{
	put_clock(h);
	put_record(h, 99, 0, 1, 1, 24);
	say(h, FL_RECORDS);
}

static void unknown_fault(struct canned *h)
{
	fl_put_fault(&h->body, &(struct fl_fault){ 1, 0, 99, 4, 1, 0 });
	say(h, FL_FAULTS);
}

static void short_tuple(struct canned *h)
{
	put_aggregate(h, 2, 2, "x", 8 + STRSIZE - 1, 7, 8);
	say(h, FL_AGGREGATES);
}

static void no_program(struct canned *h)
{
	ot_buf_puts(&h->body, "no program");
	say(h, FL_PROGRAM);
}

static void of_another(struct canned *h)
{
	fl_put_of(&h->body, &(struct fl_of){ 0, FL_ENDED, { NULL, 0 } });
	say(h, FL_OF);
}

static void ready_again(struct canned *h)
{
	say_ready(h, 1);
}

static void hostile_hosts(void **state)
{
	static const struct {
		void (*say)(struct canned *h);
		const char *why;
	} cases[] = {
		{ unknown_epid, "a record that its program does not have" },
		{ unknown_fault, "a fault that its program does not have" },
		{ short_tuple, "an aggregation that its program does not have" },
		{ no_program, "PROGRAM" },
		{ of_another, "OF out of order" },
		{ ready_again, "READY out of order" },
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		struct merging t;

		merging_begin(&t, counting);
		count(&t, 1, 1);
		cases[i].say(&t.f.hosts[1]);
		expect_out(&t, cases[i].why);
		merging_teardown(&t);
	}
}

static void a_link_breaks(void **state)
{
	struct merging t;

	(void)state;
	merging_begin(&t, counting);
	count(&t, 1, 1);
	work(&t);
	fl_link_destroy(t.f.hosts[1].link);
	t.f.hosts[1].link = NULL;
	expect_out(&t, "");
	merging_teardown(&t);
}

/* It has compiled something else: found when the operator's program comes, and the others begin. */
static void another_aggregation(void **state)
{
	struct merging t;
	struct lx other;

	(void)state;
	merging_setup(&t, "fbt::do_exit:entry { @a[probefunc] = count(); }", 2);
	lx_init(&other);
	other.opts.strsize = STRSIZE;
	assert_true(lx_compile(&other, "fbt::do_exit:entry { @a[probefunc] = sum(arg0); }"));
	say_all(&t.f, 0);
	say_hello(&t.f.hosts[1], FL_PROTOCOL);
	say_guest(&t.f.hosts[1], 0, "web01", true);
	say_program(&t.f.hosts[1], &other.prog);
	say_enabled(&t.f.hosts[1], 1, 0, 0);
	say_ready(&t.f.hosts[1], 1);
	work(&t);
	tell_program(&t, &t.f.lx.prog);
	for (unsigned i = 0; i < 2; i++)
		tell_of(&t, i, FL_START);
	work(&t);
	say(&t.f.hosts[0], FL_STARTED);
	for (uint64_t until = ot_now_ns() + 60000000000ull; !has(&t, -1, FL_GONE) && ot_now_ns() < until;)
		work(&t);
	assert_null(t.err);
	assert_true(has(&t, 0, FL_STARTED));
	assert_true(has(&t, -1, FL_GONE));
	merging_teardown(&t);
	lx_deinit(&other);
}

/* Acts of the operator's process that no text asks for: as by an operator, so that the merger is not refused
 * for it. */
static void acts_of_no_text(void **state)
{
	struct merging t;
	struct lx other;

	(void)state;
	merging_begin(&t, counting);
	count(&t, 1, 1);
	lx_init(&other);
	other.opts.strsize = STRSIZE;
	assert_true(lx_compile(&other, counting));
	assert_true(
	    lx_compile(&other, "fbt::do_exit:entry { system(\"reboot\"); @a[probefunc] = count(); }"));
	say_program(&t.f.hosts[1], &other.prog);
	say_enabled(&t.f.hosts[1], 3, 2, 0);
	expect_out(&t, "system() in a clause of a guest");
	merging_teardown(&t);
	lx_deinit(&other);
}

/* Its refusal is passed on, and is its end. */
static void a_host_refuses(void **state)
{
	struct merging t;

	(void)state;
	merging_setup(&t, counting, 2);
	forget(&t);
	say_hello(&t.f.hosts[1], FL_PROTOCOL);
	fl_put_refused(&t.f.hosts[1].body, &(struct fl_refused){ FL_REASON_POLICY, "no" });
	say(&t.f.hosts[1], FL_REFUSED);
	say_all(&t.f, 0);
	work(&t);
	assert_true(has(&t, 1, FL_REFUSED) && has(&t, 0, FL_READY));
	assert_false(has(&t, -1, FL_GONE));
	assert_int_equal(t.m->endings_ns, 0);
	merging_teardown(&t);
}

/* Programs beyond all hosts' room. */
static void too_many_programs(void **state)
{
	struct merging t;
	struct lx more;

	(void)state;
	merging_begin(&t, counting);
	count(&t, 1, 1);
	t.m->kept.bytes = FL_MERGE_PROGRAMS;
	lx_init(&more);
	more.opts.strsize = STRSIZE;
	assert_true(lx_compile(&more, counting));
	assert_true(lx_compile(&more, "fbt::do_exit:entry { trace(arg0 + 1); }"));
	say_program(&t.f.hosts[0], &t.f.lx.prog); /* which is kept already */
	say_program(&t.f.hosts[1], &more.prog);
	expect_out(&t, "too many different programs");
	merging_teardown(&t);
	lx_deinit(&more);
}

/* --- operators -------------------------------------------------------------------------------------------------- */

static void member(struct merging *t, uint32_t number, const char *called)
{
	struct ot_buf body = { 0 };

	put_member(&body, number, called, counting);
	tell(t, FL_MEMBER, &body);
}

static void number_again(struct merging *t)
{
	member(t, 1, "h3");
}

static void name_again(struct merging *t)
{
	member(t, 2, "h1");
}

static void name_with_dots(struct merging *t)
{
	member(t, 2, "h3.>");
}

static void no_name(struct merging *t)
{
	member(t, 2, "");
}

static void no_run(struct merging *t)
{
	static const uint8_t key[FL_PUBLIC];
	struct ot_buf body = { 0 };

	fl_put_member(&body, &(struct fl_member){ 2, "h3", { key, 32 }, { key, 3 }, 1, { { key, 32 } } });
	tell(t, FL_MEMBER, &body);
}

static void large_invitation(struct merging *t)
{
	static const uint8_t key[FL_REQUEST_MAX + 1];
	struct ot_buf body = { 0 }, run = { 0 };

	put_text_run(&run, counting);
	fl_put_member(&body, &(struct fl_member){ 2,
						  "h3",
						  { key, 32 },
						  { (const uint8_t *)run.data, (uint32_t)run.len },
						  1,
						  { { key, FL_REQUEST_MAX + 1 } } });
	ot_buf_deinit(&run);
	tell(t, FL_MEMBER, &body);
}

static void start_early(struct merging *t)
{
	tell_of(t, 0, FL_START);
}

static void of_nobody(struct merging *t)
{
	tell_of(t, 2, FL_STOP);
}

static void of_run(struct merging *t)
{
	tell_of(t, 0, FL_RUN);
}

static void a_hosts_message(struct merging *t)
{
	tell(t, FL_READY, NULL);
}

static void hello_again(struct merging *t)
{
	greet(t);
}

static void program_again(struct merging *t)
{
	tell_program(t, &t->f.lx.prog);
	tell_program(t, &t->f.lx.prog);
}

static void program_of_none(struct merging *t)
{
	struct ot_buf body = { 0 };

	fl_put_program(&body, &(struct fl_program){ .dof = { (const uint8_t *)"DOF", 3 } });
	tell(t, FL_PROGRAM, &body);
}

static void hostile_operators(void **state)
{
	static void (*const cases[])(struct merging * t) = {
		number_again,     name_again,    name_with_dots,  no_name, no_run,
		large_invitation, start_early,   of_nobody,       of_run,  a_hosts_message,
		hello_again,      program_again, program_of_none,
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		struct merging t;

		merging_setup(&t, counting, 2);
		work(&t);
		assert_null(t.err);
		cases[i](&t);
		work(&t);
		if (!t.err)
			fail_msg("case %zu is taken", i);
		merging_teardown(&t);
	}
}

/* MEMBER is not to be sent before HELLO, nor by who speaks another protocol. */
static void strangers(void **state)
{
	struct fl_carrier *near, *far;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct fl_hello hello = { .protocol = FL_PROTOCOL + 1, .name = "x" };
		struct ot_buf body = { 0 };
		struct merging t = { .config = { .name = "m1" } };

		make_pair(&near, &far);
		assert_null(fl_link_create(near, NULL, NULL, NULL, &t.operator));
		assert_null(fl_link_create(far, NULL, NULL, NULL, &t.link));
		assert_null(fl_merge_create(t.link, &t.config, &t.m));
		if (i)
			fl_put_hello(&body, &hello);
		else
			put_member(&body, 0, "h1", counting);
		tell(&t, i ? FL_HELLO : FL_MEMBER, &body);
		work(&t);
		assert_non_null(t.err);
		assert_int_equal(ot_err_code(t.err), i ? OT_ERR_UNSUPPORTED : OT_ERR_BAD_DATA);
		forget(&t);
		ot_err_destroy(t.err);
		fl_merge_destroy(t.m);
		fl_link_destroy(t.link);
		fl_link_destroy(t.operator);
	}
}

/* A whole session by fl_merge_run(), whose operator goes away: it ends, and its log says so. */
static void put_line(void *arg, const char *line)
{
	ot_buf_printf(arg, "%s\n", line);
}

static void an_operator_is_lost(void **state)
{
	struct merging t = { .config = { .name = "m1", .lease_ns = 50000000 } };
	struct fl_carrier *near, *far;
	struct ot_buf log = { 0 };

	(void)state;
	t.config.log = put_line;
	t.config.arg = &log;
	make_pair(&near, &far);
	assert_null(fl_link_create(near, NULL, NULL, NULL, &t.operator));
	assert_null(fl_link_create(far, NULL, NULL, NULL, &t.link));
	greet(&t); /* and then it is silent */
	assert_int_equal(fl_merge_run(t.link, &t.config), 1);
	assert_non_null(strstr(log.data, "merging begins: hosts are invited on behalf of alice@desk\n"));
	assert_non_null(strstr(log.data, "the operator is lost"));
	assert_non_null(strstr(log.data, "merging ends: 0 hosts"));
	ot_buf_deinit(&log);
	fl_link_destroy(t.link);
	fl_link_destroy(t.operator);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_hosts),       cmocka_unit_test(a_link_breaks),
		cmocka_unit_test(another_aggregation), cmocka_unit_test(acts_of_no_text),
		cmocka_unit_test(a_host_refuses),      cmocka_unit_test(too_many_programs),
		cmocka_unit_test(hostile_operators),   cmocka_unit_test(strangers),
		cmocka_unit_test(an_operator_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
