/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the hosts of the file that are mergers, and assigns hosts to each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dif/obj/program.h"
#include "fleet/operator/nats.h"

/* --- which ------------------------------------------------------------------------------------------------ */

static struct ot_err *choose_one(struct fl_calling *c, const struct fl_known_host *known)
{
	if (ot_map_gets(&c->by_name, known->name)) /* by another pattern */
		return NULL;
	if (c->nmergers == FL_MERGERS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "fleetmergers: more than %u", FL_MERGERS_MAX);
	struct fl_invited *m = &c->mergers[c->nmergers++];

	*m = (struct fl_invited){ .known = known, .asks = FL_ASKS_MERGE, .present = true };
	ot_buf_init(&m->guests);
	return ot_map_puts(&c->by_name, known->name, m) ? NULL : ot_err_nomem();
}

static struct ot_err *choose(struct fl_calling *c, const char *pattern)
{
	bool found = false;

	for (size_t i = 0; i < c->known.count; i++) {
		if (!dif_glob_match(pattern, c->known.items[i].name))
			continue;
		OT_TRY(choose_one(c, &c->known.items[i]));
		found = true;
	}
	if (!found)
		return ot_err_new(OT_ERR_NOT_FOUND,
				  "fleetmergers: no merger %s is known: a line \"NAME KEY\" in the file of "
				  "hosts",
				  pattern);
	return NULL;
}

struct ot_err *fl_mergers_choose(struct fl_calling *c, const char *patterns)
{
	char *copy = ot_arena_strdup(&c->arena, patterns), *at = NULL;

	c->mergers = calloc(FL_MERGERS_MAX, sizeof(*c->mergers));
	if (!copy || !c->mergers)
		return ot_err_nomem();
	for (char *p = strtok_r(copy, " ,", &at); p; p = strtok_r(NULL, " ,", &at))
		OT_TRY(choose(c, p));
	return c->nmergers ? NULL : ot_err_new(OT_ERR_SYNTAX, "fleetmergers names no merger");
}

/* --- enough of them? -------------------------------------------------------------------------------------- */

static size_t count_present(const struct fl_calling *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nhosts; i++)
		n += c->hosts[i].present;
	return n;
}

static struct ot_err *check_enough(size_t nhosts, size_t nmergers, const char *which)
{
	const size_t needed = (nhosts + FL_MEMBERS_MAX - 1) / FL_MEMBERS_MAX;

	if (nmergers >= needed)
		return NULL;
	if (!nmergers)
		return ot_err_new(OT_ERR_NOT_FOUND, "no merger that fleetmergers names answers");
	return ot_err_new(OT_ERR_LIMIT,
			  "%zu hosts need %zu mergers, which collect from %u each: fleetmergers names %zu%s",
			  nhosts, needed, FL_MEMBERS_MAX, nmergers, which);
}

/* The others may suffice. */
static size_t tell_silent(const struct fl_calling *c)
{
	const struct fl_fleet_config *config = &c->fleet->config;
	char text[160];
	size_t answered = 0;

	for (size_t i = 0; i < c->nmergers; i++) {
		answered += c->mergers[i].accepted;
		if (!c->mergers[i].silent)
			continue;
		snprintf(text, sizeof(text), "merger %s does not answer", c->mergers[i].known->name);
		config->say(config->arg, text, NULL);
	}
	return answered;
}

/* --- shares ----------------------------------------------------------------------------------------------- */

static struct ot_err *add_merger(struct fl_calling *c, struct fl_invited *m, struct fl_host **ret)
{
	struct fl_channel *channel;
	struct fl_host *h;

	OT_TRY(fl_host_create(c->fleet, m->known->name, m->known->name, &h));
	OT_TRY(fl_merger_create(h, m->ephemeral));
	OT_TRY(fl_nats_open(m, &channel));
	*ret = h;
	return fl_host_connect(h, channel);
}

static struct ot_err *add_member(struct fl_calling *c, struct fl_invited *invited, struct fl_host *merger)
{
	struct fl_host *h;

	OT_TRY(fl_host_create(c->fleet, invited->known->name, invited->known->name, &h));
	OT_TRY(fl_host_of(h, invited));
	return fl_merger_add(merger, h);
}

/* In turn, so that shares differ by at most one. */
static struct ot_err *share(struct fl_calling *c, struct fl_host *const *mergers, size_t n)
{
	size_t next = 0;

	for (size_t i = 0; i < c->nhosts; i++) {
		if (!c->hosts[i].present)
			continue;
		OT_TRY(add_member(c, &c->hosts[i], mergers[next]));
		next = next + 1 < n ? next + 1 : 0;
	}
	return NULL;
}

struct ot_err *fl_mergers_invite(struct fl_calling *c)
{
	const size_t nhosts = count_present(c);
	struct fl_host *mergers[FL_MERGERS_MAX];
	size_t n = 0;

	if (!nhosts)
		return NULL;
	OT_TRY(check_enough(nhosts, c->nmergers, ""));
	OT_TRY(fl_nats_invite_all(c, c->mergers, c->nmergers));
	OT_TRY(check_enough(nhosts, tell_silent(c), " that answer"));
	for (size_t i = 0; i < c->nmergers; i++)
		if (c->mergers[i].accepted)
			OT_TRY(add_merger(c, &c->mergers[i], &mergers[n++]));
	return n ? share(c, mergers, n) : check_enough(nhosts, 0, " that answer");
}
