/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests at a host's gate: who gets in, who does not, and that the log has it before anything is done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "fleet/serve/gate.h"
#include "fleet/serve/policy.h"
#include "fleet/serve/ticket.h"
#include "tests/unit/fleet_folder.h"

#define NOW 1800000000ull

struct test {
	struct folder folder;
	struct ot_arena arena;
	struct fl_identity alice, mallory, host;
	struct fl_conf conf;
	struct fl_gate gate;
	struct ot_buf log;
	unsigned running;
	bool is_listing; /* its guests are not known yet */
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC], nonce;
};

static void put_line(void *arg, const char *line)
{
	struct test *t = arg;

	ot_buf_printf(&t->log, "%s\n", line);
}

static bool put_guests(void *arg, const struct fl_conf_operator *operator, const char * pattern,
		       struct ot_buf *out)
{
	if (((struct test *)arg)->is_listing)
		return false;
	assert_string_equal(pattern, "web*");
	if (fl_policy_guest(operator, "web01"))
		fl_body_put_presence(out, &(struct fl_presence){ "web01", "6.1" });
	if (fl_policy_guest(operator, "db1"))
		fl_body_put_presence(out, &(struct fl_presence){ "db1", "6.1" });
	return true;
}

static unsigned count_running(void *arg)
{
	return ((struct test *)arg)->running;
}

static void make_key(struct test *t, const char *name, struct fl_identity *ret)
{
	char path[FOLDER_PATH];

	assert_null(fl_identity_make(folder_path(&t->folder, name, path), ret));
}

static void make_conf(struct test *t)
{
	char path[FOLDER_PATH], key[FL_PUBLIC_TEXT], text[512];

	fl_public_text(t->alice.public, key);
	int len = snprintf(text, sizeof(text),
			   "name h1\nworkers 2\noperator alice %s\nguests web*\nproviders *\n", key);

	folder_put(&t->folder, "conf", text, (size_t)len, 0600, path);
	assert_null(fl_conf_read(path, &t->arena, &t->conf));
}

static int setup(void **state)
{
	struct test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	folder_make(&t->folder);
	ot_arena_init(&t->arena);
	ot_buf_init(&t->log);
	make_key(t, "alice", &t->alice);
	make_key(t, "mallory", &t->mallory);
	make_key(t, "host", &t->host);
	make_conf(t);
	fl_ephemeral_make(t->public, t->secret);
	t->gate = (struct fl_gate){ .conf = &t->conf,
				    .identity = &t->host,
				    .log = put_line,
				    .guests = put_guests,
				    .running = count_running,
				    .arg = t };
	assert_null(fl_replay_open(t->folder.path, NOW, &t->gate.replay));
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct test *t = *state;

	fl_replay_close(t->gate.replay);
	ot_buf_deinit(&t->log);
	ot_arena_deinit(&t->arena);
	folder_remove(&t->folder);
	free(t);
	return 0;
}

static struct fl_request request(struct test *t, enum fl_asks asks)
{
	static const char *const hosts[] = { "h1" };
	struct fl_request r = { .protocol = FL_PROTOCOL,
				.asks = asks,
				.operator= "alice@desk\nfleet: allowed: operator=root",
				.hosts = hosts,
				.nhosts = 1,
				.guests = "web*",
				.not_before = NOW - 5,
				.not_after = NOW + 30 };

	memcpy(r.ephemeral, t->public, FL_PUBLIC);
	r.nonce[0] = ++t->nonce;
	return r;
}

static void give(struct test *t, const struct ot_buf *message, uint64_t now, struct fl_gate_result *ret)
{
	ot_buf_clear(&t->log);
	assert_null(fl_gate_take(&t->gate, message->data, message->len, now, &t->arena, ret));
}

static void ask(struct test *t, const struct fl_identity *id, const struct fl_request *r,
		struct fl_gate_result *ret)
{
	ot_auto(ot_buf_deinit) struct ot_buf message = { 0 };

