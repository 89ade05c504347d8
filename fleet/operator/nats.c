/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An operator's hosts behind a broker: those of its file of hosts that match -g. Hosts that only the broker
 * knows are not asked; a host of the file that does not answer is reported. */
#include "fleet/operator/nats.h"

#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "dif/obj/program.h"
#include "fleet/link/seal.h"

/* Maximum lag of a host's clock. */
#define SKEW_S 60u

/* --- what is configured ------------------------------------------------------------------------------- */

/* $XDG_CONFIG_HOME/outsight/NAME, or ~/.config/outsight/NAME. */
static struct ot_err *own_file(const char *name, struct ot_arena *arena, const char **ret)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (base && *base == '/')
		*ret = ot_arena_printf(arena, "%s/outsight/%s", base, name);
	else if (home && *home == '/')
		*ret = ot_arena_printf(arena, "%s/.config/outsight/%s", home, name);
	else
		return ot_err_new(OT_ERR_NOT_FOUND, "$HOME is not set: where is %s?", name);
	return *ret ? NULL : ot_err_nomem();
}

static struct ot_err *read_files(struct fl_calling *c)
{
	const struct fl_nats_config *config = c->fleet->config.nats;
	const char *key = config->key, *hosts = config->hosts;

	if (!key)
		OT_TRY(own_file("operator.key", &c->arena, &key));
	if (!hosts)
		OT_TRY(own_file("hosts", &c->arena, &hosts));
	OT_TRY(fl_trust_start());
	OT_TRY(ot_err_prefix(fl_identity_read(key, &c->identity), "the operator's key"));
	return ot_err_prefix(fl_known_read(hosts, &c->arena, &c->known), "the hosts that are known");
}

static void set_name(struct fl_calling *c)
{
	const char *user = getenv("USER");
	char host[256] = "?", uid[16];

	snprintf(uid, sizeof(uid), "uid%u", (unsigned)getuid());
	gethostname(host, sizeof(host) - 1);
	snprintf(c->name, sizeof(c->name), "%.64s@%s", user && *user ? user : uid, host);
}

/* --- which hosts -------------------------------------------------------------------------------------- */

static struct ot_err *want(struct fl_invited *h, const struct fl_wanted *w)
{
	ot_buf_printf(&h->guests, "%s%s", h->guests.len ? " " : "", w->guests);
	if (!dif_glob_is_pattern(w->hosts))
		h->by_pattern = false;
	if (h->guests.failed)
		return ot_err_nomem();
	return h->guests.len <= FL_TEXT_MAX
		   ? NULL
		   : ot_err_new(OT_ERR_LIMIT, "too many -g for host %s", h->known->name);
}

struct ot_err *fl_calling_add(struct fl_calling *c, const struct fl_known_host *known,
			      struct fl_invited **ret)
{
	*ret = ot_map_gets(&c->by_name, known->name);
	if (*ret)
		return NULL;
	if (c->nhosts == FL_HOSTS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u hosts", FL_HOSTS_MAX);
	struct fl_invited *h = &c->hosts[c->nhosts++];

	*h = (struct fl_invited){ .known = known, .asks = FL_ASKS_RUN, .by_pattern = true };
	ot_buf_init(&h->guests);
	*ret = h;
	return ot_map_puts(&c->by_name, known->name, h) ? NULL : ot_err_nomem();
}

static struct ot_err *choose(struct fl_calling *c, const struct fl_wanted *w)
{
	bool found = false, merges = false;

