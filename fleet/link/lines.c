/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines from a pipe. */
#include "fleet/link/lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

void fl_lines_close(struct fl_lines *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

/* Empty ones are left out. */
static void end_line(struct fl_lines *l)
{
	while (l->len && (l->text[l->len - 1] == '\r' || l->text[l->len - 1] == ' '))
		l->len--;
	if (!l->len)
		return;
	l->text[l->len] = '\0';
	l->len = 0;
	ot_utf8_tame_string(l->text);
	memcpy(l->last, l->text, sizeof(l->last));
	if (l->say)
		l->say(l->arg, l->last);
}

static void add(struct fl_lines *l, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (data[i] != '\n')
			l->text[l->len++] = data[i] ? data[i] : '?';
		if (data[i] == '\n' || l->len == FL_LINE_MAX - 1)
			end_line(l);
	}
}

void fl_lines_read(struct fl_lines *l)
{
	char data[4096];
	ssize_t n;

	for (size_t all = 0; l->fd >= 0 && all < FL_LINES_AT_ONCE; all += (size_t)n) {
		do
			n = read(l->fd, data, sizeof(data));
		while (n < 0 && errno == EINTR);
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0) {
			end_line(l);
			fl_lines_close(l);
			return;
		}
		add(l, data, (size_t)n);
	}
}
