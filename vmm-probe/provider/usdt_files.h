/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs' probes in a file's notes: read once for all processes that have mapped it. */
#ifndef VP_PROVIDER_USDT_FILES_H
#define VP_PROVIDER_USDT_FILES_H

#include "vmm-probe/provider/usdt_places.h"

/** Has @p object's file a note whose provider, with the number of reader->process behind it, matches the glob
 * @p pattern? Notes that are not in memory do not count, and are searched for again next time. Errors as
 * vp_pid_object_open(). */
OT_MUST_CHECK struct ot_err *vp_usdt_file_has(const struct vp_usdt_reader *reader,
					      struct vp_pid_object *object, const char *pattern, bool *ret);

/** From now on it has none, regardless of its notes. False without memory. */
OT_MUST_CHECK bool vp_usdt_file_pass_over(const struct vp_usdt_reader *reader,
					  const struct vp_pid_object *object);

#endif
