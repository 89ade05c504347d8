/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon of a host: it receives requests from a broker, checks them against serve.conf (gate.h), and
 * starts a process for each session. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/signals.h"
#include "fleet/link/broker.h"
#include "fleet/serve/gate.h"
#include "fleet/serve/serve.h"
#include "fleet/serve/standing/run.h"

#define SUBJECT_WHO "os.v1.who"
#define SUBJECT_RUN "os.v1.run."

struct daemon {
	const char *conf_path;
	char *nats;
	struct ot_arena arena; /* the conf's */
	struct fl_conf conf;
	struct fl_identity identity;
	struct fl_gate gate;
	struct fl_workers workers;
	struct fl_metrics_process metrics;
	struct fl_guests guests;
	struct fl_questions questions;
	struct fl_broker *broker;
	struct fl_inbox *who, *run;
	int signals;
	bool ending, metrics_only;
	bool merges; /* it has no guests, and no metrics */
};

static void log_line(void *arg, const char *line)
{
	(void)arg;
	fl_serve_log(line);
}

static void log_error(const char *what, struct ot_err *err)
{
	ot_auto(ot_buf_deinit) struct ot_buf line = { 0 };

	ot_buf_init(&line);
	ot_buf_printf(&line, "fleet: %s: %s", what, ot_err_message(err));
	ot_err_destroy(err);
	if (!line.failed)
		fl_serve_log(line.data);
}

static bool guests(void *arg, const struct fl_conf_operator *operator, const char * pattern,
		   struct ot_buf *out)
{
	struct daemon *d = arg;

	return fl_guests_tell(&d->guests, operator, pattern, out);
}

static unsigned running(void *arg)
{
	struct daemon *d = arg;

	(void)fl_workers_step(&d->workers);
	return d->workers.count;
}

/* --- requests ----------------------------------------------------------------------------------------- */

static struct ot_err *begin_session(struct daemon *d, const struct fl_gate_result *result, const char *reply)
{
	char session[FL_SESSION_TEXT];
	struct fl_ticket ticket = {
		.as = result->request.operator,
		.session = session,
		.reply = reply,
		.answer = { (const uint8_t *)result->answer.data, (uint32_t)result->answer.len },
	};

	fl_session_text(result->request.digest, session);
	ticket.merges = d->merges;
	memcpy(ticket.operator, result->request.signer, FL_PUBLIC);
	memcpy(ticket.run, result->request.run, FL_DIGEST);
	memcpy(ticket.public, result->public, FL_PUBLIC);
	memcpy(ticket.secret, result->secret, FL_PUBLIC);
	memcpy(ticket.other, result->request.ephemeral, FL_PUBLIC);
	return fl_workers_start(&d->workers, d->conf_path, d->nats, result->operator->name, &ticket);
}

/* Counts of requests for the process of the metrics. */
static void count(struct daemon *d, bool begun)
{
	struct fl_counts *c = d->metrics.counts;

	if (!c)
		return;
	c->requests++;
	c->begun += begun;
	c->refused = d->gate.refused;
	c->running = d->workers.count;
}

static void take_request(void *arg, const struct fl_broker_message *m)
{
	struct daemon *d = arg;
	struct fl_gate_result result;
	struct ot_arena arena;
	bool begun = false;

	if (!m->reply)
		return; /* no answer is expected */
	ot_arena_init(&arena);
	struct ot_err *err = fl_gate_take(&d->gate, m->data, m->len, (uint64_t)time(NULL), &arena, &result);

	if (!err && result.run)
		err = begin_session(d, &result, m->reply), begun = !err;
	else if (!err && result.later)
		fl_questions_add(&d->questions, m);
	else if (!err && result.answer.len)
		err = fl_broker_publish(d->broker, m->reply, NULL, result.answer.data, result.answer.len);
	if (err)
		log_error("a request failed", err);
	if (!result.later) /* counted when it is answered */
		count(d, begun);
	fl_gate_result_deinit(&result);
	ot_arena_deinit(&arena);
}

/* --- signals ------------------------------------------------------------------------------------------ */

static struct ot_err *read_conf(const struct daemon *d, struct ot_arena *arena, struct fl_conf *ret)
{
	return (d->merges ? fl_conf_read_merger : fl_conf_read)(d->conf_path, arena, ret);
}

/* Values that can't change while it runs: the host's name, key, folder and broker. */
static void reload(struct daemon *d)
{
	struct ot_arena arena;
	struct fl_conf conf;

	ot_arena_init(&arena);
	struct ot_err *err = read_conf(d, &arena, &conf);

	if (err) {
		log_error("serve.conf is not read again", err);
		ot_arena_deinit(&arena);
		return;
	}
	if (strcmp(conf.name, d->conf.name) != 0) {
		fl_serve_log("fleet: serve.conf is not read again: a new name needs a restart");
		ot_arena_deinit(&arena);
		return;
	}
	fl_workers_revoke(&d->workers, &d->conf, &conf);
	ot_arena_deinit(&d->arena);
	d->arena = arena;
	d->conf = conf;
	fl_serve_log("fleet: serve.conf was read again");
}