	for (size_t i = 0; i < c->known.count; i++) {
		if (!dif_glob_match(w->hosts, c->known.items[i].name))
			continue;
		struct fl_invited *h;

		OT_TRY(fl_calling_add(c, &c->known.items[i], &h));
		merges |= h->asks == FL_ASKS_MERGE;
		if (h->asks == FL_ASKS_MERGE)
			continue;
		OT_TRY(want(h, w));
		found = true;
	}
	if (!found && merges)
		return ot_err_new(OT_ERR_NOT_FOUND, "-g %s/%s: a merger has no guests", w->hosts, w->guests);
	if (!found)
		return ot_err_new(
		    OT_ERR_NOT_FOUND,
		    "-g %s/%s: no host of that name is known: a line \"NAME KEY\" in the file of hosts",
		    w->hosts, w->guests);
	return NULL;
}

static struct ot_err *choose_all(struct fl_calling *c)
{
	for (size_t i = 0; i < c->fleet->nwanted; i++)
		OT_TRY(choose(c, &c->fleet->wanted[i]));
	return NULL;
}

/* --- messages ----------------------------------------------------------------------------------------- */

void fl_calling_request(const struct fl_calling *c, enum fl_asks asks, uint64_t seconds,
			struct fl_request *ret)
{
	uint64_t now = (uint64_t)time(NULL);
	uint64_t back = asks == FL_ASKS_WHO ? FL_QUESTION_MAX_S - seconds : SKEW_S;

	*ret = (struct fl_request){ .protocol = FL_PROTOCOL,
				    .asks = asks,
				    .operator= c->name,
				    .not_before = now - back,
				    .not_after = now + seconds };
	randombytes_buf(ret->nonce, sizeof(ret->nonce));
}

struct ot_err *fl_calling_await(struct fl_calling *c, uint64_t until_ns,
				struct fl_broker_message *ret_message, bool *ret)
{
	struct pollfd fds[2] = { { .fd = fl_inbox_fd(c->answers), .events = POLLIN },
				 { .fd = c->wake_fd, .events = POLLIN } };

	/* time and the user come first: a client that floods the subject must not prevent the end */
	for (*ret = false; ot_now_ns() < until_ns;) {
		if (poll(fds, 2, ot_ms_until(until_ns)) < 0 && errno != EINTR)
			return ot_err_os(errno, "poll");
		if (fds[1].revents)
			return ot_err_new(OT_ERR_BUSY, "interrupted");
		*ret = fl_inbox_next(c->answers, ret_message);
		if (*ret)
			return NULL;
	}
	return NULL;
}

struct fl_invited *fl_calling_host(struct fl_calling *c, const struct fl_broker_message *m)
{
	struct fl_invited *found = NULL;
	struct ot_arena arena; /* unknown names are not kept */
	const char *name;

	ot_arena_init(&arena);
	struct ot_err *err = fl_answer_host(m->data, m->len, &arena, &name);

	if (err)
		c->forged++;
	else
		found = ot_map_gets(&c->by_name, name);
	ot_err_destroy(err);
	ot_arena_deinit(&arena);
	return found;
}

struct ot_err *fl_host_of(struct fl_host *h, struct fl_invited *invited)
{
	h->invited = invited;
	ot_buf_puts(&h->guests, ot_buf_str(&invited->guests));
	return h->guests.failed ? ot_err_nomem() : NULL;
}

/* --- the course of it --------------------------------------------------------------------------------- */

struct ot_err *fl_calling_create(struct fl_fleet *fleet, int wake_fd, struct fl_calling **ret)
{
	struct fl_calling *c = calloc(1, sizeof(*c));

	if (!c)
		return ot_err_nomem();
	c->fleet = fleet;
	c->wake_fd = wake_fd;
	ot_arena_init(&c->arena);
	ot_map_init(&c->by_name);
	c->hosts = calloc(FL_HOSTS_MAX, sizeof(*c->hosts));
	struct ot_err *err = c->hosts ? read_files(c) : ot_err_nomem();
	if (err) {
		fl_calling_destroy(c);
		return err;
	}
	set_name(c);
	*ret = c;
	return NULL;
}

struct ot_err *fl_calling_open(struct fl_calling *c)
{
	const struct fl_nats_config *config = c->fleet->config.nats;
	const struct fl_broker_config to = { .url = config->url,
					     .credentials = config->credentials,
					     .name = c->name };

