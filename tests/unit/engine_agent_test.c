/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's agent, played by a thread: what is asked of it, what its records become, and what it may not
 * do. */
#include "tests/unit/engine_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guest-agent/agent_abi.h"
#include "vmm-probe/engine/internal.h"

#define TOKEN   0x1234567890abc00ull
#define RECORDS 64u
#define SLOT    17u
#define TP      0xffffffff82001000ull

/* The guest's side. Its thread does what the module's poll does, and is the two vCPUs when they are asked. */
struct guest {
	struct ef *f;
	struct ga_header *header;
	struct ga_control *control;
	struct ga_ring *rings[2];
	uint64_t heads[2];
	struct vp_batch_agent place;
	pthread_t thread;
	bool stop, deaf, still; /* still: the test itself is the vCPUs */
};

static void nap(void)
{
	const struct timespec t = { .tv_nsec = 500000 };

	nanosleep(&t, NULL);
}

static void *play(void *arg)
{
	struct guest *g = arg;

	while (!__atomic_load_n(&g->stop, __ATOMIC_ACQUIRE)) {
		uint32_t generation = __atomic_load_n(&g->control->generation, __ATOMIC_ACQUIRE);

		if (!__atomic_load_n(&g->deaf, __ATOMIC_ACQUIRE))
			__atomic_store_n(&g->header->applied, generation, __ATOMIC_RELEASE);
		for (uint32_t i = 0; i < 2 && !g->still; i++)
			vp_fake_sample(g->f->fake, i);
		nap();
	}
	return NULL;
}

/* Pages of the fake guest follow one another. */
static uint64_t pages(struct ef *f, size_t size)
{
	uint64_t first = vp_fake_page(f->fake);

	for (size_t done = VP_FAKE_PAGE; done < size; done += VP_FAKE_PAGE)
		vp_fake_page(f->fake);
	return first;
}

static struct guest *guest_create(struct ef *f)
{
	struct guest *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g->f = f;
	g->place.token = TOKEN;
	g->place.header_gpa = pages(f, sizeof(*g->header));
	g->place.control_gpa = pages(f, sizeof(*g->control));
	g->place.tsc_khz = 1000000; /* a nanosecond a tick */
	g->header = vp_fake_ram(f->fake, g->place.header_gpa);
	g->control = vp_fake_ram(f->fake, g->place.control_gpa);
	for (uint32_t i = 0; i < 2; i++) {
		g->place.rings[i].gpa = pages(f, sizeof(struct ga_ring) + RECORDS * sizeof(struct ga_record));
		g->place.rings[i].records = RECORDS;
		g->rings[i] = vp_fake_ram(f->fake, g->place.rings[i].gpa);
	}
	g->header->magic = GA_MAGIC;
	g->header->state = GA_LIVE;
	g->control->owner = TOKEN;
	f->agent = &g->place;
	assert_int_equal(pthread_create(&g->thread, NULL, play, g), 0);
	return g;
}

/* The engine goes while its guest still runs. */
static void destroy(struct guest *g)
{
	struct ef *f = g->f;

	ef_close(f);
	__atomic_store_n(&g->stop, true, __ATOMIC_RELEASE);
	pthread_join(g->thread, NULL);
	ef_destroy(f);
	free(g);
}

/* What the module's probe does. @p stand_in is the record's content; false: the ring is full. */
static bool emit(struct guest *g, uint32_t cpu, const struct ga_record *content)
{
	struct ga_ring *ring = g->rings[cpu];
	uint64_t n = g->heads[cpu];
	struct ga_record *at = &ring->records[n % RECORDS];

	if (n - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) >= RECORDS) {
		__atomic_add_fetch(&ring->lost, 1, __ATOMIC_RELAXED);
		return false;
	}
	memcpy((uint8_t *)at + sizeof(at->seq), (const uint8_t *)content + sizeof(at->seq),
	       sizeof(*at) - sizeof(at->seq));
	__atomic_store_n(&at->seq, n + 1, __ATOMIC_RELEASE);
	g->heads[cpu]++;
	return true;
}

static struct ga_record record(uint64_t arg)
{
	struct ga_record r = {
		.task = EF_TASKS,
		.pid = 4242,
		.tgid = 4200,
		.comm = "inside",
		.slot = SLOT,
		.nargs = 2,
		.args = { arg, arg + 1, 99 },
	};

	return r;
}

