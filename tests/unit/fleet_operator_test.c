/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/operator: what hosts hand over reaches the sink, and what they may not have done is refused. */
#include "tests/unit/fleet_operator_fixture.h"

/* --- data ----------------------------------------------------------------------------------------------- */

static void data_reaches_the_sink(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, counting, 2);
	assert_int_equal(fl_fleet_matched(f.fleet), 6);
	assert_int_equal(fl_fleet_matched_by(f.fleet, 0), 6);
	assert_int_equal(fl_fleet_matched_by(f.fleet, 1), 0);
	say_record(&f.hosts[1], 1, 42);
	take(&f);
	f.fleet->order.waits = false;
	assert_null(fl_order_release(&f.fleet->order, UINT64_MAX, ot_now_ns()));
	assert_int_equal(f.seen.records, 1);
	const struct vp_enabled *ecb = f.seen.record.ecb;
	assert_true(ecb->epid >= FL_EPID_BASE);
	assert_int_equal(ecb->guest, FL_GUEST_BASE + VP_GUESTS_MAX);
	assert_string_equal(ecb->probe->function, "do_exit");
	assert_int_equal(ecb->probe->id, 77);
	assert_int_equal(f.seen.record.cpu, 1);
	assert_int_equal(f.seen.record.size, ecb->layout->size);
	assert_int_equal(con_load(f.seen.data + ecb->layout->recs[0].offset, 8), 42);
	put_aggregate(&f.hosts[0], 2, 2, "do_exit", 8 + STRSIZE, 7, 8);
	say(&f.hosts[0], FL_AGGREGATES);
	take(&f);
	assert_int_equal(f.seen.aggregates, 1);
	assert_int_equal(f.seen.word, 7);
	assert_int_equal(f.seen.aggregate.action->aggid, 2);
	assert_string_equal((const char *)f.seen.tuple + 8, "do_exit");
	teardown(&f);
}

/* `guest` in keys and records has its host's name; what is made of it has not, and one that has no room is
 * cut. */
static void guests_names_have_their_hosts(void **state)
{
	const uint32_t at = 16; /* of a string of 16 bytes behind the header */
	uint8_t data[64] = { 0 };
	struct fixture f;

	(void)state;
	begin(&f,
	      "fbt::do_exit:entry { trace(guest); } fbt::do_exit:entry { @[guest] = count(); } "
	      "fbt::do_exit:entry { trace(strjoin(guest, \"\")); }",
	      1);
	memcpy(data + at, "web01", 5);
	for (uint32_t epid = 1; epid <= 3; epid += 2) {
		put_clock(&f.hosts[0]);
		fl_put_record(&f.hosts[0].body, &(struct fl_record){ epid, 0, 1, { data, at + STRSIZE } });
		say(&f.hosts[0], FL_RECORDS);
		take(&f);
		assert_int_equal(f.seen.record.size, at + STRSIZE);
		assert_string_equal((const char *)f.seen.data + at, epid == 1 ? "h1/web01" : "web01");
	}
	put_aggregate(&f.hosts[0], 2, 1, "web01", 8 + STRSIZE, 7, 8);
	say(&f.hosts[0], FL_AGGREGATES);
	take(&f);
	assert_string_equal((const char *)f.seen.tuple + 8, "h1/web01");
	teardown(&f);
}

/* An aggregation has the operator's number, whichever it has on a host. */
static void numbers_are_the_operators(void **state)
{
	struct fixture f;
	struct lx other;

	(void)state;
	setup(&f, counting, 1);
	lx_init(&other);
	assert_true(lx_compile(&other, "END { @a[probefunc] = count(); } END { @other = sum(1); }"));
	assert_true(lx_compile(&f.lx, counting));
	say_all(&f, 0);
	assert_null(fl_fleet_prepare(f.fleet, -1));
	assert_null(fl_fleet_bind(f.fleet, &other.prog, &f.sink, 0));
	say(&f.hosts[0], FL_STARTED);
	assert_null(fl_fleet_start(f.fleet));
	put_aggregate(&f.hosts[0], 2, 2, "x", 8 + STRSIZE, 7, 8);
	say(&f.hosts[0], FL_AGGREGATES);
	take(&f);
	assert_int_equal(f.seen.aggregate.action->aggid, 1);
	teardown(&f);
	lx_deinit(&other);
}

