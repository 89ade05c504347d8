/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The C types of the kernel that outsight itself runs on, for programs without a guest. Types only: no
 * address of the host's kernel is ever known, and nothing of its memory is read.
 *
 * On any error (no BTF, BTF of a newer kind, no memory) there are no such types.
 */
#ifndef VP_SESSION_HOST_TYPES_H
#define VP_SESSION_HOST_TYPES_H

#include <stdbool.h>

struct vp_btf;
struct vp_types;

/* All zeros to begin with. */
struct vp_host_types {
	bool tried;
	struct vp_btf *btf;
	struct vp_types *types;
};

/** The types; read from @p path at the first call, so that programs that need none do not wait for them.
 * NULL: there are none. */
struct vp_types *vp_host_types_get(struct vp_host_types *host, const char *path);
void vp_host_types_deinit(struct vp_host_types *host);

#endif
