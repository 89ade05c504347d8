/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's tables of TCP and UDP sockets, which all of its network namespaces share: connections
 * (tcp_hashinfo.ehash), listening sockets, and UDP's by local port (udp_table). A namespace may have tables
 * of its own; the first one has these.
 *
 * Connections come and go all the time. After a change, therefore, only the chain in which it was found is
 * read again, not the whole table. Each node of a chain names the pointer that leads to it, and no two
 * pointers may lead to one node: a chain ends, even if the guest writes a loop.
 */
#include <string.h>

#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/census_sockets.h"
#include "vmm-probe/guest/guest_internal.h"

#define CHUNK        4096u
#define BUCKETS_MAX  (1u << 24)
#define BUCKET_BYTES 256u
#define CHAIN_TRIES  20

struct table {
	uint64_t at, n;        /* its buckets */
	uint32_t stride, head; /* size of a bucket; offset of its first pointer */
	uint32_t node;         /* offset of the chain's node in struct sock */
	bool is_udp;
};

bool vp_sockets_find_tables(struct vp_sockets *s, const struct vp_btf *btf)
{
	struct vp_tables_layout *t = &s->tables;
	const struct vp_member members[] = {
		{ "inet_hashinfo", "ehash", &t->ehash },
		{ "inet_hashinfo", "ehash_mask", &t->ehash_mask },
		{ "inet_ehash_bucket", "chain.first", &t->bucket_head },
		{ "inet_listen_hashbucket", "nulls_head.first", &t->listen_head },
		{ "udp_table", "hash", &t->udp_hash },
		{ "udp_table", "mask", &t->udp_mask },
		{ "udp_hslot", "head.first", &t->slot_head },
	};
	/* Older kernels chain listening sockets by this node in a table in place; newer ones have one of any
	 * size.
	 */
	const struct vp_member in_place[] = { { "inet_hashinfo", "listening_hash", &t->listening } };
	const struct vp_member at_pointer[] = {
		{ "inet_hashinfo", "lhash2", &t->listening },
		{ "inet_hashinfo", "lhash2_mask", &t->listening_mask },
	};

	t->bucket = (uint32_t)vp_btf_sizeof(btf, "inet_ehash_bucket");
	t->listen_bucket = (uint32_t)vp_btf_sizeof(btf, "inet_listen_hashbucket");
	t->slot = (uint32_t)vp_btf_sizeof(btf, "udp_hslot");
	if (!vp_census_members(btf, members, OT_ARRAY_SIZE(members)))
		return false;
	if (vp_census_members(btf, in_place, OT_ARRAY_SIZE(in_place))) {
		t->nlistening = vp_btf_array_length(btf, "inet_hashinfo", "listening_hash");
		if (!t->nlistening)
			return false;
	} else if (!vp_census_members(btf, at_pointer, OT_ARRAY_SIZE(at_pointer))) {
		return false;
	}
	return t->bucket_head + 8ull <= t->bucket && t->bucket <= BUCKET_BYTES &&
	       t->listen_head + 8ull <= t->listen_bucket && t->listen_bucket <= BUCKET_BYTES &&
	       t->slot_head + 8ull <= t->slot && t->slot <= BUCKET_BYTES;
}

/* --- chains ------------------------------------------------------------------------------------------- */

/* A chain of struct hlist_nulls_node ends with an odd number, one of struct hlist_node with 0. */
static bool is_node(uint64_t pointer)
{
	return pointer && !(pointer & 1);
}

static struct ot_err *walk_chain(struct vp_sockets *s, const struct table *t, uint64_t head)
{
	struct {
		uint64_t next, pprev;
	} node;
	uint64_t from = head, at;

	OT_TRY(vp_guest_read_u64(s->guest, vp_gva(head), &at));
	for (; is_node(at); at = node.next) {
		OT_TRY(vp_guest_read(s->guest, vp_gva(at), &node, sizeof(node)));
		if (node.pprev != from)
			return vp_census_torn();
		OT_TRY(vp_sockets_add(s, at - t->node, t->is_udp, VP_SOCKET_TABLES, 0));
		from = at;
	}
	return NULL;
}

static struct ot_err *walk_bucket(struct vp_sockets *s, const struct table *t, uint64_t head)
{
	size_t before = s->census->count;
	struct ot_err *err = NULL;

	for (unsigned i = 0; i < (s->guest->is_still ? 1 : CHAIN_TRIES); i++) {
		enum ot_err_code code;

		ot_err_destroy(err);
		s->census->count = before;
		err = walk_chain(s, t, head);
		code = err ? ot_err_code(err) : 0;
		if ((code != OT_ERR_BUSY && code != OT_ERR_FAULT) || vp_budget_is_over())
			break;
	}
	return err;
}

static struct ot_err *walk_table(struct vp_sockets *s, const struct table *t)
{
	uint8_t chunk[CHUNK];
	uint64_t n, first;

	if (t->n > BUCKETS_MAX)
		return vp_census_endless();
	for (uint64_t i = 0; i < t->n; i += n) {
		n = CHUNK / t->stride;
		if (n > t->n - i)
			n = t->n - i;
		OT_TRY(vp_budget_check());
		OT_TRY(vp_guest_read(s->guest, vp_gva(t->at + i * t->stride), chunk, n * t->stride));
		for (uint64_t k = 0; k < n; k++) {
			memcpy(&first, chunk + k * t->stride + t->head, sizeof(first));
			if (is_node(first))
				OT_TRY(walk_bucket(s, t, t->at + (i + k) * t->stride + t->head));
		}
	}
	return NULL;
}

/* --- the tables ----------------------------------------------------------------------------------------- */

/* A table at a pointer, with its number of buckets less one. */
static struct ot_err *walk_at(struct vp_sockets *s, uint64_t pointer, uint64_t mask, struct table *t)
{
	uint32_t most;

	OT_TRY(vp_guest_read_u64(s->guest, vp_gva(pointer), &t->at));
	OT_TRY(vp_guest_read_u32(s->guest, vp_gva(mask), &most));
	t->n = most + 1ull;
	return walk_table(s, t);
}

static struct ot_err *walk_listening(struct vp_sockets *s)
{
	const struct vp_tables_layout *l = &s->tables;
	struct table t = { .stride = l->listen_bucket, .head = l->listen_head, .node = s->l.nulls_node };

	if (!l->nlistening)
		return walk_at(s, s->tcp_hashinfo + l->listening, s->tcp_hashinfo + l->listening_mask, &t);
	t.at = s->tcp_hashinfo + l->listening;
	t.n = l->nlistening;
	return walk_table(s, &t);
}

struct ot_err *vp_sockets_walk_tables(void *ctx, struct vp_census *census)
{
	struct vp_sockets *s = ctx;
	const struct vp_tables_layout *l = &s->tables;
	struct table connected = { .stride = l->bucket, .head = l->bucket_head, .node = s->l.nulls_node };
	struct table udp = { .stride = l->slot, .head = l->slot_head, .node = s->l.node, .is_udp = true };

	s->census = census;
	s->seen = 0;
	OT_TRY(walk_at(s, s->tcp_hashinfo + l->ehash, s->tcp_hashinfo + l->ehash_mask, &connected));
	OT_TRY(walk_listening(s));
	return walk_at(s, s->udp_table + l->udp_hash, s->udp_table + l->udp_mask, &udp);
}