static void faults_drops_and_guests(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, counting, 1);
	fl_put_fault(&f.hosts[0].body, &(struct fl_fault){ 1, 0, 1, 4, DIF_FAULT_BADADDR, 0x10 });
	say(&f.hosts[0], FL_FAULTS);
	fl_put_drop(&f.hosts[0].body, &(struct fl_drop){ VP_DROP_AGGREGATION, 3, 12 });
	say(&f.hosts[0], FL_DROPS);
	fl_put_overload(&f.hosts[0].body, &(struct fl_overload){ 1, 2, 30, 20 });
	say(&f.hosts[0], FL_OVERLOAD);
	say_guest(&f.hosts[0], 1, "web02", true);
	say_guest(&f.hosts[0], 0, "web01", false);
	fl_put_say(&f.hosts[0].body, &(struct fl_say){ true, "a\033[2Jb\nc" });
	say(&f.hosts[0], FL_SAY);
	take(&f);
	assert_int_equal(f.seen.faults, 1);
	assert_int_equal(f.seen.drops, 1);
	assert_int_equal(f.seen.overloads, 1);
	assert_int_equal(f.seen.news, 2);
	assert_non_null(strstr(f.seen.said, "h1: guest web01 powered off\n"));
	assert_non_null(strstr(f.seen.said, "h1: a?[2Jb?c\n"));
	teardown(&f);
}

/* What hosts say of the program is said once. */
static void sentences_are_said_once(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, counting, 2);
	for (unsigned i = 0; i < 2; i++) {
		fl_put_say(&f.hosts[i].body, &(struct fl_say){ true, "x is each guest's own" });
		say(&f.hosts[i], FL_SAY);
		fl_put_say(&f.hosts[i].body, &(struct fl_say){ true, i ? "b" : "a" });
		say(&f.hosts[i], FL_SAY);
		take(&f);
	}
	assert_string_equal(f.seen.said, "h1: x is each guest's own\nh1: a\nh2: b\n");
	teardown(&f);
}

/* --- names ---------------------------------------------------------------------------------------------- */

static void local_name(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf,
		       size_t size)
{
	(void)arg;
	(void)guest;
	(void)addr;
	(void)form;
	snprintf(buf, size, "local");
}

static void addresses_have_names(void **state)
{
	struct con_symbols symbols = { .kernel = local_name, .nguests = 1 };
	const uint32_t guest = FL_GUEST_BASE;
	struct fixture f;
	char text[64];

	(void)state;
	begin(&f, counting, 1);
	fl_put_name(&f.hosts[0].body, &(struct fl_name){ 0, 70000, "vmlinux`do\033exit+0x1", "" });
	fl_put_name(&f.hosts[0].body, &(struct fl_name){ 0, 70001, "python`eval", "f (a.py:3)\ng (b.py:9)" });
	say(&f.hosts[0], FL_NAMES);
	take(&f);
	fl_fleet_names(f.fleet, &symbols);
	assert_true(symbols.nguests > 1);
	symbols.kernel(symbols.arg, guest, 70000, VP_SYM_OFFSET, text, sizeof(text));
	assert_string_equal(text, "vmlinux`do?exit+0x1");
	symbols.kernel(symbols.arg, guest, 5, VP_SYM_OFFSET, text, sizeof(text));
	assert_string_equal(text, "0x5");
	symbols.kernel(symbols.arg, guest + 999999, 70000, VP_SYM_OFFSET, text, sizeof(text));
	assert_string_equal(text, "0x11170");
	symbols.kernel(symbols.arg, 0, 70000, VP_SYM_OFFSET, text, sizeof(text));
	assert_string_equal(text, "local");
	symbols.user(symbols.arg, guest, 12, 70001, VP_SYM_NAME, text, sizeof(text));
	assert_string_equal(text, "python`eval");
	assert_string_equal(symbols.note(symbols.arg, guest, 12, 70001, "x"), "f (a.py:3)\ng (b.py:9)");
	assert_null(symbols.note(symbols.arg, guest, 12, 70000, "x"));
	assert_string_equal(symbols.guest(symbols.arg, guest), "h1/web01");
	assert_null(symbols.guest(symbols.arg, guest + 1));
	assert_null(symbols.guest(symbols.arg, UINT32_MAX));
	teardown(&f);
}

/* --- order ---------------------------------------------------------------------------------------------- */

/* Records wait for the host that is behind, and then come by time. */
static void records_of_hosts_are_in_order(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, counting, 2);
	/* One clock: two can't be read at the same moment, and smaller changes are ignored. */
	for (unsigned i = 0; i < 2; i++) {
		f.fleet->hosts[i]->has_clock = true;
		f.fleet->hosts[i]->clock_offset = 0;
	}
	const uint64_t now = ot_now_ns();
	put_clock(&f.hosts[0]);
	put_record(&f.hosts[0], 1, 0, now - 30, 1, 24);
	put_record(&f.hosts[0], 1, 0, now - 10, 1, 24);
	say(&f.hosts[0], FL_RECORDS);
	take(&f);
	assert_int_equal(f.seen.records, 0);
	put_clock(&f.hosts[1]);
	put_record(&f.hosts[1], 1, 0, now - 40, 1, 24);
	put_record(&f.hosts[1], 1, 0, now - 20, 1, 24);
	say(&f.hosts[1], FL_RECORDS);
	take(&f);
	assert_int_equal(f.seen.records, 4);
	for (unsigned i = 1; i < 4; i++)
		assert_true(f.seen.times[i - 1] < f.seen.times[i]);
	teardown(&f);
}

