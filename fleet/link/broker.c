/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection to a NATS server. Publishing has a thread of its own, since libnats may wait for a server that
 * does not read; receiving happens in libnats's. */
#include "fleet/link/broker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "fleet/link/nats_library.h"
#include "fleet/link/queue.h"

#define CONNECT_MS  5000
#define RETRY_MS    500
#define PING_MS     5000
#define WRITE_MS    2000
#define LAST_MS     1000 /* for what is left at the end */
#define SERVERS_MAX 16

struct fl_broker {
	const struct fl_nats_calls *nats;
	natsConnection *connection;
	_Atomic unsigned refs;
	struct fl_queue out;
	pthread_t sender;
	bool has_sender;
	_Atomic bool stopping;
	_Atomic uint64_t sending; /* messages taken from the queue, or waiting in it */
};

struct fl_inbox {
	struct fl_broker *broker; /* the user's: a late call of libnats must not use it */
	const struct fl_nats_calls *nats;
	natsSubscription *subscription;
	_Atomic unsigned refs; /* the user, and libnats until its last call */
	struct fl_queue in;
	struct fl_queued *now; /* what fl_inbox_next() has lent */
};

/* --- connecting --------------------------------------------------------------------------------------- */

static void on_error(natsConnection *nc, natsSubscription *sub, natsStatus s, void *arg)
{
	/* libnats would print a full queue or a lost server */
	(void)nc;
	(void)sub;
	(void)s;
	(void)arg;
}

static void on_connected(natsConnection *nc, void *arg)
{
	/* set so that connecting continues in the background */
	(void)nc;
	(void)arg;
}

static natsStatus set_servers(const struct fl_nats_calls *n, natsOptions *opts, char *urls)
{
	const char *servers[SERVERS_MAX];
	int count = 0;
	char *at = NULL;

	for (char *url = strtok_r(urls, ",", &at); url && count < SERVERS_MAX; url = strtok_r(NULL, ",", &at))
		servers[count++] = url;
	return count ? n->natsOptions_SetServers(opts, servers, count) : NATS_INVALID_ARG;
}

static natsStatus set_options(const struct fl_nats_calls *n, natsOptions *opts,
			      const struct fl_broker_config *config, char *urls)
{
	natsStatus s = set_servers(n, opts, urls);

	if (!s)
		s = n->natsOptions_SetName(opts, config->name);
	if (!s && config->credentials)
		s = n->natsOptions_SetUserCredentialsFromFiles(opts, config->credentials, NULL);
	if (!s)
		s = n->natsOptions_SetMaxReconnect(opts, -1);
	if (!s)
		s = n->natsOptions_SetReconnectWait(opts, RETRY_MS);
	if (!s) /* the link resends; old packets are useless */
		s = n->natsOptions_SetReconnectBufSize(opts, FL_BROKER_MESSAGE);
	if (!s)
		s = n->natsOptions_SetTimeout(opts, CONNECT_MS);
	if (!s)
		s = n->natsOptions_SetPingInterval(opts, PING_MS);
	if (!s)
		s = n->natsOptions_SetWriteDeadline(opts, WRITE_MS);
	if (!s)
		s = n->natsOptions_SetErrorHandler(opts, on_error, NULL);
	if (!s) /* a server names no others to this machine */
		s = n->natsOptions_SetIgnoreDiscoveredServers(opts, true);
	if (!s)
		s = n->natsOptions_UseGlobalMessageDelivery(opts, true);
	if (!s && config->patient)
		s = n->natsOptions_SetRetryOnFailedConnect(opts, true, on_connected, NULL);
	return s;
}

static struct ot_err *connect_error(const struct fl_nats_calls *n, natsStatus s, const char *url)
{
	enum ot_err_code code = s == NATS_CONNECTION_AUTH_FAILED || s == NATS_NOT_PERMITTED
				    ? OT_ERR_PERMISSION
				: s == NATS_NO_MEMORY   ? OT_ERR_NO_MEMORY
				: s == NATS_INVALID_ARG ? OT_ERR_SYNTAX
							: OT_ERR_OS;
	const char *at = strrchr(url, '@'); /* no password in a message */

