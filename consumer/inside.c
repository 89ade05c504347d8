/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recognising texts, reading their lines and words, and joining a text with the items found in memory. */
#include "consumer/inside.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "consumer/inside_internal.h"

void con_inside_deinit(struct con_inside *in)
{
	vp_census_deinit(&in->seen);
}

struct ot_err *con_inside_load(int fd, const char *name, struct ot_buf *out)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ot_err_os(errno, "failed to read %s", name);
		if (out->len + (size_t)n > CON_INSIDE_BYTES_MAX)
			return ot_err_new(OT_ERR_LIMIT, "%s has more than %u MiB", name,
					  CON_INSIDE_BYTES_MAX >> 20);
		ot_buf_append(out, chunk, (size_t)n);
		if (out->failed)
			return ot_err_nomem();
	}
	return NULL;
}

/* --- words -------------------------------------------------------------------------------------------- */

bool con_word_is(const struct con_word *w, const char *text)
{
	return w->len == strlen(text) && !memcmp(w->at, text, w->len);
}

bool con_word_number(const struct con_word *w, int base, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	for (size_t i = 0; i < w->len; i++) {
		unsigned char c = (unsigned char)w->at[i];
		int digit = isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : 16;

		if (digit >= base || value > (max - (uint64_t)digit) / (uint64_t)base)
			return false;
		value = value * (uint64_t)base + (uint64_t)digit;
	}
	*ret = value;
	return w->len;
}

struct con_word con_line_rest(const struct con_line *line, size_t i)
{
	return (struct con_word){ line->words[i].at, (size_t)(line->at + line->len - line->words[i].at) };
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The line that begins at @p at; false: it has no words. */
static bool read_line(const char *at, size_t len, struct con_line *ret)
{
	size_t i = 0;

	while (len && is_blank(at[len - 1]))
		len--;
	*ret = (struct con_line){ .at = at, .len = len };
	while (i < len && ret->n < CON_INSIDE_WORDS) {
		struct con_word *w = &ret->words[ret->n++];

		while (is_blank(at[i])) /* the last byte is not one */
			i++;
		w->at = at + i;
		while (i < len && !is_blank(at[i]))
			i++;
		w->len = (size_t)(at + i - w->at);
	}
	return ret->n;
}

/* --- texts -------------------------------------------------------------------------------------------- */

struct ot_err *con_inside_bad(const struct con_text_reader *r)
{
	return ot_err_new(OT_ERR_BAD_DATA, "%s:%llu: this is no line of %s", r->name,
			  (unsigned long long)r->line, r->shape->what);
}

struct ot_err *con_inside_add(struct con_text_reader *r, uint64_t id, const char *name, size_t len)
{
	return vp_census_add(&r->in->seen, id, 0, CON_HIDDEN_TEXT, name, len);
}

static const struct con_text_shape *find_in(const struct con_text_shape *shapes, const struct con_line *first)
{
	for (; shapes->what; shapes++)
		if (shapes->is(first))
			return shapes;
	return NULL;
}

static struct ot_err *find_shape(struct con_text_reader *r, const struct con_line *first)
{
	r->shape = find_in(con_inside_sockets, first);
	if (!r->shape)
		r->shape = find_in(con_inside_lists, first);
	if (!r->shape)
		return ot_err_new(
		    OT_ERR_BAD_DATA,
		    "%s is not a text that can be compared: ps -e, lsmod, ss -tuan, ldd, "
		    "/proc/modules, /proc/net/tcp, tcp6, udp, udp6, /proc/mounts, /proc/PID/maps",
		    r->name);
	r->heading = *first;
	r->in->kind = r->shape->kind;
	return NULL;
}

static struct ot_err *take_line(struct con_text_reader *r, const struct con_line *line)
{
	if (r->shape)
		return r->shape->line(r, line);
	OT_TRY(find_shape(r, line));
	return r->shape->has_heading ? NULL : r->shape->line(r, line);
}

struct ot_err *con_inside_read(const char *name, const char *text, size_t len, struct con_inside *ret)
{
	struct con_text_reader r = { .name = name, .in = ret };
	struct con_line line;

	*ret = (struct con_inside){ .seen.ways = CON_HIDDEN_TEXT };
	for (const char *at = text, *end = text + len; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((newline ?: end) - at);

		r.line++;
		if (read_line(at, n, &line))
			OT_TRY(take_line(&r, &line));
		at += n + (newline != NULL);
	}
	if (!r.shape)
		return ot_err_new(OT_ERR_BAD_DATA, "%s is empty", name);
	if (r.shape->end)
		OT_TRY(r.shape->end(&r));
	vp_census_join(&ret->seen);
	return NULL;
}

/* --- beside memory -------------------------------------------------------------------------------------- */

/* The kind in con_inside.sockets of a socket, by its name. */
static uint32_t socket_bit(const char *name)
{
	return 1u << ((name[0] == 'u' ? 2 : 0) + (name[3] == '6'));
}

/* Would the text list it, and under which name? @p f is of memory. */
static struct ot_err *name_as(const struct con_inside *in, struct vp_census *seen, struct vp_found *f,
			      bool *ret_listed)
{
	ot_auto(ot_buf_deinit) struct ot_buf name = { 0 };

	*ret_listed = in->kind != &con_hidden_sockets || in->sockets & socket_bit(f->name);
	if (!in->by_soname)
		return NULL;
	*ret_listed = !f->owner; /* the program itself */
	con_inside_soname(f->name, &name);
	f->name = ot_arena_strndup(&seen->names, ot_buf_str(&name), name.len);
	return name.failed || !f->name ? ot_err_nomem() : NULL;
}

struct ot_err *con_inside_join(const struct con_inside *in, struct vp_census *seen)
{
	size_t n = 0;

	for (size_t i = 0; i < seen->count; i++) {
		bool listed;

		OT_TRY(name_as(in, seen, &seen->items[i], &listed));
		if (listed)
			seen->items[n++] = seen->items[i];
	}
	seen->count = n;
	for (size_t i = 0; i < in->seen.count; i++) {
		const struct vp_found *f = &in->seen.items[i];

		OT_TRY(vp_census_add(seen, f->id, 0, CON_HIDDEN_TEXT, f->name, strlen(f->name)));
	}
	seen->ways |= CON_HIDDEN_TEXT;
	vp_census_join(seen);
	return NULL;
}