static uint32_t enable(struct ef *f, uint32_t clause)
{
	uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_AGENT, "", "event");

	ef_agent_probe(f, probe, SLOT, TP, 2, GA_TRACEPOINT);
	uint32_t epid = ef_ecb(f, probe, clause);
	ef_enable(f);
	return epid;
}

static void wait_for(const void *at, uint64_t value)
{
	const uint64_t *word = at;

	for (int i = 0; i < 10000 && __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; i++)
		nap();
	assert_int_equal(__atomic_load_n(word, __ATOMIC_ACQUIRE), value);
}

/* One clause that counts every event. */
static void start_counting(struct ef *f)
{
	uint32_t c = ef_clause(f, NULL);

	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
	enable(f, c);
	ef_start(f);
}

/* --- tests --------------------------------------------------------------------------------------------- */

static void owned_while_in_use(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	const struct ga_want *want = &g->control->slots[SLOT];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	enable(f, c);
	assert_int_equal(g->control->owner, TOKEN); /* not before it starts */
	ef_start(f);
	assert_int_equal(g->control->owner & ~0xffull, TOKEN);
	assert_int_not_equal(g->control->owner, TOKEN);
	assert_int_equal(want->kind, GA_TRACEPOINT);
	assert_int_equal(want->address, TP);
	assert_int_equal(want->nargs, 2);
	assert_int_equal(__atomic_load_n(&g->header->applied, __ATOMIC_ACQUIRE), g->control->generation);

	uint64_t beat = __atomic_load_n(&g->control->beat, __ATOMIC_RELAXED);
	for (int i = 0; i < 10000 && __atomic_load_n(&g->control->beat, __ATOMIC_RELAXED) == beat; i++)
		nap();
	assert_int_not_equal(__atomic_load_n(&g->control->beat, __ATOMIC_RELAXED), beat);
	EF_OK(vp_es_stop(f->es));
	assert_int_equal(g->control->owner, TOKEN);
	assert_int_equal(want->kind, GA_OFF);
	destroy(g);
}

/* What the clause sees is the event's, not the vCPU's. */
static void records_fire(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	struct ef_record r[8];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_pid));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_tid));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg2)); /* not among nargs: 0 */
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_execname));
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_view));
	ef_open(f);
	uint32_t epid = enable(f, c);
	ef_start(f);
	for (uint64_t i = 0; i < 3; i++) {
		struct ga_record rec = record(10 * i);
		assert_true(emit(g, 1, &rec));
	}
	wait_for(&g->rings[1]->tail, 3);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 8), 0);
	assert_int_equal(ef_records(f, 1, r, 8), 3);
	for (uint64_t i = 0; i < 3; i++) {
		const uint8_t *data = r[i].data + 16;
		assert_int_equal(r[i].epid, epid);
		assert_int_equal(ef_u64(data), 4200);
		assert_int_equal(ef_u64(data + 8), 4242);
		assert_int_equal(ef_u64(data + 16), 10 * i);
		assert_int_equal(ef_u64(data + 24), 10 * i + 1);
		assert_int_equal(ef_u64(data + 32), 0);
		assert_string_equal((const char *)data + 40, "inside");
		assert_string_equal((const char *)data + 72, "inside");
		assert_true(i == 0 || r[i].time_ns >= r[i - 1].time_ns);
	}
	destroy(g);
}

/* Before an outside clause of the same vCPU comes what happened inside until then. */
static void inside_comes_first(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	struct ef_record r[8];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_view));
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	enable(f, c);
	ef_start(f);
	/* From here on this thread is the vCPUs. */
	__atomic_store_n(&g->stop, true, __ATOMIC_RELEASE);
	pthread_join(g->thread, NULL);
	struct ga_record rec = record(1);
	assert_true(emit(g, 0, &rec));
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 8), 2);
	assert_string_equal((const char *)r[0].data + 16, "inside");
	assert_string_equal((const char *)r[1].data + 16, "outside");
	g->stop = false;
	assert_int_equal(pthread_create(&g->thread, NULL, play, g), 0);
	destroy(g);
}

