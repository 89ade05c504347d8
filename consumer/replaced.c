/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are replaced atomically: see replaced.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "consumer/messages.h"
#include "consumer/replaced.h"

bool con_replaced_can(const char *path)
{
	struct stat st;

	return stat(path, &st) ? errno == ENOENT : S_ISREG(st.st_mode);
}

/* A new file beside the path; its descriptor is the caller's. */
static struct ot_err *make_beside(struct con_replaced *f, int *ret)
{
	ot_auto_free char *beside = NULL;
	mode_t mask = umask(0);

	umask(mask);
	if (asprintf(&beside, "%s.XXXXXX", f->path) < 0) {
		beside = NULL;
		return ot_err_nomem();
	}
	int fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return ot_err_os(errno, "cannot create a file beside %s", f->path);
	f->beside = ot_move(beside);
	if (!fchmod(fd, 0666 & ~mask)) {
		*ret = fd;
		return NULL;
	}
	struct ot_err *err = ot_err_os(errno, "cannot create a file beside %s", f->path);
	close(fd);
	return err;
}

struct ot_err *con_replaced_begin(struct con_replaced *f, const char *path, FILE **ret)
{
	int fd = -1;

	*f = (struct con_replaced){ .path = realpath(path, NULL) };
	if (!f->path)
		f->path = strdup(path);
	if (!f->path)
		return ot_err_nomem();
	OT_TRY(make_beside(f, &fd));
	*ret = fdopen(fd, "w");
	if (*ret)
		return NULL;
	close(fd);
	return ot_err_nomem();
}

/* The stream's descriptor becomes a new file beside the path. */
static struct ot_err *go_on(struct con_replaced *f, FILE *fp)
{
	int fd = -1;

	OT_TRY(make_beside(f, &fd));
	int failed = dup2(fd, fileno(fp)) < 0 ? errno : 0;
	close(fd);
	return failed ? ot_err_os(failed, "dup2") : NULL;
}

/* A disk may be full for a while, and the next text contains all data of this one. Consumes @err, which is
 * reported once. */
static struct ot_err *try_later(struct con_replaced *f, FILE *fp, struct ot_err *err)
{
	__fpurge(fp);
	clearerr(fp);
	if (ftruncate(fileno(fp), 0) || lseek(fileno(fp), 0, SEEK_SET) < 0)
		return err;
	if (!f->late)
		con_error("%s: it stays as it is until it can be written again", ot_err_message(err));
	f->late = true;
	ot_err_destroy(err);
	return NULL;
}

struct ot_err *con_replaced_put(struct con_replaced *f, FILE *fp, bool again)
{
	if (!f->beside)
		return NULL;
	errno = 0;
	if (fp && (fflush(fp) == EOF || ferror(fp))) {
		struct ot_err *err = ot_err_os(errno ? errno : EIO, "failed to write to %s", f->path);
		return again ? try_later(f, fp, err) : err;
	}
	f->late = false;
	if (rename(f->beside, f->path))
		return ot_err_os(errno, "cannot replace %s", f->path);
	free(f->beside);
	f->beside = NULL;
	return again ? go_on(f, fp) : NULL;
}

void con_replaced_deinit(struct con_replaced *f)
{
	if (f->beside)
		unlink(f->beside);
	free(f->beside);
	free(f->path);
	*f = (struct con_replaced){ 0 };
}
