/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guests that migrate from one host to another. An engine lets its guest go before its memory is copied, so a
 * guest leaves one host and, when it runs at another, joins there: by a pattern of the session there, or in a
 * further session with that host, which is asked for this guest alone. Nothing of the guest is counted
 * meanwhile, and the line that joins both says for how long.
 *
 * Which other hosts: those that ssh reaches and that are in the session, and all of the operator's file of
 * hosts. Whether it is the same guest is its name's and its UUID's to say, and that a VMM which was started
 * for a guest that arrives has it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "dif/obj/program.h"
#include "fleet/link/seal.h"
#include "fleet/operator/follow.h"
#include "fleet/operator/search.h"

#define LOOK_NS  (60 * OT_NS_PER_SEC) /* for a host that has it */
#define AGAIN_NS OT_NS_PER_SEC
#define SLACK_NS                                                                                  \
	(2 * OT_NS_PER_SEC) /* error of two hosts' clocks: it may seem to arrive before it leaves \
			     */

enum state { SOUGHT, FOUND, NOT_FOUND };

struct fl_move {
	const struct fl_host *from;
	char *name; /* the guest's, without the host's */
	char uuid[sizeof(((struct fl_guest_there *)0)->uuid)];
	uint64_t left_ns; /* end of its tracing there */
	uint64_t until_ns;
	enum state state;
	struct ot_map skip; /* names of hosts that the search does not ask */
	struct fl_search *search;
	uint32_t first; /* its entries of the table begin here */
};

/* --- hosts ---------------------------------------------------------------------------------------------- */

/* The guest's own name in "h1/web01". */
static const char *own_name(const struct fl_host *h, const struct fl_guest_there *there)
{
	return there->name + strlen(h->name) + 1;
}

/* Will it trace an arriving guest of that name by itself? */
static bool means(const struct fl_host *h, const char *guest)
{
	ot_auto_free char *words = strdup(ot_buf_str(&h->guests));
	char *at = NULL;

	for (char *w = words ? strtok_r(words, " ", &at) : NULL; w; w = strtok_r(NULL, " ", &at))
		if (!strcmp(w, "all") || (dif_glob_is_pattern(w) && dif_glob_match(w, guest)))
			return true;
	return false;
}

static bool awaits(const struct fl_host *h, const struct fl_move *move)
{
	return !fl_host_is_over(h) && !h->stopped_ns && (h->follows == move || means(h, move->name));
}

static bool is_awaited(const struct fl_fleet *fleet, const struct fl_move *move)
{
	for (uint32_t i = move->first; i < fleet->nhosts; i++)
		if (fleet->hosts[i]->follows == move && !fl_host_is_over(fleet->hosts[i]))
			return true;
	return false;
}

/* Stop the hosts that are in the session for this guest only. */
static struct ot_err *release(struct fl_fleet *fleet, const struct fl_move *move, const struct fl_host *but)
{
	for (uint32_t i = move->first; i < fleet->nhosts; i++) {
		struct fl_host *h = fleet->hosts[i];

		if (h->follows != move || h == but || fl_host_is_over(h) || h->stopped_ns)
			continue;
		OT_TRY(fl_host_ask_to_stop(h));
	}
	return NULL;
}

/* --- a move's end --------------------------------------------------------------------------------------- */

static void say(const struct fl_fleet *fleet, const char *text)
{
	if (fleet->config.say)
		fleet->config.say(fleet->config.arg, text, NULL);
}

static void end_search(struct fl_move *move)
{
	/* this closes its descriptor, which also removes it from the fleet's set */
	fl_search_end(move->search);
	move->search = NULL;
}

static void put_gap(uint64_t from_ns, uint64_t to_ns, char *out, size_t size)
{
	if (to_ns < from_ns)
		snprintf(out, size, "less than the error of the hosts' clocks");
	else if (to_ns - from_ns < 10 * OT_NS_PER_SEC)
		snprintf(out, size, "%llu ms", (unsigned long long)((to_ns - from_ns) / 1000000));
	else
		snprintf(out, size, "%.1f s", (double)(to_ns - from_ns) / (double)OT_NS_PER_SEC);
}

static struct ot_err *found(struct fl_move *move, const struct fl_host *h, uint64_t since_ns)
{
	ot_auto_free char *line = NULL;
	char gap[64];

	put_gap(move->left_ns, since_ns, gap, sizeof(gap));
	if (asprintf(&line, "%s moved %s→%s, gap %s", move->name, move->from->name, h->name, gap) < 0)
		return ot_err_nomem();
	say(h->fleet, line);
	move->state = FOUND;
	end_search(move);
	return release(h->fleet, move, h);
}

static struct ot_err *not_found(struct fl_fleet *fleet, struct fl_move *move, const char *why)
{
	ot_auto_free char *line = NULL;