/* One key on two views is two entries, and the client can tell them apart. */
static void views_are_kept_apart(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	const uint64_t *words;
	const uint8_t *key;
	uint64_t counted[2] = { 0 };
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_int(f, 5));
	ef_agg(f, c, DIF_AGG_count, NULL, 1);
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	enable(f, c);
	ef_start(f);
	__atomic_store_n(&g->stop, true, __ATOMIC_RELEASE);
	pthread_join(g->thread, NULL);
	struct ga_record rec = record(1);
	for (int i = 0; i < 3; i++)
		assert_true(emit(g, 0, &rec));
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ef_switch(f);
	for (uint32_t n = 0; n < 2; n++) {
		uint32_t id;
		assert_true(ef_agg_entry(f, 0, n, &key, &words));
		memcpy(&id, key - sizeof(id), sizeof(id));
		assert_int_equal(id & ~VP_AGG_INSIDE, 1);
		counted[!!(id & VP_AGG_INSIDE)] += words[0];
	}
	assert_int_equal(counted[0], 1);
	assert_int_equal(counted[1], 3);
	g->stop = false;
	assert_int_equal(pthread_create(&g->thread, NULL, play, g), 0);
	destroy(g);
}

/* What was in the rings when the session ends counts. */
static void stop_takes_all(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	(void)state;

	start_counting(f);
	for (uint64_t i = 0; i < 50; i++) {
		struct ga_record rec = record(i);
		assert_true(emit(g, i & 1, &rec));
	}
	EF_OK(vp_es_stop(f->es));
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 50);
	destroy(g);
}

static void losses_are_counted(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	(void)state;

	start_counting(f);
	__atomic_add_fetch(&g->rings[0]->lost, 7, __ATOMIC_RELAXED);
	wait_for(&ef_status(f, 0)->agent_lost, 7);
	assert_int_equal(ef_status(f, 1)->agent_lost, 0);
	destroy(g);
}

/* The module is unloaded: the engine lets go by itself, and writes nothing any more. */
static void closing_lets_go(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	(void)state;

	start_counting(f);
	for (uint64_t i = 0; i < 5; i++) {
		struct ga_record rec = record(i);
		assert_true(emit(g, 0, &rec));
	}
	__atomic_store_n(&g->header->state, GA_CLOSING, __ATOMIC_RELEASE);
	wait_for(&g->control->owner, TOKEN);
	assert_int_equal(g->rings[0]->tail, 5);
	/* Somebody else's memory now. */
	g->control->owner = 0;
	memset(g->rings[0], 0x5a, sizeof(*g->rings[0]));
	struct ga_ring before = *g->rings[0];
	for (int i = 0; i < 60; i++)
		nap();
	assert_memory_equal(g->rings[0], &before, sizeof(before));
	EF_OK(vp_es_stop(f->es));
	assert_int_equal(g->control->owner, 0);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 5);
	destroy(g);
}

/* Loaded again, elsewhere, with the tracepoint in another slot: the session's probes move there. */
static void another_load(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
	uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_AGENT, "", "event");
	ef_probe_id(f, probe, 4711);
	ef_agent_probe(f, probe, SLOT, TP, 2, GA_TRACEPOINT);
	ef_ecb(f, probe, c);
	ef_enable(f);
	ef_start(f);
	struct ga_record rec = record(1);
	assert_true(emit(g, 0, &rec));
	wait_for(&g->rings[0]->tail, 1);
	assert_int_equal(ef_switch(f).flags, 0);
	assert_int_equal(ef_agg_total(f), 1);

	__atomic_store_n(&g->header->state, GA_CLOSING, __ATOMIC_RELEASE);
	wait_for(&g->control->owner, TOKEN);
	assert_int_equal(ef_switch(f).flags, VP_SWITCH_AGENT_GONE);
	/* The same memory again, which is what a guest often gives, with another token. */
	memset(g->rings[0], 0, sizeof(*g->rings[0]) + RECORDS * sizeof(struct ga_record));
	g->heads[0] = 0;
	g->place.token = TOKEN + 0x100;
	__atomic_store_n(&g->control->owner, g->place.token, __ATOMIC_RELEASE);
	__atomic_store_n(&g->header->state, GA_LIVE, __ATOMIC_RELEASE);
	probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_AGENT, "", "event");
	ef_probe_id(f, probe, 4711);
	ef_agent_probe(f, probe, SLOT + 1, TP + 64, 2, GA_TRACEPOINT);
	ef_enable(f);
	assert_int_equal(ef_switch(f).flags, 0);
	assert_int_equal(g->control->slots[SLOT].kind, GA_OFF);
	assert_int_equal(g->control->slots[SLOT + 1].kind, GA_TRACEPOINT);
	assert_int_equal(g->control->slots[SLOT + 1].address, TP + 64);
	rec.slot = SLOT + 1;
	assert_true(emit(g, 0, &rec));
	rec.slot = SLOT; /* nobody's any more */
	assert_true(emit(g, 0, &rec));
	wait_for(&g->rings[0]->tail, 2);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 1);
	destroy(g);
}

