/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client's side of the control protocol (vmm-probe/engine/wire/protocol.h): one request, one reply. */
#ifndef VP_CLIENT_CLIENT_H
#define VP_CLIENT_CLIENT_H

#include "vmm-probe/engine/wire/patches.h"
#include "vmm-probe/engine/wire/protocol.h"
#include "vmm-probe/machines/process.h"

#define VP_CLIENT_RAM_MAX VP_RAM_RANGES_MAX
#define VP_CLIENT_FDS_MAX VP_RAM_FDS_MAX

struct vp_client {
	int sock;     /* -1: not connected, and pidfd means nothing */
	int pidfd;    /* of the listening process, from the kernel, as are pid and uid: an engine's */
	uint32_t pid; /* own claim must not choose the process whose memory is read */
	uid_t uid;
	uint32_t nvcpus;
	uint32_t nsessions;
	uint32_t guest_id;
	bool can_profile;
	uint32_t traps; /* VP_TRAPS_* */
	uint64_t held_ns;
	bool has_vm;        /* vm probes */
	bool has_modules;   /* it reports modules that come and go */
	bool has_processes; /* probes may be in processes … */
	bool raises;        /* … and their semaphores be raised */
	bool paused;        /* the guest was paused at HELLO; see struct vp_msg_hello_reply */
	char backend[16];
	char guest_name[VP_GUEST_NAME];
	char path[108];
	struct vp_ram_range ram[VP_CLIENT_RAM_MAX];
	uint32_t nram;
	int ram_fds[VP_CLIENT_FDS_MAX];
	uint32_t nram_fds;
	bool broken; /* a reply was invalid, or did not come: this connection can't be used any more */
	/* Called some times a second while a reply is waited for, for other work; an error ends the wait, and
	 * is returned. It makes no request of this client. NULL: there is no other work. */
	struct ot_err *(*meanwhile)(void *arg);
	void *meanwhile_arg;
};

/** Connect to the engine that listens at @p path (@NAME: an abstract address) and send HELLO. NOT_FOUND:
 * nothing listens there; PERMISSION: not allowed to, or the listener is not trusted (vp_peer_read());
 * UNSUPPORTED: it speaks another version. */
OT_MUST_CHECK struct ot_err *vp_client_connect(struct vp_client *client, const char *path);

/** The same, with this time-out for each reply, including the first, instead of half a minute.
 */
OT_MUST_CHECK struct ot_err *vp_client_connect_within(struct vp_client *client, const char *path,
						      unsigned ms);

/** The same in parts, so that several can be connected at once. dial() connects without waiting (BUSY or OS:
 * its queue is full); the listening process is known then, and nothing was sent. greet() sends HELLO.
 * greeted() takes the reply once the socket is readable. The caller closes the connection. */
OT_MUST_CHECK struct ot_err *vp_client_dial(struct vp_client *client, const char *path);
OT_MUST_CHECK struct ot_err *vp_client_greet(struct vp_client *client);
OT_MUST_CHECK struct ot_err *vp_client_greeted(struct vp_client *client);

/** The process that listens at the other end; its descriptor stays the client's. */
struct vp_peer vp_client_peer(const struct vp_client *client);

struct vp_phys;
/** Guest RAM as the engine described it, into *ret: the caller's to destroy, set also when this fails, and to
 * be read no longer than the client is connected. GUEST_GONE: the VMM has ended. */
OT_MUST_CHECK struct ot_err *vp_client_map_ram(const struct vp_client *client, struct vp_phys **ret);

/** Close the connection: the engine removes the session's sites. */
void vp_client_close(struct vp_client *client);

/** Registers of each vCPU; *ret_count of at most @p max. */
OT_MUST_CHECK struct ot_err *vp_client_snapshot(struct vp_client *client, struct vp_regs *regs, uint32_t max,
						uint32_t *ret_count);

/** Names of the statistics that vm:::stat probes have; room for VP_VM_STATS_MAX. */
OT_MUST_CHECK struct ot_err *vp_client_stats(struct vp_client *client, char (*names)[VP_VM_STAT_NAME],
					     uint32_t *ret_count);
/** Can the engine count @p event for the vCPUs? UNSUPPORTED: no; the message is the reason. */
OT_MUST_CHECK struct ot_err *vp_client_cpc(struct vp_client *client, const struct vp_cpc_event *event);
/** The patches in guest text, by address; ret->list is the caller's to free. */
OT_MUST_CHECK struct ot_err *vp_client_patches(struct vp_client *client, struct vp_patches *ret);

/** The users of the engines of this VMM, by its own records, all zeroes after an error; texts are
 * NUL-terminated and printable. @p logged as in struct vp_msg_access. */
OT_MUST_CHECK struct ot_err *vp_client_access(struct vp_client *client, uint64_t logged,
					      struct vp_msg_access_reply *ret);

OT_MUST_CHECK struct ot_err *vp_client_open(struct vp_client *client, const struct vp_msg_open *open,
					    const int *fds, int nfds);
OT_MUST_CHECK struct ot_err *vp_client_enable(struct vp_client *client, int batch_fd);
/** Rules for the stacks of processes: struct vp_frames_header and its arrays. */
OT_MUST_CHECK struct ot_err *vp_client_frames(struct vp_client *client, int frames_fd);
/** @p note, of @p size bytes, is a note for the operator, or "". */
OT_MUST_CHECK struct ot_err *vp_client_start(struct vp_client *client, char *note, size_t size);
OT_MUST_CHECK struct ot_err *vp_client_stop(struct vp_client *client);
/** The modules up to event @p seen have been handled: returns later events, at most VP_MODULES_KEPT. */
OT_MUST_CHECK struct ot_err *vp_client_modules(struct vp_client *client, uint64_t seen,
					       struct vp_msg_modules_reply *ret);
/** The reply of a switch, without switching buffers. */
OT_MUST_CHECK struct ot_err *vp_client_poll(struct vp_client *client, struct vp_msg_switch_reply *ret);
OT_MUST_CHECK struct ot_err *vp_client_switch(struct vp_client *client, struct vp_msg_switch_reply *ret);
/** The same in two parts, so that several engines can be asked at once: ask(), without waiting, for a switch
 * or a poll; answered() once the socket is readable. Between them this client makes no other request. */
OT_MUST_CHECK struct ot_err *vp_client_ask(struct vp_client *client, bool exchange);
OT_MUST_CHECK struct ot_err *vp_client_answered(struct vp_client *client, struct vp_msg_switch_reply *ret);

#endif
