/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a hostile client can send an engine: OPEN, a program, a batch; then the probes fire, the halves are
 * exchanged and the session closes. The shared memory is one heap block of the declared size, so the
 * sanitizer sees any byte beside it.
 *
 *   input: struct vp_msg_open | u32 length of the program | u32 0 | program (DOF) | batch
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/backend/fake/fake.h"
#include "vmm-probe/engine/service/session.h"

#define SHARED_SIZE (256u << 10)
#define TEXT        0xffffffff81000000ull
#define DIRECT      0xffff888000000000ull
#define NVCPUS      2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct guest {
	struct vp_fake *fake;
	struct vp_facts facts;
	uint8_t *shared;
};

static void must(struct ot_err *err)
{
	if (err)
		abort();
}

/* The direct map's first 8 MiB, and 2 MiB of text: zeros but for a task that both vCPUs run. */
static struct guest *make_guest(void)
{
	static struct guest g;
	const struct vp_fake_config config = {
		.nvcpus = NVCPUS, .ram_size = 8u << 20, .levels = 4, .counter_slots = 4, .can_profile = true
	};
	uint64_t task = DIRECT + 0x500000;

	must(vp_fake_create(&config, &g.fake));
	uint64_t root = vp_fake_root(g.fake);
	for (unsigned i = 0; i < 4; i++)
		vp_fake_map(g.fake, root, DIRECT + i * 0x200000ull, i * 0x200000ull, 0, 21);
	vp_fake_map(g.fake, root, TEXT, 0x200000, 0, 21);
	memset(&g.facts, 0, sizeof(g.facts));
	g.facts.size = sizeof(g.facts);
	g.facts.kernel_root = root;
	g.facts.levels = 4;
	g.facts.user_pgd_mask = ~0x1fffull;
	g.facts.current_task = 8;
	g.facts.task_comm_size = 16;
	g.facts.text_start = TEXT;
	g.facts.text_end = TEXT + 0x200000;
	g.facts.stack_size = 16384;
	for (uint32_t i = 0; i < NVCPUS; i++) {
		g.facts.percpu_base[i] = DIRECT + 0x400000 + i * 4096;
		vp_fake_write(g.fake, root, g.facts.percpu_base[i] + 8, &task, sizeof(task));
		vp_fake_set_reg(g.fake, i, VP_RSP, DIRECT + 0x600000);
		vp_fake_set_reg(g.fake, i, VP_CR3, root);
	}
	g.shared = malloc(SHARED_SIZE);
	if (!g.shared)
		abort();
	return &g;
}

static void run(struct guest *g, struct vp_engine_session *es)
{
	const uint64_t args[10] = { 0 };
	struct vp_msg_switch_reply reply;

	for (unsigned i = 0; i < 4; i++) {
		for (unsigned site = 0; site < 4; site++)
			vp_fake_hit(g->fake, i % NVCPUS, TEXT + site * 16);
		vp_engine_session_fire(es, 1 + i, args);
		must(vp_engine_session_switch(es, &reply));
	}
}

/* Is this too much work for a fuzzer? Strings above this size only make it slower. */
static bool is_slow(const struct vp_msg_open *open)
{
	return open->strsize > 4096 || (uint64_t)open->nspec * open->specsize > 1u << 20;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct guest *g;
	struct vp_msg_open open;
	struct vp_engine_session *es = NULL;
	uint32_t dof_len;

	if (!g)
		g = make_guest();
	if (size < sizeof(open) + 8)
		return 0;
	memcpy(&open, data, sizeof(open));
	memcpy(&dof_len, data + sizeof(open), sizeof(dof_len));
	data += sizeof(open) + 8;
	size -= sizeof(open) + 8;
	if (dof_len > size || is_slow(&open))
		return 0;
	open.flags &= ~(uint32_t)VP_OPEN_DESTRUCTIVE; /* chill() takes its time */
	memset(g->shared, 0, SHARED_SIZE);
	struct ot_err *err = vp_engine_session_open(vp_fake_engine(g->fake), &open, data, dof_len, &g->facts,
						    g->shared, SHARED_SIZE, NULL, 0, &es);
	if (!err)
		err = vp_engine_session_enable(es, data + dof_len, size - dof_len);
	if (!err)
		err = vp_engine_session_start(es);
	if (!err)
		run(g, es);
	ot_err_destroy(err);
	vp_engine_session_close(es);
	if (vp_fake_sites(g->fake))
		abort(); /* a site stayed behind */
	return 0;
}
