/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine with an agent that is another's, deaf, gone, too much or hostile: what it may not do. */
#include "tests/unit/engine_agent_fixture.h"

#include <string.h>

#include "vmm-probe/engine/service/parts.h"

/* Memory without the token is not the agent's: nothing is written there. */
static void another_owner(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	(void)state;

	g->control->owner = 0x4242424242424242ull;
	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	ea_enable(f, c);
	EF_FAILS(OT_ERR_BUSY, vp_engine_session_start(f->es));
	assert_int_equal(g->control->owner, 0x4242424242424242ull);
	assert_int_equal(g->control->generation, 0);
	ea_destroy(g);
}

/* An owner whose beat has stopped belonged to a VMM that has ended. */
static void dead_owner(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	(void)state;

	g->control->owner = EA_TOKEN | 9;
	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	ea_enable(f, c);
	ef_start(f);
	assert_int_equal(g->control->owner & ~0xffull, EA_TOKEN);
	assert_int_not_equal(g->control->owner, EA_TOKEN | 9);
	EF_OK(vp_engine_session_stop(f->es));
	assert_int_equal(g->control->owner, EA_TOKEN);
	ea_destroy(g);
}

/* A guest that is paused takes no command: the session starts all the same. */
static void deaf_guest(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	(void)state;

	__atomic_store_n(&g->deaf, true, __ATOMIC_RELEASE);
	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	ea_enable(f, c);
	ef_start(f);
	assert_int_equal(g->control->slots[EA_SLOT].kind, GA_TRACEPOINT);
	__atomic_store_n(&g->deaf, false, __ATOMIC_RELEASE);
	ea_destroy(g);
}

/* Records dropped from a full ring are counted by vCPU. */
static void losses_are_counted(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	(void)state;

	ea_start_counting(f);
	__atomic_add_fetch(&g->rings[0]->lost, 7, __ATOMIC_RELAXED);
	ea_wait_for(&ef_status(f, 0)->agent_lost, 7);
	assert_int_equal(ef_status(f, 1)->agent_lost, 0);
	ea_destroy(g);
}

/* The module is unloaded: the engine lets go by itself, and writes nothing any more. */
static void closing_lets_go(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	(void)state;

	ea_start_counting(f);
	for (uint64_t i = 0; i < 5; i++) {
		struct ga_record rec = ea_record(i);
		assert_true(ea_emit(g, 0, &rec));
	}
	__atomic_store_n(&g->header->state, GA_CLOSING, __ATOMIC_RELEASE);
	ea_wait_for(&g->control->owner, EA_TOKEN);
	assert_int_equal(g->rings[0]->tail, 5);
	/* The memory belongs to another owner now. */
	g->control->owner = 0;
	memset(g->rings[0], 0x5a, sizeof(*g->rings[0]));
	struct ga_ring before = *g->rings[0];
	for (int i = 0; i < 60; i++)
		ea_nap();
	assert_memory_equal(g->rings[0], &before, sizeof(before));
	EF_OK(vp_engine_session_stop(f->es));
	assert_int_equal(g->control->owner, 0);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 5);
	ea_destroy(g);
}

/* Loaded again, elsewhere, with the tracepoint in another slot: the session's probes move there. */
static void another_load(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
	uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_AGENT, "", "event");
	ef_probe_id(f, probe, 4711);
	ef_agent_probe(f, probe, EA_SLOT, EA_TP, 2, GA_TRACEPOINT);
	ef_ecb(f, probe, c);
	ef_enable(f);
	ef_start(f);
	struct ga_record rec = ea_record(1);
	assert_true(ea_emit(g, 0, &rec));
	ea_wait_for(&g->rings[0]->tail, 1);
	assert_int_equal(ef_switch(f).flags, 0);
	assert_int_equal(ef_agg_total(f), 1);

	__atomic_store_n(&g->header->state, GA_CLOSING, __ATOMIC_RELEASE);
	ea_wait_for(&g->control->owner, EA_TOKEN);
	assert_int_equal(ef_switch(f).flags, VP_SWITCH_AGENT_GONE);
	/* The same memory again, which is what a guest often gives, with another token. */
	memset(g->rings[0], 0, sizeof(*g->rings[0]) + EA_RECORDS * sizeof(struct ga_record));
	g->heads[0] = 0;
	g->place.token = EA_TOKEN + 0x100;
	__atomic_store_n(&g->control->owner, g->place.token, __ATOMIC_RELEASE);
	__atomic_store_n(&g->header->state, GA_LIVE, __ATOMIC_RELEASE);
	probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_AGENT, "", "event");
	ef_probe_id(f, probe, 4711);
	ef_agent_probe(f, probe, EA_SLOT + 1, EA_TP + 64, 2, GA_TRACEPOINT);
	ef_enable(f);
	assert_int_equal(ef_switch(f).flags, 0);
	assert_int_equal(g->control->slots[EA_SLOT].kind, GA_OFF);
	assert_int_equal(g->control->slots[EA_SLOT + 1].kind, GA_TRACEPOINT);
	assert_int_equal(g->control->slots[EA_SLOT + 1].address, EA_TP + 64);
	rec.slot = EA_SLOT + 1;
	assert_true(ea_emit(g, 0, &rec));
	rec.slot = EA_SLOT; /* no longer enabled */
	assert_true(ea_emit(g, 0, &rec));
	ea_wait_for(&g->rings[0]->tail, 2);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 1);
	ea_destroy(g);
}

