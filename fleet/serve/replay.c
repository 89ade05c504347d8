/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Used invitations, in memory and on disk. The file has records of one size. It only grows until half of it
 * has expired; then it is rewritten under another name and renamed. */
#include "fleet/serve/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"

#define NAME "replayed"

struct taken {
	uint8_t signer[FL_PUBLIC];
	uint8_t nonce[FL_NONCE];
	uint64_t not_after;
};

_Static_assert(sizeof(struct taken) == 56, "a record of the file");

struct fl_replay {
	int dir, fd; /* fd: at the file's end, locked */
	struct taken *items;
	size_t count, cap;
	size_t in_file;
};

/* --- memory ------------------------------------------------------------------------------------------- */

static void forget(struct fl_replay *r, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++)
		if (r->items[i].not_after >= now)
			r->items[kept++] = r->items[i];
	r->count = kept;
}

static struct ot_err *check_new(const struct fl_replay *r, const struct fl_request *request)
{
	uint32_t own = 0;

	for (size_t i = 0; i < r->count; i++) {
		if (memcmp(r->items[i].signer, request->signer, FL_PUBLIC) != 0)
			continue;
		if (!memcmp(r->items[i].nonce, request->nonce, FL_NONCE))
			return ot_err_new(OT_ERR_PERMISSION,
					  "the invitation was used before: it was replayed");
		own++;
	}
	if (own >= FL_REPLAY_EACH)
		return ot_err_new(OT_ERR_LIMIT, "%u invitations of this operator have not expired yet", own);
	return NULL;
}

/* --- file --------------------------------------------------------------------------------------------- */

static struct ot_err *open_file(int dir, const char *name, int flags, int *ret)
{
	ot_auto_close int fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0600);

	if (fd < 0)
		return ot_err_os(errno, "%s", name);
	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK
			   ? ot_err_new(OT_ERR_BUSY, "another outsight-serve uses this state folder")
			   : ot_err_os(errno, "%s: flock", name);
	*ret = ot_move_fd(fd);
	return NULL;
}

/* The invitation of an incomplete record had no effect. */
static struct ot_err *load(struct fl_replay *r, uint64_t now)
{
	ot_auto_free char *data = NULL;
	size_t len;

	OT_TRY(ot_read_fd(r->fd, NAME, FL_REPLAY_MAX * 2 * sizeof(struct taken), &data, &len));
	size_t n = len / sizeof(struct taken);

	if (!ot_grow(&r->items, &r->cap, n + 1, sizeof(*r->items)))
		return ot_err_nomem();
	if (n)
		memcpy(r->items, data, n * sizeof(*r->items));
	r->count = n;
	forget(r, now);
	return NULL;
}

/* Exactly the contents of memory. */
static struct ot_err *rewrite(struct fl_replay *r)
{
	ot_auto_close int fd = -1;

	unlinkat(r->dir, NAME ".new", 0);
	OT_TRY(open_file(r->dir, NAME ".new", O_EXCL, &fd));
	OT_TRY(ot_err_prefix(ot_write_all(fd, r->items, r->count * sizeof(*r->items)), NAME));
	if (fsync(fd) || renameat(r->dir, NAME ".new", r->dir, NAME) || fsync(r->dir))
		return ot_err_os(errno, NAME);
	close(r->fd);
	r->fd = ot_move_fd(fd);
	r->in_file = r->count;
	return NULL;
}

static struct ot_err *append(struct fl_replay *r, const struct taken *taken)
{
	struct ot_err *err = ot_write_all(r->fd, taken, sizeof(*taken));

	if (!err && fdatasync(r->fd))
		err = ot_err_os(errno, "fdatasync");
	if (!err)
		r->in_file++;
	else
		r->in_file = FL_REPLAY_MAX; /* perhaps incomplete: the next one rewrites it */
	return ot_err_prefix(err, NAME);
}

/* --- from outside ------------------------------------------------------------------------------------- */

struct ot_err *fl_replay_open(const char *state, uint64_t now, struct fl_replay **ret)
{
	struct fl_replay *r = calloc(1, sizeof(*r));

	if (!r)
		return ot_err_nomem();
	r->fd = -1;
	r->dir = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ot_err *err = r->dir < 0 ? ot_err_os(errno, "%s", state) : NULL;

	if (!err)
		err = open_file(r->dir, NAME, 0, &r->fd);
	if (!err)
		err = load(r, now);
	if (!err) /* this removes expired records, and an incomplete one at its end */
		err = rewrite(r);
	if (err) {
		fl_replay_close(r);
		return ot_err_prefix(err, "the file of invitations in %s", state);
	}
	*ret = r;
	return NULL;
}

void fl_replay_close(struct fl_replay *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	if (r->dir >= 0)
		close(r->dir);
	free(r->items);
	free(r);
}

struct ot_err *fl_replay_take(struct fl_replay *r, const struct fl_request *request, uint64_t now)
{
	struct taken taken = { .not_after = request->not_after };

	forget(r, now);
	OT_TRY(check_new(r, request));
	if (r->count >= FL_REPLAY_MAX || !ot_grow(&r->items, &r->cap, r->count + 1, sizeof(*r->items)))
		return ot_err_nomem();
	memcpy(taken.signer, request->signer, FL_PUBLIC);
	memcpy(taken.nonce, request->nonce, FL_NONCE);
	/* always in memory: one that could not be written is also refused the second time */
	r->items[r->count++] = taken;
	if (r->in_file >= 2 * r->count + FL_REPLAY_EACH || r->in_file >= FL_REPLAY_MAX)
		return rewrite(r);
	return append(r, &taken);
}
