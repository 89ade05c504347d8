/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/merge: what is one host's goes on as it came, in front of it what it refers to, and its end last. */
#include "tests/unit/fleet_merge_fixture.h"

#define RECORD 1u /* EPIDs of the clauses of `counting` */
#define COUNT  2u

static void count(struct merging *t, unsigned host, const char *key, uint64_t word)
{
	put_aggregate(&t->f.hosts[host], COUNT, 2, key, 8 + STRSIZE, word, 8);
	say(&t->f.hosts[host], FL_AGGREGATES);
}

static void name(struct merging *t, unsigned host, uint64_t number, const char *text)
{
	fl_put_name(&t->f.hosts[host].body, &(struct fl_name){ 0, number, text, "f (a.py:3)" });
	say(&t->f.hosts[host], FL_NAMES);
}

/* --- in front of data ----------------------------------------------------------------------------------------- */

/* PROGRAM, the element of ENABLED and all NAMES until then; what was passed on is not again. */
static void what_records_refer_to(void **state)
{
	struct fl_enabled e;
	struct fl_name n;
	struct ot_arena arena;
	struct merging t;

	(void)state;
	ot_arena_init(&arena);
	merging_begin(&t, counting);
	name(&t, 1, 70000, "vmlinux`do_exit");
	work(&t);
	assert_int_equal(t.n, 0);
	say_record(&t.f.hosts[1], RECORD, 42);
	work(&t);
	assert_string_equal(kinds(&t), "PROGRAM(1) ENABLED(1) NAMES(1) RECORDS(1)");
	struct fl_reader r = reader_of(&t, 1);
	assert_true(fl_next_enabled(&r, &arena, &e));
	assert_int_equal(e.epid, RECORD);
	assert_int_equal(e.clause, 0);
	assert_int_equal(e.guest, 0);
	assert_int_equal(e.probe, 77);
	assert_string_equal(e.function, "do_exit");
	assert_false(fl_next_enabled(&r, &arena, &e));
	r = reader_of(&t, 2);
	assert_true(fl_next_name(&r, &arena, &n));
	assert_int_equal(n.number, 70000);
	assert_string_equal(n.text, "vmlinux`do_exit");
	assert_string_equal(n.note, "f (a.py:3)");
	forget(&t);
	say_record(&t.f.hosts[1], RECORD, 43);
	work(&t);
	assert_string_equal(kinds(&t), "RECORDS(1)");
	forget(&t);
	name(&t, 1, 70001, "vmlinux`vfs_read");
	say_record(&t.f.hosts[1], RECORD, 44);
	work(&t);
	assert_string_equal(kinds(&t), "NAMES(1) RECORDS(1)");
	/* of the first host the operator has the program */
	forget(&t);
	say_record(&t.f.hosts[0], RECORD, 45);
	work(&t);
	assert_string_equal(kinds(&t), "ENABLED(0) RECORDS(0)");
	merging_teardown(&t);
	ot_arena_deinit(&arena);
}

static void records_are_unchanged(void **state)
{
	struct ot_buf body = { 0 };
	struct merging t;

	(void)state;
	merging_begin(&t, counting);
	put_clock(&t.f.hosts[0]);
	put_record(&t.f.hosts[0], RECORD, 3, 99, 7, 40); /* with more than its clause needs */
	ot_buf_append(&body, t.f.hosts[0].body.data, t.f.hosts[0].body.len);
	say(&t.f.hosts[0], FL_RECORDS);
	work(&t);
	const struct got *got = &t.got[find(&t, 0, 0, FL_RECORDS)];
	assert_int_equal(got->body.len, body.len);
	assert_memory_equal(got->body.data, body.data, body.len);
	ot_buf_deinit(&body);
	merging_teardown(&t);
}