	OT_TRY(fl_broker_connect(&to, &c->broker));
	fl_broker_own_subject(c->reply);
	return fl_inbox_open(c->broker, c->reply, &c->answers);
}

static void forget(struct fl_invited *all, size_t n)
{
	if (!all)
		return;
	for (size_t i = 0; i < n; i++) {
		fl_carrier_destroy(all[i].carrier);
		ot_buf_deinit(&all[i].guests);
		sodium_memzero(all[i].secret, FL_PUBLIC);
	}
	free(all);
}

void fl_calling_destroy(struct fl_calling *c)
{
	if (!c)
		return;
	forget(c->hosts, c->nhosts);
	forget(c->mergers, c->nmergers);
	fl_inbox_close(c->answers);
	fl_broker_unref(c->broker);
	fl_identity_wipe(&c->identity);
	ot_map_deinit(&c->by_name);
	ot_arena_deinit(&c->arena);
	free(c);
}

/* A host that is lost before it started. */
static struct ot_err *tell_silent(struct fl_calling *c)
{
	const struct fl_fleet_config *config = &c->fleet->config;
	char text[160];

	for (size_t i = 0; i < c->nhosts; i++) {
		if (!c->hosts[i].silent)
			continue;
		snprintf(text, sizeof(text), "host %s does not answer", c->hosts[i].known->name);
		if (!config->nats->without_silent)
			return ot_err_new(OT_ERR_NOT_FOUND, "%s: -x hostloss=ok continues without it", text);
		config->say(config->arg, text, "its guests are not traced");
	}
	return NULL;
}

static struct ot_err *add_all(struct fl_calling *c)
{
	for (size_t i = 0; i < c->nhosts; i++) {
		struct fl_invited *h = &c->hosts[i];
		struct fl_carrier *carrier = h->carrier;
		struct fl_seal *seal = NULL;

		if (!h->accepted)
			continue;
		OT_TRY(fl_seal_create(h->public, h->secret, h->ephemeral, true, &seal));
		h->carrier = NULL;
		OT_TRY(fl_fleet_add_sealed(c->fleet, carrier, seal, h->known->name, ot_buf_str(&h->guests)));
	}
	return NULL;
}

static struct ot_err *check_some(const struct fl_calling *c)
{
	if (!c->fleet->nliving)
		return ot_err_new(OT_ERR_NOT_FOUND, "no host has a guest that matches -g and can be traced");
	return NULL;
}

static struct ot_err *call(struct fl_calling *c)
{
	const struct fl_nats_config *config = c->fleet->config.nats;

	if (config->mergers)
		OT_TRY(fl_mergers_choose(c, config->mergers));
	OT_TRY(choose_all(c));
	OT_TRY(fl_calling_open(c));
	OT_TRY(fl_nats_ask_who(c));
	OT_TRY(tell_silent(c));
	if (config->mergers) {
		OT_TRY(fl_mergers_invite(c));
	} else {
		OT_TRY(fl_nats_invite_all(c, c->hosts, c->nhosts));
		OT_TRY(tell_silent(c));
		OT_TRY(add_all(c));
	}
	return check_some(c);
}

static void tell_forged(const struct fl_calling *c)
{
	char text[160];

	if (!c->forged)
		return;
	snprintf(text, sizeof(text),
		 "%u answers were ignored: they are not signed by the hosts that they name", c->forged);
	c->fleet->config.say(c->fleet->config.arg, text, "a client of the broker forges or replays them");
}

struct ot_err *fl_nats_invite(struct fl_fleet *fleet, int wake_fd)
{
	struct fl_calling *c;

	OT_TRY(fl_calling_create(fleet, wake_fd, &c));
	fleet->calling = c;
	struct ot_err *err = call(c);

	tell_forged(c);
	/* later invitations of lost mergers' hosts need it */
	if (err || !c->nmergers) {
		fleet->calling = NULL;
		fl_calling_destroy(c);
	}
	return err;
}
