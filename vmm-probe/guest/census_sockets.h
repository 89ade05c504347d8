/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by census_sockets*.c: the kernel's sockets, and one of them. */
#ifndef VP_GUEST_CENSUS_SOCKETS_H
#define VP_GUEST_CENSUS_SOCKETS_H

#include "vmm-probe/guest/census_internal.h"
#include "vmm-probe/guest/process/processes.h"

#define VP_SOCK_COMMON_MAX 512u /* bytes of struct sock_common; Linux 6.1 has 136 */

/* Offsets in the guest's structures; of struct sock_common, which struct sock begins with. */
struct vp_sock_layout {
	uint32_t family, state, num, dport, daddr, rcv_saddr, net, nulls_node, node;
	uint32_t v6_daddr, v6_rcv_saddr; /* if the kernel has IPv6 */
	bool has_v6;
	uint32_t common_size;
	uint32_t sk_socket, socket_file; /* of struct sock and struct socket */
};

struct vp_sockets {
	struct vp_guest *guest;
	struct vp_sock_layout l;
	uint64_t init_net;
	struct vp_tables_layout {
		uint32_t ehash, ehash_mask, bucket, bucket_head;
		uint32_t listening, listening_mask; /* a table at a pointer, or … */
		uint32_t nlistening;                /* … in place, with so many entries; 0: at a pointer */
		uint32_t listen_bucket, listen_head;
		uint32_t udp_hash, udp_mask, slot, slot_head;
	} tables;
	uint64_t tcp_hashinfo, udp_table; /* addresses */
	struct vp_files_layout {
		uint32_t task_files, files_fdt, fdt_max, fdt_fd;
		uint32_t file_op, file_private, socket_sk, sk_protocol, sk_type;
	} files;
	uint64_t socket_file_ops; /* address */
	struct vp_processes *ps;  /* NULL: the guest's types do not describe processes */
	/* the current walk */
	uint32_t have; /* the ways that can be walked */
	struct vp_census *census;
	size_t seen; /* sockets of any kind */
};

/** Offsets for the tables, and for open files; false: the guest's types lack something. */
bool vp_sockets_find_tables(struct vp_sockets *s, const struct vp_btf *btf);
bool vp_sockets_find_files(struct vp_sockets *s, const struct vp_btf *btf);

/** Add the struct sock at @p sk, found in @p way, unless it is none that is compared: of another network
 * namespace, or without two ends. @p owner: see struct vp_found. */
OT_MUST_CHECK struct ot_err *vp_sockets_add(struct vp_sockets *s, uint64_t sk, bool is_udp, uint32_t way,
					    uint64_t owner);

/* The walks of struct vp_way; @p ctx is a struct vp_sockets. */
OT_MUST_CHECK struct ot_err *vp_sockets_walk_tables(void *ctx, struct vp_census *census);
OT_MUST_CHECK struct ot_err *vp_sockets_walk_files(void *ctx, struct vp_census *census);

#endif