static void faults_overloads_and_drops(void **state)
{
	struct merging t;

	(void)state;
	merging_begin(&t, counting);
	fl_put_drop(&t.f.hosts[1].body, &(struct fl_drop){ VP_DROP_PRINCIPAL, 3, 12 });
	say(&t.f.hosts[1], FL_DROPS);
	fl_put_fault(&t.f.hosts[1].body, &(struct fl_fault){ RECORD, 0, 1, 4, DIF_FAULT_BADADDR, 0x10 });
	say(&t.f.hosts[1], FL_FAULTS);
	fl_put_overload(&t.f.hosts[1].body, &(struct fl_overload){ COUNT, 2, 30, 20 });
	say(&t.f.hosts[1], FL_OVERLOAD);
	say_guest(&t.f.hosts[1], 1, "web02", true);
	fl_put_say(&t.f.hosts[1].body, &(struct fl_say){ true, "x" });
	say(&t.f.hosts[1], FL_SAY);
	work(&t);
	assert_string_equal(kinds(&t),
			    "DROPS(1) PROGRAM(1) ENABLED(1) FAULTS(1) ENABLED(1) OVERLOAD(1) GUEST(1) "
			    "SAY(1)");
	merging_teardown(&t);
}

/* A guest whose kernel is new: what comes later refers to the later program. */
static void a_later_program(void **state)
{
	struct merging t;
	struct lx more;

	(void)state;
	merging_begin(&t, counting);
	say_record(&t.f.hosts[0], RECORD, 1);
	work(&t);
	lx_init(&more);
	more.opts.strsize = STRSIZE;
	assert_true(lx_compile(&more, counting));
	assert_true(lx_compile(&more, "fbt::do_exit:entry { trace(arg0 + 1); }"));
	say_program(&t.f.hosts[0], &more.prog);
	say_enabled(&t.f.hosts[0], 3, 2, 0);
	forget(&t);
	say_record(&t.f.hosts[0], RECORD, 2);
	say_record(&t.f.hosts[0], 3, 2);
	work(&t);
	assert_string_equal(kinds(&t), "RECORDS(0) PROGRAM(0) ENABLED(0) RECORDS(0)");
	merging_teardown(&t);
	lx_deinit(&more);
}

/* --- the end -------------------------------------------------------------------------------------------------- */

/* The last deltas are in the sums in front of ENDED; of hosts that end together, in one message. */
static void ends_are_behind_the_sums(void **state)
{
	struct merging t;

	(void)state;
	merging_begin(&t, counting);
	t.m->opts.aggrate_ns = UINT64_MAX / 4; /* they would not be due */
	t.m->fold.sent_ns = ot_now_ns();
	for (unsigned i = 0; i < 2; i++) {
		tell_of(&t, i, FL_STOP);
		count(&t, i, "x", 1);
		say_ended(&t.f.hosts[i]);
	}
	work(&t);
	assert_string_equal(kinds(&t), "PROGRAM ENABLED AGGREGATES ENDED(0) ENDED(1)");
	tell(&t, FL_STOP, NULL);
	work(&t);
	assert_true(t.m->stopped);
	merging_teardown(&t);
}

/* One that ends alone does not wait for the others for long. */
static void one_ends_alone(void **state)
{
	struct merging t;

	(void)state;
	merging_begin(&t, counting);
	say_ended(&t.f.hosts[1]);
	work(&t);
	assert_int_equal(t.n, 0);
	for (uint64_t until = ot_now_ns() + 60000000000ull; !t.n && ot_now_ns() < until;)
		work(&t);
	assert_string_equal(kinds(&t), "ENDED(1)");
	merging_teardown(&t);
}

/* Greeted in the operator's name, with the operator's RUN; STOP comes once. */
static void the_hosts_hear(void **state)
{
	struct ot_arena arena;
	struct fl_hello hello;
	struct canned *h;
	enum fl_kind kind, last = FL_HELLO;
	struct merging t;
	const void *data;
	size_t len;
	unsigned runs = 0;

	(void)state;
	ot_arena_init(&arena);
	merging_begin(&t, counting);
	h = &t.f.hosts[0];
	tell_of(&t, 0, FL_STOP);
	tell_of(&t, 0, FL_STOP);
	work(&t);
	ot_err_destroy(fl_link_poll(h->link));
	while (fl_link_receive(h->link, &kind, &data, &len)) {
		struct ot_buf run = { 0 };

		assert_true(last != FL_STOP); /* once */
		last = kind;
		if (kind == FL_HELLO) {
			assert_null(fl_get_hello(data, len, &arena, &hello));
			assert_string_equal(hello.name, "alice@desk");
		}
		if (kind != FL_RUN)
			continue;
		put_text_run(&run, counting);
		assert_int_equal(len, run.len); /* the bytes that MEMBER had */
		assert_memory_equal(data, run.data, len);
		ot_buf_deinit(&run);
		runs++;
	}
	assert_int_equal(runs, 1);
	assert_int_equal(last, FL_STOP);
	merging_teardown(&t);
	ot_arena_deinit(&arena);
}

