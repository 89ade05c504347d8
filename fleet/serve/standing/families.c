/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses programs' metrics strictly and merges them: see families.h. */
#include "fleet/serve/standing/families.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define PREFIX       "outsight_"
#define LETTERS      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define NAME_LETTERS LETTERS "0123456789"

/* A piece of the text. */
struct piece {
	const char *at;
	size_t len;
};

struct taking {
	struct fl_families *f;
	const char *program;
	char name[FL_FAMILY_NAME]; /* of the family that HELP has named */
	struct piece help;
	struct fl_family *family; /* the family whose TYPE was read; NULL: it is omitted */
	uint64_t refused;
};

void fl_families_init(struct fl_families *f)
{
	f->count = 0;
	ot_map_init(&f->names);
}

void fl_families_deinit(struct fl_families *f)
{
	for (size_t i = 0; i < f->count; i++) {
		ot_buf_deinit(&f->items[i]->text);
		free(f->items[i]);
	}
	f->count = 0;
	ot_map_deinit(&f->names);
}

static bool begins(struct piece line, const char *word)
{
	return line.len >= strlen(word) && !memcmp(line.at, word, strlen(word));
}

static struct piece behind(struct piece line, size_t n)
{
	return (struct piece){ line.at + n, line.len - n };
}

/* The number of leading characters in @set. The text ends with a NUL. */
static size_t span(struct piece p, const char *set)
{
	size_t n = strspn(p.at, set);

	return n < p.len ? n : p.len;
}

/* --- heads ---------------------------------------------------------------------------------------------- */

static bool is_histogram(const char *type)
{
	return !strcmp(type, "histogram");
}

static const char *const histogram_suffixes[] = { "", "_bucket", "_count", "_sum" };

/* The family's own name, and the names of a histogram's series, must not be another family's. */
static bool names_are_free(const struct fl_families *f, const char *name, const char *type)
{
	char full[FL_FAMILY_NAME + 8];

	for (size_t i = 0; i < (is_histogram(type) ? OT_ARRAY_SIZE(histogram_suffixes) : 1); i++) {
		snprintf(full, sizeof(full), "%s%s", name, histogram_suffixes[i]);
		if (ot_map_gets(&f->names, full))
			return false;
	}
	return true;
}

static struct ot_err *take_names(struct fl_families *f, struct fl_family *family, const char *name)
{
	char full[FL_FAMILY_NAME + 8];

	for (size_t i = 0; i < (is_histogram(family->type) ? OT_ARRAY_SIZE(histogram_suffixes) : 1); i++) {
		snprintf(full, sizeof(full), "%s%s", name, histogram_suffixes[i]);
		if (!ot_map_puts(&f->names, full, family))
			return ot_err_nomem();
	}
	return NULL;
}

static struct ot_err *make_family(struct taking *t, const char *type)
{
	struct fl_family *family = calloc(1, sizeof(*family));

	if (!family)
		return ot_err_nomem();
	snprintf(family->type, sizeof(family->type), "%s", type);
	ot_buf_init(&family->text);
	t->f->items[t->f->count++] = family;
	ot_buf_printf(&family->text, "# HELP %s ", t->name);
	ot_buf_append(&family->text, t->help.at, t->help.len);
	ot_buf_printf(&family->text, "\n# TYPE %s %s\n", t->name, type);
	t->family = family;
	return take_names(t->f, family, t->name);
}

/* HELP comes first; the rest after the name is text without a line end. */
static void take_help(struct taking *t, struct piece line)
{
	size_t n = span(line, NAME_LETTERS);

	t->family = NULL;
	t->name[0] = '\0';
	if (!begins(line, PREFIX) || begins(line, FL_OWN_METRICS) || n >= sizeof(t->name) || n == line.len ||
	    line.at[n] != ' ' || memchr(line.at, '\\', line.len)) {
		t->refused++;
		return;
	}
	memcpy(t->name, line.at, n);
	t->name[n] = '\0';
	t->help = behind(line, n + 1);
}

static struct ot_err *take_type(struct taking *t, struct piece line)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	size_t n = strlen(t->name);
	const char *type = NULL;

	t->family = NULL;
	if (!n)
		return NULL; /* HELP was refused, and counted */
	if (!begins(line, t->name) || line.len <= n || line.at[n] != ' ')
		goto refused;
	line = behind(line, n + 1);
	for (size_t i = 0; i < OT_ARRAY_SIZE(types); i++)
		if (line.len == strlen(types[i]) && begins(line, types[i]))
			type = types[i];
	if (!type)
		goto refused;
	struct fl_family *known = ot_map_gets(&t->f->names, t->name);
	char head[FL_FAMILY_NAME + 10];

	/* of the same name and type, and not a series of a histogram's */
	snprintf(head, sizeof(head), "# HELP %s ", t->name);
	if (known && !strcmp(known->type, type) && !strncmp(ot_buf_str(&known->text), head, strlen(head))) {
		t->family = known;
		return NULL;
	}
	if (t->f->count < FL_FAMILIES_MAX && names_are_free(t->f, t->name, type))
		return make_family(t, type);
