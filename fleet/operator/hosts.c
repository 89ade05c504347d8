/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts of a fleet: creating, connecting, watching and losing them. Each turn handles those that have a
 * link, which are few if there are mergers. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fleet/operator/merger.h"

/* --- life ----------------------------------------------------------------------------------------------- */

static bool make_room(struct fl_fleet *fleet)
{
	const size_t n = fleet->nhosts + 1;

	return ot_grow(&fleet->hosts, &fleet->hosts_cap, n, sizeof(*fleet->hosts)) &&
	       ot_grow(&fleet->linked, &fleet->linked_cap, n, sizeof(*fleet->linked)) &&
	       ot_grow(&fleet->upto, &fleet->upto_cap, n, sizeof(*fleet->upto));
}

static void destroy(struct fl_host *h)
{
	for (uint32_t i = 0; i < h->nprograms; i++)
		fl_program_destroy(h->programs[i]);
	for (uint32_t i = 0; i < VP_GUESTS_MAX; i++)
		free(h->there[i].name);
	fl_channel_destroy(h->channel);
	ot_map_deinit(&h->enabled);
	ot_map_deinit(&h->names);
	ot_arena_deinit(&h->arena);
	ot_buf_deinit(&h->guests);
	free(h->programs);
	free(h->name);
	free(h->spec);
	free(h->left_text);
	free(h);
}

struct ot_err *fl_host_create(struct fl_fleet *fleet, const char *name, const char *spec,
			      struct fl_host **ret)
{
	struct fl_host *h;

	if (fleet->nhosts == FL_TABLE_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u hosts", FL_HOSTS_MAX);
	if (!make_room(fleet))
		return ot_err_nomem();
	h = calloc(1, sizeof(*h));
	if (!h)
		return ot_err_nomem();
	*h = (struct fl_host){ .fleet = fleet, .index = fleet->nhosts, .fd = -1, .heard_ns = ot_now_ns() };
	ot_arena_init(&h->arena);
	ot_map_init(&h->enabled);
	ot_map_init(&h->names);
	ot_account_open(&h->meanings, &fleet->meanings);
	ot_account_open(&h->keys, &fleet->keys);
	ot_buf_init(&h->guests);
	h->name = strdup(name);
	h->spec = strdup(spec);
	if (!h->name || !h->spec) {
		destroy(h);
		return ot_err_nomem();
	}
	fleet->upto[h->index] = UINT64_MAX; /* nothing waits for it yet */
	fleet->hosts[fleet->nhosts++] = h;
	fleet->nliving++;
	*ret = h;
	return NULL;
}

static void disconnect(struct fl_host *h)
{
	struct fl_fleet *fleet = h->fleet;

	if (h->fd >= 0)
		epoll_ctl(fleet->set, EPOLL_CTL_DEL, h->fd, NULL);
	h->fd = -1;
	for (uint32_t i = 0; i < fleet->nlinked; i++)
		if (fleet->linked[i] == h) {
			fleet->linked[i] = fleet->linked[--fleet->nlinked];
			break;
		}
	fl_channel_destroy(h->channel);
	h->channel = NULL;
}

void fl_host_disconnect(struct fl_host *h)
{
	if (h->channel)
		disconnect(h);
}

void fl_host_destroy(struct fl_host *h)
{
	fl_host_disconnect(h);
	fl_merger_destroy(h->merger);
	destroy(h);
}

/* --- connecting ----------------------------------------------------------------------------------------- */

static struct ot_err *greet(struct fl_host *h)
{
	char machine[256] = "", name[512];
	const char *user = getenv("USER");
	struct fl_hello hello = { .protocol = FL_PROTOCOL, .name = name };
	struct ot_buf body;

	gethostname(machine, sizeof(machine) - 1);
	snprintf(name, sizeof(name), "%.200s@%s", user ? user : "?", machine);
	if (h->fleet->greeting)
		hello.name = h->fleet->greeting;
	fl_clock_now(&hello.clock);
	ot_buf_init(&body);
	fl_put_hello(&body, &hello);
	struct ot_err *err = fl_host_send(h, FL_HELLO, &body);
	ot_buf_deinit(&body);
	return err;
}

struct ot_err *fl_host_connect(struct fl_host *h, struct fl_channel *channel)
{
	h->channel = channel;
	h->state = FL_HOST_GREETED;
	h->heard_ns = ot_now_ns();
	if (!fl_channel_is_link(channel))
		return NULL;
	h->fleet->linked[h->fleet->nlinked++] = h;
	OT_TRY(greet(h));
	return fl_host_watch(h);
}

struct ot_err *fl_host_watch(struct fl_host *h)
{
	struct epoll_event ev = { 0 };
	short events;
	int fd;

	if (!fl_channel_is_link(h->channel))
		return NULL;
	fd = h->channel->ops->fd(h->channel, &events);
	if (fd == h->fd && events == h->events)
		return NULL;
	ev.events = (events & POLLIN ? (uint32_t)EPOLLIN : 0) | (events & POLLOUT ? (uint32_t)EPOLLOUT : 0);
	ev.data.u32 = h->index;
	if (fd != h->fd && h->fd >= 0)
		epoll_ctl(h->fleet->set, EPOLL_CTL_DEL, h->fd, NULL);
	if (epoll_ctl(h->fleet->set, fd == h->fd ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &ev) < 0)
		return ot_err_os(errno, "epoll");
	h->fd = fd;
	h->events = events;
	return NULL;
}

uint64_t fl_fleet_links_due_ns(const struct fl_fleet *fleet)
{
	uint64_t due = UINT64_MAX;

	for (uint32_t i = 0; i < fleet->nlinked; i++) {
		const uint64_t at = fl_host_due_ns(fleet->linked[i]);
		if (at < due)
			due = at;
	}
	return due;
}

/* --- what is asked of it ---------------------------------------------------------------------------------- */

struct ot_err *fl_host_send(struct fl_host *h, enum fl_kind kind, const struct ot_buf *body)
{
	if (body && body->failed)
		return ot_err_nomem();
	return h->channel->ops->send(h->channel, kind, body ? body->data : NULL, body ? body->len : 0);
}

struct ot_err *fl_host_begin(struct fl_host *h)
{
	if (h->merger)
		return fl_merger_begin(h);
	OT_TRY(fl_host_send(h, FL_START, NULL));
	h->state = FL_HOST_STARTING;
	return NULL;
}

struct ot_err *fl_host_ask_to_stop(struct fl_host *h)
{
	if (h->stopped_ns)
		return NULL;
	h->stopped_ns = ot_now_ns();
	return fl_host_send(h, FL_STOP, NULL);
}

/* --- its end ---------------------------------------------------------------------------------------------- */

void fl_host_end(struct fl_host *h, enum fl_host_state state)
{
	if (!fl_host_is_over(h) && !h->merger)
		h->fleet->nliving--;
	h->state = state;
	h->ended_ns = ot_now_ns();
	h->fleet->upto[h->index] = UINT64_MAX;
}

void fl_host_lose(struct fl_host *h, const char *why)
{
	const struct fl_tap *tap = h->fleet->tap;
	ot_auto_free char *text = NULL;

	fl_host_end(h, FL_HOST_LOST);
	if (tap)
		tap->lost(tap->arg, h, why);
	if (h->merger) {
		fl_merger_lost(h, why);
	} else if (asprintf(&text, "the host is lost: %s", why) < 0) {
		text = NULL;
	} else {
		fl_host_say(h, text);
	}
	fl_host_disconnect(h);
}
