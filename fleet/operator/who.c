/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asking hosts which guests they have. */
#include <sodium.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "dif/obj/program.h"
#include "fleet/operator/nats.h"

#define WHO_NS \
	6000000000ull /* a list takes a host some seconds, where an engine or a kernel does not answer */
#define AGAIN_NS 1500000000ull
#define HOLDS_S  20u
#define SUBJECT  "os.v1.who"

/* A question, and what only its asker can read the answers with. */
struct question {
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC], digest[FL_DIGEST];
};

static bool waits_for(const struct fl_invited *h)
{
	return h->by_pattern && h->silent;
}

static size_t waiting(const struct fl_calling *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nhosts; i++)
		n += waits_for(&c->hosts[i]);
	return n;
}

static struct ot_err *make(struct fl_calling *c, struct question *q, const char *const *hosts, uint32_t n,
			   struct ot_buf *out)
{
	struct fl_request request;

	fl_ephemeral_make(q->public, q->secret);
	fl_calling_request(c, FL_ASKS_WHO, HOLDS_S, &request);
	request.hosts = hosts;
	request.nhosts = n;
	request.guests = "all";
	memcpy(request.ephemeral, q->public, FL_PUBLIC);
	fl_request_sign(&c->identity, &request, out);
	if (out->failed)
		return ot_err_nomem();
	fl_digest(out->data, out->len, q->digest);
	return NULL;
}

static bool is_meant(const struct fl_invited *h, const char *guest)
{
	char patterns[FL_TEXT_MAX + 1], *at = NULL;

	memcpy(patterns, ot_buf_str(&h->guests), h->guests.len + 1);
	for (char *p = strtok_r(patterns, " ", &at); p; p = strtok_r(NULL, " ", &at))
		if (!strcmp(p, "all") || dif_glob_match(p, guest))
			return true;
	return false;
}

static void take_guests(struct fl_calling *c, struct fl_invited *h, struct fl_bytes body)
{
	struct fl_reader r = fl_reader_of(body.data, body.len);
	struct fl_presence presence;

	h->silent = false;
	while (!h->present && fl_body_next_presence(&r, &c->arena, &presence))
		h->present = is_meant(h, presence.guest);
}

static void take(struct fl_calling *c, const struct question *q, const struct fl_broker_message *m)
{
	struct fl_invited *h = fl_calling_host(c, m);
	struct fl_answer answer;

	if (!h)
		return;
	struct ot_err *err = fl_answer_open(m->data, m->len, h->known->key, q->digest, q->public, q->secret,
					    &c->arena, &answer);

	if (!err && waits_for(h))
		take_guests(c, h, answer.body);
	else if (err && ot_err_code(err) != OT_ERR_NOT_FOUND)
		c->forged++;
	ot_err_destroy(err);
}

static struct ot_err *ask(struct fl_calling *c, const struct ot_buf *out)
{
	return fl_broker_publish(c->broker, SUBJECT, c->reply, out->data, out->len);
}

/* As many hosts as one message names; for `others` is waited later. */
static struct ot_err *ask_some(struct fl_calling *c, const char *const *hosts, uint32_t n, size_t others)
{
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };
	struct question q;
	struct fl_broker_message m;
	uint64_t start = ot_now_ns(), until = start + AGAIN_NS;
	bool is_there;

	ot_buf_init(&out);
	OT_TRY(make(c, &q, hosts, n, &out));
	OT_TRY(ask(c, &out));
	while (waiting(c) > others) {
		OT_TRY(fl_calling_await(c, until, &m, &is_there));
		if (is_there) {
			take(c, &q, &m);
		} else if (ot_now_ns() - start >= WHO_NS) {
			break;
		} else { /* perhaps it was lost */
			until = start + WHO_NS;
			OT_TRY(ask(c, &out));
		}
	}
	sodium_memzero(&q, sizeof(q));
	return NULL;
}

struct ot_err *fl_nats_ask_who(struct fl_calling *c)
{
	const char *hosts[FL_REQUEST_HOSTS];

	for (size_t i = 0; i < c->nhosts; i++) {
		c->hosts[i].present = !c->hosts[i].by_pattern;
		c->hosts[i].silent = c->hosts[i].by_pattern;
	}
	size_t others = waiting(c);

	for (size_t i = 0; i < c->nhosts;) {
		uint32_t n = 0;

		for (; i < c->nhosts && n < FL_REQUEST_HOSTS; i++)
			if (c->hosts[i].by_pattern)
				hosts[n++] = c->hosts[i].known->name;
		others -= n;
		if (n)
			OT_TRY(ask_some(c, hosts, n, others));
	}
	return NULL;
}