/* A host that is over may be invited again, and its new session is another one's. */
static void one_begins_again(void **state)
{
	struct ot_buf body = { 0 };
	struct merging t;

	(void)state;
	merging_begin(&t, counting);
	say_ended(&t.f.hosts[1]);
	for (uint64_t until = ot_now_ns() + 60000000000ull; !t.n && ot_now_ns() < until;)
		work(&t);
	fl_link_destroy(t.f.hosts[1].link);
	t.f.hosts[1].link = NULL;
	put_member(&body, 7, "h2", counting);
	tell(&t, FL_MEMBER, &body);
	work(&t);
	assert_null(t.err);
	forget(&t);
	join_as(&t, 1, 7);
	say_all(&t.f, 1);
	work(&t);
	tell_of(&t, 7, FL_START);
	work(&t);
	say(&t.f.hosts[1], FL_STARTED);
	count(&t, 1, "x", 3);
	say_record(&t.f.hosts[1], RECORD, 42);
	work(&t);
	assert_null(t.err);
	assert_string_equal(kinds(&t),
			    "HELLO(7) GUEST(7) READY(7) STARTED(7) PROGRAM ENABLED PROGRAM(7) ENABLED(7) "
			    "RECORDS(7) AGGREGATES");
	merging_teardown(&t);
}

/* --- full ------------------------------------------------------------------------------------------------------ */

static bool is_held(struct merging *t)
{
	ot_err_destroy(fl_link_poll(t->f.hosts[1].link));
	t->err = fl_merge_step(t->m);
	assert_null(t->err);
	return t->m->fleet->held;
}

/* An operator that takes nothing has its hosts wait, whose links stay alive; nothing is lost. */
static void a_slow_operator(void **state)
{
	enum { EACH = 1 << 20, MOST = 64 };
	static uint8_t big[EACH];
	unsigned sent = 0, come = 0;
	struct merging t;

	(void)state;
	merging_begin(&t, counting);
	for (; sent < MOST && !is_held(&t); sent++) {
		put_clock(&t.f.hosts[1]);
		fl_put_record(&t.f.hosts[1].body, &(struct fl_record){ RECORD, 0, 1, { big, EACH } });
		say(&t.f.hosts[1], FL_RECORDS);
		for (unsigned k = 0; k < 50 && !is_held(&t); k++)
			;
	}
	assert_in_range(sent, FL_MERGE_HOLD / EACH, MOST - 1);
	const size_t pending = fl_link_pending(t.link);
	for (unsigned i = 0; i < 8; i++, sent++) {
		put_clock(&t.f.hosts[1]);
		fl_put_record(&t.f.hosts[1].body, &(struct fl_record){ RECORD, 0, 1, { big, EACH } });
		say(&t.f.hosts[1], FL_RECORDS);
		assert_true(is_held(&t));
	}
	assert_int_equal(fl_link_pending(t.link), pending);
	for (uint64_t until = ot_now_ns() + 60000000000ull; come < sent && ot_now_ns() < until; forget(&t)) {
		work(&t);
		assert_null(t.err);
		for (unsigned i = find(&t, 0, 1, FL_RECORDS); i < t.n; i = find(&t, i + 1, 1, FL_RECORDS))
			come++;
	}
	assert_int_equal(come, sent);
	assert_false(t.m->fleet->held);
	merging_teardown(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_records_refer_to),
		cmocka_unit_test(records_are_unchanged),
		cmocka_unit_test(faults_overloads_and_drops),
		cmocka_unit_test(a_later_program),
		cmocka_unit_test(ends_are_behind_the_sums),
		cmocka_unit_test(one_ends_alone),
		cmocka_unit_test(the_hosts_hear),
		cmocka_unit_test(one_begins_again),
		cmocka_unit_test(a_slow_operator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
