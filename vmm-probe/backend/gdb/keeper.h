/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who lets the guest run on when this process is killed. A stub whose client vanishes keeps the guest as it
 * is: breakpoints in, or stopped (QEMU does). So a small process holds the connection too, and, when its
 * parent is gone without a word, detaches for it. It runs nothing but system calls from the fork on.
 */
#ifndef VP_BACKEND_GDB_KEEPER_H
#define VP_BACKEND_GDB_KEEPER_H

#include <sys/types.h>

#include "base/err.h"

struct vp_gdb_keeper {
	pid_t pid;   /* 0: none */
	int pipe_fd; /* its end means that we are gone */
};

OT_MUST_CHECK struct ot_err *vp_gdb_keeper_start(struct vp_gdb_keeper *keeper, int stub_fd);
/** The connection has been closed in good order; nothing is left to do for it. */
void vp_gdb_keeper_stop(struct vp_gdb_keeper *keeper);

#endif
