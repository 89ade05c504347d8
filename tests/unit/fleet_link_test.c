/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/link/link.c over a network that the test has in its hand: no message is lost, comes twice or out of
 * order. */
#include <errno.h>
#include <stdio.h>

#include "tests/unit/fleet_link_fixture.h"
#include "tests/unit/nomem.h"

/* So many messages each way, sent by a few at a time. */
static void exchange(unsigned lost, unsigned doubled, unsigned late, unsigned count)
{
	struct pair p;
	unsigned sent[2] = { 0 }, got[2] = { 0 };
	uint64_t again[2], twice[2];

	pair_init(&p);
	p.net.lost = lost;
	p.net.doubled = doubled;
	p.net.late = late;
	while (got[0] < count || got[1] < count || fl_link_pending(p.links[0]) ||
	       fl_link_pending(p.links[1])) {
		for (unsigned side = 0; side < 2; side++)
			for (unsigned i = net_random(&p.net) % 20; i && sent[side] < count; i--)
				send_message(&p, side, sent[side], length_of(side, sent[side])), sent[side]++;
		poll_both(&p);
		take_messages(&p, 0, &got[0], 0);
		take_messages(&p, 1, &got[1], 0);
		net_step(&p.net, p.links);
		/* Not lost, however much the network is at fault. */
		assert_true(fl_link_silence_ns(p.links[0]) < FL_LEASE_NS);
	}
	assert_int_equal(got[0], count);
	assert_int_equal(got[1], count);
	for (unsigned side = 0; side < 2; side++) {
		fl_link_counts(p.links[side], &again[side], &twice[side]);
		/* What comes late may be sent again, too, and then it comes twice. */
		assert_true(again[side] || !lost);
		assert_true(!again[side] || lost || late);
		assert_true(twice[side] || !doubled);
		assert_true(!twice[side] || lost || doubled || late);
		assert_true(p.net.ends[side].largest <= FL_PACKET_MAX);
	}
	pair_deinit(&p);
}

static void test_faultless(void **state)
{
	(void)state;
	exchange(0, 0, 0, 100);
}

static void test_faults(void **state)
{
	(void)state;
	exchange(10, 10, 10, 150);
	exchange(30, 0, 0, 100);
	exchange(0, 30, 0, 100);
	exchange(0, 0, 30, 100);
	exchange(30, 30, 30, 150);
}

static void test_largest(void **state)
{
	struct pair p;
	unsigned got = 0;
	uint8_t *data = calloc(1, FL_MESSAGE_MAX + 1);

	(void)state;
	pair_init(&p);
	p.net.lost = 10;
	send_message(&p, 0, 0, FL_MESSAGE_MAX);
	send_message(&p, 0, 1, FL_MESSAGE_MAX);
	while (got < 2) {
		poll_both(&p);
		take_messages(&p, 1, &got, FL_MESSAGE_MAX);
		net_step(&p.net, p.links);
	}

	struct ot_err *err = fl_link_send(p.links[0], FL_PROGRAM, data, FL_MESSAGE_MAX + 1);

	assert_int_equal(ot_err_code(err), OT_ERR_LIMIT);
	assert_non_null(strstr(ot_err_message(err), "PROGRAM"));
	ot_err_destroy(err);
	/* Nothing of it is in the way of those that follow. */
	send_message(&p, 0, 2, 10);
	while (got < 3) {
		poll_both(&p);
		take_messages(&p, 1, &got, 10);
		net_step(&p.net, p.links);
	}
	free(data);
	pair_deinit(&p);
}

/* What is not acknowledged is pending; of it a window is under way. What waits meanwhile goes in large
 * packets. */
