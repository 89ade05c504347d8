/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session of a simulated host, from HELLO to ENDED. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/link/seal.h"
#include "tests/fleet/simulated.h"

#define SECOND_NS 1000000000ull

/* --- the carrier -------------------------------------------------------------------------------------- */

struct lossy {
	struct fl_carrier base;
	struct fl_carrier *inner;
	struct sim_counts *counts;
	uint64_t threshold; /* of 2^32 */
	uint64_t random;
};

/* xorshift: the same packets are lost in each run, as far as there are the same packets. */
static bool is_lost(struct lossy *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return (c->random & UINT32_MAX) < c->threshold;
}

static struct ot_err *lossy_send(struct fl_carrier *base, const void *packet, size_t len)
{
	struct lossy *c = (struct lossy *)base;

	c->counts->packets++;
	c->counts->bytes += len;
	return is_lost(c) ? NULL : c->inner->ops->send(c->inner, packet, len);
}

static struct ot_err *lossy_receive(struct fl_carrier *base, const void **ret, size_t *ret_len)
{
	struct lossy *c = (struct lossy *)base;

	do
		OT_TRY(c->inner->ops->receive(c->inner, ret, ret_len));
	while (*ret_len && is_lost(c));
	return NULL;
}

static int lossy_fd(struct fl_carrier *base, bool *ret_out)
{
	struct lossy *c = (struct lossy *)base;

	return c->inner->ops->fd(c->inner, ret_out);
}

static void lossy_destroy(struct fl_carrier *base)
{
	fl_carrier_destroy(((struct lossy *)base)->inner);
	free(base);
}

static const struct fl_carrier_ops lossy_ops = { .name = "lossy",
						 .send = lossy_send,
						 .receive = lossy_receive,
						 .fd = lossy_fd,
						 .destroy = lossy_destroy };

struct ot_err *sim_carrier(struct fl_carrier *inner, double loss, struct sim_counts *counts,
			   struct fl_carrier **ret)
{
	struct lossy *c = calloc(1, sizeof(*c));

	if (!c) {
		fl_carrier_destroy(inner);
		return ot_err_nomem();
	}
	*c = (struct lossy){ .base = { &lossy_ops }, .inner = inner, .counts = counts };
	c->threshold = (uint64_t)(loss * (double)UINT32_MAX);
	c->random = 0x9e3779b97f4a7c15u + counts->sessions;
	*ret = &c->base;
	return NULL;
}

/* --- messages ----------------------------------------------------------------------------------------- */

static struct ot_err *send_out(struct sim_session *s, enum fl_kind kind)
{
	struct ot_err *err =
	    s->out.failed ? ot_err_nomem() : fl_link_send(s->link, kind, s->out.data, s->out.len);

	ot_buf_clear(&s->out);
	return err;
}

static struct ot_err *send_hello(struct sim_session *s)
{
	struct fl_hello hello = { .protocol = FL_PROTOCOL, .name = s->host->name };

	fl_clock_now(&hello.clock);
	fl_put_hello(&s->out, &hello);
	return send_out(s, FL_HELLO);
}

static struct ot_err *send_program(struct sim_session *s)
{
	if (s->host->mischief == SIM_PROGRAM)
		fl_put_program(&s->out, &(struct fl_program){ .dof = { (const uint8_t *)"no program", 10 } });
	else
		ot_buf_append(&s->out, s->program->program.data, s->program->program.len);
	return send_out(s, FL_PROGRAM);
}

static struct ot_err *send_ready(struct sim_session *s)
{
	struct fl_ready m = { .matched = s->program->nenabled,
			      .ntexts = (uint32_t)s->program->run.texts.count };

	for (uint32_t i = 0; i < m.ntexts && i < FL_TEXTS_MAX; i++)
		m.by_text[i] = s->program->nenabled;
	fl_put_ready(&s->out, &m);
	return send_out(s, FL_READY);
}

