/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket: created at its path, or passed by the process that created it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmm-probe/engine/service/server.h"

static struct ot_err *set_address(struct vp_server *s, const char *path, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret->sun_path))
		return ot_err_new(OT_ERR_LIMIT, "%s: too long for a socket's path", path);
	memcpy(ret->sun_path, path, strlen(path) + 1);
	memcpy(s->path, path, strlen(path) + 1);
	return NULL;
}

/* A socket left behind by a VMM that died is replaced, that of a living one is not. */
static struct ot_err *remove_stale(const struct sockaddr_un *addr)
{
	struct stat st;
	ot_auto_close int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (lstat(addr->sun_path, &st) < 0)
		return NULL;
	if (!S_ISSOCK(st.st_mode))
		return ot_err_new(OT_ERR_BUSY, "%s exists and is no socket", addr->sun_path);
	if (sock >= 0 && connect(sock, (const struct sockaddr *)addr, sizeof(*addr)) == 0)
		return ot_err_new(OT_ERR_BUSY, "%s is in use", addr->sun_path);
	unlink(addr->sun_path);
	return NULL;
}

/* bind() takes the mode of the socket's own inode: the path is not followed a second time. */
struct ot_err *vp_server_listen_at(struct vp_server *s, const char *path)
{
	struct sockaddr_un addr;

	OT_TRY(set_address(s, path, &addr));
	OT_TRY(remove_stale(&addr));
	ot_auto_close int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return ot_err_os(errno, "socket");
	if (fchmod(sock, 0600) || bind(sock, (struct sockaddr *)&addr, sizeof(addr)))
		return ot_err_os(errno, "%s", path);
	s->listen_fd = ot_move_fd(sock);
	if (listen(s->listen_fd, 8))
		return ot_err_os(errno, "%s", path);
	return NULL;
}

struct ot_err *vp_server_listen_on(struct vp_server *s, int listening)
{
	s->listen_fd = fcntl(listening, F_DUPFD_CLOEXEC, 3);
	return s->listen_fd < 0 ? ot_err_os(errno, "duplicating the listening socket") : NULL;
}
