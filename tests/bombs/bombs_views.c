/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bombs in what several views of a guest list: sockets, mounts. The types are those of the unit tests. */
#include <string.h>

#include "bombs.h"
#include "tests/unit/btf_builder.h"
#include "tests/unit/views_fixture.h"
#include "vmm-probe/guest/census.h"

#define MANY (BOMB_BASE + (2u << 20))

static struct bomb_guest *make_guest(size_t mib, const struct bomb_symbol *symbols)
{
	struct bomb_guest *b = bomb_guest_make(mib, symbols);
	struct btf_builder types;
	struct ot_buf blob;

	btf_builder_init(&types, NULL);
	process_guest_types(&types, false);
	views_guest_types(&types, false);
	ot_buf_init(&blob);
	btf_finish(&types, &blob);
	bomb_guest_types(b, blob.data, blob.len);
	return b;
}

/* --- sockets ---------------------------------------------------------------------------------------------- */

#define SOCK     160u
#define NSOCKETS 300000u

static const struct bomb_symbol sockets_symbols[] = { { "init_net", VF_INIT_NET },
						      { "tcp_hashinfo", VF_HASHINFO },
						      { "udp_table", VF_UDP_TABLE },
						      { NULL, 0 } };
static const struct bomb_symbol files_symbols[] = {
	{ "init_net", VF_INIT_NET },  { "tcp_hashinfo", VF_HASHINFO },      { "udp_table", VF_UDP_TABLE },
	{ "init_pid_ns", PF_PID_NS }, { "socket_file_ops", VF_SOCKET_OPS }, { NULL, 0 }
};

/* One chain of 300,000 connections, each with other ends, which is sound. */
static void *make_sockets(void)
{
	struct bomb_guest *b = make_guest(64, sockets_symbols);

	bomb_put64(b, VF_HASHINFO, VF_EHASH);
	bomb_put64(b, VF_EHASH, MANY + VF_NODE);
	for (uint32_t i = 0; i < NSOCKETS; i++) {
		uint64_t sk = MANY + (uint64_t)i * SOCK;

		bomb_put32(b, sk + VF_DADDR, i);
		bomb_put32(b, sk + VF_DPORT, 22 << 16 | 22);
		bomb_put32(b, sk + VF_FAMILY, 1 << 16 | 2);
		bomb_put64(b, sk + VF_NET, VF_INIT_NET);
		bomb_put64(b, sk + VF_NODE, i + 1 < NSOCKETS ? sk + SOCK + VF_NODE : 1);
		bomb_put64(b, sk + VF_NODE + 8, i ? sk - SOCK + VF_NODE : VF_EHASH);
	}
	bomb_put64(b, VF_UDP_TABLE, VF_UDP);
	return b;
}

/* A table of sixteen million buckets, all of it mapped, in which nothing is; then one that never ends. */
static void *make_buckets(void)
{
	struct bomb_guest *b = make_guest(130, sockets_symbols);

	bomb_put64(b, VF_HASHINFO, MANY);
	bomb_put64(b, VF_HASHINFO + 8, (1u << 24) - 1);
	bomb_put64(b, VF_UDP_TABLE, MANY);
	bomb_put64(b, VF_UDP_TABLE + 8, UINT32_MAX);
	return b;
}

/* Every number up to four million has this struct pid, by four nodes of which each fills its slots with the
 * next. */
static struct bomb_guest *make_numbers(uint64_t number)
{
	struct bomb_guest *b = make_guest(64, files_symbols);
	uint64_t entry = number;

	bomb_put64(b, VF_HASHINFO, VF_EHASH);
	bomb_put64(b, VF_UDP_TABLE, VF_UDP);
	for (unsigned level = 0; level < 4; level++) {
		*(uint8_t *)bomb_at(b, PF_NODE(level)) = (uint8_t)(6 * level);
		for (unsigned slot = 0; slot < 64; slot++)
			bomb_put64(b, PF_NODE(level) + PF_XA_SLOTS + 8ull * slot, entry);
		entry = PF_NODE(level) + 2;
	}
	bomb_put64(b, PF_PID_NS + 8, entry);
	return b;
}

static void *make_threads(void)
{
	return make_numbers(PF_PIDNR);
}

/* The one process that they have has the number 0. */
static void *make_torn(void)
{
	struct bomb_guest *b = make_numbers(PF_PIDNR);

	bomb_put64(b, PF_PIDNR + 16, PF_TASK + PF_LINKS + 16);
	bomb_put64(b, PF_TASK + PF_TASK_SIGNAL, PF_SIGNAL);
	return b;
}

