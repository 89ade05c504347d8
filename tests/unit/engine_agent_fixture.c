/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent that the engine's tests play: its memory, its thread, its records. */
#include "tests/unit/engine_agent_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void ea_nap(void)
{
	const struct timespec t = { .tv_nsec = 500000 };

	nanosleep(&t, NULL);
}

static void *play(void *arg)
{
	struct ea *g = arg;

	while (!__atomic_load_n(&g->stop, __ATOMIC_ACQUIRE)) {
		uint32_t generation = __atomic_load_n(&g->control->generation, __ATOMIC_ACQUIRE);

		if (!__atomic_load_n(&g->deaf, __ATOMIC_ACQUIRE))
			__atomic_store_n(&g->header->applied, generation, __ATOMIC_RELEASE);
		for (uint32_t i = 0; i < 2 && !g->still; i++)
			vp_fake_sample(g->f->fake, i);
		ea_nap();
	}
	return NULL;
}

void ea_play(struct ea *g)
{
	g->stop = false;
	assert_int_equal(pthread_create(&g->thread, NULL, play, g), 0);
}

void ea_pause(struct ea *g)
{
	__atomic_store_n(&g->stop, true, __ATOMIC_RELEASE);
	pthread_join(g->thread, NULL);
}

/* Pages of the fake guest follow one another. */
static uint64_t pages(struct ef *f, size_t size)
{
	uint64_t first = vp_fake_page(f->fake);

	for (size_t done = VP_FAKE_PAGE; done < size; done += VP_FAKE_PAGE)
		vp_fake_page(f->fake);
	return first;
}

struct ea *ea_create(struct ef *f)
{
	struct ea *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g->f = f;
	g->place.token = EA_TOKEN;
	g->place.header_gpa = pages(f, sizeof(*g->header));
	g->place.control_gpa = pages(f, sizeof(*g->control));
	g->place.tsc_khz = 1000000; /* a nanosecond a tick */
	g->header = vp_fake_ram(f->fake, g->place.header_gpa);
	g->control = vp_fake_ram(f->fake, g->place.control_gpa);
	for (uint32_t i = 0; i < 2; i++) {
		g->place.rings[i].gpa =
		    pages(f, sizeof(struct ga_ring) + EA_RECORDS * sizeof(struct ga_record));
		g->place.rings[i].records = EA_RECORDS;
		g->rings[i] = vp_fake_ram(f->fake, g->place.rings[i].gpa);
	}
	g->header->magic = GA_MAGIC;
	g->header->state = GA_LIVE;
	g->control->owner = EA_TOKEN;
	f->agent = &g->place;
	ea_play(g);
	return g;
}

void ea_destroy(struct ea *g)
{
	struct ef *f = g->f;

	ef_close(f);
	ea_pause(g);
	ef_destroy(f);
	free(g);
}

bool ea_emit(struct ea *g, uint32_t cpu, const struct ga_record *content)
{
	struct ga_ring *ring = g->rings[cpu];
	uint64_t n = g->heads[cpu];
	struct ga_record *at = &ring->records[n % EA_RECORDS];

	if (n - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) >= EA_RECORDS) {
		__atomic_add_fetch(&ring->lost, 1, __ATOMIC_RELAXED);
		return false;
	}
	memcpy((uint8_t *)at + sizeof(at->seq), (const uint8_t *)content + sizeof(at->seq),
	       sizeof(*at) - sizeof(at->seq));
	__atomic_store_n(&at->seq, n + 1, __ATOMIC_RELEASE);
	g->heads[cpu]++;
	return true;
}

struct ga_record ea_record(uint64_t arg)
{
	struct ga_record r = {
		.task = EF_TASKS,
		.pid = 4242,
		.tgid = 4200,
		.comm = "inside",
		.slot = EA_SLOT,
		.nargs = 2,
		.args = { arg, arg + 1, 99 },
	};

	return r;
}

/* A probe of the event with an ECB: its index in the batch. */
static uint32_t add_probe(struct ef *f, uint32_t clause, uint32_t *ret_epid)
{
	uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_AGENT, "", "event");

	ef_agent_probe(f, probe, EA_SLOT, EA_TP, 2, GA_TRACEPOINT);
	*ret_epid = ef_ecb(f, probe, clause);
	return probe;
}

void ea_emit_at(struct ea *g, uint64_t tsc, uint64_t arg)
{
	struct ga_record rec = ea_record(arg);

	rec.tsc = tsc;
	assert_true(ea_emit(g, 0, &rec));
}

struct vp_batch_probe *ea_probe(struct ef *f, uint32_t clause)
{
	uint32_t epid, probe = add_probe(f, clause, &epid);

	return (struct vp_batch_probe *)(void *)f->probes.data + probe;
}

uint32_t ea_enable(struct ef *f, uint32_t clause)
{
	uint32_t epid;

	add_probe(f, clause, &epid);
	ef_enable(f);
	return epid;
}

void ea_wait_for(const void *at, uint64_t value)
{
	const uint64_t *word = at;

	for (int i = 0; i < 10000 && __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; i++)
		ea_nap();
	assert_int_equal(__atomic_load_n(word, __ATOMIC_ACQUIRE), value);
}

void ea_start_counting(struct ef *f)
{
	uint32_t c = ef_clause(f, NULL);

	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
	ea_enable(f, c);
	ef_start(f);
}
