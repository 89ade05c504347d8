/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that only their owner can write, and their lines. */
#include "fleet/trust/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"

#define BLANKS " \t\r"

static struct ot_err *check(int fd, const char *path, enum fl_file kind)
{
	struct stat st;

	if (fstat(fd, &st))
		return ot_err_os(errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return ot_err_new(OT_ERR_PERMISSION, "%s is not a plain file", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return ot_err_new(OT_ERR_PERMISSION, "%s belongs to uid %u, neither to this user nor to root",
				  path, (unsigned)st.st_uid);
	if (kind == FL_FILE_SECRET && (st.st_mode & 077))
		return ot_err_new(OT_ERR_PERMISSION,
				  "%s has mode %03o, and others may use the key: chmod 600 %s", path,
				  (unsigned)st.st_mode & 0777, path);
	if (st.st_mode & 022)
		return ot_err_new(OT_ERR_PERMISSION,
				  "%s has mode %03o, and others may change it: chmod 644 %s", path,
				  (unsigned)st.st_mode & 0777, path);
	return NULL;
}

struct ot_err *fl_trusted_open(const char *path, enum fl_file kind, int *ret_fd)
{
	/* opening a FIFO would wait for its writer */
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (kind == FL_FILE_SECRET ? O_NOFOLLOW : 0);
	ot_auto_close int fd = open(path, flags);

	if (fd < 0 && errno == ENOENT)
		return ot_err_new(OT_ERR_NOT_FOUND, "%s: there is no such file", path);
	if (fd < 0 && errno == ELOOP)
		return ot_err_new(OT_ERR_PERMISSION, "%s is a symbolic link", path);
	if (fd < 0)
		return ot_err_os(errno, "%s", path);
	OT_TRY(check(fd, path, kind));
	*ret_fd = ot_move_fd(fd);
	return NULL;
}

struct ot_err *fl_lines_open(const char *path, struct ot_arena *arena, struct fl_lines *ret)
{
	ot_auto_free char *text = NULL;
	ot_auto_close int fd = -1;
	size_t len;

	OT_TRY(fl_trusted_open(path, FL_FILE_PUBLIC, &fd));
	OT_TRY(ot_read_fd(fd, path, FL_LINES_MAX, &text, &len));
	if (memchr(text, '\0', len))
		return ot_err_new(OT_ERR_SYNTAX, "%s is not text: it contains a byte 0", path);
	char *kept = ot_arena_strndup(arena, text, len);

	if (!kept)
		return ot_err_nomem();
	*ret = (struct fl_lines){ .path = path, .at = kept };
	return NULL;
}

/* Cut one line into words. */
static struct ot_err *split(struct fl_lines *lines, char *line)
{
	lines->nwords = 0;
	for (;;) {
		line += strspn(line, BLANKS);
		if (!*line || *line == '#')
			return NULL;
		if (lines->nwords == FL_WORDS_MAX)
			return fl_lines_error(lines, "more than %u words", FL_WORDS_MAX);
		lines->words[lines->nwords++] = line;
		line += strcspn(line, BLANKS);
		if (*line)
			*line++ = '\0';
	}
}

struct ot_err *fl_lines_next(struct fl_lines *lines)
{
	lines->nwords = 0;
	while (!lines->nwords && *lines->at) {
		char *line = lines->at, *end = strchrnul(line, '\n');

		lines->at = *end ? end + 1 : end;
		*end = '\0';
		lines->number++;
		OT_TRY(split(lines, line));
	}
	return NULL;
}

struct ot_err *fl_lines_error(const struct fl_lines *lines, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct ot_err *err = ot_err_vnew(OT_ERR_SYNTAX, fmt, ap);

	va_end(ap);
	err = ot_err_prefix(err, "%s:%u", lines->path, lines->number);
	return err ? err : ot_err_nomem();
}
