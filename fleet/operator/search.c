/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search behind a broker for a guest's new host: a thread that asks, and a list of its results. */
#include "fleet/operator/search.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "fleet/link/seal.h"
#include "fleet/operator/nats.h"

#define PAUSE_NS 500000000ull /* between two questions */

struct fl_search {
	struct fl_search_config config;
	char *guest, *run;
	pthread_t thread;
	bool runs;
	int end, news; /* eventfds: the thread must end; a result is ready */
	pthread_mutex_t lock;
	struct fl_found *found; /* under the lock; oldest first */
	size_t nfound, cap;
	size_t ndone; /* hosts that were invited */
};

/* --- what is handed out -------------------------------------------------------------------------------- */

static void discard(struct fl_found *f)
{
	fl_carrier_destroy(f->carrier);
	fl_seal_destroy(f->seal);
	free(f->host);
	free(f->text);
}

static void hand_out(struct fl_search *s, struct fl_found *found)
{
	pthread_mutex_lock(&s->lock);
	bool fits = ot_grow(&s->found, &s->cap, s->nfound + 1, sizeof(*s->found));
	if (fits)
		s->found[s->nfound++] = *found;
	pthread_mutex_unlock(&s->lock);
	if (fits)
		eventfd_write(s->news, 1);
	else
		discard(found);
}

/* @err is consumed. @host NULL: it concerns no host. */
static void hand_out_error(struct fl_search *s, const char *host, struct ot_err *err)
{
	struct fl_found found = { .host = host ? strdup(host) : NULL, .text = strdup(ot_err_message(err)) };

	ot_err_destroy(err);
	if (found.text)
		hand_out(s, &found);
	else
		discard(&found);
}

/* --- the thread ---------------------------------------------------------------------------------------- */

static struct ot_err *choose(struct fl_search *s, struct fl_calling *c)
{
	const char *mergers = s->config.fleet->config.nats->mergers;

	if (mergers)
		OT_TRY(fl_mergers_choose(c, mergers));
	for (size_t i = 0; i < c->known.count; i++) {
		const struct fl_known_host *known = &c->known.items[i];

		if (s->config.skips(s->config.arg, known->name))
			continue;
		struct fl_invited *h;
		OT_TRY(fl_calling_add(c, known, &h));
		if (h->asks == FL_ASKS_MERGE)
			continue;
		ot_buf_puts(&h->guests, s->guest);
		if (h->guests.failed)
			return ot_err_nomem();
	}
	return NULL;
}

/* Only @h: an error of one host does not keep the others from being asked. */
static struct ot_err *invite(struct fl_search *s, struct fl_calling *c, struct fl_invited *h)
{
	struct fl_found found = { 0 };

	ot_buf_clear(&h->guests);
	ot_buf_puts(&h->guests, s->run);
	struct ot_err *err = h->guests.failed ? ot_err_nomem() : fl_nats_invite_all(c, h, 1);
	if (err && ot_err_code(err) == OT_ERR_BUSY)
		return err;
	if (!err && !h->accepted)
		err = ot_err_new(OT_ERR_NOT_FOUND, "host %s does not answer", h->known->name);
	if (!err)
		err = fl_seal_create(h->public, h->secret, h->ephemeral, true, &found.seal);
	if (err) {
		hand_out_error(s, NULL, err);
		return NULL;
	}
	found.host = strdup(h->known->name);
	found.carrier = h->carrier;
	h->carrier = NULL;
	if (found.host)
		hand_out(s, &found);
	else
		discard(&found);
	return NULL;
}

/* A host that answers is asked once, with the others. */
static struct ot_err *invite_present(struct fl_search *s, struct fl_calling *c)
{
	for (size_t i = 0; i < c->nhosts; i++) {
		struct fl_invited *h = &c->hosts[i];

		if (!h->present || h->is_done)
			continue;
		OT_TRY(invite(s, c, h));
		h->is_done = true;
		s->ndone++;
	}
	return NULL;
}

static bool is_ended(const struct fl_search *s, uint64_t until_ns)
{
	struct pollfd p = { s->end, POLLIN, 0 };

	return poll(&p, 1, ot_ms_until(until_ns)) > 0;
}

/* Until it is ended: the caller decides how long. */
static struct ot_err *look(struct fl_search *s, struct fl_calling *c)
{
	OT_TRY(choose(s, c));
	OT_TRY(fl_calling_open(c));
	while (s->ndone < c->nhosts) {
		OT_TRY(fl_nats_ask_who(c));
		OT_TRY(invite_present(s, c));
		if (is_ended(s, ot_now_ns() + PAUSE_NS))
			break;
	}
	return NULL;
}

static void *run(void *arg)
{
	struct fl_search *s = arg;
	struct fl_calling *c;
	struct ot_err *err = fl_calling_create(s->config.fleet, s->end, &c);

	if (!err) {
		err = look(s, c);
		fl_calling_destroy(c);
	}
	if (err && ot_err_code(err) != OT_ERR_BUSY)
		hand_out_error(s, NULL, err);
	else
		ot_err_destroy(err);
	return NULL;
}

/* --- the session's thread ------------------------------------------------------------------------------ */

struct ot_err *fl_search_start(const struct fl_search_config *config, struct fl_search **ret)
{
	struct fl_search *s = calloc(1, sizeof(*s));
	struct ot_err *err = NULL;

	if (!s)
		return ot_err_nomem();
	s->config = *config;
	s->guest = strdup(config->guest);
	s->run = strdup(config->run);
	pthread_mutex_init(&s->lock, NULL);
	s->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!s->guest || !s->run)
		err = ot_err_nomem();
	else if (s->end < 0 || s->news < 0)
		err = ot_err_os(errno, "an eventfd");
	else
		err = ot_thread_start(&s->thread, NULL, run, s, "looking for a guest's host");
	s->runs = !err;
	if (err) {
		fl_search_end(s);
		return err;
	}
	*ret = s;
	return NULL;
}

int fl_search_fd(const struct fl_search *s)
{
	return s->news;
}

bool fl_search_take(struct fl_search *s, struct fl_found *ret)
{
	eventfd_t count;

	(void)!eventfd_read(s->news, &count);
	pthread_mutex_lock(&s->lock);
	bool any = s->nfound > 0;
	if (any) {
		*ret = s->found[0];
		memmove(s->found, s->found + 1, --s->nfound * sizeof(*s->found));
	}
	if (s->nfound)
		eventfd_write(s->news, 1);
	pthread_mutex_unlock(&s->lock);
	return any;
}

void fl_search_end(struct fl_search *s)
{
	if (!s)
		return;
	if (s->runs) {
		eventfd_write(s->end, 1);
		pthread_join(s->thread, NULL);
	}
	for (size_t i = 0; i < s->nfound; i++)
		discard(&s->found[i]);
	if (s->end >= 0)
		close(s->end);
	if (s->news >= 0)
		close(s->news);
	pthread_mutex_destroy(&s->lock);
	free(s->found);
	free(s->guest);
	free(s->run);
	free(s);
}
