/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes fuzz_client's seeds: what an honest engine answers, made from the messages' own structs, and what it
 * writes into the memory that it shares, made from the session's own layouts, whenever this is built.
 *
 *   client_seeds DIRECTORY
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "dif/vm/agg.h"
#include "tests/fuzz/client_session.h"

static void add(struct ot_buf *b, const void *data, size_t size)
{
	ot_buf_append(b, data, size);
	if (b->failed)
		abort();
}

static void add_byte(struct ot_buf *b, uint8_t byte)
{
	add(b, &byte, 1);
}

static void add_length(struct ot_buf *b, size_t n)
{
	const uint16_t length = (uint16_t)n;

	add(b, &length, sizeof(length));
}

/* u16 length, u8 descriptors, reply: as fuzz_client reads it. The head is filled in here. */
static void add_reply(struct ot_buf *b, uint32_t type, void *reply, size_t size, uint8_t nfds)
{
	const struct vp_msg head = { type, (uint32_t)size };

	memcpy(reply, &head, sizeof(head));
	add_length(b, size);
	add_byte(b, nfds);
	add(b, reply, size);
}

static void add_done(struct ot_buf *b)
{
	struct vp_msg_reply r = { .code = 0 };

	add_reply(b, VP_MSG_REPLY, &r, sizeof(r), 0);
}

static void add_switch(struct ot_buf *b, uint32_t flags, uint32_t taken)
{
	struct vp_msg_switch_reply r = { .now_ns = 1ull << 50,
					 .flags = flags,
					 .patching = { 1, 2, taken },
					 .overload = { taken, 1, 30, 0 },
					 .agent_bound_ns = 5 };

	add_reply(b, VP_MSG_SWITCH_REPLY, &r, sizeof(r), 0);
}

static void write_seed(const char *directory, const char *name, struct ot_buf *b)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *out = fopen(path, "we");
	if (!out || fwrite(b->data, b->len, 1, out) != 1 || fclose(out)) {
		perror(path);
		exit(1);
	}
	ot_buf_deinit(b);
}

/* --- each request's reply ------------------------------------------------------------------------------ */

static void add_hello(struct ot_buf *b)
{
	union {
		struct vp_msg_hello_reply r;
		char space[sizeof(struct vp_msg_hello_reply) + sizeof(struct vp_ram_range)];
	} u = { .r = { .version = VP_PROTOCOL_VERSION,
		       .nvcpus = CS_VCPUS,
		       .backend = "kvm",
		       .guest_name = "web01",
		       .can_profile = 1,
		       .traps = VP_TRAPS_TEXT,
		       .vm = 1,
		       .modules = 1,
		       .nram = 1 } };
	const struct vp_ram_range ram = { .gpa = 0x1000, .size = 4096, .fd_index = 0 };

	memcpy(u.space + sizeof(u.r), &ram, sizeof(ram));
	add_reply(b, VP_MSG_HELLO_REPLY, u.space, sizeof(u.space), 1);
}

static void add_snapshot(struct ot_buf *b)
{
	char space[sizeof(struct vp_msg_snapshot_reply) + CS_VCPUS * sizeof(struct vp_regs)] = { 0 };
	const struct vp_msg_snapshot_reply r = { .nvcpus = CS_VCPUS };

	memcpy(space, &r, sizeof(r));
	add_reply(b, VP_MSG_SNAPSHOT_REPLY, space, sizeof(space), 0);
}

static void add_stats(struct ot_buf *b)
{
	char space[sizeof(struct vp_msg_stats_reply) + 2 * VP_VM_STAT_NAME] = { 0 };
	const struct vp_msg_stats_reply r = { .n = 2 };

	memcpy(space, &r, sizeof(r));
	memcpy(space + sizeof(r), "exits", 6);
	memcpy(space + sizeof(r) + VP_VM_STAT_NAME, "halts", 6);
	add_reply(b, VP_MSG_STATS_REPLY, space, sizeof(space), 0);
}

