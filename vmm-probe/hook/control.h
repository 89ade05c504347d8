/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the operator's process talks to the library in a VMM. Once it is mapped, `vp_hook_control` is read
 * through /proc/PID/mem: it says which version this is, and which of the VMM's descriptors (taken with
 * pidfd_getfd(2), so whoever may ptrace the VMM may talk) takes requests. Each request brings a socket for
 * its own reply, so nobody reads another's, and a requester that dies leaves nothing behind.
 *
 * One host: host endianness and sizes. Only ever added to; what a version does not know it refuses.
 */
#ifndef VP_HOOK_CONTROL_H
#define VP_HOOK_CONTROL_H

#include <stdint.h>

#define VP_HOOK_SYMBOL  "vp_hook_control"
#define VP_HOOK_LIBRARY "liboutsight-kvm.so"
#define VP_HOOK_MAGIC   "outsight hook 1"
#define VP_HOOK_VERSION 1u
#define VP_HOOK_TEXT    512

enum vp_hook_state {
	VP_HOOK_LOADED, /* and not ready yet */
	VP_HOOK_READY,  /* takes requests */
	VP_HOOK_BROKEN, /* never will: `error` is an errno */
};

struct vp_hook_control {
	char magic[16];
	uint32_t version;
	uint32_t state; /* enum vp_hook_state */
	int32_t fd;     /* SOCK_SEQPACKET */
	int32_t error;
	uint32_t protocol; /* that its engine speaks: VP_PROTOCOL_VERSION */
	char release[20];  /* of Outsight */
	uint32_t in_use;   /* 0: dormant, until it is asked to attach */
	/* How often the guest began anew, and how often it went on from a state that was saved, since the
	 * library is in use. */
	uint32_t resets, loads;
};

enum vp_hook_request_type {
	VP_HOOK_ATTACH = 1, /* comes with a socket that is bound, for the engine to listen on */
	VP_HOOK_DETACH,     /* traps out, redirection back; the library stays, dormant */
};

/* The first descriptor that comes along is the reply's socket. */
struct vp_hook_request {
	uint32_t version;
	uint32_t type;
};

struct vp_hook_reply {
	uint32_t version;
	uint32_t code; /* 0: done, else enum ot_err_code */
	uint32_t nvcpus;
	uint32_t nram;
	uint64_t ram_bytes;
	uint64_t held_ns; /* how long the vCPUs were kept out of the guest */
	char text[VP_HOOK_TEXT];
};

#endif
