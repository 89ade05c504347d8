/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper resumes the guest if this process is killed. When its client vanishes, a stub leaves the guest
 * as it is: with breakpoints, or stopped (as QEMU does). So a small process holds the connection too, and
 * detaches when its parent ends without closing it. From the fork on it runs only system calls.
 */
#ifndef VP_BACKEND_GDB_KEEPER_H
#define VP_BACKEND_GDB_KEEPER_H

#include <sys/types.h>

#include "base/err.h"

struct vp_gdb_keeper {
	pid_t pid;   /* 0: none */
	int pipe_fd; /* its closing means that this process has ended */
};

OT_MUST_CHECK struct ot_err *vp_gdb_keeper_start(struct vp_gdb_keeper *keeper, int stub_fd);
/** The connection was closed properly; the keeper ends without acting. */
void vp_gdb_keeper_stop(struct vp_gdb_keeper *keeper);

#endif
