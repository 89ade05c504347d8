/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process of one session over a broker. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "fleet/link/broker.h"
#include "fleet/link/seal.h"
#include "fleet/merge/merge.h"
#include "fleet/serve/policy.h"
#include "fleet/serve/serve.h"

#define FLUSH_MS 5000

struct session {
	struct ot_arena arena;
	char *data; /* the ticket's bytes */
	size_t len;
	struct fl_ticket ticket;
	struct fl_conf conf;
	const struct fl_conf_operator *operator;
};

static void log_line(void *arg, const char *line)
{
	const struct session *s = arg;
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };

	ot_buf_init(&text);
	ot_buf_printf(&text, "fleet: key=%s session=%s: %s", s->operator->name, s->ticket.session, line);
	if (!text.failed)
		fl_serve_log(text.data);
}

static bool invited(void *arg, const void *run, size_t len)
{
	const struct session *s = arg;
	uint8_t digest[FL_DIGEST];

	fl_digest(run, len, digest);
	return !memcmp(digest, s->ticket.run, FL_DIGEST);
}

/* serve.conf is read again: a session has the rights of the present file. */
static struct ot_err *prepare(struct session *s, const char *conf_path)
{
	OT_TRY(fl_trust_start());
	OT_TRY(ot_read_fd(FL_TICKET_FD, "the ticket", FL_TICKET_MAX, &s->data, &s->len));
	OT_TRY(fl_ticket_get(s->data, s->len, &s->arena, &s->ticket));
	OT_TRY((s->ticket.merges ? fl_conf_read_merger : fl_conf_read)(conf_path, &s->arena, &s->conf));
	s->operator= fl_conf_find(&s->conf, s->ticket.operator);
	if (!s->operator)
		return ot_err_new(OT_ERR_PERMISSION, "serve.conf no longer has the operator of this session");
	return NULL;
}

/* From now on the operator's packets arrive. */
static struct ot_err *open_link(struct session *s, struct fl_broker *broker, struct fl_link **ret)
{
	char out[FL_BROKER_SUBJECT], in[FL_BROKER_SUBJECT];
	struct fl_carrier *carrier;
	struct fl_seal *seal;

	snprintf(out, sizeof(out), "os.v1.in.%s.%s", s->ticket.session, s->conf.name);
	snprintf(in, sizeof(in), "os.v1.out.%s.%s", s->ticket.session, s->conf.name);
	OT_TRY(fl_seal_create(s->ticket.public, s->ticket.secret, s->ticket.other, false, &seal));
	sodium_memzero(s->data, s->len - s->ticket.answer.len);
	struct ot_err *err = fl_nats_create(broker, out, in, &carrier);

	if (err) {
		fl_seal_destroy(seal);
		return err;
	}
	return fl_link_create(carrier, seal, NULL, NULL, ret);
}

static struct ot_err *answer(const struct session *s, struct fl_broker *broker)
{
	if (!fl_broker_flush(broker, FLUSH_MS)) /* has it received our subscription? */
		return ot_err_new(OT_ERR_OS, "the broker does not answer");
	return fl_broker_publish(broker, s->ticket.reply, NULL, s->ticket.answer.data, s->ticket.answer.len);
}

static int trace(struct session *s, struct fl_link *link)
{
	const struct fl_rights rights = fl_policy_rights(s->operator);
	const struct fl_worker_config config = { .host = s->conf.name,
						 .rights = &rights,
						 .log = log_line,
						 .invited = invited,
						 .arg = s,
						 .vmlinux = fl_serve_vmlinux(),
						 .lease_ns = fl_serve_lease_ns() };

	sodium_memzero(s->ticket.secret, sizeof(s->ticket.secret));
	return fl_worker_run(link, &config);
}

/* Hosts derive their links' keys from the one that this session's answer named. */
static int merge(struct session *s, struct fl_link *link, struct fl_broker *broker)
{
	struct fl_merge_config config = { .name = s->conf.name,
					  .broker = broker,
					  .log = log_line,
					  .arg = s,
					  .lease_ns = fl_serve_lease_ns() };

	memcpy(config.public, s->ticket.public, FL_PUBLIC);
	memcpy(config.secret, s->ticket.secret, FL_PUBLIC);
	sodium_memzero(s->ticket.secret, sizeof(s->ticket.secret));
	int status = fl_merge_run(link, &config);

	sodium_memzero(config.secret, FL_PUBLIC);
	return status;
}

static struct ot_err *run(struct session *s, const char *nats, int *ret_status)
{
	const struct fl_broker_config to = { .url = nats,
					     .credentials = s->conf.credentials,
					     .name = s->conf.name };
	struct fl_broker *broker;
	struct fl_link *link;

	OT_TRY(fl_broker_connect(&to, &broker));
	struct ot_err *err = open_link(s, broker, &link);

	if (!err) {
		err = answer(s, broker);
		if (!err)
			*ret_status = s->ticket.merges ? merge(s, link, broker) : trace(s, link);
		fl_link_destroy(link);
	}
	fl_broker_unref(broker);
	return err;
}

int fl_serve_session(const char *conf_path, const char *nats)
{
	struct session s = { 0 };
	int status = FL_EXIT_FAILED;

	ot_arena_init(&s.arena);
	struct ot_err *err = prepare(&s, conf_path);

	if (!err)
		err = run(&s, nats, &status);
	if (err && s.operator)
		log_line(&s, ot_err_message(err));
	else if (err)
		fl_serve_log(ot_err_message(err));
	ot_err_destroy(err);
	free(s.data);
	ot_arena_deinit(&s.arena);
	return status;
}

const char *fl_serve_vmlinux(void)
{
	return getenv("OUTSIGHT_FLEET_VMLINUX");
}

uint64_t fl_serve_lease_ns(void)
{
	const char *ms = getenv("OUTSIGHT_FLEET_LEASE_MS");
	const uint64_t ns = ms ? strtoull(ms, NULL, 10) * 1000000u : 0;

	return ns && ns < FL_LEASE_NS ? ns : FL_LEASE_NS;
}