/* RUN up to READY; what it is refused for is no error. */
static struct ot_err *prepare(struct sim_session *s, const void *data, size_t len)
{
	uint8_t digest[FL_DIGEST];
	struct ot_err *why = NULL;

	fl_digest(data, len, digest);
	if (memcmp(digest, s->run, FL_DIGEST) != 0)
		why = ot_err_new(OT_ERR_PERMISSION, "this is not the program that the operator has signed");
	if (!why)
		why = sim_program_of(data, len, s->options->keys, &s->program);
	if (why) {
		fl_put_refused(&s->out, &(struct fl_refused){ FL_REASON_PROGRAM, ot_err_message(why) });
		ot_err_destroy(why);
		return send_out(s, FL_REFUSED);
	}
	fl_put_guest(&s->out, &(struct fl_guest){ .name = "web", .joined = true, .text = "", .uuid = "" });
	OT_TRY(send_out(s, FL_GUEST));
	OT_TRY(send_program(s));
	return send_ready(s);
}

static struct ot_err *send_meanings(struct sim_session *s)
{
	for (uint32_t i = 0; i < s->program->nenabled; i++)
		fl_put_enabled(&s->out, &(struct fl_enabled){ i + 1, s->program->enabled[i].clause, 0, 5,
							      "fbt", "vmlinux", "simulated", "entry" });
	OT_TRY(send_out(s, FL_ENABLED));
	if (!s->program->has_names)
		return NULL;
	sim_put_names(s->host, &s->out);
	OT_TRY(send_out(s, FL_NAMES));
	if (s->host->mischief != SIM_NAME)
		return NULL;
	sim_put_names(s->host, &s->out);
	return send_out(s, FL_NAMES);
}

static struct ot_err *start(struct sim_session *s, uint64_t now)
{
	s->started_ns = now;
	OT_TRY(send_out(s, FL_STARTED));
	if (s->host->mischief == SIM_ORDER)
		OT_TRY(send_out(s, FL_STARTED));
	return send_meanings(s);
}

static struct ot_err *end(struct sim_session *s)
{
	s->has_ended = true;
	fl_put_ended(&s->out, &(struct fl_ended){ .text = "" });
	return send_out(s, FL_ENDED);
}

static struct ot_err *take(struct sim_session *s, uint64_t now, enum fl_kind kind, const void *data,
			   size_t len)
{
	if (kind == FL_RUN && !s->program)
		return prepare(s, data, len);
	if (kind == FL_START && s->program && !s->started_ns)
		return start(s, now);
	if (kind == FL_STOP && !s->stopped_ns)
		s->stopped_ns = now;
	return NULL;
}

/* --- time --------------------------------------------------------------------------------------------- */

/* When second n is over: the hosts' seconds end one behind another. */
static uint64_t end_of(const struct sim_session *s, uint32_t n)
{
	const uint64_t rate = s->options->rate_ns;

	return s->started_ns + (n - 1) * rate + rate * (s->host->number % 64 + 1) / 64;
}

static uint32_t ticks_until(const struct sim_session *s, uint64_t now)
{
	uint32_t n = s->ticks;

	while (n < s->options->seconds && end_of(s, n + 1) <= now)
		n++;
	return n;
}

static bool is_due(const struct sim_session *s)
{
	return s->started_ns && !s->has_ended && s->ticks < s->options->seconds;
}

/* As a host does it: deltas go when nothing is under way, and fold until then. */
static struct ot_err *work(struct sim_session *s, uint64_t now)
{
	if (is_due(s) && (!fl_link_pending(s->link) || s->stopped_ns)) {
		const uint32_t upto = ticks_until(s, now);

		if (upto > s->ticks)
			OT_TRY(sim_send_data(s, upto));
	}
	if (s->stopped_ns && !s->has_ended && now >= s->stopped_ns + s->host->slow_ns)
		return end(s);
	return NULL;
}