static struct ot_err *read_sockets(void *made)
{
	struct vp_census census;
	struct ot_err *err = vp_census_sockets(((struct bomb_guest *)made)->guest, &census);

	vp_census_deinit(&census);
	return err;
}

/* --- mounts ----------------------------------------------------------------------------------------------- */

#define MOUNT   128u
#define NMOUNTS 200000u
#define DEEP    480u
#define DENTRY  64u

static const struct bomb_symbol mounts_symbols[] = { { "init_pid_ns", PF_PID_NS },
						     { "socket_file_ops", VF_SOCKET_OPS },
						     { NULL, 0 } };

/* The first process, and a path of 480 parts below its root. */
static void put_first(struct bomb_guest *b)
{
	bomb_put64(b, PF_PID_NS + 8, PF_NODE(0) + 2);
	bomb_put64(b, PF_NODE(0) + PF_XA_SLOTS + 8, PF_PIDNR);
	bomb_put64(b, PF_PIDNR + 16, PF_TASK + PF_LINKS + 16);
	bomb_put32(b, PF_PIDNR + PF_NUMBERS, 1);
	bomb_put32(b, PF_TASK + PF_TGID, 1);
	bomb_put64(b, PF_TASK + PF_TASK_SIGNAL, PF_SIGNAL);
	bomb_put64(b, PF_TASK + PF_TASK_NSPROXY, VF_NSPROXY);
	bomb_put64(b, PF_TASK + PF_TASK_FS, VF_FS);
	bomb_put64(b, VF_NSPROXY, VF_MNT_NS);
	bomb_put64(b, VF_FS, MANY + 16);
	bomb_put64(b, VF_FS + 8, BOMB_BASE + 0x40000);
	strcpy(bomb_at(b, BOMB_BASE + 0x3f000), "part");
	for (uint64_t i = 0; i < DEEP; i++) {
		uint64_t dentry = BOMB_BASE + 0x40000 + i * DENTRY;

		bomb_put64(b, dentry + PF_D_PARENT, i ? dentry - DENTRY : dentry);
		bomb_put32(b, dentry + PF_D_LEN, 4);
		bomb_put64(b, dentry + PF_D_NAME, BOMB_BASE + 0x3f000);
	}
}

/* 200,000 mounts, each on that path. */
static void *make_mounts(void)
{
	struct bomb_guest *b = make_guest(32, mounts_symbols);
	uint64_t head = VF_MNT_NS + 8, last = BOMB_BASE + 0x40000 + (DEEP - 1) * DENTRY;

	put_first(b);
	bomb_put64(b, VF_MNT_NS, MANY);
	bomb_put64(b, head, MANY + PF_MNT_LINK);
	for (uint64_t i = 0; i < NMOUNTS; i++) {
		uint64_t mount = MANY + i * MOUNT, link = mount + PF_MNT_LINK;

		bomb_put64(b, mount, MANY);
		bomb_put64(b, mount + 8, i ? last : BOMB_BASE + 0x40000);
		bomb_put64(b, mount + 16, i ? BOMB_BASE + 0x3e000 : BOMB_BASE + 0x40000);
		bomb_put64(b, mount + 24, VF_SUPER(0));
		bomb_put64(b, link, i + 1 < NMOUNTS ? link + MOUNT : head);
		bomb_put64(b, link + 8, i ? link - MOUNT : head);
	}
	bomb_put64(b, head + 8, MANY + (NMOUNTS - 1) * MOUNT + PF_MNT_LINK);
	bomb_put64(b, VF_SUPER(0) + PF_SB_TYPE, VF_FSTYPE(0));
	bomb_put64(b, VF_FSTYPE(0), VF_TYPENAME(0));
	strcpy(bomb_at(b, VF_TYPENAME(0)), "ext4");
	return b;
}

static struct ot_err *read_mounts(void *made)
{
	struct vp_census census;
	struct ot_err *err = vp_census_mounts(((struct bomb_guest *)made)->guest, &census);

	vp_census_deinit(&census);
	return err;
}

const struct bomb bombs_views[] = {
	{ "sockets", "300,000 connections in one chain", NULL, make_sockets, read_sockets },
	{ "sockets-buckets", "a table of sixteen million buckets, and one of four billion",
	  "tables of sockets can't be followed", make_buckets, read_sockets },
	{ "sockets-threads", "sockets of four million threads that are one", "contradicts itself",
	  make_threads, read_sockets },
	{ "sockets-torn", "four million processes that are one", "contradicts itself", make_torn,
	  read_sockets },
	{ "mounts", "200,000 mounts, each on a path of 480 parts",
	  "reading the guest's mounts takes more than its", make_mounts, read_mounts },
	{ NULL, NULL, NULL, NULL, NULL },
};
