/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of a standing program: lines of a keyword and its values. */
#include "fleet/serve/standing/limits.h"

#include <string.h>

#include "fleet/serve/conf_value.h"

static const char *const any_guest[] = { "*" };

struct reading {
	struct fl_lines lines;
	struct ot_arena *arena;
	struct fl_limits limits;
	unsigned seen; /* bits of `settings` */
};

static struct ot_err *set_guests(struct reading *r)
{
	if (r->lines.nwords > FL_GUESTS_MAX + 1)
		return fl_lines_error(&r->lines, "more than %u patterns", FL_GUESTS_MAX);
	return fl_value_patterns(&r->lines, r->arena, &r->limits.guests);
}

static struct ot_err *set_maxcost(struct reading *r)
{
	return fl_value_percent(&r->lines, &r->limits.maxcost);
}

static struct ot_err *set_ttl(struct reading *r)
{
	return fl_value_seconds(&r->lines, &r->limits.ttl_s);
}

static struct ot_err *set_series(struct reading *r)
{
	return fl_value_number(&r->lines, 1, FL_SERIES_MAX, &r->limits.series);
}

static struct ot_err *set_bytes(struct reading *r)
{
	OT_TRY(fl_value_bytes(&r->lines, &r->limits.bytes));
	if (r->limits.bytes > FL_METRICS_MAX)
		return fl_lines_error(&r->lines, "bytes: %s is more than 16m", r->lines.words[1]);
	return NULL;
}

static const struct {
	const char *word;
	struct ot_err *(*set)(struct reading *r);
	bool takes_many;
} settings[] = {
	{ "guests", set_guests, true },  { "maxcost", set_maxcost, false }, { "ttl", set_ttl, false },
	{ "series", set_series, false }, { "bytes", set_bytes, false },
};

static struct ot_err *take_line(struct reading *r)
{
	const char *word = r->lines.words[0];
	size_t i = 0;

	while (i < OT_ARRAY_SIZE(settings) && strcmp(settings[i].word, word))
		i++;
	if (i == OT_ARRAY_SIZE(settings))
		return fl_lines_error(
		    &r->lines, "a program has no setting %s; there are guests, maxcost, ttl, series, bytes",
		    word);
	if (r->lines.nwords < 2 || (r->lines.nwords > 2 && !settings[i].takes_many))
		return fl_lines_error(&r->lines, "%s needs %s", word,
				      settings[i].takes_many ? "at least one pattern" : "one value");
	if (r->seen & 1u << i)
		return fl_lines_error(&r->lines, "%s a second time", word);
	r->seen |= 1u << i;
	return settings[i].set(r);
}

struct ot_err *fl_limits_read(const char *path, struct ot_arena *arena, struct fl_limits *ret)
{
	struct reading r = { .arena = arena,
			     .limits = { .guests = { any_guest, 1 },
					 .maxcost = FL_COST_DEFAULT,
					 .ttl_s = 3600,
					 .series = 1000,
					 .bytes = 1u << 20 } };
	struct ot_err *err = fl_lines_open(path, arena, &r.lines);

	if (err && ot_err_code(err) == OT_ERR_NOT_FOUND) {
		ot_err_destroy(err);
		*ret = r.limits;
		return NULL;
	}
	while (!err) {
		err = fl_lines_next(&r.lines);
		if (err || !r.lines.nwords)
			break;
		err = take_line(&r);
	}
	OT_TRY(err);
	*ret = r.limits;
	return NULL;
}
