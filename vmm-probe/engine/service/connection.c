/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket's clients: each connection is at most one session. */
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/engine/service/access.h"
#include "vmm-probe/engine/service/server.h"

void vp_connection_close(struct vp_connection *c)
{
	vp_engine_session_close(c->es);
	vp_access_close(c->access);
	vp_mapping_release(&c->shared);
	vp_mapping_release(&c->orc);
	if (c->sock >= 0)
		close(c->sock);
	*c = (struct vp_connection){ .sock = -1 };
}

void vp_connection_serve(struct vp_server *s, struct vp_connection *c)
{
	struct vp_request req = { .head = (const void *)s->message };
	size_t len = 0;
	struct ot_err *err = ot_recv_fds(c->sock, s->message, sizeof(s->message), req.fds, VP_REQUEST_FDS_MAX,
					 &len, &req.nfds);

	if (err) {
		ot_err_destroy(err);
		vp_connection_close(c);
		return;
	}
	if (!len || !vp_request_serve(s, c, &req, len))
		vp_connection_close(c);
	for (int i = 0; i < req.nfds; i++)
		close(req.fds[i]);
}

/* The owner of a VMM, and root, may trace its guest. */
static bool peer_allowed(int sock, struct ucred *ret)
{
	socklen_t len = sizeof(*ret);

	return getsockopt(sock, SOL_SOCKET, SO_PEERCRED, ret, &len) == 0 &&
	       (ret->uid == 0 || ret->uid == geteuid());
}

/* A client that does not receive its replies loses its connection as soon as its queue is full: neither
 * another client nor the vCPUs, which are held outside the guest while a VMM's machine changes, wait for
 * it. */
void vp_connection_accept(struct vp_server *s)
{
	struct ucred peer;
	ot_auto_close int sock = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (sock < 0 || !peer_allowed(sock, &peer))
		return;
	for (unsigned i = 0; i < VP_CONNECTIONS_MAX; i++)
		if (s->connections[i].sock < 0) {
			s->connections[i].sock = ot_move_fd(sock);
			s->connections[i].peer = peer;
			return;
		}
	/* Full: this connection is closed, and the client reads its end. */
}
