/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connecting to a gdb stub's socket. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "vmm-probe/backend/gdb/keeper.h"
#include "vmm-probe/backend/gdb/packet.h"

#define CONNECT_SECONDS 5

static void cleanup_addresses(struct addrinfo **list)
{
	if (*list)
		freeaddrinfo(*list);
}

/* A stub that serves another client queues few others: without a limit connect() would take minutes, or never
 * return. */
static void limit_wait(int fd)
{
	const struct timeval patience = { .tv_sec = CONNECT_SECONDS };

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

static struct ot_err *refused(const char *where, int err)
{
	if (err == EAGAIN || err == EINPROGRESS || err == ETIMEDOUT)
		return ot_err_new(
		    OT_ERR_BUSY,
		    "%s does not answer: another debugger is connected to it, and more are waiting, or "
		    "its VMM does not run",
		    where);
	if (err == ECONNREFUSED || err == ENOENT)
		return ot_err_new(
		    OT_ERR_NOT_FOUND,
		    "no gdb stub listens at %s: QEMU has one with -gdb tcp:HOST:PORT, or by its "
		    "monitor's `gdbserver`",
		    where);
	return ot_err_os(err, "connecting to the gdb stub at %s", where);
}

/* *ret_errno: 0, or why connect() failed. */
static struct ot_err *connect_kept(int fd, const struct sockaddr *addr, socklen_t len,
				   struct vp_gdb_keeper *keeper, int *ret_errno)
{
	OT_TRY(vp_gdb_keeper_start(keeper, fd));
	*ret_errno = connect(fd, addr, len) < 0 ? errno : 0;
	if (*ret_errno)
		vp_gdb_keeper_stop(keeper);
	return NULL;
}

static struct ot_err *connect_unix(const char *path, struct vp_gdb_keeper *keeper, int *ret_fd)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	ot_auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err;

	if (strlen(path) >= sizeof(addr.sun_path))
		return ot_err_new(OT_ERR_LIMIT, "%s: too long for a socket's path", path);
	memcpy(addr.sun_path, path, strlen(path));
	if (fd < 0)
		return ot_err_os(errno, "socket");
	limit_wait(fd);
	OT_TRY(connect_kept(fd, (struct sockaddr *)&addr, sizeof(addr), keeper, &err));
	if (err)
		return refused(path, err);
	*ret_fd = ot_move_fd(fd);
	return NULL;
}

/* "HOST:PORT" and "[ADDRESS]:PORT" into their parts. */
static bool split(const char *where, char host[256], const char **ret_port)
{
	const char *colon = strrchr(where, ':');
	size_t len = colon ? (size_t)(colon - where) : 0;

	if (len >= 2 && where[0] == '[' && where[len - 1] == ']') {
		where++;
		len -= 2;
	}
	if (!colon || !colon[1] || len >= 256)
		return false;
	memcpy(host, where, len);
	host[len] = '\0';
	*ret_port = colon + 1;
	return true;
}

/* Requests are single small packets that wait for the answer: no Nagle delay. */
static struct ot_err *connect_any(const char *where, const struct addrinfo *list,
				  struct vp_gdb_keeper *keeper, int *ret_fd)
{
	int one = 1, err = ECONNREFUSED;

	for (const struct addrinfo *a = list; a; a = a->ai_next) {
		ot_auto_close int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (fd < 0) {
			err = errno;
			continue;
		}
		limit_wait(fd);
		OT_TRY(connect_kept(fd, a->ai_addr, a->ai_addrlen, keeper, &err));
		if (err)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
		*ret_fd = ot_move_fd(fd);
		return NULL;
	}
	return refused(where, err);
}

struct ot_err *vp_gdb_connect(const char *where, struct vp_gdb_keeper *keeper, int *ret_fd)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	ot_auto(cleanup_addresses) struct addrinfo *list = NULL;
	char host[256];
	const char *port;

	if (where[0] == '/')
		return connect_unix(where, keeper, ret_fd);
	if (!split(where, host, &port))
		return ot_err_new(OT_ERR_SYNTAX, "\"gdb:%s\": a gdb stub is gdb:HOST:PORT or gdb:/PATH",
				  where);
	int err = getaddrinfo(host[0] ? host : NULL, port, &hints, &list);
	if (err)
		return ot_err_new(OT_ERR_NOT_FOUND, "gdb:%s: %s", where, gai_strerror(err));
	return connect_any(where, list, keeper, ret_fd);
}
