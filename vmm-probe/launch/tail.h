/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a guest's console output, to report why it failed to boot. A thread reads it, so that the guest
 * never waits for us; only the last VP_TAIL_SIZE bytes are kept.
 */
#ifndef VP_LAUNCH_TAIL_H
#define VP_LAUNCH_TAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define VP_TAIL_SIZE (64u << 10)

struct vp_tail;

OT_MUST_CHECK struct ot_err *vp_tail_create(struct vp_tail **ret);
/** Call it when no writer is left: later writes fail. NULL is fine. */
void vp_tail_destroy(struct vp_tail *tail);

/** A file that another process of this user can open for writing, while this one lives. */
const char *vp_tail_path(const struct vp_tail *tail);

/** The last line that has @p word, from that word on, without control characters; cut to @p size with its
 * NUL. False: there is none. Any thread. */
bool vp_tail_find(struct vp_tail *tail, const char *word, char *buf, size_t size);

#endif
