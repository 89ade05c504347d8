/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The identity of a process as the kernel reports it, which the process itself can't forge. */
#ifndef VP_MACHINES_PROCESS_H
#define VP_MACHINES_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct vp_process {
	uid_t uid;    /* the real one */
	bool one_uid; /* the effective, saved and file system's uid are the same */
	pid_t inner;  /* its PID in its own PID namespace */
};

/** Read a process's identity. NOT_FOUND: there is no such process. */
OT_MUST_CHECK struct ot_err *vp_process_read(pid_t pid, struct vp_process *ret);

/* The process that listens at the other end of a connection. */
struct vp_peer {
	pid_t pid;
	uid_t uid; /* its real uid */
	int pidfd; /* owned by the caller; readable once the process has ended */
};

/**
 * Identify the process that called listen() on the socket to which @p sock, a UNIX stream or SOCK_SEQPACKET
 * socket, is connected: not a process that received the socket later, and not another that reuses the PID.
 * PERMISSION: its uid has changed since listen() (a set-user-ID program). NOT_FOUND: it has ended.
 * UNSUPPORTED: it is in a PID namespace that is not visible from here. @p what names the socket in messages.
 */
OT_MUST_CHECK struct ot_err *vp_peer_read(int sock, const char *what, struct vp_peer *ret);

/** Has the process not ended? Then everything that was read by its PID before this call was of that
 * process. */
bool vp_peer_alive(const struct vp_peer *peer);

#endif
