/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The users of an engine: a record for each session, kept in the VMM by the engine itself, so that a client
 * that writes no line in the system's log is on record too. Uid and PID come from the kernel (SO_PEERCRED);
 * the command's name is the process's own choice, and the probe's name the client's.
 */
#ifndef VP_ENGINE_WIRE_ACCESS_H
#define VP_ENGINE_WIRE_ACCESS_H

#include <stdint.h>

#define VP_ACCESS_KEPT  64u /* sessions; older ones are forgotten, those first that are in a log */
#define VP_ACCESS_UIDS  2u  /* that may connect: root's and the VMM's own */
#define VP_ACCESS_COMM  16u
#define VP_ACCESS_PROBE 96u

enum {
	VP_ACCESS_STARTED = 1,     /* its probes were planted */
	VP_ACCESS_DESTRUCTIVE = 2, /* -w */
	VP_ACCESS_LOGGED = 4,      /* a line about it is in a log */
};

/* A session: open, and tracing if it was started. */
struct vp_access {
	uint64_t number;           /* in order of opening, from 1 */
	uint64_t began_s, ended_s; /* time(2); ended 0: it is open */
	uint32_t uid;              /* effective, when it connected */
	int32_t pid;               /* in the VMM's PID namespace; 0: not visible from there */
	uint32_t enablings;        /* of probes in the guest */
	uint32_t flags;            /* VP_ACCESS_* */
	char comm[VP_ACCESS_COMM]; /* "": unknown */
	char
	    first[VP_ACCESS_PROBE]; /* PROVIDER:MODULE:FUNCTION:NAME of the first of these probes; "": none */
};

/* Connections of one user, which are given guest memory and registers. */
struct vp_access_reads {
	uint32_t uid;
	uint32_t times; /* 0: none */
	uint64_t last_s;
};

_Static_assert(sizeof(struct vp_access) == 3 * 8 + 4 * 4 + VP_ACCESS_COMM + VP_ACCESS_PROBE, "");
_Static_assert(sizeof(struct vp_access_reads) == 2 * 4 + 8, "");

#endif