static struct ot_err *step(struct sim_session *s, uint64_t now)
{
	enum fl_kind kind;
	const void *data;
	size_t len;

	OT_TRY(fl_link_poll(s->link));
	while (fl_link_receive(s->link, &kind, &data, &len))
		OT_TRY(take(s, now, kind, data, len));
	OT_TRY(work(s, now));
	return fl_link_poll(s->link);
}

static void note(struct sim_session *s, uint64_t now)
{
	struct sim_host *h = s->host;

	h->ticks = s->ticks;
	h->is_done = s->started_ns && s->ticks == s->options->seconds && !fl_link_pending(s->link);
	h->has_ended = s->has_ended;
	if (h->dies_after && s->started_ns && now >= s->started_ns + h->dies_after * SECOND_NS)
		h->is_dead = true;
}

void sim_session_step(struct sim_session *s, uint64_t now)
{
	if (s->is_over)
		return;
	struct ot_err *err = step(s, now);
	const bool silent = fl_link_silence_ns(s->link) > s->options->lease_ns;

	note(s, now);
	s->counts->expired += silent;
	s->is_over = err || silent || s->host->is_dead || (s->has_ended && !fl_link_pending(s->link));
	ot_err_destroy(err);
}

uint64_t sim_session_due(const struct sim_session *s)
{
	const uint64_t link = fl_link_due_ns(s->link);
	uint64_t own = UINT64_MAX;

	if (is_due(s) && (!fl_link_pending(s->link) || s->stopped_ns))
		own = end_of(s, s->ticks + 1);
	if (s->stopped_ns && !s->has_ended && s->stopped_ns + s->host->slow_ns < own)
		own = s->stopped_ns + s->host->slow_ns;
	return own < link ? own : link;
}

/* --- life --------------------------------------------------------------------------------------------- */

static struct ot_err *open_link(struct sim_session *s, struct fl_broker *broker,
				const struct fl_gate_result *result)
{
	char out[FL_BROKER_SUBJECT], in[FL_BROKER_SUBJECT], session[FL_SESSION_TEXT];
	struct fl_carrier *carrier;
	struct fl_seal *seal;

	fl_session_text(result->request.digest, session);
	snprintf(out, sizeof(out), "os.v1.in.%s.%s", session, s->host->name);
	snprintf(in, sizeof(in), "os.v1.out.%s.%s", session, s->host->name);
	OT_TRY(fl_nats_create(broker, out, in, &carrier));
	OT_TRY(sim_carrier(carrier, s->options->loss, s->counts, &carrier));
	struct ot_err *err =
	    fl_seal_create(result->public, result->secret, result->request.ephemeral, false, &seal);

	if (err) {
		fl_carrier_destroy(carrier);
		return err;
	}
	return fl_link_create(carrier, seal, NULL, NULL, &s->link);
}

struct ot_err *sim_session_begin(struct sim_host *host, struct fl_broker *broker,
				 const struct fl_gate_result *result, const struct sim_options *options,
				 struct sim_counts *counts, struct sim_session **ret)
{
	struct sim_session *s = calloc(1, sizeof(*s));

	if (!s)
		return ot_err_nomem();
	*s = (struct sim_session){ .host = host, .options = options, .counts = counts };
	memcpy(s->run, result->request.run, FL_DIGEST);
	counts->sessions++;
	host->nsessions++;
	struct ot_err *err = open_link(s, broker, result);

	if (!err)
		err = send_hello(s);
	if (err) {
		sim_session_destroy(s);
		return err;
	}
	*ret = s;
	return NULL;
}

void sim_session_destroy(struct sim_session *s)
{
	uint64_t again, twice;

	if (s->link) {
		fl_link_counts(s->link, &again, &twice);
		s->counts->again += again;
	}
	s->host->nsessions--;
	fl_link_destroy(s->link);
	ot_buf_deinit(&s->out);
	ot_buf_deinit(&s->scratch);
	free(s->words);
	free(s);
}