/* A silent host is waited for for two seconds; what waits is bounded. */
static void order_waits_for_so_long(void **state)
{
	const struct vp_enabled ecb = { .epid = 1 };
	struct seen seen = { 0 };
	const struct vp_sink sink = { .arg = &seen, .record = see_record };
	uint8_t data[100] = { 0 };
	struct fl_order o;

	(void)state;
	fl_order_init(&o, &sink);
	o.waits = true;
	for (uint64_t i = 0; i < 10; i++) {
		const struct vp_record r = { &ecb, 0, 1000 - i, data, sizeof(data) };
		assert_null(fl_order_put(&o, &r, 5000 + i));
	}
	assert_int_equal(fl_order_due_ns(&o), 5009 + FL_ORDER_NS);
	assert_null(fl_order_release(&o, 990, 6000));
	assert_int_equal(seen.records, 0);
	assert_null(fl_order_release(&o, 992, 6000));
	assert_int_equal(seen.records, 2);
	assert_int_equal(seen.times[0], 991);
	o.limit = o.bytes;
	const struct vp_record late = { &ecb, 0, 1, data, sizeof(data) };
	assert_null(fl_order_put(&o, &late, 7000));
	assert_int_equal(seen.records, 3);
	assert_null(fl_order_release(&o, 0, 7000 + FL_ORDER_NS));
	assert_int_equal(seen.records, 11);
	assert_int_equal(o.n, 0);
	assert_int_equal(o.bytes, 0);
	fl_order_deinit(&o);
}

/* A host whose clocks are apart: its records have this host's time. */
static void times_are_this_hosts(void **state)
{
	uint64_t upto = 0;
	struct fl_fleet fleet = { .upto = &upto };
	struct fl_host h = { .fleet = &fleet };
	struct fl_clock there;

	(void)state;
	fl_clock_now(&there);
	there.record += 5000000000ull; /* it has booted earlier */
	fl_host_take_clock(&h, &there);
	uint64_t now = ot_now_ns();
	uint64_t time = fl_host_time(&h, there.record);
	assert_true(time <= now && now - time < 1000000000ull);
	there.record = UINT64_MAX;
	there.realtime = 1;
	fl_host_take_clock(&h, &there);
	assert_true(upto <= ot_now_ns());
}

/* --- refused -------------------------------------------------------------------------------------------- */

static void expect_failure(struct fixture *f, enum ot_err_code code, const char *text)
{
	struct ot_err *err = fl_fleet_prepare(f->fleet, -1);

	assert_non_null(err);
	if (ot_err_code(err) != code || !strstr(ot_err_message(err), text))
		fail_msg("%d: %s", ot_err_code(err), ot_err_message(err));
	ot_err_destroy(err);
}

static void say_refused(struct canned *h, enum fl_reason reason, const char *text)
{
	say_hello(h, FL_PROTOCOL);
	fl_put_refused(&h->body, &(struct fl_refused){ reason, text });
	say(h, FL_REFUSED);
}

static void refusals_are_errors(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, counting, 1);
	say_refused(&f.hosts[0], FL_REASON_PROGRAM, "invalid probe specifier x: no\n  (hint)\n");
	struct ot_err *err = fl_fleet_prepare(f.fleet, -1);
	assert_string_equal(ot_err_message(err), "invalid probe specifier x: no\n  (hint)");
	ot_err_destroy(err);
	teardown(&f);
	setup(&f, counting, 2);
	say_refused(&f.hosts[1], FL_REASON_PROGRAM, "invalid probe specifier x");
	say_all(&f, 0);
	expect_failure(&f, OT_ERR_SYNTAX, "host h2: invalid probe specifier x");
	teardown(&f);
	setup(&f, counting, 1);
	say_refused(&f.hosts[0], FL_REASON_POLICY, "not\033here");
	expect_failure(&f, OT_ERR_PERMISSION, "host h1: not?here");
	teardown(&f);
	setup(&f, counting, 1);
	say_hello(&f.hosts[0], FL_PROTOCOL + 1);
	expect_failure(&f, OT_ERR_UNSUPPORTED, "install one release");
	teardown(&f);
	setup(&f, counting, 1);
	fl_link_destroy(f.hosts[0].link);
	f.hosts[0].link = NULL;
	expect_failure(&f, OT_ERR_NOT_FOUND, "host h1: outsight-serve has not answered");
	teardown(&f);
}