	return ot_err_new(code, "no connection to the broker %s: %s", at ? at + 1 : url,
			  n->natsStatus_GetText(s));
}

/* Threads that are created before restore() get no signals of this process: libnats creates some at its first
 * call, some for a connection, one for subscriptions. */
static void block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

static void restore_signals(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static struct ot_err *open_connection(struct fl_broker *b, const struct fl_broker_config *config)
{
	natsOptions *opts = NULL;
	char *urls = strdup(config->url);
	natsStatus s = urls ? b->nats->natsOptions_Create(&opts) : NATS_NO_MEMORY;

	if (!s)
		s = set_options(b->nats, opts, config, urls);
	if (!s)
		s = b->nats->natsConnection_Connect(&b->connection, opts);
	b->nats->natsOptions_Destroy(opts);
	free(urls);
	return s && s != NATS_NOT_YET_CONNECTED ? connect_error(b->nats, s, config->url) : NULL;
}

/* --- sending ------------------------------------------------------------------------------------------ */

static void send_all(struct fl_broker *b)
{
	struct fl_queued *item;

	while ((item = fl_queue_take(&b->out))) {
		const struct fl_broker_message *m = &item->message;

		/* a packet that can't be sent is lost, as it may be anywhere behind the server */
		if (m->reply)
			(void)b->nats->natsConnection_PublishRequest(b->connection, m->subject, m->reply,
								     m->data, (int)m->len);
		else
			(void)b->nats->natsConnection_Publish(b->connection, m->subject, m->data,
							      (int)m->len);
		free(item);
		b->sending--;
	}
}

static void *sender(void *arg)
{
	struct fl_broker *b = arg;

	while (!b->stopping) {
		struct pollfd p = { .fd = b->out.fd, .events = POLLIN };

		if (poll(&p, 1, -1) > 0)
			send_all(b);
	}
	return NULL;
}

static struct ot_err *start_sender(struct fl_broker *b)
{
	int err = pthread_create(&b->sender, NULL, sender, b);

	b->has_sender = !err;
	return err ? ot_err_os(err, "a thread") : NULL;
}

/* --- from outside ------------------------------------------------------------------------------------- */

struct ot_err *fl_broker_connect(const struct fl_broker_config *config, struct fl_broker **ret)
{
	const struct fl_nats_calls *nats;

	OT_TRY(fl_nats_load(&nats));
	struct fl_broker *b = calloc(1, sizeof(*b));

	if (!b)
		return ot_err_nomem();
	b->nats = nats;
	b->refs = 1;
	sigset_t before;
	struct ot_err *err = fl_queue_init(&b->out);

	block_signals(&before);
	if (!err)
		err = open_connection(b, config);
	if (!err)
		err = start_sender(b);
	restore_signals(&before);
	if (err) {
		fl_broker_unref(b);
		return err;
	}
	*ret = b;
	return NULL;
}

struct fl_broker *fl_broker_ref(struct fl_broker *b)
{
	b->refs++;
	return b;
}

void fl_broker_unref(struct fl_broker *b)
{
	if (!b || --b->refs)
		return;
	if (b->has_sender) {
		(void)fl_broker_flush(b, LAST_MS);
		b->stopping = true;
		eventfd_write(b->out.fd, 1);
		pthread_join(b->sender, NULL);
	}
	if (b->connection) {
		b->nats->natsConnection_Close(b->connection);
		b->nats->natsConnection_Destroy(b->connection);
	}
	fl_queue_deinit(&b->out);
	free(b);
}

struct ot_err *fl_broker_publish(struct fl_broker *b, const char *subject, const char *reply,
				 const void *data, size_t len)
{
	b->sending++;
	if (fl_queue_put(&b->out, &(struct fl_broker_message){ subject, reply, data, len }))
		return NULL;
	b->sending--;
	return ot_err_new(OT_ERR_LIMIT, "the broker accepts no data");
}

bool fl_broker_flush(struct fl_broker *b, int ms)
{
	uint64_t end = ot_now_ns() + (uint64_t)ms * 1000000;

	while (b->sending) {
		if (ot_now_ns() >= end)
			return false;
		usleep(500);
	}
	uint64_t now = ot_now_ns();

	return now < end &&
	       !b->nats->natsConnection_FlushTimeout(b->connection, (int64_t)((end - now) / 1000000 + 1));
}

void fl_broker_own_subject(char ret[FL_BROKER_SUBJECT])
{
	uint8_t bytes[16];
	char text[2 * sizeof(bytes) + 1];

	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(text, sizeof(text), bytes, sizeof(bytes));
	snprintf(ret, FL_BROKER_SUBJECT, "_INBOX.%s", text);
}

/* --- receiving ---------------------------------------------------------------------------------------- */

static void drop_inbox(struct fl_inbox *inbox)
{
	if (--inbox->refs)
		return;
	free(inbox->now);
	fl_queue_deinit(&inbox->in);
	free(inbox);
}

/* In libnats's threads. */
static void on_message(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *arg)
{
	struct fl_inbox *inbox = arg;
	const struct fl_nats_calls *n = inbox->nats;
	int len = n->natsMsg_GetDataLength(msg);
	struct fl_broker_message m = { .subject = n->natsMsg_GetSubject(msg),
				       .reply = n->natsMsg_GetReply(msg),
				       .data = n->natsMsg_GetData(msg),
				       .len = len > 0 ? (size_t)len : 0 };

	(void)nc;
	(void)sub;
	(void)fl_queue_put(&inbox->in, &m); /* counted there */
	n->natsMsg_Destroy(msg);
}

static void on_complete(void *arg)
{
	drop_inbox(arg);
}

static natsStatus subscribe(struct fl_inbox *inbox, const char *subject)
{
	const struct fl_nats_calls *n = inbox->broker->nats;
	natsStatus s = n->natsConnection_Subscribe(&inbox->subscription, inbox->broker->connection, subject,
						   on_message, inbox);

	if (s)
		return s;
	inbox->refs++;
	s = n->natsSubscription_SetOnCompleteCB(inbox->subscription, on_complete, inbox);
	if (s) {
		n->natsSubscription_Unsubscribe(inbox->subscription);
		return s; /* its memory stays: libnats may still call */
	}
	return n->natsSubscription_SetPendingLimits(inbox->subscription, FL_BROKER_QUEUED / 1024,
						    FL_BROKER_QUEUED);
}

struct ot_err *fl_inbox_open(struct fl_broker *broker, const char *subject, struct fl_inbox **ret)
{
	struct fl_inbox *inbox = calloc(1, sizeof(*inbox));

	if (!inbox)
		return ot_err_nomem();
	inbox->refs = 1;
	inbox->broker = broker;
	inbox->nats = broker->nats;
	struct ot_err *err = fl_queue_init(&inbox->in);

	if (err) {
		free(inbox);
		return err;
	}
	fl_broker_ref(broker);
	sigset_t before;

	block_signals(&before);
	natsStatus s = subscribe(inbox, subject);

	restore_signals(&before);
	if (s) {
		fl_inbox_close(inbox);
		return ot_err_new(OT_ERR_OS, "the broker's %s: %s", subject,
				  broker->nats->natsStatus_GetText(s));
	}
	*ret = inbox;
	return NULL;
}

void fl_inbox_close(struct fl_inbox *inbox)
{
	if (!inbox)
		return;
	struct fl_broker *broker = inbox->broker;
	natsSubscription *subscription = inbox->subscription;

	drop_inbox(inbox);
	if (subscription) {
		broker->nats->natsSubscription_Unsubscribe(subscription);
		broker->nats->natsSubscription_Destroy(subscription);
	}
	fl_broker_unref(broker);
}

bool fl_inbox_next(struct fl_inbox *inbox, struct fl_broker_message *ret)
{
	free(inbox->now);
	inbox->now = fl_queue_take(&inbox->in);
	if (inbox->now)
		*ret = inbox->now->message;
	return inbox->now;
}

int fl_inbox_fd(const struct fl_inbox *inbox)
{
	return inbox->in.fd;
}

uint64_t fl_inbox_dropped(struct fl_inbox *inbox)
{
	pthread_mutex_lock(&inbox->in.lock);
	uint64_t n = inbox->in.dropped;

	pthread_mutex_unlock(&inbox->in.lock);
	return n;
}
