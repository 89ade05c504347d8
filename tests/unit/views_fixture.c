/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up kernel with sockets and mounts, for tests of the census. */
#include "views_fixture.h"

#include <string.h>

#include "btf_builder.h"

enum { INET = 2, INET6 = 10 };
enum { STREAM = 1, DATAGRAM = 2, TCP = 6, UDP = 17 };

/* --- types ------------------------------------------------------------------------------------------- */

static void add_socket_types(struct btf_builder *b, bool maple, uint32_t c, uint32_t u16, uint32_t u,
			     uint32_t l)
{
	uint32_t v6 = btf_add_array(b, c, 16);
	uint32_t net = BTF_STRUCT(b, "possible_net_t", 8, { "net", l, 0 });
	uint32_t head = BTF_STRUCT(b, "hlist_nulls_head", 8, { "first", l, 0 });
	uint32_t common, bucket;

	common = BTF_STRUCT(b, "sock_common", 80, { "skc_daddr", u, VF_DADDR },
			    { "skc_rcv_saddr", u, VF_SADDR }, { "skc_dport", u16, VF_DPORT },
			    { "skc_num", u16, VF_NUM }, { "skc_family", u16, VF_FAMILY },
			    { "skc_state", c, VF_STATE }, { "skc_net", net, VF_NET },
			    { "skc_v6_daddr", v6, VF_DADDR6 }, { "skc_v6_rcv_saddr", v6, VF_SADDR6 },
			    { "skc_nulls_node", l, VF_NODE }, { "skc_node", l, VF_NODE });
	BTF_STRUCT(b, "sock", 144, { "__sk_common", common, 0 }, { "sk_socket", l, VF_SK_SOCKET },
		   { "sk_type", u16, VF_SK_TYPE }, { "sk_protocol", u16, VF_PROTOCOL });
	BTF_STRUCT(b, "socket", 16, { "file", l, 0 }, { "sk", l, 8 });
	BTF_STRUCT(b, "inet_ehash_bucket", 8, { "chain", head, 0 });
	bucket = BTF_STRUCT(b, "inet_listen_hashbucket", 16, { "lock", u, 0 }, { "nulls_head", head, 8 });
	if (maple)
		BTF_STRUCT(b, "inet_hashinfo", 32, { "ehash", l, 0 }, { "ehash_mask", u, 8 },
			   { "lhash2_mask", u, 12 }, { "lhash2", l, 16 });
	else
		BTF_STRUCT(b, "inet_hashinfo", 80, { "ehash", l, 0 }, { "ehash_mask", u, 8 },
			   { "listening_hash", btf_add_array(b, bucket, VF_BUCKETS), 16 });
	BTF_STRUCT(b, "udp_hslot", 16, { "head", head, 0 });
	BTF_STRUCT(b, "udp_table", 16, { "hash", l, 0 }, { "mask", u, 8 });
	BTF_STRUCT(b, "files_struct", 8, { "fdt", l, 0 });
	BTF_STRUCT(b, "fdtable", 16, { "max_fds", u, 0 }, { "fd", l, 8 });
}

void views_guest_types(struct btf_builder *b, bool maple)
{
	uint32_t c = btf_add_int(b, "unsigned char", 1, 0), u16 = btf_add_int(b, "unsigned short", 2, 0);
	uint32_t u = btf_add_int(b, "u32", 4, 0), l = btf_add_int(b, "u64", 8, 0), t;

	add_socket_types(b, maple, c, u16, u, l);
	BTF_STRUCT(b, "nsproxy", 8, { "mnt_ns", l, 0 });
	BTF_STRUCT(b, "file_system_type", 8, { "name", l, 0 });
	if (maple) {
		t = BTF_STRUCT(b, "rb_root", 8, { "rb_node", l, 0 });
		BTF_STRUCT(b, "mnt_namespace", 24, { "root", l, 0 }, { "mounts", t, 8 },
			   { "nr_mounts", u, 16 });
	} else {
		BTF_STRUCT(b, "mnt_namespace", 32, { "root", l, 0 }, { "list", l, 8 }, { "mounts", u, 24 });
	}
}