	ot_buf_init(&message);
	fl_request_sign(id, r, &message);
	give(t, &message, NOW, ret);
}

static bool logged(const struct test *t, const char *part)
{
	return strstr(ot_buf_str(&t->log), part);
}

/* The verdict as the operator reads it. */
static struct fl_verdict verdict_of(struct test *t, const struct fl_gate_result *result)
{
	struct fl_answer answer;
	struct fl_verdict verdict;

	assert_null(fl_answer_open(result->answer.data, result->answer.len, t->host.public,
				   result->request.digest, t->public, t->secret, &t->arena, &answer));
	assert_string_equal(answer.host, "h1");
	assert_null(fl_body_get_verdict(answer.body, &t->arena, &verdict));
	return verdict;
}

static void expect_refused(struct test *t, const struct fl_request *r, const char *why, enum fl_reason reason)
{
	struct fl_gate_result result;

	ask(t, &t->alice, r, &result);
	assert_false(result.run);
	assert_true(logged(t, "fleet: refused: operator=alice"));
	assert_true(logged(t, why));
	struct fl_verdict verdict = verdict_of(t, &result);

	assert_false(verdict.accepted);
	assert_int_equal(verdict.reason, reason);
	assert_non_null(strstr(verdict.text, why));
	fl_gate_result_deinit(&result);
}

static void allowed(void **state)
{
	struct test *t = *state;
	struct fl_request r = request(t, FL_ASKS_RUN);
	struct fl_gate_result result;

	ask(t, &t->alice, &r, &result);
	assert_true(result.run);
	assert_true(verdict_of(t, &result).accepted);
	assert_string_equal(result.operator->name, "alice");
	assert_true(logged(t, "fleet: allowed: operator=alice as=\"alice@desk"));
	assert_true(logged(t, "guests=\"web*\""));
	/* a name can't end a line */
	assert_ptr_equal(strchr(ot_buf_str(&t->log), '\n'), ot_buf_str(&t->log) + t->log.len - 1);
	fl_gate_result_deinit(&result);
	assert_int_equal(result.secret[0] | result.secret[31], 0);
}

static void replayed(void **state)
{
	struct test *t = *state;
	struct fl_request r = request(t, FL_ASKS_RUN);
	ot_auto(ot_buf_deinit) struct ot_buf message = { 0 };
	struct fl_gate_result result;

	ot_buf_init(&message);
	fl_request_sign(&t->alice, &r, &message);
	give(t, &message, NOW, &result);
	assert_true(result.run);
	fl_gate_result_deinit(&result);
	give(t, &message, NOW + 1, &result);
	assert_false(result.run);
	assert_int_equal(result.answer.len, 0);
	assert_true(logged(t, "fleet: refused: operator=alice") && logged(t, "used before"));
	fl_gate_result_deinit(&result);
	give(t, &message, NOW + 31, &result); /* and when it is forgotten, it has expired */
	assert_false(result.run);
	assert_true(logged(t, "expired"));
	fl_gate_result_deinit(&result);
}

static void refused(void **state)
{
	static const char *const others[] = { "h2", "db*" };
	struct test *t = *state;
	struct fl_request r = request(t, FL_ASKS_RUN);

	r.hosts = others;
	r.nhosts = 2;
	expect_refused(t, &r, "another host", FL_REASON_TRUST);
	r = request(t, FL_ASKS_RUN);
	r.not_after = NOW - 1;
	expect_refused(t, &r, "expired", FL_REASON_TRUST);
	r = request(t, FL_ASKS_RUN);
	r.not_after = r.not_before + FL_INVITATION_MAX_S + 1;
	expect_refused(t, &r, "longer than", FL_REASON_TRUST);
	t->running = 2;
	r = request(t, FL_ASKS_RUN);
	expect_refused(t, &r, "2 sessions already run", FL_REASON_POLICY);
	t->running = 1;
	r = request(t, FL_ASKS_RUN);
	struct fl_gate_result result;

	ask(t, &t->alice, &r, &result);
	assert_true(result.run);
	fl_gate_result_deinit(&result);
}

