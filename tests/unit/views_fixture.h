/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest of process_fixture.h with sockets and mounts: just what vmm-probe/guest/census_sockets*.c and
 * census_mounts.c go by. Its one process is the first one, number 1.
 *
 *   sockets: see VF_SOCKETS; each is in its table, and process 1 has some of them open
 *   mounts:  / (ext4) ── /srv (fuse.disk) ── /srv/data (tmpfs), and one that is not below the root
 *
 * With a maple tree it is a newer kernel in other things too: mounts in a tree, a table of what listens at a
 * pointer; else mounts in a list, that table in place.
 */
#ifndef TESTS_UNIT_VIEWS_FIXTURE_H
#define TESTS_UNIT_VIEWS_FIXTURE_H

#include "process_fixture.h"

enum {
	VF_SSH,       /* TCP, listens on 0.0.0.0:22, open */
	VF_CONNECTED, /* TCP, 10.0.0.2:22 to 10.0.0.1:50000, open; second in its chain */
	VF_WAITS,     /* TCP on IPv6, [::1]:25 to [::1]:40000; accept() has not been called */
	VF_DNS,       /* UDP, 127.0.0.53:53, open */
	VF_KERNELS,   /* UDP on IPv6, [::]:2049; the kernel's own */
	VF_ELSEWHERE, /* TCP, of another network namespace */
	VF_CLOSED,    /* TCP, TIME_WAIT; first in the chain of VF_CONNECTED */
	VF_SOCKETS
};

/* Where things are. */
#define VF_SK(n)       (PF_BASE + 0x17000u + 0x100u * (n))
#define VF_SOCKET(n)   (VF_SK(n) + 0xa0u)   /* struct socket */
#define VF_FILE(n)     (VF_SK(n) + 0xc0u)   /* struct file */
#define VF_EHASH       (PF_BASE + 0x18000u) /* VF_BUCKETS */
#define VF_LISTEN      (PF_BASE + 0x18100u)
#define VF_UDP         (PF_BASE + 0x18200u)
#define VF_HASHINFO    (PF_BASE + 0x18300u)
#define VF_UDP_TABLE   (PF_BASE + 0x18400u)
#define VF_FILES       (PF_BASE + 0x18480u) /* struct files_struct */
#define VF_FDTABLE     (PF_BASE + 0x184a0u)
#define VF_FD          (PF_BASE + 0x18500u) /* VF_FDS pointers */
#define VF_SOCKET_OPS  (PF_BASE + 0x18580u)
#define VF_INIT_NET    (PF_BASE + 0x18590u)
#define VF_NSPROXY     (PF_BASE + 0x18600u)
#define VF_MNT_NS      (PF_BASE + 0x18620u)
#define VF_FS          (PF_BASE + 0x18660u)
#define VF_SUPER(n)    (PF_BASE + 0x18700u + 0x20u * (n)) /* 0 ext4, 1 fuse.disk, 2 tmpfs */
#define VF_FSTYPE(n)   (PF_BASE + 0x18780u + 8u * (n))
#define VF_TYPENAME(n) (PF_BASE + 0x187c0u + 0x10u * (n)) /* 3: the subtype */

#define VF_BUCKETS 4u
#define VF_FDS     8u

/* Offsets. */
enum { VF_DADDR = 0, VF_SADDR = 4, VF_DPORT = 12, VF_NUM = 14, VF_FAMILY = 16, VF_STATE = 18, VF_NET = 24 };
enum {
	VF_DADDR6 = 32,
	VF_SADDR6 = 48,
	VF_NODE = 64,
	VF_SK_SOCKET = 128,
	VF_SK_TYPE = 136,
	VF_PROTOCOL = 138
};

struct process_guest *views_guest_create(bool maple);
/** Add the types that it has besides those of process_guest_types(). */
void views_guest_types(struct btf_builder *b, bool maple);
/** All as it was at first. */
void views_guest_reset(struct process_guest *pg, bool maple);
/** Take a socket out of its chain. */
void views_unchain(struct process_guest *pg, unsigned n);
/** Take mount @p n out of its parent's list of mounts. */
void views_unmount(struct process_guest *pg, unsigned n);

#endif