static void test_window(void **state)
{
	struct pair p;
	unsigned n = 0, got = 0;

	(void)state;
	pair_init(&p);
	poll_both(&p);
	assert_int_equal(fl_link_pending(p.links[0]), 0);
	p.net.ends[0].is_deaf = true;

	uint64_t before = p.net.ends[0].sent;

	for (; n < FL_WINDOW; n++) {
		send_message(&p, 0, n, 10);
		poll_both(&p);
		assert_int_equal(fl_link_pending(p.links[0]), (n + 1) * (10 + 8));
	}
	for (; n < 100; n++)
		send_message(&p, 0, n, 10);
	poll_both(&p);
	assert_int_equal(p.net.ends[0].sent - before, FL_WINDOW);
	assert_int_equal(fl_link_pending(p.links[0]), 100 * (10 + 8));

	/* They are not sent before their time, and then the first of them alone. */
	p.net.now += FL_RESEND_FIRST_NS - 1;
	before = p.net.ends[0].sent;
	poll_both(&p);
	assert_int_equal(p.net.ends[0].sent, before);
	p.net.ends[0].is_deaf = false;
	p.net.now += 1;
	poll_both(&p);
	assert_int_equal(p.net.ends[0].sent - before, 1);
	while (fl_link_pending(p.links[0])) {
		poll_both(&p);
		take_messages(&p, 1, &got, 10);
		net_step(&p.net, p.links);
	}
	assert_int_equal(got, 100);
	pair_deinit(&p);
}

/* Most of what the room of strings consists of does not travel, and arrives. */
static void test_zeros(void **state)
{
	uint8_t data[8192] = { 1 };
	enum fl_kind kind;
	const void *got;
	struct pair p;
	size_t len;

	(void)state;
	pair_init(&p);
	poll_both(&p);
	for (size_t i = 0; i < sizeof(data); i += 256)
		memcpy(data + i, "a short text", 12);
	assert_null(fl_link_send(p.links[0], FL_AGGREGATES, data, sizeof(data)));
	poll_both(&p);
	assert_true(p.net.ends[0].last.len < sizeof(data) / 10);
	while (!fl_link_receive(p.links[1], &kind, &got, &len)) {
		net_step(&p.net, p.links);
		poll_both(&p);
	}
	assert_int_equal(len, sizeof(data));
	assert_memory_equal(got, data, sizeof(data));
	pair_deinit(&p);
}

static void assert_failed(struct fl_link *link, enum ot_err_code code, int err_errno)
{
	char first[200];

	for (unsigned i = 0; i < 3; i++) {
		struct ot_err *err = fl_link_poll(link);

		assert_int_equal(ot_err_code(err), code);
		assert_int_equal(ot_err_errno(err), err_errno);
		if (!i)
			snprintf(first, sizeof(first), "%s", ot_err_message(err));
		assert_string_equal(ot_err_message(err), first);
		ot_err_destroy(err);
	}
}

/* The other side sends and goes: what it sent is received. */
static void test_closed(void **state)
{
	struct pair p;
	unsigned got = 0;

	(void)state;
	for (unsigned way = 0; way < 2; way++) {
		pair_init(&p);
		poll_both(&p);
		for (unsigned n = 0; n < 5; n++)
			send_message(&p, 0, n, 300000);
		assert_null(fl_link_poll(p.links[0]));
		p.net.now += 100 * NET_MS;
		p.net.ends[0].has_closed = true;
		if (way) /* by sending it is found, too */
			send_message(&p, 1, 0, 10);
		got = 0;
		assert_failed(p.links[1], OT_ERR_OS, EPIPE);
		take_messages(&p, 1, &got, 300000);
		assert_int_equal(got, 5);
		assert_failed(p.links[1], OT_ERR_OS, EPIPE);
		pair_deinit(&p);
	}
}

/* A packet that the other side may have made: number, what it says of ours, and a payload. */
static void forge(struct pair *p, struct fl_packet packet, const void *payload, size_t len)
{
	struct ot_buf out = { 0 };

	packet.payload = (struct fl_bytes){ payload, (uint32_t)len };
	fl_packet_put(&out, &packet);
	net_inject(&p->net.ends[0], out.data, out.len);
	ot_buf_deinit(&out);
	p->net.now += 100 * NET_MS;
}

