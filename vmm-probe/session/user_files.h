/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operator's own copies of a guest's files: below --sysroot, and this host's. A copy counts only if its
 * build id is that of the guest's file, so a wrong one names nothing.
 */
#ifndef VP_SESSION_USER_FILES_H
#define VP_SESSION_USER_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm-probe/guest/elf/elf.h"

/* The file to find. */
struct vp_user_wanted {
	const char *sysroot; /* --sysroot; NULL: none */
	const char *path;    /* in the guest, which chose it */
	const uint8_t *build_id;
	size_t build_id_len; /* 0: it has none, and nothing is found */
};

/** Call @p use for each copy, a file with debugging information or the file itself, until it returns an
 * error, which is passed on. Only regular files are opened; none outside of the sysroot, or, of this host, of
 * the directories of programs and libraries. */
OT_MUST_CHECK struct ot_err *vp_user_files_each(const struct vp_user_wanted *wanted,
						struct ot_err *(*use)(void *arg, struct vp_elf *elf),
						void *arg);

#endif