static void requests(struct ot_buf *b)
{
	struct vp_msg_patches_reply patches = { .npatches = 2 };
	struct vp_msg_modules_reply modules = { .last = 2, .n = 1, .events = { { .module = 1, .kind = 1 } } };
	struct vp_patch list[2] = { { .gva = 0x2000, .len = 2 }, { .gva = 0x1000, .len = 5 } };

	add_byte(b, 0);
	add_byte(b, 12);
	add_hello(b);
	add_snapshot(b);
	add_stats(b);
	add_done(b); /* CPC */
	add_reply(b, VP_MSG_PATCHES_REPLY, &patches, sizeof(patches), 1);
	add_done(b); /* OPEN, ENABLE, START */
	add_done(b);
	add_done(b);
	add_switch(b, 0, 0);
	add_reply(b, VP_MSG_MODULES_REPLY, &modules, sizeof(modules), 0);
	add_switch(b, VP_SWITCH_PAUSED, 1);
	add_done(b);
	add(b, list, sizeof(list));
}

/* --- a session's memory -------------------------------------------------------------------------------- */

/* A record of each enabling, and a fault. */
static size_t records(const struct vp_session *s, uint8_t *half)
{
	struct vp_fault_record fault = { .epid = VP_EPID_FAULT, .ecb = 1, .action = 1, .fault = 1 };
	size_t at = 0;

	for (uint32_t epid = 1; epid <= s->program.nenabled; epid++) {
		uint32_t size = s->program.enabled[epid - 1]->layout->size;
		memcpy(half + at, &epid, sizeof(epid));
		at += size;
	}
	memcpy(half + at, &fault, sizeof(fault));
	return at + sizeof(fault);
}

static size_t aggregations(const struct vp_session *s, uint8_t *half, size_t size)
{
	struct dif_aggtab tab;
	uint8_t tuple[256] = { 0 };

	if (dif_aggtab_init(&tab, half, size))
		abort();
	for (uint32_t epid = 1; epid <= s->program.nenabled; epid++) {
		const struct vp_enabled *e = s->program.enabled[epid - 1];
		for (uint32_t i = 0; i < e->layout->naggs; i++) {
			const struct dif_agg_layout *l = &e->layout->aggs[i];
			const struct dif_action *action = &e->clause->actions[l->action];
			memcpy(tuple, &action->aggid, sizeof(uint32_t));
			(void)dif_aggtab_lookup(&tab, l, (enum dif_agg_kind)action->kind, action->arg, tuple,
						epid);
		}
	}
	size = tab.used;
	dif_aggtab_deinit(&tab);
	return size;
}

/* @p before: switches until it stops. */
static void session(struct ot_buf *b, int before, uint32_t flags, uint64_t end, uint32_t taken)
{
	static uint8_t principal[4096], aggregation[4096];
	const struct client_session *cs = client_session();
	struct vp_vcpu_status status[CS_VCPUS] = { { 0 } };
	size_t used = records(cs->s, principal), agg = aggregations(cs->s, aggregation, sizeof(aggregation));

	for (unsigned i = 0; i < CS_VCPUS; i++) {
		status[i].active = 1;
		status[i].principal[0] = (struct vp_half){ .used = used, .wrapped = UINT64_MAX };
		status[i].aggregation[0] = (struct vp_half){ .used = agg, .dropped = 2 };
		status[i].guest_end = i ? 0 : end;
		status[i].exit_pending = taken;
	}
	add_byte(b, 1);
	add_byte(b, (uint8_t)(before + 5));
	for (int i = 0; i < before; i++)
		add_switch(b, flags, taken);
	add_done(b);
	for (int i = 0; i < 4; i++)
		add_switch(b, flags, taken);
	add(b, status, sizeof(status));
	for (unsigned i = 0; i < CS_VCPUS; i++) {
		add_length(b, used);
		add(b, principal, used);
		add_length(b, 0);
		add_length(b, agg);
		add(b, aggregation, agg);
		add_length(b, 0);
	}
}

int main(int argc, char **argv)
{
	struct ot_buf b;

	if (argc != 2) {
		fprintf(stderr, "usage: client_seeds DIRECTORY\n");
		return 2;
	}
	ot_buf_init(&b);
	requests(&b);
	write_seed(argv[1], "requests", &b);
	ot_buf_init(&b);
	session(&b, 3, 0, VP_GUEST_RUNS, 0);
	write_seed(argv[1], "session", &b);
	ot_buf_init(&b);
	session(&b, 1, VP_SWITCH_FILLED | VP_SWITCH_AGENT_GONE, VP_GUEST_POWERED_OFF, 1);
	write_seed(argv[1], "session_ends", &b);
	return 0;
}