/* A mark is a moment between two readings of the guest's counter: from then on its times are ours, to half
 * their distance. */
static void clock_is_mapped(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	struct vp_msg_switch_reply reply = { 0 };
	struct ef_record r[2];
	struct timespec t;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_timestamp));
	ef_open(f);
	ef_probe(f, VP_PROBE_AGENT_CALL, VP_ARGS_NONE, "", "");
	ef_site(f, EF_FUNC_B, EF_FUNC_B);
	((struct vp_batch_site *)(void *)f->sites.data)->agent = VP_AGENT_CALL_MARK;
	enable(f, c);
	ef_start(f);
	assert_int_equal(ef_switch(f).agent_bound_ns, 0);
	__atomic_store_n(&g->stop, true, __ATOMIC_RELEASE);
	pthread_join(g->thread, NULL);

	clock_gettime(CLOCK_MONOTONIC, &t);
	uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	/* The guest's counter, of a nanosecond a tick, began five seconds ago. */
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_B));
	__atomic_store_n(&g->header->clock_seq, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&g->header->clock_before, 5000000000ull - 1000, __ATOMIC_RELEASE);
	__atomic_store_n(&g->header->clock_after, 5000000000ull + 1000, __ATOMIC_RELEASE);
	__atomic_store_n(&g->header->clock_seq, 2, __ATOMIC_RELEASE);
	for (int i = 0; i < 10000 && !reply.agent_bound_ns; i++) {
		nap();
		reply = ef_switch(f);
	}
	assert_int_equal(reply.agent_bound_ns, 1001); /* told rounded up */
	assert_int_equal(reply.agent_tsc, 5000000000ull);
	assert_true(reply.agent_ns >= now);
	struct ga_record rec = record(1);
	rec.tsc = 5000000000ull - 3000000; /* 3 ms before the mark */
	assert_true(emit(g, 0, &rec));
	vp_engine_visit(vp_fake_engine(f->fake), 0);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 2), 1);
	uint64_t when = ef_u64(r[0].data + 16);
	assert_int_equal(when, r[0].time_ns);
	assert_true(when + 3000000 >= now && when + 3000000 < now + 1000000000);
	assert_true(when < now + 1000000000 - 3000000);
	g->stop = false;
	assert_int_equal(pthread_create(&g->thread, NULL, play, g), 0);
	destroy(g);
}

/* Memory without the token is not the agent's: nothing is written there. */
static void another_owner(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	(void)state;

	g->control->owner = 0x4242424242424242ull;
	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	enable(f, c);
	EF_FAILS(OT_ERR_BUSY, vp_es_start(f->es));
	assert_int_equal(g->control->owner, 0x4242424242424242ull);
	assert_int_equal(g->control->generation, 0);
	destroy(g);
}

/* One that does not beat any more went with another VMM. */
static void dead_owner(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	(void)state;

	g->control->owner = TOKEN | 9;
	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	enable(f, c);
	ef_start(f);
	assert_int_equal(g->control->owner & ~0xffull, TOKEN);
	assert_int_not_equal(g->control->owner, TOKEN | 9);
	EF_OK(vp_es_stop(f->es));
	assert_int_equal(g->control->owner, TOKEN);
	destroy(g);
}

/* Records with anything in them. */
static void hostile_records(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	uint32_t seed = 1;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_execname));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_uid));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg9));
	ef_open(f);
	enable(f, c);
	ef_start(f);
	for (uint64_t i = 0; i < 500; i++) {
		struct ga_record rec;
		for (size_t k = 0; k < sizeof(rec); k++) {
			seed = seed * 1103515245 + 12345;
			((uint8_t *)&rec)[k] = (uint8_t)(seed >> 16);
		}
		if (i % 2)
			rec.slot = SLOT;
		while (!emit(g, 0, &rec))
			nap();
	}
	wait_for(&g->rings[0]->tail, 500);
	assert_int_equal(ef_status(f, 0)->hits, 250);
	/* A record's number from another lap, or the future, is no record. */
	__atomic_store_n(&g->rings[0]->records[500 % RECORDS].seq, 499, __ATOMIC_RELEASE);
	__atomic_store_n(&g->rings[1]->records[0].seq, ~0ull, __ATOMIC_RELEASE);
	for (int i = 0; i < 60; i++)
		nap();
	assert_int_equal(__atomic_load_n(&g->rings[0]->tail, __ATOMIC_ACQUIRE), 500);
	assert_int_equal(__atomic_load_n(&g->rings[1]->tail, __ATOMIC_ACQUIRE), 0);
	destroy(g);
}

