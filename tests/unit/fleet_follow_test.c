/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest that leaves one host of a fleet and arrives at another. */
#include "tests/unit/fleet_operator_fixture.h"

#define SAVED "guest web01 is being migrated or saved"
#define UUID  "2b9f0d52-5f0e-4a58-9a55-3c2f6d1e7a10"
#define OTHER "7c1e4a90-0000-4a58-9a55-3c2f6d1e7a10"
#define MS    1000000ull

static void begin_for(struct fixture *f, unsigned nhosts, uint64_t follow_ns)
{
	setup_for(f, counting, nhosts, follow_ns);
	assert_true(lx_compile(&f->lx, counting));
	start(f, nhosts);
	f->seen.said[0] = '\0';
}

static void say_left(struct canned *h, uint64_t time)
{
	fl_put_guest(&h->body, &(struct fl_guest){ 0, "web01", false, VP_GUEST_SAVED, SAVED, time, UUID });
	say(h, FL_GUEST);
}

static void say_joined(struct canned *h, uint32_t guest, uint64_t time, const char *uuid)
{
	fl_put_guest(&h->body, &(struct fl_guest){ guest, "web01", true, 0, "", time, uuid });
	say(h, FL_GUEST);
}

/* Its session has nothing left to trace. */
static void say_ended(struct canned *h, const char *text)
{
	fl_put_ended(&h->body, &(struct fl_ended){ .failed = true, .text = text });
	say(h, FL_ENDED);
}

static bool report(struct fixture *f, struct ot_buf *text)
{
	ot_buf_init(text);
	return fl_fleet_report(f->fleet, text);
}

/* --- it arrives ------------------------------------------------------------------------------------------- */

/* A pattern of the other host's session takes it in. */
static void by_pattern(void **state)
{
	struct fixture f;
	struct ot_buf text;

	(void)state;
	begin_for(&f, 2, 0);
	const uint64_t now = ot_now_ns();
	say_left(&f.hosts[0], now);
	take(&f);
	assert_string_equal(f.seen.said, "h1: " SAVED "\n");
	say_ended(&f.hosts[0], SAVED);
	take(&f);
	/* an older one that is there has the name only */
	say_joined(&f.hosts[1], 2, now + 200 * MS, OTHER);
	take(&f);
	assert_null(strstr(f.seen.said, "moved"));
	say_joined(&f.hosts[1], 1, now + 340 * MS + MS / 2, UUID);
	take(&f);
	assert_non_null(strstr(f.seen.said, "web01 moved h1→h2, gap 340 ms\n"));
	fl_put_ended(&f.hosts[1].body, &(struct fl_ended){ .text = "" });
	say(&f.hosts[1], FL_ENDED);
	take(&f);
	assert_true(report(&f, &text));
	assert_string_equal(ot_buf_str(&text), "");
	assert_int_equal(f.seen.news, 3);
	teardown(&f);
}

/* What the new host says is here before what the old one has said. */
static void in_the_other_order(void **state)
{
	struct fixture f;

	(void)state;
	begin_for(&f, 2, 0);
	const uint64_t now = ot_now_ns();
	say_joined(&f.hosts[1], 1, now + 12345 * MS + MS / 2, "");
	take(&f);
	assert_null(strstr(f.seen.said, "moved"));
	say_left(&f.hosts[0], now);
	take(&f);
	assert_non_null(strstr(f.seen.said, "web01 moved h1→h2, gap 12.3 s\n"));
	teardown(&f);
}

/* Clocks that are wrong by less than what is believed of them. */
static void before_it_left(void **state)
{
	struct fixture f;

	(void)state;
	begin_for(&f, 2, 0);
	const uint64_t now = ot_now_ns();
	say_left(&f.hosts[0], now);
	take(&f);
	say_joined(&f.hosts[1], 1, now - 500 * MS, UUID);
	take(&f);
	assert_non_null(strstr(f.seen.said, "moved h1→h2, gap less than the error of the hosts' clocks\n"));
	teardown(&f);
}

/* A further session with a host, for this guest alone: it begins by itself, and is no host more. */
static void by_a_session_of_its_own(void **state)
{
	struct fixture f;
	struct ot_buf text;
	bool exited;
	int status;

	(void)state;
	begin_for(&f, 1, 0);
	const uint64_t now = ot_now_ns();
	say_left(&f.hosts[0], now);
	take(&f);
	assert_int_equal(f.fleet->nmoves, 1);
	add_host(&f, 1);
	f.fleet->hosts[1]->follows = f.fleet->moves[0];
	say_ended(&f.hosts[0], SAVED);
	say_all(&f, 1);
	take(&f);
	assert_int_equal(f.fleet->hosts[1]->state, FL_HOST_STARTING);
	assert_false(fl_fleet_has_ended(f.fleet));
	say(&f.hosts[1], FL_STARTED);
	say_joined(&f.hosts[1], 0, now + 7 * MS + MS / 2, UUID);
	say_record(&f.hosts[1], 1, 5);
	take(&f);
	assert_non_null(strstr(f.seen.said, "web01 moved h1→h2, gap 7 ms\n"));
	fl_put_ended(&f.hosts[1].body, &(struct fl_ended){ .text = "" });
	say(&f.hosts[1], FL_ENDED);
	assert_null(fl_fleet_take(f.fleet, &exited, &status));
	assert_true(fl_fleet_has_ended(f.fleet));
	assert_null(fl_fleet_stop(f.fleet, NULL, NULL));
	assert_int_equal(f.seen.records, 1);
	assert_true(report(&f, &text));
	assert_string_equal(ot_buf_str(&text), "");
	teardown(&f);
}

