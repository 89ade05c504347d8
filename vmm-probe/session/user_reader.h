/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process's memory for the search for a runtime: a function, so that tests can supply their own. */
#ifndef VP_SESSION_USER_READER_H
#define VP_SESSION_USER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vp_user_reader {
	/* Copy @len bytes, up to a page, at @at. False: not all of them can be read. */
	bool (*read)(void *arg, uint64_t at, void *dst, size_t len);
	void *arg;
};

static inline bool vp_user_read(const struct vp_user_reader *m, uint64_t at, void *dst, size_t len)
{
	return m->read(m->arg, at, dst, len);
}

static inline bool vp_user_read_u64(const struct vp_user_reader *m, uint64_t at, uint64_t *ret)
{
	return vp_user_read(m, at, ret, sizeof(*ret));
}

static inline bool vp_user_read_u32(const struct vp_user_reader *m, uint64_t at, uint32_t *ret)
{
	return vp_user_read(m, at, ret, sizeof(*ret));
}

static inline bool vp_user_read_u16(const struct vp_user_reader *m, uint64_t at, uint16_t *ret)
{
	return vp_user_read(m, at, ret, sizeof(*ret));
}

#endif
