/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control protocol from the operator's side: connecting to an engine, HELLO, and how a reply is received.
 */
#include "vmm-probe/client/client.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/units.h"
#include "base/utf8.h"
#include "vmm-probe/client/internal.h"

/* An engine answers within its own time-outs; past this it hangs. */
#define REPLY_TIMEOUT_S 30
/* An engine that is not busy has answered by then. */
#define MEANWHILE_MS    20

static struct ot_err *no_answer(struct vp_client *c)
{
	c->broken = true;
	return ot_err_new(OT_ERR_BUSY, "the engine in PID %u does not answer", c->pid);
}

/* A connection breaks when the VMM ends or its engine is destroyed; the caller determines which. */
static struct ot_err *gone(struct vp_client *c, struct ot_err *err)
{
	int e = err ? ot_err_errno(err) : EPIPE;

	if (err && e == EAGAIN) {
		ot_err_destroy(err);
		return no_answer(c);
	}
	if (err && e != EPIPE && e != ECONNRESET && e != ENOTCONN) {
		c->broken = true;
		return err;
	}
	ot_err_destroy(err);
	return ot_err_new(
	    OT_ERR_GUEST_GONE,
	    "the engine in process %u closed the connection: it is being detached, its guest's machine "
	    "is changing, or the process is ending",
	    c->pid);
}

static struct ot_err *nonsense(struct vp_client *c, const char *what)
{
	c->broken = true;
	return ot_err_new(OT_ERR_BAD_DATA, "the engine sent %s reply", what);
}

struct ot_err *vp_client_receive(struct vp_client *c, uint32_t want, void *reply, size_t cap, size_t min,
				 size_t *ret_len, int *ret_fds, int max_fds, int *ret_nfds)
{
	int n = 0;
	struct ot_err *err = ot_recv_fds(c->sock, reply, cap, ret_fds, max_fds, ret_len, &n);

	if (ret_nfds)
		*ret_nfds = n;
	if (err || *ret_len == 0)
		return gone(c, err);

	const struct vp_msg *head = reply;
	if (*ret_len < sizeof(*head) || head->size != *ret_len)
		return nonsense(c, "a broken");
	if (head->type == VP_MSG_REPLY && *ret_len >= sizeof(struct vp_msg_reply)) {
		const struct vp_msg_reply *r = reply;
		if (r->code)
			return ot_err_new((enum ot_err_code)r->code, "%.*s", VP_ERROR_TEXT - 1, r->text);
	}
	if (head->type != want || *ret_len < min)
		return nonsense(c, "an unexpected");
	return NULL;
}

struct ot_err *vp_client_send(struct vp_client *c, const void *msg, size_t len)
{
	struct ot_err *err = c->broken ? no_answer(c) : ot_send_fds(c->sock, msg, len, NULL, 0);

	return err && !c->broken ? gone(c, err) : err;
}

/* Until the socket is readable, or at its end, which receiving finds. */
static struct ot_err *await_reply(struct vp_client *c)
{
	const uint64_t until = ot_now_ns() + REPLY_TIMEOUT_S * OT_NS_PER_SEC;
	struct pollfd p = { .fd = c->sock, .events = POLLIN };

	while (poll(&p, 1, MEANWHILE_MS) == 0) {
		if (ot_now_ns() >= until)
			return no_answer(c);
		struct ot_err *err = c->meanwhile(c->meanwhile_arg);
		if (err) {
			c->broken = true;
			return err;
		}
	}
	return NULL;
}

struct ot_err *vp_client_request(struct vp_client *c, const void *msg, size_t len, const int *fds, int nfds,
				 uint32_t want, void *reply, size_t cap, size_t min, size_t *ret_len,
				 int *ret_fds, int max_fds, int *ret_nfds)
{
	if (c->broken)
		return no_answer(c);
	struct ot_err *err = ot_send_fds(c->sock, msg, len, fds, nfds);

	if (err)
		return gone(c, err);
	if (c->meanwhile)
		OT_TRY(await_reply(c));
	return vp_client_receive(c, want, reply, cap, min, ret_len, ret_fds, max_fds, ret_nfds);
}

static struct ot_err *take_hello(struct vp_client *c, const struct vp_msg_hello_reply *r, size_t len)
{
	if (r->version != VP_PROTOCOL_VERSION)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "the engine in PID %u speaks protocol %u, this outsight %u: use the outsight "
		    "that the guest was started with",
		    c->pid, r->version, VP_PROTOCOL_VERSION);
	if (r->nvcpus == 0 || r->nvcpus > VP_VCPUS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "the guest has %u vCPUs; %u are supported", r->nvcpus,
				  VP_VCPUS_MAX);
	if (r->nram > VP_CLIENT_RAM_MAX || len < sizeof(*r) + r->nram * sizeof(r->ram[0]))
		return ot_err_new(OT_ERR_BAD_DATA, "the engine sent a broken hello");
	c->nvcpus = r->nvcpus;
	c->nsessions = r->nsessions;
	c->guest_id = r->guest_id;
	c->can_profile = r->can_profile;
	c->traps = r->traps;
	c->held_ns = r->held_ns;
	c->has_vm = r->vm;
	c->has_modules = r->modules;
	c->has_processes = r->processes;
	c->raises = r->semaphores;
	c->paused = r->paused;
	snprintf(c->backend, sizeof(c->backend), "%.*s", (int)sizeof(r->backend) - 1, r->backend);
	snprintf(c->guest_name, sizeof(c->guest_name), "%.*s", VP_GUEST_NAME - 1, r->guest_name);
	ot_utf8_tame_string(c->backend);
	ot_utf8_tame_string(c->guest_name);
	c->nram = r->nram;
	memcpy(c->ram, r->ram, r->nram * sizeof(r->ram[0]));
	for (uint32_t i = 0; i < c->nram; i++)
		if (c->ram[i].fd_index >= (int32_t)c->nram_fds)
			return ot_err_new(OT_ERR_BAD_DATA, "the engine sent RAM without its memory");
	return NULL;
}

