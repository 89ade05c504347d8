/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The protocol between the operator's process and the library in a VMM. The operator's process reads
 * `vp_hook_control` through /proc/PID/mem. It contains the version and the number of a descriptor of the VMM
 * that accepts requests; pidfd_getfd(2) duplicates that descriptor, so a process that may ptrace the VMM may
 * send requests. Each request carries the socket for its own reply: replies can't be confused, and a
 * requester that dies leaves nothing behind.
 *
 * Both sides are on one host: native endianness and sizes. The protocol is only extended; an unknown version
 * is refused.
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
	VP_HOOK_LOADED, /* not ready yet */
	VP_HOOK_READY,  /* accepts requests */
	VP_HOOK_BROKEN, /* never accepts any: `error` is an errno */
};

struct vp_hook_control {
	char magic[16];
	uint32_t version;
	uint32_t state; /* enum vp_hook_state */
	int32_t fd;     /* SOCK_SEQPACKET */
	int32_t error;
	uint32_t protocol; /* of its engine: VP_PROTOCOL_VERSION */
	char release[20];  /* of Outsight */
	uint32_t in_use;   /* 0: dormant until a request to attach */
	/* Resets of the guest, loads of a saved state (loadvm), and other changes of its memory or vCPUs,
	 * counted while the library is in use, each when the first vCPU runs again. */
	uint32_t resets, loads, changes;
};

enum vp_hook_request_type {
	VP_HOOK_ATTACH = 1, /* carries a bound socket, on which the engine will listen */
	VP_HOOK_DETACH,     /* remove traps, undo the redirection; the library stays, dormant */
};

/* The first descriptor that accompanies it is the socket for the reply. */
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
	uint64_t held_ns; /* the longest time for which a vCPU was kept out of the guest */
	char text[VP_HOOK_TEXT];
};

#endif
