/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guard between untrusted text and a terminal. */
#include "consumer/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/utf8.h"

#define GUARDS_MAX 4
#define HELD_MAX   4
#define CHUNK      1024

struct guard {
	FILE *stream; /* NULL: this place is free */
	FILE *under;  /* closed with it; NULL: the process's own */
	int fd;
	bool terminal, utf8;
	bool raw;
	bool given_up; /* it is not written to any more */
	/* undecided until more bytes arrive: the beginning of a sequence, a carriage return */
	uint8_t held[HELD_MAX];
	size_t nheld;
};

static struct guard guards[GUARDS_MAX];
static const struct con_terminal_patience *patience;
static bool gave_up;

static struct guard *guard_of(const FILE *fp)
{
	for (size_t i = 0; i < GUARDS_MAX; i++)
		if (fp && guards[i].stream == fp)
			return &guards[i];
	return NULL;
}

/* --- the filter ---------------------------------------------------------------------------------------- */

static bool is_text(uint32_t c)
{
	return c == '\t' || c == '\n' || ot_utf8_is_text(c);
}

/* Length of the first unit in the @n bytes at @s; 0: more bytes are needed. *ret_good: it is text. */
static size_t judge(const struct guard *g, const uint8_t *s, size_t n, bool *ret_good)
{
	if (*s == '\r') {
		*ret_good = n > 1 && s[1] == '\n';
		return n > 1;
	}
	int length = *s < 0x80 ? 1 : g->utf8 ? ot_utf8_length(s, n) : 0;
	*ret_good = length > 0 && is_text(ot_utf8_char(s, length));
	return length < 0 ? 0 : length ? (size_t)length : 1;
}

/* Filter @n bytes at @s into @out, which has room for as many. Returns bytes written; *ret_used: bytes
 * consumed. */
static size_t tame(const struct guard *g, const uint8_t *s, size_t n, uint8_t *out, size_t *ret_used)
{
	size_t len = 0, at = 0, size;
	bool good;

	while (at < n && (size = judge(g, s + at, n - at, &good))) {
		if (good)
			memcpy(out + len, s + at, size);
		else
			out[len] = '?';
		len += good ? size : 1;
		at += size;
	}
	*ret_used = at;
	return len;
}

/* --- the stream ---------------------------------------------------------------------------------------- */

/* True: a write of a pipe's atomic size will not block, or waiting has no limit. */
static bool wait_for_room(struct guard *g)
{
	if (!patience)
		return true;
	struct pollfd fds[] = { { .fd = g->fd, .events = POLLOUT },
				{ .fd = patience->fds[0], .events = POLLIN },
				{ .fd = patience->fds[1], .events = POLLIN } };

	while (!g->given_up) {
		int n = poll(fds, OT_ARRAY_SIZE(fds), -1);
		if ((n < 0 && errno != EINTR) || (n > 0 && fds[0].revents))
			return true; /* otherwise the write returns the error */
		g->given_up = n > 0 && patience->has_enough(patience->arg);
	}
	gave_up = true;
	return false;
}

static bool put(struct guard *g, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		if (g->given_up || !wait_for_room(g)) {
			errno = ECANCELED;
			return false;
		}
		ssize_t n = write(g->fd, p, patience && len > PIPE_BUF ? PIPE_BUF : len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

static bool put_tamed(struct guard *g, const char *data, size_t size)
{
	uint8_t in[HELD_MAX + CHUNK], out[HELD_MAX + CHUNK];

	while (size) {
		size_t n = size < CHUNK ? size : CHUNK, used;
		memcpy(in, g->held, g->nheld);
		memcpy(in + g->nheld, data, n);
		size_t len = tame(g, in, g->nheld + n, out, &used);
		size_t held = g->nheld + n - used;
		memcpy(g->held, in + used, held);
		g->nheld = held;
		if (!put(g, out, len))
			return false;
		data += n;
		size -= n;
	}
	return true;
}

/* The held bytes are an incomplete sequence. */
static bool put_held(struct guard *g)
{
	bool pending = g->nheld;

	g->nheld = 0;
	return !pending || put(g, "?", 1);
}

static ssize_t write_guarded(void *cookie, const char *data, size_t size)
{
	struct guard *g = cookie;
	bool ok = g->terminal && !g->raw ? put_tamed(g, data, size) : put_held(g) && put(g, data, size);

	return ok ? (ssize_t)size : 0;
}

static int close_guarded(void *cookie)
{
	struct guard *g = cookie;
	bool ok = put_held(g);

	if (g->under && fclose(g->under))
		ok = false;
	*g = (struct guard){ 0 };
	return ok ? 0 : EOF;
}

static FILE *guard_fd(int fd, FILE *under, bool terminal, bool utf8)
{
	const cookie_io_functions_t io = { .write = write_guarded, .close = close_guarded };

	for (size_t i = 0; i < GUARDS_MAX; i++) {
		struct guard *g = &guards[i];
		if (g->stream)
			continue;
		*g = (struct guard){ .under = under, .fd = fd, .terminal = terminal, .utf8 = utf8 };
		g->stream = fopencookie(g, "w", io);
		if (g->stream && terminal)
			setvbuf(g->stream, NULL, _IOLBF, 0);
		return g->stream;
	}
	return NULL;
}

/* Does the operator's terminal use UTF-8, by the locale of the environment? */
static bool has_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

	if (locale)
		freelocale(locale);
	return utf8;
}

FILE *con_terminal_guard(FILE *fp)
{
	bool terminal = isatty(fileno(fp));

	fflush(fp);
	FILE *stream = guard_fd(fileno(fp), fp == stdout || fp == stderr ? NULL : fp, terminal, has_utf8());
	return stream || terminal ? stream : fp;
}

FILE *con_terminal_guard_test(int fd, bool utf8)
{
	return guard_fd(fd, NULL, true, utf8);
}

void con_terminal_wait(const struct con_terminal_patience *p)
{
	patience = p;
}

bool con_terminal_gave_up(void)
{
	return gave_up;
}

/* --- unfiltered output --------------------------------------------------------------------------------- */

static bool would_change(const struct guard *g, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] >= 0x80 || !is_text(data[i]))
			return g->terminal;
	return false;
}

void con_terminal_raw(FILE *fp, const void *data, size_t len)
{
	struct guard *g = guard_of(fp);

	if (!g || !would_change(g, data, len)) {
		fwrite(data, 1, len, fp);
		return;
	}
	fflush(fp);
	g->raw = true;
	fwrite(data, 1, len, fp);
	fflush(fp);
	g->raw = false;
}

int con_terminal_fileno(FILE *fp)
{
	const struct guard *g = guard_of(fp);

	return g ? g->fd : fileno(fp);
}

void con_terminal_redirected(FILE *fp)
{
	struct guard *g = guard_of(fp);

	if (g)
		g->terminal = isatty(g->fd);
}