/* --- sockets --------------------------------------------------------------------------------------------- */

static void put(struct process_guest *pg, uint64_t gva, uint64_t value)
{
	*process_word(pg, gva) = value;
}

static void put_bytes(struct process_guest *pg, uint64_t gva, const void *data, size_t len)
{
	memcpy((uint8_t *)process_word(pg, gva & ~7ull) + (gva & 7), data, len);
}

static void put16(struct process_guest *pg, uint64_t gva, unsigned value)
{
	const uint16_t number = (uint16_t)value;

	put_bytes(pg, gva, &number, sizeof(number));
}

/* In front of the chain whose first pointer is at @head, as the kernel does it. */
static void chain(struct process_guest *pg, uint64_t head, unsigned n, uint64_t end)
{
	uint64_t node = VF_SK(n) + VF_NODE, first = *process_word(pg, head);

	if (!first)
		first = end;
	put(pg, node, first);
	put(pg, node + 8, head);
	if (first && !(first & 1))
		put(pg, first + 8, node);
	put(pg, head, node);
}

void views_unchain(struct process_guest *pg, unsigned n)
{
	uint64_t node = VF_SK(n) + VF_NODE, next = *process_word(pg, node),
		 prev = *process_word(pg, node + 8);

	put(pg, prev, next);
	if (next && !(next & 1))
		put(pg, next + 8, prev);
}

static void put_ends(struct process_guest *pg, unsigned n, unsigned family, const void *local, unsigned port,
		     const void *peer, unsigned peer_port)
{
	uint64_t sk = VF_SK(n);
	size_t size = family == INET ? 4 : 16;

	put16(pg, sk + VF_FAMILY, family);
	put16(pg, sk + VF_NUM, port);
	put16(pg, sk + VF_DPORT, (peer_port >> 8 | peer_port << 8) & 0xffff);
	put(pg, sk + VF_NET, VF_INIT_NET);
	put_bytes(pg, sk + (family == INET ? VF_SADDR : VF_SADDR6), local, size);
	put_bytes(pg, sk + (family == INET ? VF_DADDR : VF_DADDR6), peer, size);
}

static void put_state(struct process_guest *pg, unsigned n, unsigned protocol, unsigned state)
{
	const uint8_t byte = (uint8_t)state;

	put_bytes(pg, VF_SK(n) + VF_STATE, &byte, 1);
	put16(pg, VF_SK(n) + VF_PROTOCOL, protocol);
	put16(pg, VF_SK(n) + VF_SK_TYPE, protocol == TCP ? STREAM : DATAGRAM);
}

/* Process 1 has it open as descriptor @fd. */
static void put_open(struct process_guest *pg, unsigned n, unsigned fd)
{
	put(pg, VF_SK(n) + VF_SK_SOCKET, VF_SOCKET(n));
	put(pg, VF_SOCKET(n), VF_FILE(n));
	put(pg, VF_SOCKET(n) + 8, VF_SK(n));
	put(pg, VF_FILE(n) + PF_FILE_OP, VF_SOCKET_OPS);
	put(pg, VF_FILE(n) + PF_FILE_PRIVATE, VF_SOCKET(n));
	put(pg, VF_FD + 8 * fd, VF_FILE(n));
}

