/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Invites hosts to a session. If an invitation or its answer is lost, another one is made, because a host
 * accepts none twice; the session of the first one ends when its lease expires. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fleet/link/seal.h"
#include "fleet/operator/nats.h"

#define ATTEMPTS  3u
#define ANSWER_NS 4000000000ull
#define HOLDS_S   120u

/* Subscribe before the host can send. */
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

/* For the key @ephemeral of this end's, or of a merger's. */
static struct ot_err *sign(struct fl_calling *c, const struct fl_invited *h, const struct ot_buf *run,
			   const uint8_t ephemeral[FL_PUBLIC], struct ot_buf *out)
{
	struct fl_request request;

	fl_calling_request(c, h->asks, HOLDS_S, &request);
	request.hosts = &h->known->name;
	request.nhosts = 1;
	request.guests = ot_buf_str(&h->guests);
	memcpy(request.ephemeral, ephemeral, FL_PUBLIC);
	if (h->asks == FL_ASKS_RUN)
		fl_digest(run->data, run->len, request.run);
	fl_request_sign(&c->identity, &request, out);
	return out->failed ? ot_err_nomem() : NULL;
}

static struct ot_err *make(struct fl_calling *c, struct fl_invited *h, struct ot_buf *out)
{
	ot_auto(ot_buf_deinit) struct ot_buf run = { 0 };

	ot_buf_init(&run);
	if (h->asks == FL_ASKS_RUN)
		OT_TRY(fl_run_put(c->fleet, ot_buf_str(&h->guests), &run));
	fl_ephemeral_make(h->public, h->secret);
	OT_TRY(sign(c, h, &run, h->public, out));
	fl_digest(out->data, out->len, h->digest);
	return NULL;
}

struct ot_err *fl_calling_member(struct fl_calling *c, struct fl_invited *h, uint32_t number,
				 const uint8_t ephemeral[FL_PUBLIC], struct ot_buf *out)
{
	ot_auto(ot_buf_deinit) struct ot_buf run = { 0 }, all = { 0 };
	size_t ends[FL_INVITATIONS_MAX + 1] = { 0 };
	struct fl_member m = { number, h->known->name, { h->known->key, FL_PUBLIC }, { 0 }, 0, { { 0 } } };

	ot_buf_init(&run);
	ot_buf_init(&all);
	OT_TRY(fl_run_put(c->fleet, ot_buf_str(&h->guests), &run));
	for (; m.ninvitations < FL_INVITATIONS_MAX; m.ninvitations++) {
		OT_TRY(sign(c, h, &run, ephemeral, &all));
		ends[m.ninvitations + 1] = all.len;
	}
	for (uint32_t i = 0; i < m.ninvitations; i++)
		m.invitations[i] = (struct fl_bytes){ (const uint8_t *)all.data + ends[i],
						      (uint32_t)(ends[i + 1] - ends[i]) };
	m.run = (struct fl_bytes){ (const uint8_t *)run.data, (uint32_t)run.len };
	fl_put_member(out, &m);
	return out->failed ? ot_err_nomem() : NULL;
}

struct ot_err *fl_nats_invite_one(struct fl_calling *c, struct fl_invited *h)
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

	OT_TRY(fl_body_get_verdict(answer->body, &c->arena, &verdict));
	if (!verdict.accepted)
		return ot_err_new(OT_ERR_PERMISSION, "refused: %s", verdict.text);
	memcpy(h->ephemeral, answer->ephemeral, FL_PUBLIC);
	h->accepted = true;
	return NULL;
}

struct ot_err *fl_nats_take_answer(struct fl_calling *c, const struct fl_broker_message *m,
				   struct fl_invited **ret)
{
	struct fl_invited *h = fl_calling_host(c, m);
	struct fl_answer answer;

	*ret = NULL;
	if (!h || h->accepted || !h->carrier)
		return NULL;
	struct ot_err *err = fl_answer_open(m->data, m->len, h->known->key, h->digest, h->public, h->secret,
					    &c->arena, &answer);

	if (!err) {
		*ret = h;
		return take_verdict(c, h, &answer);
	}
	c->forged += ot_err_code(err) != OT_ERR_NOT_FOUND; /* of an earlier attempt */
	ot_err_destroy(err);
	return NULL;
}

struct ot_err *fl_nats_open(struct fl_invited *h, struct fl_channel **ret)
{
	struct fl_carrier *carrier = h->carrier;
	struct fl_seal *seal;

	OT_TRY(fl_seal_create(h->public, h->secret, h->ephemeral, true, &seal));
	h->carrier = NULL;
	return fl_channel_open(carrier, seal, ret);
}

/* --- all at once ------------------------------------------------------------------------------------------ */

static struct ot_err *take(struct fl_calling *c, const struct fl_broker_message *m)
{
	struct fl_invited *h;
	struct ot_err *err = fl_nats_take_answer(c, m, &h);

	c->nwaiting -= h && h->accepted;
	return h ? ot_err_prefix(err, "%s %s", h->asks == FL_ASKS_MERGE ? "merger" : "host", h->known->name)
		 : err;
}

static bool waits_for(const struct fl_invited *h)
{
	return h->present && !h->accepted;
}

static struct ot_err *attempt(struct fl_calling *c, struct fl_invited *all, size_t n)
{
	struct fl_broker_message m;
	uint64_t until;
	bool is_there;

	for (size_t i = 0; i < n; i++)
		if (waits_for(&all[i]))
			OT_TRY(fl_nats_invite_one(c, &all[i]));
	until = ot_now_ns() + ANSWER_NS;
	while (c->nwaiting) {
		OT_TRY(fl_calling_await(c, until, &m, &is_there));
		if (!is_there)
			return NULL;
		OT_TRY(take(c, &m));
	}
	return NULL;
}

struct ot_err *fl_nats_invite_all(struct fl_calling *c, struct fl_invited *all, size_t n)
{
	c->nwaiting = 0;
	for (size_t i = 0; i < n; i++)
		c->nwaiting += waits_for(&all[i]);
	for (unsigned i = 0; i < ATTEMPTS && c->nwaiting; i++)
		OT_TRY(attempt(c, all, n));
	for (size_t i = 0; i < n; i++)
		all[i].silent = waits_for(&all[i]);
	return NULL;
}
