/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file whose readers only ever see it whole: it is written beside its name, and renamed into place. */
#ifndef CONSUMER_REPLACED_H
#define CONSUMER_REPLACED_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct con_replaced {
	char *path;   /* the file's name, without symbolic links; owned */
	char *beside; /* what is being written; owned; NULL: nothing is */
	bool late;    /* it could not be written the last time, which was said */
};

/** Is there a regular file of that name, or none yet? What else has a name (a FIFO, /dev/null) is not to be
 * replaced. */
bool con_replaced_can(const char *path);

/** Begin a file beside @p path, which whoever the umask lets may read. @p ret: a stream to it, the caller's.
 * OS: the folder can't be written. To be deinited after an error too. */
OT_MUST_CHECK struct ot_err *con_replaced_begin(struct con_replaced *f, const char *path, FILE **ret);

/** Put what was written to @p fp (NULL: that stream is closed) in the file's place. @p again: the stream goes
 * on with a new file beside it, and if it can't be written, that is said, the file stays as it was, and the
 * next put() is another attempt. Does nothing if none was begun. OS: it can't be written or renamed; the file
 * is then as it was. */
OT_MUST_CHECK struct ot_err *con_replaced_put(struct con_replaced *f, FILE *fp, bool again);

/** Remove what was begun and not put. */
void con_replaced_deinit(struct con_replaced *f);

#endif