static void start_fails(struct ef *f)
{
	EF_FAILS(OT_ERR_BAD_DATA, vp_es_start(f->es));
}

/* Places that are none. */
static void hostile_places(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		struct ef *f = ef_create();
		struct guest *g = guest_create(f);

		switch (i) {
		case 0:
			g->place.control_gpa = f->config.ram_size - VP_FAKE_PAGE;
			break;
		case 1:
			g->place.control_gpa |= 8;
			break;
		case 2:
			g->place.header_gpa = ~0xfffull;
			break;
		case 3:
			g->place.rings[0].records = 48;
			break;
		case 4:
			g->place.rings[1].records = 1u << 31;
			break;
		case 5:
			g->place.rings[1].records = 1u << 20; /* not in RAM */
			break;
		case 6:
			g->place.token |= 1;
			break;
		case 7:
			g->place.token = 0;
			break;
		}
		uint32_t c = ef_clause(f, NULL);
		ef_open(f);
		enable(f, c);
		start_fails(f);
		assert_int_equal(g->control->owner, TOKEN);
		destroy(g);
	}
}

static void enable_fails(struct ef *f, uint32_t slot, uint32_t nargs, uint32_t want)
{
	uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_AGENT, "", "event");

	ef_agent_probe(f, probe, slot, TP, nargs, want);
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
	ef_batch_clear(f);
}

/* What a probe says of the events that it wants is looked at too. */
static void choice_fails(struct ef *f, const struct vp_batch_probe *choice)
{
	uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_AGENT, "", "event");
	struct vp_batch_probe *p = (struct vp_batch_probe *)(void *)f->probes.data + probe;

	ef_agent_probe(f, probe, SLOT, TP, 2, GA_TRACEPOINT);
	p->skip = choice->skip;
	p->when = choice->when;
	p->when_word = choice->when_word;
	p->flags = choice->flags;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
	ef_batch_clear(f);
}

static void hostile_batches(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	(void)state;

	ef_clause(f, NULL);
	ef_open(f);
	enable_fails(f, GA_SLOTS, 2, GA_TRACEPOINT);
	enable_fails(f, ~0u, 2, GA_TRACEPOINT);
	enable_fails(f, 0, GA_ARGS + 1, GA_TRACEPOINT);
	enable_fails(f, 0, 0, GA_OFF);
	enable_fails(f, 0, 0, GA_KRETPROBE + 1);
	enable_fails(f, GA_TRACEPOINTS, 0, GA_TRACEPOINT);
	enable_fails(f, GA_TRACEPOINTS - 1, 0, GA_KPROBE);
	choice_fails(f, &(struct vp_batch_probe){ .skip = VP_AGENT_SKIP_MAX + 1 });
	choice_fails(f, &(struct vp_batch_probe){ .when = VP_WHEN_WORD + 1 });
	choice_fails(f, &(struct vp_batch_probe){ .when = VP_WHEN_WORD, .when_word = GA_ARGS });
	choice_fails(f, &(struct vp_batch_probe){ .flags = 1u << 15 });
	f->agent = NULL;
	enable_fails(f, 0, 0, GA_TRACEPOINT);
	destroy(g);
}

/* Kprobes: who wants the same has the same slot, all others have their own, and there is an end to them. */
static void kprobe_slots(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	uint32_t on = 0;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_FBT_ENTRY, "f", "entry");
		ef_agent_probe(f, probe, GA_TRACEPOINTS, EF_FUNC_A + (i & 1) * 0x100, 6,
			       i < 3 ? GA_KPROBE : GA_KRETPROBE);
		ef_ecb(f, probe, c);
	}
	ef_enable(f);
	ef_start(f);
	for (uint32_t i = 0; i < GA_TRACEPOINTS; i++)
		assert_int_equal(g->control->slots[i].kind, GA_OFF);
	for (uint32_t i = GA_TRACEPOINTS; i < GA_SLOTS; i++)
		on += g->control->slots[i].kind != GA_OFF;
	assert_int_equal(on, 3); /* the first and the third are one */
	EF_OK(vp_es_stop(f->es));
	destroy(g);

	f = ef_create();
	g = guest_create(f);
	ef_clause(f, NULL);
	ef_open(f);
	for (uint32_t i = 0; i <= GA_KPROBES; i++) {
		uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_FBT_ENTRY, "f", "entry");
		ef_agent_probe(f, probe, GA_TRACEPOINTS, EF_FUNC_A + i, 6, GA_KPROBE);
	}
	EF_FAILS(OT_ERR_LIMIT, ef_try_enable(f));
	destroy(g);
}

