/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ownership by scope: a local that owns something is declared as its owner, and ot_move() passes it on.
 */
#ifndef OT_BASE_CLEANUP_H
#define OT_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"

static inline void ot_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void ot_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void ot_cleanup_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void ot_cleanup_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static inline void ot_cleanup_err(struct ot_err **err)
{
	ot_err_destroy(*err);
}

#define ot_auto_free  __attribute__((cleanup(ot_cleanup_free)))
#define ot_auto_close __attribute__((cleanup(ot_cleanup_close)))
#define ot_auto_file  __attribute__((cleanup(ot_cleanup_file)))
#define ot_auto_dir   __attribute__((cleanup(ot_cleanup_dir)))
#define ot_auto_err   __attribute__((cleanup(ot_cleanup_err)))
#define ot_auto(fn)   __attribute__((cleanup(fn)))

/* Take a pointer out of a variable that would free it. */
#define ot_move(p)                     \
	({                             \
		__auto_type ot_p_ = p; \
		p = NULL;              \
		ot_p_;                 \
	})

/* The same for a file descriptor. */
#define ot_move_fd(fd)           \
	({                       \
		int ot_fd_ = fd; \
		fd = -1;         \
		ot_fd_;          \
	})

#endif
