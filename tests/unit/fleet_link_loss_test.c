/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/link/sending.c: what is sent again, when, and how often. */
#include "tests/unit/fleet_link_fixture.h"

/* A stretch that is sent again is the same one. */
static void test_unchanged(void **state)
{
	struct pair p;
	struct fl_packet first, again;

	(void)state;
	pair_init(&p);
	poll_both(&p);
	p.net.ends[0].is_deaf = true;
	send_message(&p, 0, 0, 1000);
	poll_both(&p);
	char *kept = malloc(p.net.ends[0].last.len);
	memcpy(kept, p.net.ends[0].last.data, p.net.ends[0].last.len);
	assert_true(fl_packet_get(kept, p.net.ends[0].last.len, &first));
	assert_int_equal(first.number, 1);
	send_message(&p, 0, 1, 1000);
	p.net.now += FL_RESEND_FIRST_NS;
	assert_null(fl_link_poll(p.links[0])); /* sends both: look at the second one of them */
	assert_true(fl_packet_get(p.net.ends[0].last.data, p.net.ends[0].last.len, &again));
	assert_int_equal(again.number, 2);
	p.net.now = fl_link_due_ns(p.links[0]); /* a heartbeat */
	assert_null(fl_link_poll(p.links[0]));
	p.net.ends[0].is_deaf = false;
	p.net.now += FL_RESEND_MAX_NS;
	assert_null(fl_link_poll(p.links[0]));
	const struct net_packet *sent = &p.net.ends[1].coming[p.net.ends[1].ncoming - 1];
	assert_true(fl_packet_get(sent->data, sent->len, &again));
	assert_int_equal(again.number, 1);
	assert_true(again.turn > first.turn);
	assert_int_equal(again.payload.len, first.payload.len);
	assert_memory_equal(again.payload.data, first.payload.data, first.payload.len);
	free(kept);
	pair_deinit(&p);
}

/* Send a message, and let time pass until it has come and is acknowledged; how long that took. */
static uint64_t carry(struct pair *p, unsigned *n)
{
	const uint64_t begun = p->net.now;

	send_message(p, 0, *n, 10);
	poll_both(p);
	while (fl_link_pending(p->links[0])) {
		net_step(&p->net, p->links);
		poll_both(p);
		take_messages(p, 1, n, 10);
	}
	return p->net.now - begun;
}

/* The last packet of all is lost, and none follows it: after some round trips it is sent again. */
static void test_last(void **state)
{
	struct pair p;
	unsigned n = 0;

	(void)state;
	pair_init(&p);
	poll_both(&p);
	p.net.ends[0].drop_only = 1;
	assert_in_range(carry(&p, &n), FL_RESEND_FIRST_NS, FL_RESEND_FIRST_NS + 10 * NET_MS);
	while (n < 10)
		assert_in_range(carry(&p, &n), 1, 10 * NET_MS);
	p.net.ends[0].drop_only = 1;
	assert_in_range(carry(&p, &n), FL_RESEND_MIN_NS, FL_RESEND_MIN_NS + 10 * NET_MS);
	assert_int_equal(n, 11);
	pair_deinit(&p);
}

/* A line on which a packet takes long is waited for: nothing is sent twice but what is lost. */
static void test_slow_line(void **state)
{
	struct pair p;
	uint64_t again, twice;
	unsigned n = 0;

	(void)state;
	pair_init(&p);
	p.net.delay = 400 * NET_MS;
	poll_both(&p);
	while (n < 20)
		carry(&p, &n);
	fl_link_counts(p.links[0], &again, &twice);
	assert_int_equal(again, 0);
	p.net.ends[0].drop_only = 1;
	assert_in_range(carry(&p, &n), 1600 * NET_MS, FL_RESEND_MAX_NS + 800 * NET_MS);
	fl_link_counts(p.links[0], &again, &twice);
	assert_int_equal(again, 1);
	/* It becomes slower yet: a packet may be sent twice, until that was measured. */
	p.net.delay = 900 * NET_MS;
	while (n < 40)
		carry(&p, &n);
	fl_link_counts(p.links[0], &again, &twice);
	assert_in_range(again, 1, 5);
	pair_deinit(&p);
}

/* Whoever is not there is sent one packet at a time, and more and more rarely; once it is there again the
 * rest follows within some round trips. */