static void put_sockets(struct process_guest *pg, uint64_t listening)
{
	static const uint8_t any[16] = { 0 }, here[16] = { [15] = 1 };

	put_ends(pg, VF_SSH, INET, any, 22, any, 0);
	put_state(pg, VF_SSH, TCP, 10);
	put_open(pg, VF_SSH, 3);
	chain(pg, listening + 16 * 2 + 8, VF_SSH, 1);
	put_ends(pg, VF_CONNECTED, INET, "\12\0\0\2", 22, "\12\0\0\1", 50000);
	put_state(pg, VF_CONNECTED, TCP, 1);
	put_open(pg, VF_CONNECTED, 6);
	chain(pg, VF_EHASH + 8, VF_CONNECTED, 3);
	put_ends(pg, VF_WAITS, INET6, here, 25, here, 40000);
	put_state(pg, VF_WAITS, TCP, 1);
	chain(pg, VF_EHASH + 16, VF_WAITS, 5);
	put_ends(pg, VF_DNS, INET, "\177\0\0\65", 53, any, 0);
	put_state(pg, VF_DNS, UDP, 7);
	put_open(pg, VF_DNS, 7);
	chain(pg, VF_UDP + 16, VF_DNS, 0);
	put_ends(pg, VF_KERNELS, INET6, any, 2049, any, 0);
	put_state(pg, VF_KERNELS, UDP, 7);
	put(pg, VF_SK(VF_KERNELS) + VF_SK_SOCKET, VF_SOCKET(VF_KERNELS));
	chain(pg, VF_UDP + 16, VF_KERNELS, 0);
	put_ends(pg, VF_ELSEWHERE, INET, any, 80, any, 0);
	put_state(pg, VF_ELSEWHERE, TCP, 10);
	put(pg, VF_SK(VF_ELSEWHERE) + VF_NET, VF_INIT_NET + 8);
	chain(pg, listening + 8, VF_ELSEWHERE, 1);
	put_ends(pg, VF_CLOSED, INET, "\12\0\0\2", 22, "\12\0\0\1", 50001);
	put_state(pg, VF_CLOSED, TCP, 6);
	chain(pg, VF_EHASH + 8, VF_CLOSED, 3);
}

static void put_tables(struct process_guest *pg, bool maple)
{
	uint64_t listening = maple ? VF_LISTEN : VF_HASHINFO + 16;

	for (unsigned i = 0; i < VF_BUCKETS; i++) {
		put(pg, VF_EHASH + 8 * i, 1 + 2 * i);
		put(pg, listening + 16 * i + 8, 1 + 2 * i);
	}
	put(pg, VF_HASHINFO, VF_EHASH);
	put(pg, VF_HASHINFO + 8, (VF_BUCKETS - 1) | (uint64_t)(maple ? VF_BUCKETS - 1 : 0) << 32);
	if (maple)
		put(pg, VF_HASHINFO + 16, VF_LISTEN);
	put(pg, VF_UDP_TABLE, VF_UDP);
	put(pg, VF_UDP_TABLE + 8, VF_BUCKETS - 1);
	put(pg, PF_TASK + PF_TASK_FILES, VF_FILES);
	put(pg, VF_FILES, VF_FDTABLE);
	put(pg, VF_FDTABLE, VF_FDS);
	put(pg, VF_FDTABLE + 8, VF_FD);
	put(pg, VF_FD, PF_FILE); /* no socket */
	put_sockets(pg, listening);
}

/* --- mounts ---------------------------------------------------------------------------------------------- */

static void append(struct process_guest *pg, uint64_t head, uint64_t node)
{
	uint64_t last = *process_word(pg, head + 8);

	put(pg, node, head);
	put(pg, node + 8, last);
	put(pg, last, node);
	put(pg, head + 8, node);
}

void views_unmount(struct process_guest *pg, unsigned n)
{
	uint64_t node = PF_MOUNT(n) + PF_MNT_CHILD, next = *process_word(pg, node);
	uint64_t prev = *process_word(pg, node + 8);

	put(pg, prev, next);
	put(pg, next + 8, prev);
}

/* Mount @n of file system @super, its root the dentry @root, on @at of @parent. */
static void put_mount(struct process_guest *pg, unsigned n, unsigned super, unsigned root, unsigned parent,
		      unsigned at)
{
	uint64_t mounts = PF_MOUNT(n) + PF_MNT_MOUNTS;

	put(pg, PF_MOUNT(n), PF_MOUNT(parent));
	put(pg, PF_MOUNT(n) + 8, PF_DENTRY(at));
	put(pg, PF_MOUNT(n) + 16, PF_DENTRY(root));
	put(pg, PF_MOUNT(n) + 24, VF_SUPER(super));
	put(pg, mounts, mounts);
	put(pg, mounts + 8, mounts);
	if (n != parent)
		append(pg, PF_MOUNT(parent) + PF_MNT_MOUNTS, PF_MOUNT(n) + PF_MNT_CHILD);
}