	if (asprintf(&line, "%s left %s, and %s", move->name, move->from->name, why) < 0)
		return ot_err_nomem();
	say(fleet, line);
	move->state = NOT_FOUND;
	end_search(move);
	return release(fleet, move, NULL);
}

/* --- both halves of it ---------------------------------------------------------------------------------- */

static bool is_it(const struct fl_move *move, const struct fl_host *h, const struct fl_guest_there *there)
{
	return move->state == SOUGHT && h != move->from && !strcmp(own_name(h, there), move->name) &&
	       (!*move->uuid || !*there->uuid || !strcasecmp(move->uuid, there->uuid)) &&
	       there->since_ns + SLACK_NS >= move->left_ns;
}

struct ot_err *fl_follow_joined(struct fl_host *h, const struct fl_guest_there *there, bool *ret)
{
	struct fl_fleet *fleet = h->fleet;

	*ret = false;
	for (uint32_t i = 0; i < fleet->nmoves && !*ret; i++) {
		if (!is_it(fleet->moves[i], h, there))
			continue;
		*ret = true;
		OT_TRY(found(fleet->moves[i], h, there->since_ns));
	}
	return NULL;
}

/* Messages of two hosts may arrive in the wrong order. */
static struct ot_err *look_here(struct fl_fleet *fleet, struct fl_move *move)
{
	for (uint32_t i = 0; i < fleet->nhosts && move->state == SOUGHT; i++) {
		const struct fl_host *h = fleet->hosts[i];

		for (uint32_t k = 0; k < VP_GUESTS_MAX && move->state == SOUGHT; k++)
			if (h->state >= FL_HOST_RUNNING && h->there[k].is_here &&
			    is_it(move, h, &h->there[k]))
				OT_TRY(found(move, h, h->there[k].since_ns));
	}
	return NULL;
}

/* --- asking hosts --------------------------------------------------------------------------------------- */

/* The guest's word in RUN. */
static char *spec_of(const struct fl_move *move)
{
	char *spec;

	return asprintf(&spec, FL_ARRIVING "%s%s%s", move->name, *move->uuid ? ":" : "", move->uuid) < 0
		   ? NULL
		   : spec;
}

/* A host that is reached by ssh, is not the guest's old one, and has no session that will take it in. */
static bool is_to_be_asked(const struct fl_fleet *fleet, uint32_t index, const struct fl_move *move)
{
	const struct fl_host *h = fleet->hosts[index];

	if (!h->by_ssh || !strcmp(h->spec, move->from->spec))
		return false;
	for (uint32_t i = 0; i < fleet->nhosts; i++)
		if (!strcmp(fleet->hosts[i]->spec, h->spec) && (i < index || awaits(fleet->hosts[i], move)))
			return false;
	return true;
}

static void ask_by_ssh(struct fl_fleet *fleet, struct fl_move *move, const char *spec)
{
	/* a further session with a host that was checked for its first one */
	for (uint32_t i = 0; i < move->first; i++) {
		if (!is_to_be_asked(fleet, i, move))
			continue;
		struct ot_err *err =
		    fl_fleet_add_ssh(fleet, fleet->hosts[i]->spec, fleet->hosts[i]->name, spec);
		if (err)
			say(fleet, ot_err_message(err));
		else
			fleet->hosts[fleet->nhosts - 1]->follows = move;
		ot_err_destroy(err);
	}
}

static bool skips(void *arg, const char *host)
{
	const struct fl_move *move = arg;

	return ot_map_gets(&move->skip, host) != NULL;
}

static struct ot_err *ask_behind_broker(struct fl_fleet *fleet, struct fl_move *move, const char *spec)
{
	const struct fl_search_config config = {
		.fleet = fleet, .guest = move->name, .run = spec, .skips = skips, .arg = move
	};
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = UINT32_MAX };

	for (uint32_t i = 0; i < fleet->nhosts; i++) {
		struct fl_host *h = fleet->hosts[i];
		if ((h == move->from || awaits(h, move)) && !ot_map_puts(&move->skip, h->name, h))
			return ot_err_nomem();
	}
	OT_TRY(fl_search_start(&config, &move->search));
	return epoll_ctl(fleet->set, EPOLL_CTL_ADD, fl_search_fd(move->search), &ev) < 0
		   ? ot_err_new(OT_ERR_OS, "epoll")
		   : NULL;
}

/* A failure to ask is reported; a host that takes the guest in by itself still finds it. */
static struct ot_err *ask(struct fl_fleet *fleet, struct fl_move *move)
{
	ot_auto_free char *spec = spec_of(move);

	if (!spec)
		return ot_err_nomem();
	/* it has another meaning in RUN, or in a question */
	if (strpbrk(move->name, " :") || dif_glob_is_pattern(move->name))
		return NULL;
	ask_by_ssh(fleet, move, spec);
	if (!fleet->config.nats)
		return NULL;
	struct ot_err *err = ask_behind_broker(fleet, move, spec);
	if (err)
		say(fleet, ot_err_message(err));
	ot_err_destroy(err);
	return NULL;
}

