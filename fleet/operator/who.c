/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks hosts for their guests. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dif/obj/program.h"
#include "fleet/operator/nats.h"

#define WHO_NS   6000000000ull /* an engine or kernel that does not answer delays a list by seconds */
#define AGAIN_NS 1500000000ull
#define HOLDS_S  20u
#define SUBJECT  "os.v1.who"

/* A question to some hosts, and the key that decrypts the answers. */
struct question {
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC], digest[FL_DIGEST];
	struct ot_buf out; /* as it is sent */
	size_t nsilent;
};

struct asking {
	struct fl_calling *c;
	struct question *questions;
	size_t n, nsilent;
};

/* --- questions -------------------------------------------------------------------------------------------- */

static struct ot_err *make(struct fl_calling *c, struct question *q, const char *const *hosts, uint32_t n)
{
	struct fl_request request;

	fl_ephemeral_make(q->public, q->secret);
	fl_calling_request(c, FL_ASKS_WHO, HOLDS_S, &request);
	request.hosts = hosts;
	request.nhosts = n;
	request.guests = "all";
	memcpy(request.ephemeral, q->public, FL_PUBLIC);
	fl_request_sign(&c->identity, &request, &q->out);
	if (q->out.failed)
		return ot_err_nomem();
	fl_digest(q->out.data, q->out.len, q->digest);
	q->nsilent = n;
	return NULL;
}

static struct ot_err *make_all(struct asking *a)
{
	struct fl_calling *c = a->c;
	const char *hosts[FL_REQUEST_HOSTS];

	a->questions = calloc(c->nhosts / FL_REQUEST_HOSTS + 1, sizeof(*a->questions));
	if (!a->questions)
		return ot_err_nomem();
	for (size_t i = 0; i < c->nhosts; a->n++) {
		uint32_t n = 0;

		/* maximum number of hosts in one message */
		for (; i < c->nhosts && n < FL_REQUEST_HOSTS; i++) {
			struct fl_invited *h = &c->hosts[i];

			const bool is_asked = h->by_pattern && !h->is_done;

			h->present = !h->by_pattern;
			h->silent = is_asked;
			h->question = a->n;
			if (is_asked)
				hosts[n++] = h->known->name;
		}
		ot_buf_init(&a->questions[a->n].out);
		if (n)
			OT_TRY(make(c, &a->questions[a->n], hosts, n));
		a->nsilent += n;
	}
	return NULL;
}

/* --- answers ---------------------------------------------------------------------------------------------- */

static bool is_meant(const struct fl_invited *h, const char *guest)
{
	char patterns[FL_TEXT_MAX + 1], *at = NULL;

	memcpy(patterns, ot_buf_str(&h->guests), h->guests.len + 1);
	for (char *p = strtok_r(patterns, " ", &at); p; p = strtok_r(NULL, " ", &at))
		if (!strcmp(p, "all") || dif_glob_match(p, guest))
			return true;
	return false;
}

static void take_guests(struct asking *a, struct fl_invited *h, struct fl_bytes body)
{
	struct fl_reader r = fl_reader_of(body.data, body.len);
	struct fl_presence presence;

	h->silent = false;
	a->nsilent--;
	a->questions[h->question].nsilent--;
	while (!h->present && fl_body_next_presence(&r, &a->c->arena, &presence))
		h->present = is_meant(h, presence.guest);
}

static void take(struct asking *a, const struct fl_broker_message *m)
{
	struct fl_calling *c = a->c;
	struct fl_invited *h = fl_calling_host(c, m);
	struct fl_answer answer;

	if (!h || h->asks != FL_ASKS_RUN || !h->by_pattern)
		return;
	const struct question *q = &a->questions[h->question];
	struct ot_err *err = fl_answer_open(m->data, m->len, h->known->key, q->digest, q->public, q->secret,
					    &c->arena, &answer);

	if (!err && h->silent)
		take_guests(a, h, answer.body);
	else if (err && ot_err_code(err) != OT_ERR_NOT_FOUND)
		c->forged++;
	ot_err_destroy(err);
}

static struct ot_err *take_until(struct asking *a, uint64_t until)
{
	struct fl_broker_message m;
	bool is_there = true;

	while (a->nsilent && is_there) {
		OT_TRY(fl_calling_await(a->c, until, &m, &is_there));
		if (is_there)
			take(a, &m);
	}
	return NULL;
}

/* Ask the hosts that have not answered; answers are taken in between, because the broker's queue is
 * bounded. */
static struct ot_err *ask(struct asking *a)
{
	for (size_t i = 0; i < a->n; i++) {
		struct question *q = &a->questions[i];

		if (!q->nsilent)
			continue;
		OT_TRY(fl_broker_publish(a->c->broker, SUBJECT, a->c->reply, q->out.data, q->out.len));
		OT_TRY(take_until(a, ot_now_ns()));
	}
	return NULL;
}

static struct ot_err *ask_all(struct asking *a)
{
	OT_TRY(make_all(a));
	OT_TRY(ask(a));
	const uint64_t asked = ot_now_ns();

	OT_TRY(take_until(a, asked + AGAIN_NS));
	OT_TRY(ask(a)); /* perhaps it was lost */
	return take_until(a, asked + WHO_NS);
}

struct ot_err *fl_nats_ask_who(struct fl_calling *c)
{
	struct asking a = { .c = c };
	struct ot_err *err = ask_all(&a);

	for (size_t i = 0; a.questions && i < c->nhosts / FL_REQUEST_HOSTS + 1; i++) {
		ot_buf_deinit(&a.questions[i].out);
		sodium_memzero(&a.questions[i], sizeof(a.questions[i]));
	}
	free(a.questions);
	return err;
}
