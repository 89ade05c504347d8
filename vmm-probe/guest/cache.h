/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results from a file that the operator named (the copies of inlined functions), stored by the kernel's build
 * id. Data of a guest's memory is never stored for sessions, because another guest's session would read it.
 * (Its probes' names are, for a shell's completion alone.)
 */
#ifndef VP_GUEST_CACHE_H
#define VP_GUEST_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct vp_cache;

/** Open the cache in @p dir (an absolute path; created with mode 0700 if absent), or, with NULL, in
 * ${XDG_CACHE_HOME:-~/.cache}/outsight. PERMISSION: another user owns it, or others may write to it. */
OT_MUST_CHECK struct ot_err *vp_cache_open(const char *dir, struct vp_cache **ret);
void vp_cache_close(struct vp_cache *cache);

/** A file about the kernel of that build id: @p kind is its name's suffix. It was written by this user's
 * outsight. *ret is owned by the caller. NOT_FOUND: there is none, or it is invalid. */
OT_MUST_CHECK struct ot_err *vp_cache_read(const struct vp_cache *cache, const uint8_t *build_id, size_t len,
					   const char *kind, char **ret, size_t *ret_len);
/** Write such a file; an existing one is replaced atomically. */
OT_MUST_CHECK struct ot_err *vp_cache_write(const struct vp_cache *cache, const uint8_t *build_id, size_t len,
					    const char *kind, const void *data, size_t data_len);

#endif
