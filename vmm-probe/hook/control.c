/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serving requests of the operator's process (control.h), on the service thread. */
#include "vmm-probe/hook/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "base/io.h"
#include "vmm-probe/engine/wire/protocol.h"
#include "vmm-probe/hook/internal.h"

#define BACKLOG 8

extern struct vp_hook_control vp_hook_control;
OT_EXPORT struct vp_hook_control vp_hook_control = {
	.magic = VP_HOOK_MAGIC,
	.version = VP_HOOK_VERSION,
	.state = VP_HOOK_LOADED,
	.fd = -1,
	.protocol = VP_PROTOCOL_VERSION,
	.release = OUTSIGHT_VERSION,
};

int vp_hook_control_open(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		vp_hook_control_fail(errno);
		return -1;
	}
	vp_hook_control.fd = pair[1];
	__atomic_store_n(&vp_hook_control.state, VP_HOOK_READY, __ATOMIC_RELEASE);
	return pair[0];
}

void vp_hook_control_fail(int error)
{
	vp_hook_control.error = error;
	__atomic_store_n(&vp_hook_control.state, VP_HOOK_BROKEN, __ATOMIC_RELEASE);
}

void vp_hook_count_state(enum vp_guest_end how)
{
	struct vp_hook_control *c = &vp_hook_control;
	uint32_t *count = how == VP_GUEST_RESET    ? &c->resets
			  : how == VP_GUEST_LOADED ? &c->loads
						   : &c->changes;

	__atomic_add_fetch(count, 1, __ATOMIC_RELEASE);
}

void vp_hook_want(bool wanted)
{
	vp_hook.wanted = wanted;
	__atomic_store_n(&vp_hook_control.in_use, wanted, __ATOMIC_RELEASE);
}

/* --- requests ---------------------------------------------------------------------------------------- */

static void stop_listening(void)
{
	if (vp_hook.listen_fd >= 0)
		close(vp_hook.listen_fd);
	vp_hook.listen_fd = -1;
}

static struct ot_err *detach(void)
{
	pthread_mutex_lock(&vp_hook.lock);
	vp_hook_want(false);
	vp_hook_untrace(VP_GUEST_DETACHED);
	stop_listening();
	pthread_mutex_unlock(&vp_hook.lock);
	vp_hook_go_back();
	return NULL;
}

static struct ot_err *begin(void)
{
	if (!vp_hook.preloaded)
		OT_TRY(vp_hook_go_live());
	OT_TRY(vp_hook_probe_host());
	pthread_mutex_lock(&vp_hook.lock);
	struct ot_err *err = vp_hook_trace();
	vp_hook_want(!err);
	pthread_mutex_unlock(&vp_hook.lock);
	return err;
}

/* Attached already, but without an engine because the machine was changing: create it now, on the new
 * socket. */
static struct ot_err *attach_again(int *listening)
{
	int old = vp_hook.listen_fd;

	if (atomic_load(&vp_hook.engine))
		return ot_err_new(OT_ERR_BUSY, "it is already attached, with its socket in another directory "
					       "(XDG_RUNTIME_DIR differs)");
	vp_hook.listen_fd = *listening;
	struct ot_err *err = vp_hook_refresh();
	if (!err) {
		pthread_mutex_lock(&vp_hook.lock);
		err = vp_hook_trace();
		pthread_mutex_unlock(&vp_hook.lock);
	}
	if (err) {
		vp_hook.listen_fd = old;
		return err;
	}
	*listening = old;
	return NULL;
}

static struct ot_err *attach(int *listening)
{
	/* SO_PEERCRED reports the caller of listen() to clients: it must be the VMM. */
	if (listen(*listening, BACKLOG))
		return ot_err_os(errno, "the socket to listen on");
	atomic_store(&vp_hook.held_ns, 0);
	if (vp_hook.wanted)
		return attach_again(listening);
	vp_hook.listen_fd = ot_move_fd(*listening);
	struct ot_err *err = begin();
	if (err)
		ot_err_destroy(detach());
	return err;
}

static struct ot_err *serve(const struct vp_hook_request *r, int *fds, int nfds)
{
	if (r->version != VP_HOOK_VERSION)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the library in the VMM speaks version %u, not %u",
				  VP_HOOK_VERSION, r->version);
	if (r->type == VP_HOOK_ATTACH && nfds == 2)
		return attach(&fds[1]);
	if (r->type == VP_HOOK_DETACH)
		return detach();
	return ot_err_new(OT_ERR_BAD_DATA, "a request of type %u with %d descriptors", r->type, nfds);
}

static void reply(int sock, const struct ot_err *err)
{
	struct vp_hook_reply r = {
		.version = VP_HOOK_VERSION,
		.nvcpus = vp_hook.nvcpus,
		.nram = vp_hook.nram,
		.held_ns = atomic_load(&vp_hook.held_ns),
	};

	for (uint32_t i = 0; i < vp_hook.nram; i++)
		r.ram_bytes += vp_hook.ram[i].size;
	if (err) {
		r.code = (uint32_t)ot_err_code(err);
		strncpy(r.text, ot_err_message(err), sizeof(r.text) - 1);
	}
	/* The requester may have died; sending must not block. */
	(void)send(sock, &r, sizeof(r), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void vp_hook_control_serve(int sock)
{
	struct vp_hook_request request;
	int fds[2] = { -1, -1 }, nfds = 0;
	size_t len = 0;
	ot_auto_err struct ot_err *received =
	    ot_recv_fds(sock, &request, sizeof(request), fds, OT_ARRAY_SIZE(fds), &len, &nfds);

	if (!received && len == sizeof(request) && nfds) {
		ot_auto_err struct ot_err *err = serve(&request, fds, nfds);
		reply(fds[0], err);
	}
	for (int i = 0; i < nfds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
