/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages and links over the distribution's nats-server on loopback, which is killed and started again.
 * Skipped where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <sodium.h>

#include "base/cleanup.h"
#include "fleet/link/link.h"
#include "fleet/link/queue.h"
#include "fleet/link/seal.h"
#include "tests/unit/fleet_server.h"

static void messages(void **state)
{
	struct server s;
	struct fl_inbox *inbox, *answers;
	struct fl_broker_message m;
	char own[FL_BROKER_SUBJECT];

	(void)state;
	if (!server_is_there())
		skip();
	server_choose_port(&s);
	server_start(&s);
	struct fl_broker *a = server_connect(&s), *b = server_connect(&s);

	fl_broker_own_subject(own);
	assert_null(fl_inbox_open(a, "os.v1.run.*", &inbox));
	assert_null(fl_inbox_open(b, own, &answers));
	assert_true(fl_broker_flush(a, 5000) && fl_broker_flush(b, 5000));
	assert_false(fl_inbox_next(inbox, &m));
	assert_null(fl_broker_publish(b, "os.v1.run.h1", own, "hello", 5));
	assert_null(fl_broker_publish(b, "os.v1.run.h1", NULL, "", 0));
	inbox_wait(inbox);
	assert_true(fl_inbox_next(inbox, &m));
	assert_string_equal(m.subject, "os.v1.run.h1");
	assert_string_equal(m.reply, own);
	assert_int_equal(m.len, 5);
	assert_memory_equal(m.data, "hello", 5);
	assert_null(fl_broker_publish(a, m.reply, NULL, "I", 1));
	inbox_wait(answers);
	assert_true(fl_inbox_next(answers, &m));
	assert_null(m.reply);
	inbox_wait(inbox);
	assert_true(fl_inbox_next(inbox, &m));
	assert_int_equal(m.len, 0);
	assert_false(fl_inbox_next(inbox, &m));
	fl_inbox_close(answers);
	fl_broker_unref(a); /* the inbox has another */
	fl_inbox_close(inbox);
	fl_broker_unref(b);
	server_kill(&s);
}

/* Nothing waits, and nothing grows. */
static void queues_have_a_bound(void **state)
{
	static char large[FL_BROKER_MESSAGE + 1];
	char subject[FL_BROKER_SUBJECT + 1];
	struct fl_queue q;
	struct fl_broker_message m = { "s", NULL, large, FL_BROKER_MESSAGE };
	struct fl_queued *item;
	unsigned n = 0, taken = 0;

	(void)state;
	assert_null(fl_queue_init(&q));
	while (fl_queue_put(&q, &m))
		n++;
	assert_true(n > 16 && n <= FL_BROKER_QUEUED / FL_BROKER_MESSAGE);
	while ((item = fl_queue_take(&q))) {
		taken++;
		free(item);
	}
	assert_int_equal(taken, n);
	m.len = 0; /* empty ones cost something too */
	for (n = 0; fl_queue_put(&q, &m); n++)
		assert_true(n < FL_BROKER_QUEUED / 128);
	while ((item = fl_queue_take(&q)))
		free(item);
	m.len = FL_BROKER_MESSAGE + 1;
	assert_false(fl_queue_put(&q, &m));
	memset(subject, 's', sizeof(subject));
	subject[FL_BROKER_SUBJECT] = '\0';
	m = (struct fl_broker_message){ subject, NULL, "", 0 };
	assert_false(fl_queue_put(&q, &m));
	subject[FL_BROKER_SUBJECT - 1] = '\0';
	assert_true(fl_queue_put(&q, &m));
	assert_int_equal(q.dropped, 4);
	fl_queue_deinit(&q);
}

static volatile sig_atomic_t handled_by;

static void on_signal(int signal)
{
	(void)signal;
	handled_by = gettid();
}

/* A signal of the process is this thread's, which may have it blocked for a signalfd: no other thread takes
 * it. */
static void signals_stay_here(void **state)
{
	struct server s;
	struct fl_inbox *inbox;
	sigset_t set, pending;

	(void)state;
	if (!server_is_there())
		skip();
	server_choose_port(&s);
	server_start(&s);
	struct fl_broker *b = server_connect(&s);

	assert_null(fl_inbox_open(b, "x", &inbox));
	assert_true(fl_broker_flush(b, 5000));
	signal(SIGUSR1, on_signal);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	poll(NULL, 0, 50); /* for a thread that would take it; one that does not can't be seen not to */
	sigpending(&pending);
	assert_true(sigismember(&pending, SIGUSR1));
	assert_int_equal(handled_by, 0);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	assert_int_equal(handled_by, gettid());
	fl_inbox_close(inbox);
	fl_broker_unref(b);
	server_kill(&s);
}

static void no_server(void **state)
{
	struct server s;
	struct fl_broker *b;

	(void)state;
	if (!server_is_there())
		skip();
	server_choose_port(&s);
	struct fl_broker_config config = { .url = s.url, .name = "test" };
	struct ot_err *err = fl_broker_connect(&config, &b);

	assert_non_null(err);
	assert_non_null(strstr(ot_err_message(err), "no connection to the broker nats://127.0.0.1"));
	ot_err_destroy(err);
	config.url = "nats://somebody:secret@127.0.0.1:1";
	err = fl_broker_connect(&config, &b);
	assert_non_null(err);
	assert_null(strstr(ot_err_message(err), "secret"));
	ot_err_destroy(err);
}

/* --- a link --------------------------------------------------------------------------------------------- */

#define LAST        10000u
#define MESSAGE_MAX 1000u