/* What a function returned is arg1. */
static void return_values(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	struct ef_record r[2];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	ef_open(f);
	uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_FBT_RETURN, "f", "return");
	ef_agent_probe(f, probe, GA_TRACEPOINTS, EF_FUNC_A, 1, GA_KRETPROBE);
	ef_ecb(f, probe, c);
	ef_enable(f);
	ef_start(f);
	struct ga_record rec = record(77);
	rec.slot = GA_TRACEPOINTS;
	rec.nargs = 1;
	assert_true(emit(g, 0, &rec));
	wait_for(&g->rings[0]->tail, 1);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 2), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 0);
	assert_int_equal(ef_u64(r[0].data + 24), 77);
	destroy(g);
}

/* A guest that is paused takes no command: the session starts all the same. */
static void deaf_guest(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	(void)state;

	__atomic_store_n(&g->deaf, true, __ATOMIC_RELEASE);
	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	enable(f, c);
	ef_start(f);
	assert_int_equal(g->control->slots[SLOT].kind, GA_TRACEPOINT);
	__atomic_store_n(&g->deaf, false, __ATOMIC_RELEASE);
	destroy(g);
}

static void start_thread(struct guest *g, bool still)
{
	__atomic_store_n(&g->stop, true, __ATOMIC_RELEASE);
	pthread_join(g->thread, NULL);
	g->stop = false;
	g->still = still;
	assert_int_equal(pthread_create(&g->thread, NULL, play, g), 0);
}

/* A probe of the event for @p clause, with its own idea of which of them it wants. */
static struct vp_batch_probe *probe_of(struct ef *f, uint32_t clause)
{
	uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_AGENT, "", "event");

	ef_agent_probe(f, probe, SLOT, TP, 2, GA_TRACEPOINT);
	ef_ecb(f, probe, clause);
	return (struct vp_batch_probe *)(void *)f->probes.data + probe;
}

/* One tracepoint, probes for some of its events: by a word of them, by who did it. Their arguments begin
 * further on. */
static void which_events(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	uint32_t c[4];
	struct ef_record r[16];
	unsigned seen[4] = { 0 };
	(void)state;

	for (unsigned i = 0; i < 4; i++) {
		c[i] = ef_clause(f, NULL);
		ef_action(f, c[i], DIF_ACT_difexpr, ef_int(f, i));
		ef_action(f, c[i], DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	}
	ef_open(f);
	probe_of(f, c[0]);
	probe_of(f, c[1])->when = VP_WHEN_FIRST;
	struct vp_batch_probe *p = probe_of(f, c[2]);
	p->when = VP_WHEN_WORD;
	p->when_word = 1;
	p->when_mask = 0xff;
	p->when_value = 11;
	p = probe_of(f, c[3]);
	p->skip = 1;
	ef_enable(f);
	ef_start(f);
	struct ga_record rec = record(10), first = record(0x500);
	first.pid = first.tgid;
	assert_true(emit(g, 0, &rec));
	assert_true(emit(g, 0, &first));
	wait_for(&g->rings[0]->tail, 2);
	ef_switch(f);
	size_t n = ef_records(f, 0, r, 16);
	for (size_t i = 0; i < n; i++) {
		uint64_t clause = ef_u64(r[i].data + 16), arg0 = ef_u64(r[i].data + 24);
		bool second = clause == 1 || (clause != 2 && seen[clause]);
		assert_true(clause < 4);
		assert_int_equal(arg0, (second ? 0x500 : 10) + (clause == 3));
		seen[clause]++;
	}
	assert_int_equal(n, 6);
	assert_int_equal(seen[0] * 1000 + seen[1] * 100 + seen[2] * 10 + seen[3], 2112);
	destroy(g);
}

/* An event of one task that is told of another: each probe sees whom it is about. */
static void about_another_task(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	struct ef_record r[4];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_pid));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_tid));
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_execname));
	ef_open(f);
	struct vp_batch_probe *p = probe_of(f, c);
	p->flags = GA_TASK_FLAGS(2);
	p->nargs = GA_ARGS;
	probe_of(f, c);
	ef_enable(f);
	ef_start(f);
	assert_int_equal(g->control->slots[SLOT].flags, GA_TASK_FLAGS(2));
	assert_int_equal(g->control->slots[SLOT].nargs, GA_ARGS);
	struct ga_record rec = record(1);
	rec.nargs = GA_ARGS;
	rec.args[5] = 70ull << 32 | 77;
	memcpy(&rec.args[6], "other-task-abcde", 16); /* as long as it can be */
	assert_true(emit(g, 1, &rec));
	wait_for(&g->rings[1]->tail, 1);
	ef_switch(f);
	assert_int_equal(ef_records(f, 1, r, 4), 2);
	assert_int_equal(ef_u64(r[0].data + 16), 70);
	assert_int_equal(ef_u64(r[0].data + 24), 77);
	assert_string_equal((const char *)r[0].data + 32, "other-task-abcde");
	assert_int_equal(ef_u64(r[1].data + 16), 4200);
	assert_int_equal(ef_u64(r[1].data + 24), 4242);
	assert_string_equal((const char *)r[1].data + 32, "inside");
	destroy(g);
}