refused:
	t->name[0] = '\0';
	t->refused++;
	return NULL;
}

/* --- samples -------------------------------------------------------------------------------------------- */

/* The length of `name="text"` at the start of @p, in which '\\', '"' and line ends are escaped; 0: none. */
static size_t label_length(struct piece p)
{
	size_t n = span(p, NAME_LETTERS);

	if (!span(p, LETTERS) || n + 2 > p.len || p.at[n] != '=' || p.at[n + 1] != '"')
		return 0;
	for (size_t i = n + 2; i < p.len; i++) {
		if (p.at[i] == '"')
			return i + 1;
		if (p.at[i] == '\\' && (++i == p.len || !strchr("\\\"n", p.at[i])))
			return 0;
	}
	return 0;
}

/* Append the labels of "{…}", each after a comma; returns the length of all, 0: malformed. A label with the
 * name of ours is renamed as Prometheus would do it. */
static size_t put_labels(struct ot_buf *out, struct piece p)
{
	size_t at = 1;

	while (at < p.len && p.at[at] != '}') {
		struct piece rest = behind(p, at);
		size_t n = label_length(rest);

		if (!n || at + n >= p.len)
			return 0;
		ot_buf_puts(out, begins(rest, "program=") ? ",exported_" : ",");
		ot_buf_append(out, rest.at, n);
		at += n;
		if (p.at[at] == ',')
			at++;
		else if (p.at[at] != '}')
			return 0;
	}
	return at < p.len ? at + 1 : 0;
}

static bool is_series(const struct taking *t, struct piece name)
{
	size_t n = strlen(t->name);

	if (!begins(name, t->name))
		return false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(histogram_suffixes); i++)
		if (name.len == n + strlen(histogram_suffixes[i]) &&
		    !memcmp(name.at + n, histogram_suffixes[i], name.len - n))
			return is_histogram(t->family->type) == (i > 0);
	return false;
}

/* " 17": the output writes integers. */
static bool is_value(struct piece p)
{
	size_t sign = p.len > 1 && p.at[1] == '-';

	return p.len > 1 + sign && p.at[0] == ' ' &&
	       span(behind(p, 1 + sign), "0123456789") == p.len - 1 - sign;
}

static void take_sample(struct taking *t, struct piece line)
{
	struct piece name = { line.at, span(line, NAME_LETTERS) };
	struct ot_buf *out = &t->family->text;
	size_t before = out->len, labels = 0;

	if (!is_series(t, name)) {
		t->refused++;
		return;
	}
	ot_buf_append(out, name.at, name.len);
	ot_buf_printf(out, "{program=\"%s\"", t->program);
	line = behind(line, name.len);
	if (begins(line, "{"))
		labels = put_labels(out, line);
	if (is_value(behind(line, labels)) && begins(line, "{") == !!labels) {
		ot_buf_putc(out, '}');
		ot_buf_append(out, line.at + labels, line.len - labels);
		ot_buf_putc(out, '\n');
		return;
	}
	t->refused++;
	if (!out->failed) {
		out->len = before;
		out->data[before] = '\0';
	}
}

/* --- texts ---------------------------------------------------------------------------------------------- */

static bool is_utf8(const char *text, size_t len)
{
	const uint8_t *s = (const uint8_t *)text;
	int n;

	for (size_t i = 0; i < len; i += (size_t)n) {
		n = ot_utf8_length(s + i, len - i);
		if (n <= 0 || !s[i])
			return false;
	}
	return true;
}

static struct ot_err *take_line(struct taking *t, struct piece line)
{
	if (begins(line, "# HELP "))
		take_help(t, behind(line, 7));
	else if (begins(line, "# TYPE "))
		return take_type(t, behind(line, 7));
	else if (t->family)
		take_sample(t, line);
	return t->family && t->family->text.failed ? ot_err_nomem() : NULL;
}

struct ot_err *fl_families_take(struct fl_families *f, const char *program, const char *text, size_t len,
				uint64_t *ret_refused)
{
	struct taking t = { .f = f, .program = program };

	if (!is_utf8(text, len)) {
		*ret_refused = 1;
		return NULL;
	}
	while (len) {
		const char *end = memchr(text, '\n', len);

		if (!end) { /* an incomplete line */
			t.refused++;
			break;
		}
		struct piece line = { text, (size_t)(end - text) };

		OT_TRY(take_line(&t, line));
		len -= line.len + 1;
		text = end + 1;
	}
	*ret_refused = t.refused;
	return NULL;
}

void fl_families_put(const struct fl_families *f, struct ot_buf *out)
{
	for (size_t i = 0; i < f->count; i++)
		ot_buf_append(out, f->items[i]->text.data, f->items[i]->text.len);
}