/* A carrier around another, that loses packets. */
struct lossy {
	struct fl_carrier base;
	struct fl_carrier *inner;
	unsigned per_cent;
	uint64_t random, lost;
};

static struct ot_err *lossy_send(struct fl_carrier *c, const void *packet, size_t len)
{
	struct lossy *l = (struct lossy *)c;

	l->random = l->random * 6364136223846793005u + 1442695040888963407u;
	if ((l->random >> 33) % 100 < l->per_cent) {
		l->lost++;
		return NULL;
	}
	return l->inner->ops->send(l->inner, packet, len);
}

static struct ot_err *lossy_receive(struct fl_carrier *c, const void **ret, size_t *ret_len)
{
	struct lossy *l = (struct lossy *)c;

	return l->inner->ops->receive(l->inner, ret, ret_len);
}

static int lossy_fd(struct fl_carrier *c, bool *ret_out)
{
	struct lossy *l = (struct lossy *)c;

	return l->inner->ops->fd(l->inner, ret_out);
}

static void lossy_destroy(struct fl_carrier *c)
{
	fl_carrier_destroy(((struct lossy *)c)->inner);
}

struct end {
	struct lossy lossy;
	struct fl_broker *broker;
	struct fl_link *link;
	uint64_t sent, taken;
};

static void make_end(struct end *end, bool is_operator, unsigned lost, const uint8_t *public,
		     const uint8_t *secret, const uint8_t *other)
{
	static const struct fl_carrier_ops ops = { .name = "lossy",
						   .send = lossy_send,
						   .receive = lossy_receive,
						   .fd = lossy_fd,
						   .destroy = lossy_destroy };
	struct fl_seal *seal;

	end->lossy = (struct lossy){ .base.ops = &ops, .per_cent = lost, .random = is_operator };
	assert_null(fl_nats_create(end->broker, is_operator ? "os.v1.out.x.h" : "os.v1.in.x.h",
				   is_operator ? "os.v1.in.x.h" : "os.v1.out.x.h", &end->lossy.inner));
	assert_null(fl_seal_create(public, secret, other, is_operator, &seal));
	assert_null(fl_link_create(&end->lossy.base, seal, NULL, NULL, &end->link));
}

/* Message n: its number, and more of it, by its number too. */
static size_t message_of(uint64_t n, uint8_t message[MESSAGE_MAX])
{
	size_t len = sizeof(n) + n * 37 % (MESSAGE_MAX - sizeof(n));

	memset(message, (int)n, len);
	memcpy(message, &n, sizeof(n));
	return len;
}

static void work(struct end *end)
{
	uint8_t message[MESSAGE_MAX];
	enum fl_kind kind;
	const void *data;
	size_t len;

	for (unsigned i = 0; i < 50 && end->sent < LAST && fl_link_pending(end->link) < 1000000; i++) {
		size_t size = message_of(++end->sent, message);

		assert_null(fl_link_send(end->link, FL_SAY, message, size));
	}
	assert_null(fl_link_poll(end->link));
	while (fl_link_receive(end->link, &kind, &data, &len)) {
		assert_int_equal(len, message_of(++end->taken, message));
		assert_memory_equal(data, message, len);
	}
}

static void sleep_until_due(struct end ends[2])
{
	struct pollfd p[2];
	uint64_t due = UINT64_MAX;

	for (int i = 0; i < 2; i++) {
		p[i].fd = fl_link_fd(ends[i].link, &p[i].events);
		due = fl_link_due_ns(ends[i].link) < due ? fl_link_due_ns(ends[i].link) : due;
	}
	poll(p, 2, ot_ms_until(due));
}

/* Ten thousand messages each way at once, while the server is killed so often, and each so many packets of a
 * hundred are lost: every one arrives once, in order. */
static void carry(unsigned kills, unsigned lost)
{
	uint8_t op[FL_KEY], os[FL_KEY], hp[FL_KEY], hs[FL_KEY];
	struct end ends[2] = { 0 };
	struct server s;
	unsigned killed = 0;

	if (!server_is_there())
		skip();
	server_choose_port(&s);
	server_start(&s);
	crypto_kx_keypair(op, os);
	crypto_kx_keypair(hp, hs);
	ends[0].broker = server_connect(&s);
	ends[1].broker = server_connect(&s);
	make_end(&ends[0], true, lost, op, os, hp);
	make_end(&ends[1], false, lost, hp, hs, op);
	uint64_t end = ot_now_ns() + 2 * LONG_NS;

	while (ends[0].taken < LAST || ends[1].taken < LAST) {
		assert_true(ot_now_ns() < end);
		work(&ends[0]);
		work(&ends[1]);
		if (killed < kills && ends[0].taken > LAST / (kills + 1) * (killed + 1)) {
			killed++;
			server_kill(&s);
			server_start(&s);
		}
		sleep_until_due(ends);
	}
	assert_int_equal(killed, kills);
	assert_true(!lost || (ends[0].lossy.lost && ends[1].lossy.lost));
	for (int i = 0; i < 2; i++) {
		fl_link_destroy(ends[i].link);
		fl_broker_unref(ends[i].broker);
	}
	server_kill(&s);
}

static void link_outlives_its_broker(void **state)
{
	(void)state;
	carry(2, 0);
}

static void link_over_a_lossy_broker(void **state)
{
	(void)state;
	carry(1, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_have_a_bound),      cmocka_unit_test(messages),
		cmocka_unit_test(signals_stay_here),        cmocka_unit_test(no_server),
		cmocka_unit_test(link_outlives_its_broker), cmocka_unit_test(link_over_a_lossy_broker),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
