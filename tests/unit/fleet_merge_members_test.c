/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/merge: hosts are invited by what the operator has signed, over the distribution's nats-server. The
 * host is the test's own. */
#include "tests/unit/fleet_merge_fixture.h"

#include <sodium.h>

#include "fleet/link/seal.h"
#include "tests/unit/fleet_server.h"

#define INVITATIONS 2u

struct inviting {
	struct merging t;
	struct server server;
	struct fl_broker *merger, *host;
	struct fl_inbox *runs; /* of the host */
	struct fl_identity alice, h1, mallory;
	struct ot_buf invitations[INVITATIONS];
	struct ot_arena arena;
};

static void make_identity(struct fl_identity *ret)
{
	crypto_sign_keypair(ret->public, ret->secret);
}

static void sign_invitation(struct inviting *v, unsigned i)
{
	static const char *const hosts[] = { "h1" };
	struct fl_request r = { .protocol = FL_PROTOCOL,
				.asks = FL_ASKS_RUN,
				.operator= "alice@desk",
				.hosts = hosts,
				.nhosts = 1,
				.guests = "web*" };

	memcpy(r.ephemeral, v->t.config.public, FL_PUBLIC);
	r.nonce[0] = (uint8_t)i;
	ot_buf_init(&v->invitations[i]);
	fl_request_sign(&v->alice, &r, &v->invitations[i]);
}

static void tell_member(struct inviting *v)
{
	struct ot_buf run = { 0 }, body = { 0 };
	struct fl_member m = { .name = "h1",
			       .key = { v->h1.public, FL_PUBLIC },
			       .ninvitations = INVITATIONS };

	put_text_run(&run, counting);
	m.run = (struct fl_bytes){ (const uint8_t *)run.data, (uint32_t)run.len };
	for (unsigned i = 0; i < INVITATIONS; i++)
		m.invitations[i] = (struct fl_bytes){ (const uint8_t *)v->invitations[i].data,
						      (uint32_t)v->invitations[i].len };
	fl_put_member(&body, &m);
	ot_buf_deinit(&run);
	tell(&v->t, FL_MEMBER, &body);
}

static bool setup_inviting(struct inviting *v)
{
	struct fl_carrier *near, *far;

	memset(v, 0, sizeof(*v));
	if (!server_is_there())
		return false;
	assert_null(fl_trust_start());
	ot_arena_init(&v->arena);
	server_choose_port(&v->server);
	server_start(&v->server);
	v->merger = server_connect(&v->server);
	v->host = server_connect(&v->server);
	assert_null(fl_inbox_open(v->host, "os.v1.run.h1", &v->runs));
	assert_true(fl_broker_flush(v->host, 60000));
	make_identity(&v->alice);
	make_identity(&v->h1);
	make_identity(&v->mallory);
	v->t.config = (struct fl_merge_config){ .name = "m1", .broker = v->merger };
	fl_ephemeral_make(v->t.config.public, v->t.config.secret);
	for (unsigned i = 0; i < INVITATIONS; i++)
		sign_invitation(v, i);
	make_pair(&near, &far);
	assert_null(fl_link_create(near, NULL, NULL, NULL, &v->t.operator));
	assert_null(fl_link_create(far, NULL, NULL, NULL, &v->t.link));
	assert_null(fl_merge_create(v->t.link, &v->t.config, &v->t.m));
	greet(&v->t);
	tell_member(v);
	return true;
}

static void teardown_inviting(struct inviting *v)
{
	forget(&v->t);
	ot_err_destroy(v->t.err);
	fl_merge_destroy(v->t.m);
	fl_link_destroy(v->t.link);
	fl_link_destroy(v->t.operator);
	for (unsigned i = 0; i < INVITATIONS; i++)
		ot_buf_deinit(&v->invitations[i]);
	fl_inbox_close(v->runs);
	fl_broker_unref(v->merger);
	fl_broker_unref(v->host);
	server_kill(&v->server);
	ot_arena_deinit(&v->arena);
}

static void round_of(struct inviting *v)
{
	if (!v->t.err)
		v->t.err = fl_merge_step(v->t.m);
	listen_once(&v->t);
	poll(NULL, 0, 1);
}

/* The next invitation that comes to the host, and where its answer goes. */
static void await_invitation(struct inviting *v, unsigned number, char reply[FL_BROKER_SUBJECT])
{
	struct fl_broker_message m;
	uint64_t until = ot_now_ns() + LONG_NS;

	while (!fl_inbox_next(v->runs, &m)) {
		assert_true(ot_now_ns() < until);
		round_of(v);
	}
	assert_int_equal(m.len, v->invitations[number].len); /* as the operator has signed it */
	assert_memory_equal(m.data, v->invitations[number].data, m.len);
	assert_string_equal(m.reply, v->t.m->reply);
	snprintf(reply, FL_BROKER_SUBJECT, "%s", m.reply);
}

