/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a consumer sees of the buffers: records, aggregations, states of vCPUs. */
#include "tests/unit/engine_fixture.h"

#include <string.h>

struct vp_msg_switch_reply ef_switch(struct ef *f)
{
	struct vp_msg_switch_reply reply;

	EF_OK(vp_engine_session_switch(f->es, &reply));
	return reply;
}

const struct vp_vcpu_status *ef_status(struct ef *f, uint32_t cpu)
{
	return (const struct vp_vcpu_status *)(void *)(f->shared + f->open.status_offset) + cpu;
}

static uint32_t record_size(struct ef *f, uint32_t epid)
{
	struct dif_layout_opts opts = { f->open.strsize, f->open.stackframes, f->open.ustackframes,
					f->open.jstackframes, f->open.jstackstrsize };
	struct dif_clause_layout layout;

	if (epid == VP_EPID_FAULT)
		return sizeof(struct vp_fault_record);
	EF_OK(dif_clause_layout(&f->prog.clauses[f->clause_of[epid]], &opts, &f->prog.arena, &layout));
	return layout.size;
}

static uint32_t walk(struct ef *f, uint32_t cpu, const uint8_t *half, uint64_t at, uint64_t end,
		     struct ef_record *ret, uint32_t n, uint32_t max)
{
	uint32_t head[3];

	while (at + 4 <= end) {
		memcpy(head, half + at, 4);
		if (!head[0]) {
			at += 4;
			continue;
		}
		assert_true(at + sizeof(head) <= end);
		memcpy(head, half + at, sizeof(head));
		assert_true(n < max);
		ret[n++] = (struct ef_record){ head[0], cpu, (uint64_t)head[1] << 32 | head[2], half + at };
		at += record_size(f, head[0]);
		assert_true(at <= end);
	}
	return n;
}

uint32_t ef_records(struct ef *f, uint32_t cpu, struct ef_record *ret, uint32_t max)
{
	const struct vp_vcpu_status *s = ef_status(f, cpu);
	unsigned half = s->active ^ 1;
	const struct vp_half *h = &s->principal[half];
	const uint8_t *mem = f->shared + vp_principal_offset(&f->open, cpu, half);
	uint32_t n = 0;

	if (h->wrapped != ~0ull)
		n = walk(f, cpu, mem, h->wrapped, f->open.bufsize, ret, n, max);
	return walk(f, cpu, mem, 0, h->used, ret, n, max);
}

bool ef_agg_entry(struct ef *f, uint32_t cpu, uint32_t n, const uint8_t **ret_key, const uint64_t **ret_words)
{
	const struct vp_vcpu_status *s = ef_status(f, cpu);
	unsigned half = s->active ^ 1;
	const uint8_t *mem = f->shared + vp_aggregation_offset(&f->open, cpu, half);
	struct dif_aggtab_entry e;
	size_t pos = 0;

	do
		if (!dif_aggtab_next(mem, s->aggregation[half].used, &pos, &e))
			return false;
	while (n--);
	*ret_key = (const uint8_t *)e.tuple + 4;
	*ret_words = e.words;
	return true;
}

uint64_t ef_agg_total(struct ef *f)
{
	uint64_t total = 0;
	const uint8_t *key;
	const uint64_t *words;

	for (uint32_t cpu = 0; cpu < f->open.nvcpus; cpu++)
		for (uint32_t n = 0; ef_agg_entry(f, cpu, n, &key, &words); n++)
			total += *words;
	return total;
}

uint64_t ef_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}
