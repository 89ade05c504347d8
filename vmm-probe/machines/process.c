/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a process's identity from /proc, and a socket's listener from SO_PEERCRED and SO_PEERPIDFD. */
#include "vmm-probe/machines/process.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define STATUS_MAX (2u << 20) /* a process may have 65536 groups, listed before NSpid */

#ifndef SO_PEERPIDFD /* Linux 6.5; older headers lack it */
#define SO_PEERPIDFD 77
#endif

/* The text after "\nNAME:"; "": none. */
static const char *field(const char *status, const char *name)
{
	const char *p = strstr(status, name);

	return p ? p + strlen(name) : "";
}

/* "\t0\t0\t0\t0": the real, effective, saved and file system uid. */
static bool take_uids(const char *text, uid_t ret[4])
{
	for (int i = 0; i < 4; i++) {
		char *end;
		ret[i] = (uid_t)strtoul(text, &end, 10);
		if (end == text)
			return false;
		text = end;
	}
	return true;
}

struct ot_err *vp_process_read(pid_t pid, struct vp_process *ret)
{
	ot_auto_free char *status = NULL;
	char path[64];
	uid_t uid[4];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	struct ot_err *err = ot_read_file(path, STATUS_MAX, &status, &len);
	if (err && ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	ot_err_destroy(err);
	if (!status || !take_uids(field(status, "\nUid:"), uid))
		return ot_err_new(OT_ERR_NOT_FOUND, "there is no process %d", (int)pid);
	const char *inner = field(status, "\nNSpid:");
	size_t n = strcspn(inner, "\n");
	while (n && inner[n - 1] != '\t' && inner[n - 1] != ' ')
		n--;
	long number = strtol(inner + n, NULL, 10);
	*ret = (struct vp_process){
		.uid = uid[0],
		.one_uid = uid[0] == uid[1] && uid[0] == uid[2] && uid[0] == uid[3],
		.inner = number > 0 ? (pid_t)number : pid,
	};
	return NULL;
}

bool vp_peer_alive(const struct vp_peer *peer)
{
	struct pollfd p = { .fd = peer->pidfd, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

/* -1: the process has ended. *ret_same: the descriptor is certainly of the listener, not of a process that
 * reuses its PID. */
static int open_pidfd(int sock, pid_t pid, bool *ret_same)
{
	socklen_t len = sizeof(int);
	int fd = -1;

	*ret_same = !getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &fd, &len);
	if (*ret_same)
		return fd;
	return errno == ENOPROTOOPT ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

/* Does the process have the uid with which it called listen()? Root may have dropped its privileges since
 * (QEMU's -run-with user=), provided that it is certainly the same process. */
static bool is_listener(const struct vp_process *p, uid_t listened, bool same)
{
	return p->one_uid && (p->uid == listened || (!listened && same));
}

struct ot_err *vp_peer_read(int sock, const char *what, struct vp_peer *ret)
{
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	struct vp_process process;
	bool same = false;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return ot_err_os(errno, "%s", what);
	if (cred.pid <= 0)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "%s: its listener is not visible from here (another PID namespace?)", what);
	struct vp_peer peer = { .pid = cred.pid, .pidfd = open_pidfd(sock, cred.pid, &same) };
	ot_auto_close int pidfd = peer.pidfd;
	struct ot_err *err = pidfd < 0 ? NULL : vp_process_read(cred.pid, &process);
	if (err && ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	bool gone = pidfd < 0 || err || !vp_peer_alive(&peer);
	ot_err_destroy(err);
	if (gone)
		return ot_err_new(OT_ERR_NOT_FOUND, "%s: process %d, which listened there, has ended", what,
				  (int)cred.pid);
	if (!is_listener(&process, cred.uid, same))
		return ot_err_new(OT_ERR_PERMISSION,
				  "%s: process %d called listen() as uid %u and runs as uid %u now: "
				  "it is not trusted to be a guest's",
				  what, (int)cred.pid, (unsigned)cred.uid, (unsigned)process.uid);
	peer.uid = process.uid;
	peer.pidfd = ot_move_fd(pidfd);
	*ret = peer;
	return NULL;
}