static void take_signals(struct daemon *d)
{
	struct signalfd_siginfo info;

	while (read(d->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload(d), fl_metrics_reload(&d->metrics);
		else if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
			d->ending = true;
	}
}

static struct ot_err *hold_signals(struct daemon *d)
{
	static const int list[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD };

	signal(SIGPIPE, SIG_IGN);
	return ot_signals_open(list, OT_ARRAY_SIZE(list), &d->signals);
}

/* --- the daemon's life -------------------------------------------------------------------------------- */

/* A host without a broker that serves metrics: it needs neither a key nor a process for guests. */
static bool serves_metrics_only(const struct daemon *d, const char *nats)
{
	return !d->merges && !nats && !d->conf.nats && d->conf.metrics.any.sa_family;
}

static struct ot_err *choose_broker(struct daemon *d, const char *nats)
{
	if (!nats)
		nats = d->conf.nats;
	if (!nats)
		return ot_err_new(OT_ERR_SYNTAX, "%s names no broker: a line \"nats nats://HOST:PORT\"",
				  d->conf_path);
	d->nats = strdup(nats);
	return d->nats ? NULL : ot_err_nomem();
}

static struct ot_err *subscribe(struct daemon *d)
{
	const struct fl_broker_config config = {
		.url = d->nats, .credentials = d->conf.credentials, .name = d->conf.name, .patient = true
	};
	char subject[FL_BROKER_SUBJECT];

	OT_TRY(fl_broker_connect(&config, &d->broker));
	if (!d->merges) /* it is not asked for guests */
		OT_TRY(fl_inbox_open(d->broker, SUBJECT_WHO, &d->who));
	snprintf(subject, sizeof(subject), SUBJECT_RUN "%s", d->conf.name);
	return fl_inbox_open(d->broker, subject, &d->run);
}

static struct ot_err *open_all(struct daemon *d, const char *nats)
{
	OT_TRY(fl_trust_start());
	OT_TRY(read_conf(d, &d->arena, &d->conf));
	d->metrics_only = serves_metrics_only(d, nats);
	if (d->metrics_only)
		return NULL;
	OT_TRY(choose_broker(d, nats));
	OT_TRY(fl_identity_read(d->conf.key, &d->identity));
	OT_TRY(fl_replay_open(d->conf.state, (uint64_t)time(NULL), &d->gate.replay));
	OT_TRY(hold_signals(d));
	if (d->conf.metrics.any.sa_family && !d->merges)
		OT_TRY(fl_metrics_open(&d->metrics));
	d->gate.merges = d->merges;
	d->gate.conf = &d->conf;
	d->gate.identity = &d->identity;
	d->gate.log = log_line;
	d->gate.guests = guests;
	d->gate.running = running;
	d->gate.arg = d;
	return subscribe(d);
}

#define REACHED_MS 2000

static void log_begin(struct daemon *d)
{
	ot_auto(ot_buf_deinit) struct ot_buf line = { 0 };

	ot_buf_init(&line);
	ot_buf_printf(&line, "fleet: %s %s %zu operators%s", d->conf.name,
		      d->merges ? "merges for" : "serves", d->conf.noperators,
		      fl_broker_flush(d->broker, REACHED_MS) ? "" : ", once its broker can be reached");
	fl_serve_log(ot_buf_str(&line));
}

static int earlier(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* Handle events of the daemon's children; returns in how many ms one of them is due. */
static int step_children(struct daemon *d)
{
	bool listed;
	int ms = earlier(fl_metrics_step(&d->metrics, d->conf_path), fl_workers_step(&d->workers));

	ms = earlier(ms, fl_guests_step(&d->guests, &listed));
	if (listed && d->guests.listed_ns)
		fl_questions_answer(&d->questions, take_request, d);
	else if (listed) /* a missing answer shows that something is wrong */
		fl_questions_clear(&d->questions);
	return ms;
}

static void loop(struct daemon *d)
{
	struct fl_broker_message m;

	while (!d->ending) {
		int ms = step_children(d);
		struct pollfd p[] = { { d->signals, POLLIN, 0 },
				      { d->who ? fl_inbox_fd(d->who) : -1, POLLIN, 0 },
				      { fl_inbox_fd(d->run), POLLIN, 0 },
				      { d->guests.fd, POLLIN, 0 } };

		poll(p, OT_ARRAY_SIZE(p), ms);
		take_signals(d);
		if (d->metrics.counts) {
			d->metrics.counts->running = d->workers.count;
			d->metrics.counts->failed = d->workers.failed;
		}
		/* so that an invitation does not wait for a flood of questions */
		if (fl_inbox_next(d->run, &m))
			take_request(d, &m);
		if (d->who && fl_inbox_next(d->who, &m))
			take_request(d, &m);
	}
}

static void close_all(struct daemon *d)
{
	fl_inbox_close(d->who);
	fl_inbox_close(d->run);
	fl_guests_deinit(&d->guests);
	fl_questions_clear(&d->questions);
	fl_workers_end(&d->workers);
	fl_metrics_end(&d->metrics);
	fl_broker_unref(d->broker);
	fl_replay_close(d->gate.replay);
	fl_identity_wipe(&d->identity);
	if (d->signals >= 0)
		close(d->signals);
	free(d->nats);
	ot_arena_deinit(&d->arena);
}

int fl_serve_daemon(const char *conf_path, const char *nats, bool merges)
{
	static struct daemon d;
	int status = FL_EXIT_OK;

	/* keep this host's key out of core files, and from other processes of its user */
	prctl(PR_SET_DUMPABLE, 0);
	d = (struct daemon){
		.conf_path = conf_path, .signals = -1, .metrics = { .counts_fd = -1 }, .merges = merges
	};
	ot_arena_init(&d.arena);
	fl_guests_init(&d.guests);
	struct ot_err *err = open_all(&d, nats);

	if (!err && d.metrics_only) {
		err = fl_standing_run(&d.conf, NULL, fl_serve_log);
	} else if (!err) {
		log_begin(&d);
		loop(&d);
		fl_serve_log("fleet: the daemon ends, and every session");
	}
	close_all(&d);
	if (err)
		status = fl_serve_fail(err);
	return status;
}
