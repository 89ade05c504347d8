/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernels of a session. A program holds offsets of members and addresses of symbols, so it is compiled
 * once for each kernel that the guests run (docs/design/013-several-kernels.md), into one program whose
 * clauses name their kernel. Guests of one build are one kernel, unless the program holds an address that
 * differs between them.
 */
#ifndef VP_SESSION_KERNELS_H
#define VP_SESSION_KERNELS_H

#include "dif/lang/compile.h"
#include "vmm-probe/attach/link.h"

struct vp_session;

struct vp_session_kernel {
	struct vp_session *session;
	uint32_t number, first; /* its own, and its first guest's index */
	bool used_address;      /* the program holds the address of a symbol */
	struct dif_world world; /* its `env` is this struct */
};

struct vp_session_kernels {
	struct vp_session_kernel items[VP_GUESTS_MAX];
	uint32_t n;                 /* 1 without a guest */
	uint32_t of[VP_GUESTS_MAX]; /* by guest */
	bool by_address;            /* guests of one build at two addresses are two */
};

/** Group the guests that are attached; the first one's kernel is number 0. */
void vp_kernels_group(struct vp_session *s);
/** The same of one more guest: the other kernels' numbers stay. True: no other guest runs its kernel, and the
 * program must be compiled for it. */
bool vp_kernels_add(struct vp_session *s, uint32_t guest);

#endif
