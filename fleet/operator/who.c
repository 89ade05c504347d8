/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asking hosts which guests they have. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dif/obj/program.h"
#include "fleet/operator/nats.h"

#define WHO_NS \
	6000000000ull /* a list takes a host some seconds, where an engine or a kernel does not answer */
#define AGAIN_NS 1500000000ull
#define HOLDS_S  20u
#define SUBJECT  "os.v1.who"

/* A question to as many hosts as one names, and what only its asker can read the answers with. */
struct question {
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC], digest[FL_DIGEST];
	struct ot_buf request; /* signed */
	size_t nwaiting;       /* hosts that have not answered */
};

struct questions {
	struct fl_calling *calling;
	struct question *items;
	size_t n, nwaiting;
};

static struct ot_err *make(const struct fl_calling *c, struct question *q, const char *const *hosts,
			   uint32_t n)
{
	struct fl_request request;

	fl_ephemeral_make(q->public, q->secret);
	fl_calling_request(c, FL_ASKS_WHO, HOLDS_S, &request);
	request.hosts = hosts;
	request.nhosts = n;
	request.guests = "all";
	memcpy(request.ephemeral, q->public, FL_PUBLIC);
	fl_request_sign(&c->identity, &request, &q->request);
	if (q->request.failed)
		return ot_err_nomem();
	fl_digest(q->request.data, q->request.len, q->digest);
	q->nwaiting = n;
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

		/* as many hosts as one message names */
		for (; i < c->nhosts && n < FL_REQUEST_HOSTS; i++) {
			struct fl_invited *h = &c->hosts[i];

			h->present = !h->by_pattern;
			h->silent = h->by_pattern;
			h->question = a->n;
			if (h->by_pattern)
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

static void take(struct questions *all, const struct fl_broker_message *m)
{
	struct fl_calling *c = all->calling;
	struct fl_invited *h = fl_calling_host(c, m);
	struct fl_answer answer;

	if (!h || !h->by_pattern || h->question >= all->n)
		return;
	struct question *q = &all->items[h->question];
	struct ot_err *err = fl_answer_open(m->data, m->len, h->known->key, q->digest, q->public, q->secret,
					    &c->arena, &answer);

	if (!err && h->silent) {
		take_guests(c, h, answer.body);
		q->nwaiting--;
		all->nwaiting--;
	} else if (err && ot_err_code(err) != OT_ERR_NOT_FOUND) {
		c->forged++;
	}
	ot_err_destroy(err);
}

/* Those of which a host has not answered. */
static struct ot_err *ask(const struct questions *all)
{
	const struct fl_calling *c = all->calling;

	for (size_t i = 0; i < all->n; i++)
		if (all->items[i].nwaiting)
			OT_TRY(fl_broker_publish(c->broker, SUBJECT, c->reply, all->items[i].request.data,
						 all->items[i].request.len));
	return NULL;
}

/* Each host has as long as if it alone were asked. */
static struct ot_err *await_all(struct questions *all)
{
	struct fl_broker_message m;
	uint64_t start = ot_now_ns(), until = start + AGAIN_NS;
	bool is_there;

	OT_TRY(ask(all));
	while (all->nwaiting) {
		OT_TRY(fl_calling_await(all->calling, until, &m, &is_there));
		if (is_there) {
			take(all, &m);
		} else if (ot_now_ns() - start >= WHO_NS) {
			break;
		} else { /* perhaps it was lost */
			until = start + WHO_NS;
			OT_TRY(ask(all));
		}
	}
	return NULL;
}

/* The hosts that are meant by a pattern, as many for a question as one message names. */
static struct ot_err *make_all(struct questions *all)
{
	struct fl_calling *c = all->calling;
	const char *hosts[FL_REQUEST_HOSTS];

	for (size_t i = 0; i < c->nhosts;) {
		uint32_t n = 0;

		for (; i < c->nhosts && n < FL_REQUEST_HOSTS; i++) {
			struct fl_invited *h = &c->hosts[i];

			h->present = !h->by_pattern;
			h->silent = h->by_pattern;
			h->question = all->n;
			if (h->by_pattern)
				hosts[n++] = h->known->name;
		}
		if (n)
			OT_TRY(make(c, &all->items[all->n++], hosts, n));
		all->nwaiting += n;
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
	const size_t most = c->nhosts / FL_REQUEST_HOSTS + 1;
	struct questions all = { .calling = c, .items = calloc(most, sizeof(*all.items)) };

	if (!all.items)
		return ot_err_nomem();
	struct ot_err *err = make_all(&all);

	if (!err)
		err = await_all(&all);
	for (size_t i = 0; i < most; i++)
		ot_buf_deinit(&all.items[i].request);
	sodium_memzero(all.items, most * sizeof(*all.items));
	free(all.items);
	return err;
}