static void test_hostile(void **state)
{
	static const uint8_t unknown_kind[] = { 22, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t no_kind[] = { 0, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t too_long[] = { 1, 0, 0, 0, 1, 0, 0, 1 };
	static uint8_t bomb[4096]; /* stands for more than a packet has */
	static const struct {
		struct fl_packet packet;
		const void *payload;
		size_t len;
	} packets[] = {
		{ { .turn = 0 }, NULL, 0 },                         /* no turn */
		{ { .turn = 1, .number = 1 }, NULL, 0 },            /* a number without a stretch */
		{ { .turn = 1 }, "x", 1 },                          /* a stretch without a number */
		{ { .turn = 1, .taken = 1 }, NULL, 0 },             /* we have sent nothing */
		{ { .turn = 1, .heard = 1000 }, NULL, 0 },          /* so often */
		{ { .turn = 1, .number = FL_WINDOW + 1 }, "x", 1 }, /* more than a window */
		{ { .turn = 1, .number = UINT64_MAX }, "x", 1 },
		{ { .turn = 1, .number = 1 }, unknown_kind, 8 },
		{ { .turn = 1, .number = 1 }, no_kind, 8 },
		{ { .turn = 1, .number = 1 }, too_long, 8 },
		{ { .turn = 1, .number = 1, .is_packed = true }, "x", 1 },      /* not as zeros are packed */
		{ { .turn = 1, .number = 1, .is_packed = true }, "\0\0", 2 },   /* nothing is in it */
		{ { .turn = 1, .number = 1, .is_packed = true }, "\0\377", 2 }, /* and no kind */
		{ { .turn = 1, .number = 1, .is_packed = true }, bomb, sizeof(bomb) },
	};
	struct pair p;

	(void)state;
	for (size_t i = 1; i < sizeof(bomb); i += 2)
		bomb[i] = 255;
	for (size_t i = 0; i < OT_ARRAY_SIZE(packets); i++) {
		pair_init(&p);
		forge(&p, packets[i].packet, packets[i].payload, packets[i].len);
		assert_failed(p.links[1], OT_ERR_BAD_DATA, 0);
		pair_deinit(&p);
	}
	pair_init(&p);
	net_inject(&p.net.ends[0], "Welcome to h17", 14);
	p.net.now += 100 * NET_MS;
	assert_failed(p.links[1], OT_ERR_BAD_DATA, 0);
	pair_deinit(&p);
}

/* What is not wrong: bits for what was never sent, a window ahead, a message that comes byte by byte. */
static void test_odd(void **state)
{
	static const uint8_t message[] = { 2, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c' };
	struct pair p;
	enum fl_kind kind;
	const void *data;
	size_t len;

	(void)state;
	pair_init(&p);
	forge(&p, (struct fl_packet){ .turn = UINT64_MAX, .mask = UINT32_MAX }, NULL, 0);
	for (size_t i = sizeof(message); i-- > 0;) {
		assert_null(fl_link_poll(p.links[1]));
		assert_false(fl_link_receive(p.links[1], &kind, &data, &len));
		forge(&p, (struct fl_packet){ .turn = 1, .number = i + 1 }, &message[i], 1);
	}
	assert_null(fl_link_poll(p.links[1]));
	assert_true(fl_link_receive(p.links[1], &kind, &data, &len));
	assert_int_equal(kind, FL_RUN);
	assert_int_equal(len, 3);
	assert_memory_equal(data, "abc", 3);
	assert_false(fl_link_receive(p.links[1], &kind, &data, &len));
	pair_deinit(&p);
}

/* Whoever does not take messages is not sent more of them than fit: the rest stays with the sender. */
static void test_unread(void **state)
{
	struct pair p;
	unsigned n = 0, got = 0;

	(void)state;
	pair_init(&p);
	for (; n < 150; n++)
		send_message(&p, 0, n, 200000);
	for (unsigned i = 0; i < 2000; i++) {
		poll_both(&p);
		p.net.now += 2 * NET_MS;
	}
	assert_true(fl_link_pending(p.links[0]) >
		    150 * 200000 - FL_MESSAGE_MAX - (FL_WINDOW + 1) * FL_PACKET_MAX);
	assert_true(fl_link_silence_ns(p.links[0]) < 2 * FL_HEARTBEAT_NS);
	while (got < 150) {
		take_messages(&p, 1, &got, 200000);
		poll_both(&p);
		net_step(&p.net, p.links);
	}
	pair_deinit(&p);
}

/* While the carrier is busy nothing is sent, and nothing is due. */
static void test_busy(void **state)
{
	struct pair p;
	unsigned got = 0;
	short events;

	(void)state;
	pair_init(&p);
	poll_both(&p);
	(void)fl_link_fd(p.links[0], &events);
	assert_int_equal(events, 1 /* POLLIN */);
	p.net.ends[0].is_busy = true;
	(void)fl_link_fd(p.links[0], &events);
	assert_int_equal(events, 1 | 4 /* POLLOUT */);

	uint64_t before = p.net.ends[0].sent;

	send_message(&p, 0, 0, 10);
	assert_null(fl_link_poll(p.links[0]));
	p.net.now += 5 * FL_HEARTBEAT_NS;
	assert_null(fl_link_poll(p.links[0]));
	assert_int_equal(p.net.ends[0].sent, before);
	assert_true(fl_link_due_ns(p.links[0]) > p.net.now);
	p.net.ends[0].is_busy = false;
	assert_int_equal(fl_link_due_ns(p.links[0]), p.net.now);
	while (!got) {
		poll_both(&p);
		take_messages(&p, 1, &got, 10);
		net_step(&p.net, p.links);
	}
	pair_deinit(&p);
}

/* A host may flood; whoever polls gets the control back. */
static void test_flood(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p);
	for (unsigned i = 0; i < 1000; i++)
		forge(&p, (struct fl_packet){ .turn = i + 1 }, NULL, 0);
	assert_null(fl_link_poll(p.links[1]));
	assert_true(p.net.ends[1].ncoming > 500);
	/* The rest is due. */
	assert_int_equal(fl_link_due_ns(p.links[1]), p.net.now);
	while (p.net.ends[1].ncoming)
		assert_null(fl_link_poll(p.links[1]));
	pair_deinit(&p);
}

/* What a poll has brought is due until it is taken: nobody sleeps over it, whatever that poll was for. */
static void test_due(void **state)
{
	struct pair p;
	enum fl_kind kind;
	const void *data;
	size_t len;

	(void)state;
	pair_init(&p);
	poll_both(&p);
	send_message(&p, 0, 0, 10);
	send_message(&p, 0, 1, 10);
	assert_int_equal(fl_link_due_ns(p.links[0]), p.net.now);
	assert_null(fl_link_poll(p.links[0]));
	assert_true(fl_link_due_ns(p.links[0]) > p.net.now);
	p.net.now += NET_MS;
	for (unsigned i = 0; i < 3; i++) {
		assert_null(fl_link_poll(p.links[1]));
		assert_int_equal(fl_link_due_ns(p.links[1]), p.net.now);
	}
	assert_true(fl_link_receive(p.links[1], &kind, &data, &len));
	assert_int_equal(fl_link_due_ns(p.links[1]), p.net.now);
	assert_true(fl_link_receive(p.links[1], &kind, &data, &len));
	assert_true(fl_link_due_ns(p.links[1]) > p.net.now);
	assert_false(fl_link_receive(p.links[1], &kind, &data, &len));
	assert_true(fl_link_due_ns(p.links[1]) > p.net.now);
	pair_deinit(&p);
}

/* Without memory a link says so, and a message is not sent in part. */
static void test_memory(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned at = 1; failed; at++) {
		struct pair p;
		unsigned got = 0;
		struct ot_err *err = NULL;
		static const uint8_t data[3000];

		pair_init(&p);
		poll_both(&p);
		nomem_at(at);
		for (unsigned n = 0; n < 3 && !err; n++)
			err = fl_link_send(p.links[0], FL_HELLO, data, sizeof(data));
		for (unsigned i = 0; i < 10 && !err; i++) {
			enum fl_kind kind;
			const void *bytes;
			size_t len;

			err = fl_link_poll(p.links[i % 2]);
			while (fl_link_receive(p.links[1], &kind, &bytes, &len))
				got++;
			p.net.now += 100 * NET_MS;
		}
		failed = nomem_end();
		if (err)
			assert_int_equal(ot_err_code(err), OT_ERR_NO_MEMORY);
		/* The test's own network loses a packet instead. */
		if (!failed)
			assert_int_equal(got, 3);
		ot_err_destroy(err);
		pair_deinit(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faultless), cmocka_unit_test(test_faults),
		cmocka_unit_test(test_largest),   cmocka_unit_test(test_window),
		cmocka_unit_test(test_zeros),     cmocka_unit_test(test_closed),
		cmocka_unit_test(test_hostile),   cmocka_unit_test(test_odd),
		cmocka_unit_test(test_unread),    cmocka_unit_test(test_busy),
		cmocka_unit_test(test_flood),     cmocka_unit_test(test_memory),
		cmocka_unit_test(test_due),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