/* Firings for events cost as those at sites do: what costs too much is turned off in the guest. */
static void overload(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	uint64_t now = 1000000000u;
	uint32_t taken = 0;
	(void)state;

	f->open.maxcost = 1;
	uint32_t c = ef_clause(f, ef_var_eq(f, DIF_VAR_pid, 1));
	ef_open(f);
	ea_enable(f, c);
	ef_start(f);
	ea_pause(g);
	g->still = true;
	ea_play(g);
	for (int quarter = 0; quarter < 6; quarter++) {
		for (uint64_t i = 0; i < 300000; i++) {
			struct ga_record rec = ea_record(i);
			assert_true(ea_emit(g, 0, &rec));
			if (i % 32 == 31)
				vp_engine_visit(vp_fake_engine(f->fake), 0);
		}
		vp_engine_visit(vp_fake_engine(f->fake), 0);
		now += VP_GUARD_NS;
		vp_guard_check(vp_fake_engine(f->fake), now);
		taken += ef_switch(f).overload.taken;
	}
	assert_int_equal(taken, 1);
	assert_int_equal(g->control->slots[EA_SLOT].kind, GA_OFF);
	assert_int_equal(g->control->owner, EA_TOKEN); /* no session uses it any more */
	ea_pause(g);
	g->still = false;
	ea_play(g);
	ea_destroy(g);
}

/* Records with anything in them. */
static void hostile_records(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	uint32_t seed = 1;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_execname));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_uid));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg9));
	ef_open(f);
	ea_enable(f, c);
	ef_start(f);
	for (uint64_t i = 0; i < 500; i++) {
		struct ga_record rec;
		for (size_t k = 0; k < sizeof(rec); k++) {
			seed = seed * 1103515245 + 12345;
			((uint8_t *)&rec)[k] = (uint8_t)(seed >> 16);
		}
		if (i % 2)
			rec.slot = EA_SLOT;
		while (!ea_emit(g, 0, &rec))
			ea_nap();
	}
	ea_wait_for(&g->rings[0]->tail, 500);
	assert_int_equal(ef_status(f, 0)->hits, 250);
	/* A record's number from another lap, or the future, is no record. */
	__atomic_store_n(&g->rings[0]->records[500 % EA_RECORDS].seq, 499, __ATOMIC_RELEASE);
	__atomic_store_n(&g->rings[1]->records[0].seq, ~0ull, __ATOMIC_RELEASE);
	for (int i = 0; i < 60; i++)
		ea_nap();
	assert_int_equal(__atomic_load_n(&g->rings[0]->tail, __ATOMIC_ACQUIRE), 500);
	assert_int_equal(__atomic_load_n(&g->rings[1]->tail, __ATOMIC_ACQUIRE), 0);
	ea_destroy(g);
}

/* The i-th of the eight ways to places that are none. */
static void misplace(struct ea *g, int i)
{
	switch (i) {
	case 0:
		g->place.control_gpa = g->f->config.ram_size - VP_FAKE_PAGE;
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
}

static void start_fails(struct ef *f)
{
	EF_FAILS(OT_ERR_BAD_DATA, vp_engine_session_start(f->es));
}

static void hostile_places(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		struct ef *f = ef_create();
		struct ea *g = ea_create(f);

		misplace(g, i);
		uint32_t c = ef_clause(f, NULL);
		ef_open(f);
		ea_enable(f, c);
		start_fails(f);
		assert_int_equal(g->control->owner, EA_TOKEN);
		ea_destroy(g);
	}
}

static void enable_fails(struct ef *f, uint32_t slot, uint32_t nargs, uint32_t want)
{
	uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_AGENT, "", "event");

	ef_agent_probe(f, probe, slot, EA_TP, nargs, want);
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
	ef_batch_clear(f);
}

/* A probe's description of its events is checked too. */
static void choice_fails(struct ef *f, const struct vp_batch_probe *choice)
{
	uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_AGENT, "", "event");
	struct vp_batch_probe *p = (struct vp_batch_probe *)(void *)f->probes.data + probe;

	ef_agent_probe(f, probe, EA_SLOT, EA_TP, 2, GA_TRACEPOINT);
	p->agent.skip = choice->agent.skip;
	p->agent.when = choice->agent.when;
	p->agent.when_word = choice->agent.when_word;
	p->agent.flags = choice->agent.flags;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
	ef_batch_clear(f);
}

static void hostile_batches(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
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
	choice_fails(f, &(struct vp_batch_probe){ .agent.skip = VP_AGENT_SKIP_MAX + 1 });
	choice_fails(f, &(struct vp_batch_probe){ .agent.when = VP_WHEN_WORD + 1 });
	choice_fails(f, &(struct vp_batch_probe){ .agent.when = VP_WHEN_WORD, .agent.when_word = GA_ARGS });
	choice_fails(f, &(struct vp_batch_probe){ .agent.flags = 1u << 15 });
	f->agent = NULL;
	enable_fails(f, 0, 0, GA_TRACEPOINT);
	ea_destroy(g);
}

/* The guest has so many slots for them and no more. */
static void too_many_kprobes(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	(void)state;

	ef_clause(f, NULL);
	ef_open(f);
	for (uint32_t i = 0; i <= GA_KPROBES; i++) {
		uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_FBT_ENTRY, "f", "entry");
		ef_agent_probe(f, probe, GA_TRACEPOINTS, EF_FUNC_A + i, 6, GA_KPROBE);
	}
	EF_FAILS(OT_ERR_LIMIT, ef_try_enable(f));
	ea_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_owner),    cmocka_unit_test(dead_owner),
		cmocka_unit_test(deaf_guest),       cmocka_unit_test(losses_are_counted),
		cmocka_unit_test(closing_lets_go),  cmocka_unit_test(another_load),
		cmocka_unit_test(overload),         cmocka_unit_test(hostile_records),
		cmocka_unit_test(hostile_places),   cmocka_unit_test(hostile_batches),
		cmocka_unit_test(too_many_kprobes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
