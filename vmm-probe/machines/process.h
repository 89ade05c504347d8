/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who a process is, by the kernel's word: nothing that the process itself can say. */
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

/** NOT_FOUND: there is none. */
OT_MUST_CHECK struct ot_err *vp_process_read(pid_t pid, struct vp_process *ret);

/* Who listens at the other end of a connection. */
struct vp_peer {
	pid_t pid;
	uid_t uid; /* as which it runs */
	int pidfd; /* the caller's; readable once it has ended */
};

/**
 * The process that called listen() on the socket that @p sock, of a UNIX stream or SOCK_SEQPACKET, is
 * connected to. Not one that was given the socket since, nor another that has got its PID, nor one that has
 * become somebody else by a program with the set-user-ID bit: then nothing is returned but PERMISSION.
 * NOT_FOUND: it has ended. UNSUPPORTED: it is in a PID namespace that can't be seen from here. @p what is the
 * socket, for messages.
 */
OT_MUST_CHECK struct ot_err *vp_peer_read(int sock, const char *what, struct vp_peer *ret);

/** It has not ended: what was found of its PID, before this was asked, was its own. */
bool vp_peer_alive(const struct vp_peer *peer);

#endif