/* What it is asked is what the others were, though the program has set an option since. */
static void as_it_began(void **state)
{
	struct fixture f;
	struct ot_buf before, after;

	(void)state;
	begin_for(&f, 1, 0);
	ot_buf_init(&before);
	ot_buf_init(&after);
	assert_null(fl_run_put(f.fleet, "web01", &before));
	assert_null(dif_options_set(&f.lx.opts, "aggrate", "7s", DIF_OPT_ACTIVE));
	assert_null(fl_run_put(f.fleet, "web01", &after));
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.data, after.data, before.len);
	ot_buf_deinit(&before);
	ot_buf_deinit(&after);
	teardown(&f);
}

/* --- it does not ------------------------------------------------------------------------------------------ */

static void not_found(void **state)
{
	struct fixture f;
	struct ot_buf text;

	(void)state;
	begin_for(&f, 1, 1);
	say_left(&f.hosts[0], ot_now_ns());
	say_ended(&f.hosts[0], SAVED);
	take(&f);
	assert_non_null(strstr(f.seen.said, "web01 left h1, and was not found again: "));
	assert_true(fl_fleet_has_ended(f.fleet));
	assert_false(report(&f, &text));
	assert_string_equal(ot_buf_str(&text), "hosts: 0 whole, 1 failed");
	ot_buf_deinit(&text);
	teardown(&f);
}

/* … because the session is ended first. */
static void stopped_meanwhile(void **state)
{
	struct fixture f;
	struct ot_buf text;

	(void)state;
	begin_for(&f, 1, 0);
	say_left(&f.hosts[0], ot_now_ns());
	say_ended(&f.hosts[0], SAVED);
	take(&f);
	assert_false(fl_fleet_has_ended(f.fleet));
	assert_null(fl_fleet_stop(f.fleet, NULL, NULL));
	assert_non_null(
	    strstr(f.seen.said, "web01 left h1, and the session has ended before it was found again\n"));
	assert_false(report(&f, &text));
	ot_buf_deinit(&text);
	teardown(&f);
}

/* A host that was asked for it and refuses is no host that is lost. */
static void refused(void **state)
{
	struct fixture f;
	struct ot_buf text;

	(void)state;
	begin_for(&f, 1, 1);
	say_left(&f.hosts[0], ot_now_ns());
	assert_null(fl_fleet_prepare(f.fleet, -1)); /* takes what has come */
	add_host(&f, 1);
	assert_int_equal(f.fleet->nmoves, 1);
	f.fleet->hosts[1]->follows = f.fleet->moves[0];
	say_hello(&f.hosts[1], FL_PROTOCOL);
	fl_put_refused(&f.hosts[1].body,
		       &(struct fl_refused){ FL_REASON_POLICY, "guest web01: this host does not allow it" });
	say(&f.hosts[1], FL_REFUSED);
	take(&f);
	assert_int_equal(f.fleet->hosts[1]->state, FL_HOST_LEFT_OUT);
	assert_non_null(strstr(f.seen.said, "h2: guest web01: this host does not allow it\n"));
	assert_non_null(strstr(f.seen.said, "web01 left h1, and was not found again: "));
	assert_null(strstr(f.seen.said, "lost"));
	say_ended(&f.hosts[0], SAVED);
	take(&f);
	assert_false(report(&f, &text));
	assert_string_equal(ot_buf_str(&text), "hosts: 0 whole, 1 failed");
	ot_buf_deinit(&text);
	teardown(&f);
}

/* Another guest of the same host was lost: that one has moved is no excuse. */
static void another_is_lost(void **state)
{
	static const char crashed[] = "guest db had a triple fault";
	struct fixture f;

	(void)state;
	begin_for(&f, 2, 0);
	const uint64_t now = ot_now_ns();
	say_guest(&f.hosts[0], 1, "db", true);
	say_left(&f.hosts[0], now);
	say_joined(&f.hosts[1], 1, now + MS, UUID);
	fl_put_guest(&f.hosts[0].body,
		     &(struct fl_guest){ 1, "db", false, VP_GUEST_TRIPLE_FAULT, crashed, now, "" });
	say(&f.hosts[0], FL_GUEST);
	say_ended(&f.hosts[0], crashed);
	take(&f);
	assert_true(f.fleet->hosts[0]->failed);
	teardown(&f);
}

/* One host's guests can't have this side look for as many as it likes. */
static void too_many(void **state)
{
	struct fixture f;

	(void)state;
	begin_for(&f, 2, 0);
	const uint64_t now = ot_now_ns();
	for (unsigned i = 0; i < FL_MOVES_MAX; i++) {
		say_left(&f.hosts[0], now);
		say_joined(&f.hosts[0], 0, now, UUID);
		take(&f);
	}
	assert_int_equal(f.fleet->nmoves, FL_MOVES_MAX);
	assert_false(f.fleet->hosts[0]->lost_guest);
	say_left(&f.hosts[0], now);
	take(&f);
	assert_int_equal(f.fleet->nmoves, FL_MOVES_MAX);
	assert_true(f.fleet->hosts[0]->lost_guest);
	say_ended(&f.hosts[0], SAVED);
	take(&f);
	assert_true(f.fleet->hosts[0]->failed);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_pattern),     cmocka_unit_test(in_the_other_order),
		cmocka_unit_test(before_it_left), cmocka_unit_test(by_a_session_of_its_own),
		cmocka_unit_test(not_found),      cmocka_unit_test(stopped_meanwhile),
		cmocka_unit_test(refused),        cmocka_unit_test(another_is_lost),
		cmocka_unit_test(too_many),       cmocka_unit_test(as_it_began),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
