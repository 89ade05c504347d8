/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests that join and leave on hosts, and hosts' messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "fleet/operator/follow.h"

#define SAID_MAX 1000 /* remembered messages */

void fl_tame_lines(char *text)
{
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next = '\0';
		ot_utf8_tame_string(line); /* a character for another of its bytes: it may be shorter */
		if (next) {
			size_t len = strlen(line);
			memset(line + len, ' ', (size_t)(next - line) - len);
			*next++ = '\n';
		}
	}
}

void fl_host_say(struct fl_host *h, const char *text)
{
	ot_auto_free char *line = NULL;

	if (!h->fleet->config.say || asprintf(&line, "%s: %s", h->name, text) < 0) {
		line = NULL;
		return;
	}
	ot_utf8_tame_string(line);
	h->fleet->config.say(h->fleet->config.arg, line, NULL);
}

void fl_fleet_say(struct fl_fleet *fleet, const char *text, const char *hint)
{
	ot_auto_free char *line = strdup(text), *more = strdup(hint);

	if (!fleet->config.say || !line || !more)
		return;
	ot_utf8_tame_string(line);
	ot_utf8_tame_string(more);
	fleet->config.say(fleet->config.arg, line, more);
}

/* A host that floods messages is muted. */
static bool may_say(struct fl_host *h)
{
	if (++h->sayings == FL_SAYINGS_MAX)
		fl_host_say(h, "further messages are not shown");
	return h->sayings < FL_SAYINGS_MAX;
}

void fl_host_hear(void *arg, const char *line)
{
	struct fl_host *h = arg;

	if (may_say(h))
		fl_host_say(h, line);
}

/* Did a host send this message before? */
static bool is_news(struct fl_host *h, const char *text)
{
	struct ot_map *said = &h->fleet->said;

	if (ot_map_gets(said, text))
		return false;
	/* without memory it is printed again */
	return said->count >= SAID_MAX || ot_map_puts(said, text, h) || true;
}

struct ot_err *fl_host_take_say(struct fl_host *h, const void *data, size_t len)
{
	struct ot_arena arena;
	struct fl_say m;

	ot_arena_init(&arena);
	struct ot_err *err = fl_get_say(data, len, &arena, &m);
	/* missing data is reported under quiet, too */
	if (!err && *m.text && (m.missing || !h->fleet->config.opts->quiet) && may_say(h) &&
	    is_news(h, m.text))
		fl_host_say(h, m.text);
	ot_arena_deinit(&arena);
	return err;
}

/* --- GUEST ---------------------------------------------------------------------------------------------- */

static struct ot_err *name_guest(struct fl_host *h, struct fl_guest_there *there, const struct fl_guest *m)
{
	if (there->name)
		return NULL;
	if (asprintf(&there->name, "%s/%.200s", h->name, m->name) < 0) {
		there->name = NULL;
		return ot_err_nomem();
	}
	ot_utf8_tame_string(there->name);
	return NULL;
}

static void tell_sink(struct fl_host *h, const struct fl_guest_there *there, const struct fl_guest *m)
{
	const struct vp_sink *sink = &h->fleet->sink;
	const struct vp_guest_news news = {
		.guest = FL_GUEST_BASE + h->index * VP_GUESTS_MAX + m->guest,
		.name = there->name,
		.joined = m->joined,
		.how = m->how <= VP_GUEST_LOADED ? (enum vp_guest_end)m->how : VP_GUEST_RUNS,
		.text = m->text,
	};

	if (h->fleet->prog && sink->guest)
		sink->guest(sink->arg, &news);
}

static struct ot_err *tell(struct fl_host *h, struct fl_guest_there *there, const struct fl_guest *m)
{
	bool has_moved = false;

	tell_sink(h, there, m);
	if (m->joined)
		OT_TRY(fl_follow_joined(h, there, &has_moved));
	if (has_moved || !may_say(h))
		return NULL;
	if (!m->joined)
		fl_host_say(h, *m->text ? m->text : "a guest has left");
	else if (!h->fleet->config.opts->quiet)
		fl_host_say(h, "a guest has joined");
	return NULL;
}

static void note_uuid(struct fl_guest_there *there, const struct fl_guest *m)
{
	if (*m->uuid)
		snprintf(there->uuid, sizeof(there->uuid), "%.36s", m->uuid);
}

/* The search for it begins after its leaving was reported. */
static struct ot_err *note_left(struct fl_host *h, struct fl_guest_there *there, const struct fl_guest *m)
{
	const bool by_itself = m->how == VP_GUEST_POWERED_OFF || m->how == VP_GUEST_RESET;
	bool is_followed = false;

	free(h->left_text);
	h->left_text = strdup(m->text);
	if (m->how == VP_GUEST_SAVED && !h->fleet->tap) /* the side that prints the message follows it */
		OT_TRY(fl_follow_left(h, there, fl_host_time(h, m->time), &is_followed));
	h->lost_guest |= !by_itself && !is_followed;
	return NULL;
}

static struct ot_err *take_news(struct fl_host *h, struct fl_guest_there *there, const struct fl_guest *m)
{
	const bool was_here = there->is_here;

	there->is_here = m->joined;
	note_uuid(there, m);
	if (m->joined)
		there->since_ns = fl_host_time(h, m->time);
	if (h->state < FL_HOST_STARTING || h->merger)
		return NULL;
	OT_TRY(tell(h, there, m));
	return was_here && !m->joined ? note_left(h, there, m) : NULL;
}

struct ot_err *fl_host_take_guest(struct fl_host *h, const void *data, size_t len)
{
	struct ot_arena arena;
	struct fl_guest m;

	ot_arena_init(&arena);
	struct ot_err *err = fl_get_guest(data, len, &arena, &m);
	if (!err && (m.guest >= VP_GUESTS_MAX || (!m.joined && !h->there[m.guest].name)))
		err = ot_err_new(OT_ERR_BAD_DATA, "an unknown guest");
	if (!err)
		err = name_guest(h, &h->there[m.guest], &m);
	if (!err)
		err = take_news(h, &h->there[m.guest], &m);
	ot_arena_deinit(&arena);
	return err;
}
