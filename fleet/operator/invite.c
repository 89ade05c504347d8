/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inviting hosts to a session. An invitation, or its answer, may be lost: then another one is made, since a
 * host takes none twice; what a host began for the first ends when its lease expires. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fleet/operator/nats.h"

#define ATTEMPTS  3u
#define ANSWER_NS 4000000000ull
#define HOLDS_S   120u

/* Listen, before the host can speak. */
static struct ot_err *listen_to(struct fl_calling *c, struct fl_invited *h)
{
	char out[FL_BROKER_SUBJECT], in[FL_BROKER_SUBJECT], session[FL_SESSION_TEXT];

	fl_session_text(h->digest, session);
	snprintf(out, sizeof(out), "os.v1.out.%s.%s", session, h->known->name);
	snprintf(in, sizeof(in), "os.v1.in.%s.%s", session, h->known->name);
	fl_carrier_destroy(h->carrier);
	h->carrier = NULL;
	return fl_nats_create(c->broker, out, in, &h->carrier);
}

static struct ot_err *make(struct fl_calling *c, struct fl_invited *h, struct ot_buf *out)
{
	ot_auto(ot_buf_deinit) struct ot_buf run = { 0 };
	struct fl_request request;

	ot_buf_init(&run);
	OT_TRY(fl_run_put(c->fleet, ot_buf_str(&h->guests), &run));
	fl_calling_request(c, FL_ASKS_RUN, HOLDS_S, &request);
	request.hosts = &h->known->name;
	request.nhosts = 1;
	request.guests = ot_buf_str(&h->guests);
	fl_ephemeral_make(h->public, h->secret);
	memcpy(request.ephemeral, h->public, FL_PUBLIC);
	fl_digest(run.data, run.len, request.run);
	fl_request_sign(&c->identity, &request, out);
	if (out->failed)
		return ot_err_nomem();
	fl_digest(out->data, out->len, h->digest);
	return NULL;
}

static struct ot_err *invite(struct fl_calling *c, struct fl_invited *h)
{
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };
	char subject[FL_BROKER_SUBJECT];

	ot_buf_init(&out);
	OT_TRY(make(c, h, &out));
	OT_TRY(listen_to(c, h));
	snprintf(subject, sizeof(subject), "os.v1.run.%s", h->known->name);
	return fl_broker_publish(c->broker, subject, c->reply, out.data, out.len);
}

static struct ot_err *take_verdict(struct fl_calling *c, struct fl_invited *h, const struct fl_answer *answer)
{
	struct fl_verdict verdict;
	struct ot_err *err = fl_body_get_verdict(answer->body, &c->arena, &verdict);

	if (!err && !verdict.accepted)
		err = ot_err_new(OT_ERR_PERMISSION, "refused: %s", verdict.text);
	if (!err) {
		memcpy(h->ephemeral, answer->ephemeral, FL_PUBLIC);
		h->accepted = true;
	}
	return ot_err_prefix(err, "host %s", h->known->name);
}

static struct ot_err *take(struct fl_calling *c, const struct fl_broker_message *m)
{
	struct fl_invited *h = fl_calling_host(c, m);
	struct fl_answer answer;

	if (!h || h->accepted || !h->carrier)
		return NULL;
	struct ot_err *err = fl_answer_open(m->data, m->len, h->known->key, h->digest, h->public, h->secret,
					    &c->arena, &answer);

	if (!err)
		return take_verdict(c, h, &answer);
	c->forged += ot_err_code(err) != OT_ERR_NOT_FOUND; /* which is of an attempt before */
	ot_err_destroy(err);
	return NULL;
}

static bool waits_for(const struct fl_invited *h)
{
	return h->present && !h->accepted;
}

static bool is_waiting(const struct fl_calling *c)
{
	for (size_t i = 0; i < c->nhosts; i++)
		if (waits_for(&c->hosts[i]))
			return true;
	return false;
}

static struct ot_err *attempt(struct fl_calling *c)
{
	struct fl_broker_message m;
	uint64_t until;
	bool is_there;

	for (size_t i = 0; i < c->nhosts; i++)
		if (waits_for(&c->hosts[i]))
			OT_TRY(invite(c, &c->hosts[i]));
	until = ot_now_ns() + ANSWER_NS;
	while (is_waiting(c)) {
		OT_TRY(fl_calling_await(c, until, &m, &is_there));
		if (!is_there)
			return NULL;
		OT_TRY(take(c, &m));
	}
	return NULL;
}

struct ot_err *fl_nats_invite_all(struct fl_calling *c)
{
	for (unsigned i = 0; i < ATTEMPTS && is_waiting(c); i++)
		OT_TRY(attempt(c));
	for (size_t i = 0; i < c->nhosts; i++)
		c->hosts[i].silent = waits_for(&c->hosts[i]);
	return NULL;
}