/* A reply to HELLO, with room for the longest one. */
union hello_reply {
	struct vp_msg_hello_reply reply;
	char space[sizeof(struct vp_msg_hello_reply) + VP_CLIENT_RAM_MAX * sizeof(struct vp_ram_range)];
};

static struct vp_msg_hello hello(void)
{
	return (struct vp_msg_hello){
		.head = { .type = VP_MSG_HELLO, .size = sizeof(struct vp_msg_hello) },
		.version = VP_PROTOCOL_VERSION,
	};
}

static struct ot_err *say_hello(struct vp_client *c)
{
	const struct vp_msg_hello msg = hello();
	union hello_reply u;
	size_t len = 0;
	int nfds = 0;

	memset(&u, 0, sizeof(u));
	struct ot_err *err =
	    vp_client_request(c, &msg, sizeof(msg), NULL, 0, VP_MSG_HELLO_REPLY, &u, sizeof(u),
			      sizeof(u.reply), &len, c->ram_fds, VP_CLIENT_FDS_MAX, &nfds);

	c->nram_fds = (uint32_t)nfds;
	return err ? err : take_hello(c, &u.reply, len);
}

static struct ot_err *connect_error(const char *path, int e)
{
	struct stat st;

	if (e == ENOENT || e == ECONNREFUSED || e == ENOTDIR)
		return ot_err_new(OT_ERR_NOT_FOUND, "no guest listens at %s", path);
	if (e == EACCES && !stat(path, &st))
		return ot_err_new(OT_ERR_PERMISSION, "%s: only its owner, uid %u, and root may trace with it",
				  path, (unsigned)st.st_uid);
	return ot_err_os(e, "%s", path);
}

static struct ot_err *set_address(const char *path, struct sockaddr_un *addr, socklen_t *ret_size)
{
	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	*ret_size = sizeof(*addr);
	if (strlen(path) >= sizeof(addr->sun_path))
		return ot_err_new(OT_ERR_LIMIT, "%s: too long for a socket's path", path);
	memcpy(addr->sun_path, path, strlen(path));
	if (path[0] == '@') { /* an abstract address: its length is significant */
		addr->sun_path[0] = '\0';
		*ret_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	}
	return NULL;
}

/* @p flags: SOCK_NONBLOCK, so that neither this nor later calls block. */
static struct ot_err *dial(struct vp_client *c, const char *path, int flags)
{
	const struct timeval timeout = { .tv_sec = REPLY_TIMEOUT_S };
	struct sockaddr_un addr;
	struct vp_peer peer;
	socklen_t size;

	*c = (struct vp_client){ .sock = -1 };
	OT_TRY(set_address(path, &addr, &size));
	memcpy(c->path, path, strlen(path));
	ot_auto_close int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
	if (sock < 0)
		return ot_err_os(errno, "socket");
	/* wait for a full queue as for a reply */
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (connect(sock, (const struct sockaddr *)&addr, size) < 0)
		return connect_error(path, errno);
	OT_TRY(vp_peer_read(sock, path, &peer));
	c->pid = (uint32_t)peer.pid;
	c->uid = peer.uid;
	c->pidfd = peer.pidfd;
	c->sock = ot_move_fd(sock);
	return NULL;
}

struct ot_err *vp_client_connect_within(struct vp_client *c, const char *path, unsigned ms)
{
	const struct timeval timeout = { .tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000 };

	OT_TRY(dial(c, path, 0));
	setsockopt(c->sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	setsockopt(c->sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	struct ot_err *err = say_hello(c);
	if (err)
		vp_client_close(c);
	return err;
}

struct ot_err *vp_client_connect(struct vp_client *c, const char *path)
{
	return vp_client_connect_within(c, path, REPLY_TIMEOUT_S * 1000);
}

struct ot_err *vp_client_dial(struct vp_client *c, const char *path)
{
	return dial(c, path, SOCK_NONBLOCK);
}

struct ot_err *vp_client_greet(struct vp_client *c)
{
	const struct vp_msg_hello msg = hello();

	return ot_send_fds(c->sock, &msg, sizeof(msg), NULL, 0);
}

struct ot_err *vp_client_greeted(struct vp_client *c)
{
	union hello_reply u;
	size_t len = 0;
	int nfds = 0;

	memset(&u, 0, sizeof(u));
	struct ot_err *err = vp_client_receive(c, VP_MSG_HELLO_REPLY, &u, sizeof(u), sizeof(u.reply), &len,
					       c->ram_fds, VP_CLIENT_FDS_MAX, &nfds);

	c->nram_fds = (uint32_t)nfds;
	return err ? err : take_hello(c, &u.reply, len);
}

struct vp_peer vp_client_peer(const struct vp_client *c)
{
	return (struct vp_peer){ .pid = (pid_t)c->pid, .uid = c->uid, .pidfd = c->pidfd };
}

void vp_client_close(struct vp_client *c)
{
	if (c->sock >= 0) {
		close(c->sock);
		close(c->pidfd);
	}
	for (uint32_t i = 0; i < c->nram_fds; i++)
		close(c->ram_fds[i]);
	c->sock = -1;
	c->nram_fds = 0;
}