static void specs(void **state)
{
	static const char *const wrong[] = { "ssh://h1", "ssh:///web", "ssh://h1/", "ssh://h1/a/b",
					     "ssh://h1/a b" };
	const char *host, *guests;
	struct ot_arena arena;

	(void)state;
	ot_arena_init(&arena);
	assert_false(fl_is_remote("web01"));
	assert_true(fl_is_remote("ssh://h1/web01"));
	for (size_t i = 0; i < OT_ARRAY_SIZE(wrong); i++) {
		struct ot_err *err = fl_spec_parse(wrong[i], &arena, &host, &guests);
		assert_int_equal(ot_err_code(err), OT_ERR_SYNTAX);
		ot_err_destroy(err);
	}
	assert_null(fl_spec_parse("ssh://me@h1/web*", &arena, &host, &guests));
	assert_string_equal(host, "me@h1");
	assert_string_equal(guests, "web*");
	assert_null(fl_spec_parse("ssh://h1//run/socket", &arena, &host, &guests));
	assert_string_equal(guests, "/run/socket");
	ot_arena_deinit(&arena);
}

/* --- what a host's program may do ----------------------------------------------------------------------- */

/* A host has compiled @p program, where the operator asked for @p text. */
static void expect_distrust(const char *text, const char *program, const char *why)
{
	struct fixture f;

	setup(&f, text, 1);
	assert_true(lx_compile(&f.lx, program));
	say_all(&f, 0);
	expect_failure(&f, OT_ERR_BAD_DATA, why);
	teardown(&f);
}

static void programs_do_what_the_text_says(void **state)
{
	struct fixture f;

	(void)state;
	expect_distrust("fbt:::entry { trace(1); }", "fbt::do_exit:entry { exit(0); }",
			"exit() is in no text");
	expect_distrust("fbt:::entry { @a = count(); }",
			"fbt::do_exit:entry { @a = count(); } fbt::do_exit:entry { clear(@a); }",
			"clear() is in no text");
	expect_distrust("fbt:::entry { @a = count(); }",
			"fbt::do_exit:entry { @a = count(); } fbt::do_exit:entry { trunc(@a); }",
			"trunc() is in no text");
	expect_distrust("fbt:::entry { @a = count(); }",
			"fbt::do_exit:entry { @a = count(); } fbt::do_exit:entry { printa(@a); }",
			"printa() is in no text");
	/* these never */
	expect_distrust("system freopen setopt", "fbt::do_exit:entry { system(\"id\"); }", "system()");
	expect_distrust("system freopen setopt", "fbt::do_exit:entry { freopen(\"x\"); }", "freopen()");
	expect_distrust("system freopen setopt", "fbt::do_exit:entry { setopt(\"quiet\"); }",
			"operator's machine");
	expect_distrust("ftruncate", "fbt::do_exit:entry { ftruncate(); }", "operator's machine");
	expect_distrust("x", "fbt::do_exit:entry { printf(\"%99999999d\", 1); }", "wide");
	setup(&f, "fbt::do_exit:entry { @a = count(); clear(@a); exit(0); }", 1);
	assert_true(lx_compile(&f.lx, f.text.arg));
	start(&f, 1);
	teardown(&f);
}

static void functions_must_agree(void **state)
{
	struct fixture f;
	struct lx other;

	(void)state;
	setup(&f, counting, 1);
	lx_init(&other);
	assert_true(lx_compile(&other, "END { @a[probefunc] = sum(1); @other = sum(1); }"));
	assert_true(lx_compile(&f.lx, counting));
	say_all(&f, 0);
	assert_null(fl_fleet_prepare(f.fleet, -1));
	struct ot_err *err = fl_fleet_bind(f.fleet, &other.prog, &f.sink, 0);
	assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
	assert_non_null(strstr(ot_err_message(err), "host h1: @a is count()"));
	ot_err_destroy(err);
	teardown(&f);
	lx_deinit(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_reaches_the_sink),
		cmocka_unit_test(guests_names_have_their_hosts),
		cmocka_unit_test(numbers_are_the_operators),
		cmocka_unit_test(faults_drops_and_guests),
		cmocka_unit_test(sentences_are_said_once),
		cmocka_unit_test(addresses_have_names),
		cmocka_unit_test(records_of_hosts_are_in_order),
		cmocka_unit_test(order_waits_for_so_long),
		cmocka_unit_test(times_are_this_hosts),
		cmocka_unit_test(refusals_are_errors),
		cmocka_unit_test(specs),
		cmocka_unit_test(programs_do_what_the_text_says),
		cmocka_unit_test(functions_must_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