static void put_types(struct process_guest *pg)
{
	static const char *const names[] = { "ext4", "fuse", "tmpfs", "disk" };

	for (unsigned i = 0; i < 4; i++)
		strcpy((char *)process_word(pg, VF_TYPENAME(i)), names[i]);
	for (unsigned i = 0; i < 3; i++) {
		put(pg, VF_FSTYPE(i), VF_TYPENAME(i));
		put(pg, VF_SUPER(i) + PF_SB_TYPE, VF_FSTYPE(i));
	}
	put(pg, VF_SUPER(1) + PF_SB_SUBTYPE, VF_TYPENAME(3));
}

/* 1 is the root of the tree, 0 and 2 are below; 3, which is not below the root, is below 2. */
static void put_rb(struct process_guest *pg)
{
	const uint64_t node[] = { PF_MOUNT(0) + PF_MNT_LINK, PF_MOUNT(1) + PF_MNT_LINK,
				  PF_MOUNT(2) + PF_MNT_LINK, PF_MOUNT(3) + PF_MNT_LINK };

	put(pg, VF_MNT_NS + 8, node[1]);
	put(pg, node[1], 1);
	put(pg, node[1] + 8, node[2]);
	put(pg, node[1] + 16, node[0]);
	put(pg, node[0], node[1] | 1);
	put(pg, node[2], node[1] | 1);
	put(pg, node[2] + 8, node[3]);
	put(pg, node[3], node[2]);
}

static void put_mounts(struct process_guest *pg, bool maple)
{
	put_types(pg);
	put_mount(pg, 0, 0, 0, 0, 0);
	put_mount(pg, 1, 1, 2, 0, 1);
	put_mount(pg, 2, 2, 3, 1, 3);
	put_mount(pg, 3, 2, 3, 3, 3);
	put(pg, VF_NSPROXY, VF_MNT_NS);
	put(pg, VF_MNT_NS, PF_MOUNT(0));
	put(pg, VF_FS, PF_MOUNT(0) + 16);
	put(pg, VF_FS + 8, PF_DENTRY(0));
	put(pg, PF_TASK + PF_TASK_NSPROXY, VF_NSPROXY);
	put(pg, PF_TASK + PF_TASK_FS, VF_FS);
	if (maple) {
		put_rb(pg);
		return;
	}
	put(pg, VF_MNT_NS + 8, VF_MNT_NS + 8);
	put(pg, VF_MNT_NS + 16, VF_MNT_NS + 8);
	for (unsigned i = 0; i < 4; i++)
		append(pg, VF_MNT_NS + 8, PF_MOUNT(i) + PF_MNT_LINK);
}

/* --- the guest ------------------------------------------------------------------------------------------- */

void views_guest_reset(struct process_guest *pg, bool maple)
{
	const uint32_t first = 1;

	process_guest_reset(pg);
	put_bytes(pg, PF_TASK + PF_TGID, &first, sizeof(first));
	put_bytes(pg, PF_PIDNR + PF_NUMBERS, &first, sizeof(first));
	put(pg, PF_NODE(0) + PF_XA_SLOTS + 8 * PF_PID, 0);
	put(pg, PF_NODE(0) + PF_XA_SLOTS + 8, PF_PIDNR);
	put_tables(pg, maple);
	put_mounts(pg, maple);
}

struct process_guest *views_guest_create(bool maple)
{
	static const struct process_symbol symbols[] = {
		{ "init_net", VF_INIT_NET },
		{ "tcp_hashinfo", VF_HASHINFO },
		{ "udp_table", VF_UDP_TABLE },
		{ "socket_file_ops", VF_SOCKET_OPS },
		{ NULL, 0 },
	};
	static const struct process_more more = { views_guest_types, symbols };
	struct process_guest *pg = process_guest_create_more(maple, &more);

	views_guest_reset(pg, maple);
	return pg;
}