/* The VMM adds and removes memory elsewhere: the agent is where it was, and stays in use. */
static void memory_changes(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	(void)state;

	start_counting(f);
	for (uint64_t i = 0; i < 3; i++) {
		struct ga_record rec = record(i);
		vp_engine_memory_changed(vp_fake_engine(f->fake));
		assert_true(emit(g, 0, &rec));
		wait_for(&g->rings[0]->tail, i + 1);
	}
	assert_false(vp_agent_gone(f->es));
	EF_OK(vp_es_stop(f->es));
	assert_int_equal(g->control->owner, TOKEN);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 3);
	destroy(g);
}

/* Firings for events cost as those at sites do: what costs too much is turned off in the guest. */
static void overload(void **state)
{
	struct ef *f = ef_create();
	struct guest *g = guest_create(f);
	uint64_t now = 1000000000u;
	uint32_t taken = 0;
	(void)state;

	f->open.maxcost = 1;
	uint32_t c = ef_clause(f, ef_var_eq(f, DIF_VAR_pid, 1));
	ef_open(f);
	enable(f, c);
	ef_start(f);
	start_thread(g, true);
	for (int quarter = 0; quarter < 6; quarter++) {
		for (uint64_t i = 0; i < 300000; i++) {
			struct ga_record rec = record(i);
			assert_true(emit(g, 0, &rec));
			if (i % 32 == 31)
				vp_engine_visit(vp_fake_engine(f->fake), 0);
		}
		vp_engine_visit(vp_fake_engine(f->fake), 0);
		now += VP_GUARD_NS;
		vp_guard_check(vp_fake_engine(f->fake), now);
		taken += ef_switch(f).overload.taken;
	}
	assert_int_equal(taken, 1);
	assert_int_equal(g->control->slots[SLOT].kind, GA_OFF);
	assert_int_equal(g->control->owner, TOKEN); /* nobody wants anything of it any more */
	start_thread(g, false);
	destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owned_while_in_use),
		cmocka_unit_test(records_fire),
		cmocka_unit_test(inside_comes_first),
		cmocka_unit_test(stop_takes_all),
		cmocka_unit_test(views_are_kept_apart),
		cmocka_unit_test(losses_are_counted),
		cmocka_unit_test(closing_lets_go),
		cmocka_unit_test(another_load),
		cmocka_unit_test(another_owner),
		cmocka_unit_test(dead_owner),
		cmocka_unit_test(hostile_records),
		cmocka_unit_test(hostile_places),
		cmocka_unit_test(hostile_batches),
		cmocka_unit_test(kprobe_slots),
		cmocka_unit_test(return_values),
		cmocka_unit_test(deaf_guest),
		cmocka_unit_test(clock_is_mapped),
		cmocka_unit_test(which_events),
		cmocka_unit_test(about_another_task),
		cmocka_unit_test(memory_changes),
		cmocka_unit_test(overload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