/* Whoever has heard an invitation can send it again as often as it likes: the log is not theirs to fill
 * either, and what a known operator asks for the first time is in it all the same. */
static void repeated_without_end(void **state)
{
	struct test *t = *state;
	struct fl_request r = request(t, FL_ASKS_RUN);
	ot_auto(ot_buf_deinit) struct ot_buf message = { 0 };
	struct fl_gate_result result;
	unsigned lines = 0;

	ot_buf_init(&message);
	fl_request_sign(&t->alice, &r, &message);
	for (unsigned i = 0; i < 100; i++) {
		give(t, &message, i < 50 ? NOW + 30 : NOW + 31, &result); /* repeated, then expired */
		lines += logged(t, "fleet: refused: operator=alice");
		assert_int_equal(result.run, !i);
		fl_gate_result_deinit(&result);
	}
	assert_int_equal(lines, FL_GATE_LINES);
	assert_int_equal(t->gate.refused, 99);
	t->running = 2;
	r = request(t, FL_ASKS_RUN);
	expect_refused(t, &r, "2 sessions already run", FL_REASON_POLICY);
	give(t, &message, NOW + 41, &result);
	assert_true(logged(
	    t, "fleet: refused 79 more requests that were repeated, are another host's or have expired"));
	fl_gate_result_deinit(&result);
}

static void strangers(void **state)
{
	struct test *t = *state;
	struct fl_request r = request(t, FL_ASKS_RUN);
	struct fl_gate_result result;
	ot_auto(ot_buf_deinit) struct ot_buf message = { 0 };

	ask(t, &t->mallory, &r, &result);
	assert_false(result.run || result.answer.len);
	assert_true(logged(t, "refused: serve.conf has no operator with the key"));
	fl_gate_result_deinit(&result);
	/* alice's name with mallory's key, and noise */
	struct fl_identity forged = t->mallory;

	memcpy(forged.public, t->alice.public, FL_PUBLIC);
	ask(t, &forged, &r, &result);
	assert_false(result.run || result.answer.len);
	assert_true(logged(t, "not signed"));
	fl_gate_result_deinit(&result);
	ot_buf_init(&message);
	ot_buf_puts(&message, "GET / HTTP/1.1\n");
	for (unsigned i = 0; i < 2 * FL_GATE_LINES; i++) {
		give(t, &message, NOW, &result);
		assert_false(result.run || result.answer.len);
		assert_int_equal(t->log.len != 0, i < FL_GATE_LINES - 2); /* the log is not theirs to fill */
		fl_gate_result_deinit(&result);
	}
	give(t, &message, NOW + 10, &result);
	assert_true(logged(t, "fleet: refused 22 more requests of unknown keys\nfleet: refused: a message"));
	fl_gate_result_deinit(&result);
	/* a weak key of X25519, well signed */
	memset(r.ephemeral, 0, FL_PUBLIC);
	ot_buf_clear(&message);
	fl_request_sign(&t->alice, &r, &message);
	struct ot_err *err = fl_gate_take(&t->gate, message.data, message.len, NOW, &t->arena, &result);

	assert_non_null(err);
	assert_false(result.run);
	ot_err_destroy(err);
}