static void test_no_storm(void **state)
{
	struct pair p;
	unsigned n = 0, got;
	uint64_t before, again[2], twice;

	(void)state;
	pair_init(&p);
	poll_both(&p);
	while (n < 10)
		carry(&p, &n);
	got = n;
	p.net.ends[0].is_deaf = true;
	for (; n < 10 + FL_WINDOW; n++) {
		send_message(&p, 0, n, 100000);
		assert_null(fl_link_poll(p.links[0]));
	}
	fl_link_counts(p.links[0], &again[0], &twice);
	before = p.net.now;
	while (p.net.now - before < 9000 * NET_MS) {
		poll_both(&p);
		net_step(&p.net, p.links);
	}
	fl_link_counts(p.links[0], &again[1], &twice);
	assert_in_range(again[1] - again[0], 6, 10);
	p.net.ends[0].is_deaf = false;
	before = p.net.now;
	while (fl_link_pending(p.links[0])) {
		poll_both(&p);
		take_messages(&p, 1, &got, 100000);
		net_step(&p.net, p.links);
	}
	assert_true(p.net.now - before < FL_RESEND_MAX_NS + 100 * NET_MS);
	assert_int_equal(got, n);
	/* Nothing came twice, however often it was sent. */
	fl_link_counts(p.links[1], &again[1], &twice);
	assert_int_equal(twice, 0);
	pair_deinit(&p);
}

/* One packet of many is lost: that is seen by those that follow, long before its time. */
static void test_overtaken(void **state)
{
	struct pair p;
	unsigned got = 0;
	uint64_t again, twice;

	(void)state;
	pair_init(&p);
	poll_both(&p);
	p.net.ends[0].drop_only = 1;
	for (unsigned n = 0; n < 6; n++) {
		send_message(&p, 0, n, 10);
		assert_null(fl_link_poll(p.links[0]));
	}

	uint64_t begun = p.net.now;

	while (got < 6) {
		poll_both(&p);
		take_messages(&p, 1, &got, 10);
		net_step(&p.net, p.links);
	}
	assert_true(p.net.now - begun < 100 * NET_MS);
	fl_link_counts(p.links[0], &again, &twice);
	assert_int_equal(again, 1);
	pair_deinit(&p);
}

/* Heartbeats: of two sides that have nothing to say each knows that the other one is there; and not, if it
 * isn't. */
static void test_silence(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p);
	uint64_t until = p.net.now + 60000 * NET_MS;
	while (p.net.now < until) {
		poll_both(&p);
		net_step(&p.net, p.links);
		assert_true(fl_link_silence_ns(p.links[0]) <= FL_HEARTBEAT_NS + 10 * NET_MS);
	}
	/* One a second, and none that only answers one. */
	assert_in_range(p.net.ends[0].sent, 55, 65);
	p.net.ends[1].is_deaf = true;
	until = p.net.now + FL_LEASE_NS + FL_HEARTBEAT_NS;
	while (p.net.now < until) {
		poll_both(&p);
		net_step(&p.net, p.links);
	}
	assert_true(fl_link_silence_ns(p.links[0]) >= FL_LEASE_NS);
	assert_true(fl_link_silence_ns(p.links[1]) < 2 * FL_HEARTBEAT_NS);
	pair_deinit(&p);
}

/* Who hears everything and acknowledges nothing has each packet sent again, and not for each word that it
 * says. */
static void test_grudging(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p);
	poll_both(&p);
	for (unsigned n = 0; n < FL_WINDOW; n++) {
		send_message(&p, 0, n, 100000);
		assert_null(fl_link_poll(p.links[0]));
	}
	const uint64_t before = p.net.ends[0].sent;

	for (unsigned i = 0; i < 1000; i++) {
		struct ot_buf out = { 0 };

		fl_packet_put(&out, &(struct fl_packet){ .turn = 100 + i, .heard = p.net.ends[0].sent });
		net_inject(&p.net.ends[1], out.data, out.len);
		ot_buf_deinit(&out);
		p.net.now += NET_MS / 10;
		assert_null(fl_link_poll(p.links[0]));
	}
	/* the window once, and once more in each 50 of these 100 ms */
	assert_in_range(p.net.ends[0].sent - before, FL_WINDOW - FL_OVERTAKEN, 3 * FL_WINDOW);
	pair_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unchanged), cmocka_unit_test(test_last),
		cmocka_unit_test(test_slow_line), cmocka_unit_test(test_no_storm),
		cmocka_unit_test(test_overtaken), cmocka_unit_test(test_silence),
		cmocka_unit_test(test_grudging),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