/* What @id says in h1's name to invitation @number. */
static void answer(struct inviting *v, const struct fl_identity *id, unsigned number, bool accepted,
		   const uint8_t ephemeral[FL_PUBLIC], const char *reply)
{
	struct ot_buf body = { 0 }, out = { 0 };
	struct fl_answer a = { .host = "h1" };

	fl_body_put_verdict(&body, &(struct fl_verdict){ accepted, FL_REASON_POLICY, "no such operator" });
	a.body = (struct fl_bytes){ (const uint8_t *)body.data, (uint32_t)body.len };
	fl_digest(v->invitations[number].data, v->invitations[number].len, a.request);
	memcpy(a.ephemeral, ephemeral, FL_PUBLIC);
	assert_null(fl_answer_sign(id, &a, v->t.config.public, &out));
	assert_null(fl_broker_publish(v->host, reply, NULL, out.data, out.len));
	ot_buf_deinit(&body);
	ot_buf_deinit(&out);
}

static void await_kind(struct inviting *v, int member, enum fl_kind kind)
{
	uint64_t until = ot_now_ns() + LONG_NS;

	while (!has(&v->t, member, kind)) {
		assert_null(v->t.err);
		assert_true(ot_now_ns() < until);
		round_of(v);
	}
}

/* A host that has answered has a link that only it and the merger can read, and is asked what MEMBER said. */
static void invited(void **state)
{
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC], digest[FL_DIGEST];
	char reply[FL_BROKER_SUBJECT], out[FL_BROKER_SUBJECT], in[FL_BROKER_SUBJECT],
	    session[FL_SESSION_TEXT];
	struct fl_carrier *carrier;
	struct inviting v;
	struct fl_seal *seal;
	struct canned *h = &v.t.f.hosts[0];

	(void)state;
	if (!setup_inviting(&v))
		skip();
	await_invitation(&v, 0, reply);
	fl_ephemeral_make(public, secret);
	fl_digest(v.invitations[0].data, v.invitations[0].len, digest);
	fl_session_text(digest, session);
	snprintf(out, sizeof(out), "os.v1.in.%s.h1", session);
	snprintf(in, sizeof(in), "os.v1.out.%s.h1", session);
	assert_null(fl_nats_create(v.host, out, in, &carrier));
	assert_null(fl_seal_create(public, secret, v.t.config.public, false, &seal));
	assert_null(fl_link_create(carrier, seal, NULL, NULL, &h->link));
	answer(&v, &v.mallory, 0, true, public, reply); /* not h1's word */
	answer(&v, &v.h1, 0, true, public, reply);
	say_hello(h, FL_PROTOCOL);
	await_kind(&v, 0, FL_HELLO);
	assert_int_equal(v.t.m->forged, 1);
	assert_int_equal(v.t.m->members[0].state, FL_MEMBER_JOINED);
	assert_int_equal(fl_members_due_ns(v.t.m), UINT64_MAX);
	fl_link_destroy(h->link);
	ot_buf_deinit(&h->body);
	teardown_inviting(&v);
}

static void refused(void **state)
{
	char reply[FL_BROKER_SUBJECT];
	struct fl_refused m;
	struct inviting v;

	(void)state;
	if (!setup_inviting(&v))
		skip();
	await_invitation(&v, 0, reply);
	answer(&v, &v.h1, 0, false, v.h1.public, reply);
	await_kind(&v, 0, FL_REFUSED);
	const struct got *got = &v.t.got[find(&v.t, 0, 0, FL_REFUSED)];
	assert_null(fl_get_refused(got->body.data, got->body.len, &v.arena, &m));
	assert_int_equal(m.reason, FL_REASON_POLICY);
	assert_string_equal(m.text, "refused: no such operator");
	for (unsigned i = 0; i < 5; i++)
		round_of(&v);
	assert_false(has(&v.t, -1, FL_GONE));
	teardown_inviting(&v);
}

/* Each attempt has an invitation of its own; an answer to an earlier one is none. After the last the host is
 * gone. */
static void silent(void **state)
{
	char first[FL_BROKER_SUBJECT], second[FL_BROKER_SUBJECT];
	struct fl_gone gone;
	struct inviting v;

	(void)state;
	if (!setup_inviting(&v))
		skip();
	v.t.m->answer_ns = 100000000;
	await_invitation(&v, 0, first);
	await_invitation(&v, 1, second);
	answer(&v, &v.h1, 0, true, v.h1.public, first);
	await_kind(&v, -1, FL_GONE);
	assert_int_equal(v.t.m->forged, 0);
	const struct got *got = &v.t.got[find(&v.t, 0, -1, FL_GONE)];
	assert_null(fl_get_gone(got->body.data, got->body.len, &v.arena, &gone));
	assert_int_equal(gone.member, 0);
	assert_string_equal(gone.text, "it does not answer");
	teardown_inviting(&v);
}

/* The operator does not wait for it any longer. */
static void stopped(void **state)
{
	char reply[FL_BROKER_SUBJECT];
	struct inviting v;

	(void)state;
	if (!setup_inviting(&v))
		skip();
	await_invitation(&v, 0, reply);
	tell_of(&v.t, 0, FL_STOP);
	await_kind(&v, -1, FL_GONE);
	answer(&v, &v.h1, 0, true, v.h1.public, reply);
	assert_true(fl_broker_flush(v.host, 60000));
	for (unsigned i = 0; i < 20; i++)
		round_of(&v);
	assert_int_equal(v.t.m->fleet->nhosts, 0);
	assert_null(v.t.err);
	teardown_inviting(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invited),
		cmocka_unit_test(refused),
		cmocka_unit_test(silent),
		cmocka_unit_test(stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