static void who(void **state)
{
	static const char *const others[] = { "h2" };
	struct test *t = *state;
	struct fl_request r = request(t, FL_ASKS_WHO);
	struct fl_presence presence;
	struct fl_gate_result result;
	struct fl_answer answer;

	ask(t, &t->alice, &r, &result);
	assert_false(result.run);
	assert_null(fl_answer_open(result.answer.data, result.answer.len, t->host.public,
				   result.request.digest, t->public, t->secret, &t->arena, &answer));
	struct fl_reader reader = fl_reader_of(answer.body.data, answer.body.len);

	assert_true(fl_body_next_presence(&reader, &t->arena, &presence));
	assert_string_equal(presence.guest, "web01");
	assert_false(fl_body_next_presence(&reader, &t->arena, &presence)); /* db1 is none of alice's */
	assert_null(fl_reader_end(&reader, 0));
	fl_gate_result_deinit(&result);
	t->is_listing = true; /* the guests are not known yet */
	ask(t, &t->alice, &r, &result);
	assert_true(result.later);
	assert_int_equal(result.answer.len, 0);
	fl_gate_result_deinit(&result);
	r.hosts = others; /* everybody hears it: no line */
	ask(t, &t->alice, &r, &result);
	assert_int_equal(result.answer.len + t->log.len, 0);
	fl_gate_result_deinit(&result);
	r = request(t, FL_ASKS_WHO);
	r.not_after = NOW - 1;
	ask(t, &t->alice, &r, &result);
	assert_int_equal(result.answer.len, 0);
	assert_true(logged(t, "asks=who") && logged(t, "expired"));
	fl_gate_result_deinit(&result);
}

/* A host merges nothing, and a merger has no guests: both say so, and log it. */
static void mergers(void **state)
{
	struct test *t = *state;
	struct fl_request r = request(t, FL_ASKS_MERGE);
	struct fl_gate_result result;

	r.guests = "";
	expect_refused(t, &r, "this is no merger", FL_REASON_POLICY);
	assert_true(logged(t, "asks=merge session="));
	t->gate.merges = true;
	r = request(t, FL_ASKS_RUN);
	expect_refused(t, &r, "this is a merger, and has no guests", FL_REASON_POLICY);
	r = request(t, FL_ASKS_WHO);
	ask(t, &t->alice, &r, &result);
	assert_int_equal(result.answer.len, 0);
	fl_gate_result_deinit(&result);
	r = request(t, FL_ASKS_MERGE);
	r.guests = "";
	ask(t, &t->alice, &r, &result);
	assert_true(result.run);
	assert_true(verdict_of(t, &result).accepted);
	assert_true(logged(t, "fleet: allowed: operator=alice as="));
	assert_true(logged(t, "asks=merge session="));
	assert_false(logged(t, "guests="));
	fl_gate_result_deinit(&result);
	t->running = 2;
	r = request(t, FL_ASKS_MERGE);
	r.guests = "";
	expect_refused(t, &r, "2 sessions already run", FL_REASON_POLICY);
	r.not_after = NOW - 1;
	expect_refused(t, &r, "expired", FL_REASON_TRUST);
}

static void tickets(void **state)
{
	struct test *t = *state;
	struct fl_ticket sent = { .as = "a@b",
				  .session = "0123",
				  .reply = "_INBOX.1",
				  .answer = { t->public, 32 } },
			 got;
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	memcpy(sent.secret, t->secret, FL_PUBLIC);
	memset(sent.run, 5, FL_DIGEST);
	sent.merges = true;
	ot_buf_init(&out);
	fl_ticket_put(&out, &sent);
	assert_null(fl_ticket_get(out.data, out.len, &t->arena, &got));
	assert_string_equal(got.reply, "_INBOX.1");
	assert_true(got.merges);
	assert_memory_equal(got.secret, t->secret, FL_PUBLIC);
	assert_memory_equal(got.run, sent.run, FL_DIGEST);
	assert_memory_equal(got.answer.data, t->public, 32);
	for (size_t cut = 0; cut < out.len; cut++) {
		struct ot_err *err = fl_ticket_get(out.data, cut, &t->arena, &got);

		assert_non_null(err);
		ot_err_destroy(err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(allowed, setup, teardown),
		cmocka_unit_test_setup_teardown(replayed, setup, teardown),
		cmocka_unit_test_setup_teardown(refused, setup, teardown),
		cmocka_unit_test_setup_teardown(repeated_without_end, setup, teardown),
		cmocka_unit_test_setup_teardown(strangers, setup, teardown),
		cmocka_unit_test_setup_teardown(who, setup, teardown),
		cmocka_unit_test_setup_teardown(mergers, setup, teardown),
		cmocka_unit_test_setup_teardown(tickets, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