/* --- a guest leaves ------------------------------------------------------------------------------------- */

static void destroy(struct fl_move *move)
{
	end_search(move);
	ot_map_deinit(&move->skip);
	free(move->name);
	free(move);
}

static struct fl_move *create(const struct fl_host *h, const struct fl_guest_there *there, uint64_t left_ns)
{
	struct fl_move *move = calloc(1, sizeof(*move));

	if (!move)
		return NULL;
	const uint64_t look_ns = h->fleet->config.follow_ns;
	*move = (struct fl_move){ .from = h,
				  .left_ns = left_ns,
				  .first = h->fleet->nhosts,
				  .until_ns = ot_now_ns() + (look_ns ? look_ns : LOOK_NS) };
	ot_map_init(&move->skip);
	memcpy(move->uuid, there->uuid, sizeof(move->uuid));
	move->name = strdup(own_name(h, there));
	if (move->name)
		return move;
	destroy(move);
	return NULL;
}

struct ot_err *fl_follow_left(struct fl_host *h, const struct fl_guest_there *there, uint64_t left_ns,
			      bool *ret)
{
	struct fl_fleet *fleet = h->fleet;

	*ret = !h->stopped_ns && fleet->nmoves < FL_MOVES_MAX;
	if (!*ret)
		return NULL;
	struct fl_move *move = create(h, there, left_ns);
	if (!move)
		return ot_err_nomem();
	fleet->moves[fleet->nmoves++] = move;
	OT_TRY(look_here(fleet, move));
	return move->state == SOUGHT ? ask(fleet, move) : NULL;
}

/* --- meanwhile ------------------------------------------------------------------------------------------ */

static void take_host(struct fl_fleet *fleet, struct fl_move *move, struct fl_found *f)
{
	ot_auto_free char *spec = spec_of(move);

	if (f->text) {
		say(fleet, f->text);
	} else if (!spec) {
		fl_carrier_destroy(f->carrier);
		fl_seal_destroy(f->seal);
	} else {
		struct ot_err *err = fl_fleet_add_sealed(fleet, f->carrier, f->seal, f->host, spec);
		if (err)
			say(fleet, ot_err_message(err));
		else
			fleet->hosts[fleet->nhosts - 1]->follows = move;
		ot_err_destroy(err);
	}
	free(f->host);
	free(f->text);
}

struct ot_err *fl_follow_poll(struct fl_fleet *fleet)
{
	struct fl_found f;

	for (uint32_t i = 0; i < fleet->nmoves; i++) {
		struct fl_move *move = fleet->moves[i];

		while (move->search && (f = (struct fl_found){ 0 }, fl_search_take(move->search, &f)))
			take_host(fleet, move, &f);
		if (move->state == SOUGHT && ot_now_ns() >= move->until_ns && !is_awaited(fleet, move))
			OT_TRY(not_found(fleet, move,
					 "was not found again: it was saved, or its new host has no "
					 "outsight-serve that is known here, or does not allow it"));
	}
	return NULL;
}

uint64_t fl_follow_due_ns(const struct fl_fleet *fleet)
{
	uint64_t due = UINT64_MAX;

	for (uint32_t i = 0; i < fleet->nmoves; i++) {
		const struct fl_move *move = fleet->moves[i];
		if (move->state != SOUGHT)
			continue;
		const uint64_t at = is_awaited(fleet, move) ? ot_now_ns() + AGAIN_NS : move->until_ns;
		if (at < due)
			due = at;
	}
	return due;
}

bool fl_follow_goes_on(const struct fl_fleet *fleet)
{
	for (uint32_t i = 0; i < fleet->nmoves; i++)
		if (fleet->moves[i]->state == SOUGHT)
			return true;
	return false;
}

struct ot_err *fl_follow_stop(struct fl_fleet *fleet)
{
	for (uint32_t i = 0; i < fleet->nmoves; i++)
		if (fleet->moves[i]->state == SOUGHT)
			OT_TRY(not_found(fleet, fleet->moves[i],
					 "the session has ended before it was found again"));
	return NULL;
}

bool fl_follow_lost(const struct fl_host *h)
{
	for (uint32_t i = 0; i < h->fleet->nmoves; i++)
		if (h->fleet->moves[i]->from == h && h->fleet->moves[i]->state != FOUND)
			return true;
	return false;
}

bool fl_follow_explains(const struct fl_host *h, const char *text)
{
	bool any = false;

	for (uint32_t i = 0; i < h->fleet->nmoves; i++)
		any |= h->fleet->moves[i]->from == h;
	return any && !h->lost_guest && h->left_text && !strcmp(h->left_text, text);
}

void fl_follow_destroy(struct fl_fleet *fleet)
{
	for (uint32_t i = 0; i < fleet->nmoves; i++)
		destroy(fleet->moves[i]);
	fleet->nmoves = 0;
}
