/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that its readers always see complete: it is written beside its name, and renamed into place. */
#ifndef CONSUMER_REPLACED_H
#define CONSUMER_REPLACED_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct con_replaced {
	char *path;   /* the file's name, without symbolic links; owned */
	char *beside; /* what is being written; owned; NULL: nothing is */
	bool late;    /* the last write failed, and was reported */
};

/** Is there a regular file of that name, or none yet? Other files (a FIFO, /dev/null) must not be
 * replaced. */
bool con_replaced_can(const char *path);

/** Begin a file beside @p path, with permissions by the umask. @p ret: a stream to it, the caller's. OS: the
 * folder can't be written. To be deinited after an error too. */
OT_MUST_CHECK struct ot_err *con_replaced_begin(struct con_replaced *f, const char *path, FILE **ret);

/** Put what was written to @p fp (NULL: that stream is closed) in the file's place. @p again: the stream
 * continues with a new file beside it. If that can't be written, it is reported, the file stays as it was,
 * and the next put() tries again. Does nothing if none was begun. OS: it can't be written or renamed; the
 * file is then as it was. */
OT_MUST_CHECK struct ot_err *con_replaced_put(struct con_replaced *f, FILE *fp, bool again);

/** Remove a file that was begun and not put. */
void con_replaced_deinit(struct con_replaced *f);

#endif
