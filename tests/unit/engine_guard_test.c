/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The overload guard. The fake backend says that a hit costs a millisecond, and time is what the test says it
 * is: on two vCPUs a quarter of a second has room for 100 hits under 20 %.
 */
#include "tests/unit/engine_fixture.h"

#include <string.h>
#include <unistd.h>

#include "vmm-probe/engine/service/parts.h"

#define HIT_NS 1000000u

struct guarded {
	struct ef *f;
	uint64_t now_ns;
	struct vp_overload seen; /* added up */
};

static struct guarded make(uint32_t maxcost, uint32_t hit_ns, uint32_t slots)
{
	struct vp_fake_config config = {
		.nvcpus = 2,
		.ram_size = 16 << 20,
		.levels = 4,
		.can_profile = true,
		.can_count = true,
		.counter_slots = slots,
		.hit_cost_ns = hit_ns,
		.counter_cost_ns = HIT_NS,
	};
	struct guarded g = { .f = ef_create_with(&config), .now_ns = 1000000000u };

	g.f->open.maxcost = maxcost;
	return g;
}

static uint32_t entry(struct ef *f, uint64_t function, const char *name)
{
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, name, "entry");

	ef_site(f, function, function);
	return p;
}

static void hit(struct ef *f, uint64_t gva, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		vp_fake_hit(f->fake, i % 2, gva);
}

/* Quarters of a second with @a hits on A and @b on B in each. */
static void run(struct guarded *g, unsigned quarters, unsigned a, unsigned b)
{
	for (unsigned i = 0; i < quarters; i++) {
		hit(g->f, EF_FUNC_A, a);
		hit(g->f, EF_FUNC_B, b);
		g->now_ns += VP_GUARD_NS;
		vp_guard_check(vp_fake_engine(g->f->fake), g->now_ns);
	}
	struct vp_overload o = ef_switch(g->f).overload;
	g->seen.taken += o.taken;
	if (o.taken) {
		g->seen.epid = o.epid;
		g->seen.percent = o.percent;
	}
}

static uint32_t counting(struct ef *f)
{
	uint32_t c = ef_clause(f, NULL);

	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	return c;
}

/* The most expensive probe is removed first, and no more than necessary. Its counts stay; the rest
 * continues. */
static void most_expensive_goes(void **state)
{
	(void)state;
	struct guarded g = make(20, HIT_NS, 0);
	struct ef *f = g.f;
	uint32_t c = counting(f);

	ef_open(f);
	uint32_t a = entry(f, EF_FUNC_A, "a"), b = entry(f, EF_FUNC_B, "b");
	ef_ecb(f, b, c);
	uint32_t epid = ef_ecb(f, a, c);
	ef_enable(f);
	ef_start(f);
	run(&g, 5, 60, 50); /* the first second ends with the fifth: it becomes suspicious */
	assert_int_equal(g.seen.taken, 0);
	assert_int_equal(vp_fake_sites(f->fake), 2);
	run(&g, 1, 60, 50);
	assert_int_equal(g.seen.taken, 1);
	assert_int_equal(g.seen.epid, epid);
	/* firing is real time on top, and much of it on a busy host */
	assert_true(g.seen.percent >= 22 && g.seen.percent <= 60);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	assert_int_equal(ef_agg_total(f), 110);
	assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	run(&g, 20, 0, 50);
	assert_int_equal(g.seen.taken, 1);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	ef_destroy(f);
}

/* As many as it takes; the name is that of the most expensive. */
static void all_that_is_needed(void **state)
{
	(void)state;
	struct guarded g = make(1, HIT_NS, 0);
	struct ef *f = g.f;
	uint32_t c = counting(f);

	ef_open(f);
	uint32_t a = entry(f, EF_FUNC_A, "a"), epid, b = entry(f, EF_FUNC_B, "b");
	ef_ecb(f, a, c);
	epid = ef_ecb(f, b, c);
	ef_enable(f);
	ef_start(f);
	run(&g, 6, 60, 70);
	assert_int_equal(g.seen.taken, 2);
	assert_int_equal(g.seen.epid, epid);
	assert_int_equal(vp_fake_sites(f->fake), 0);
	ef_destroy(f);
}

static void without_need(void **state)
{
	(void)state;
	static const struct {
		uint32_t maxcost, hit_ns;
		unsigned often, in_bursts;
	} calm[] = {
		{ 0, HIT_NS, 400, 0 },   /* no limit */
		{ 100, HIT_NS, 400, 0 }, /* 80 % */
		{ 20, HIT_NS, 90, 0 },   /* 18 % */
		{ 20, 0, 1000, 0 },      /* hits cost nothing to come to */
		{ 20, HIT_NS, 0, 300 },  /* 60 % for a quarter of a second, 15 % over one */
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(calm); i++) {
		struct guarded g = make(calm[i].maxcost, calm[i].hit_ns, 0);
		uint32_t c = counting(g.f);
		ef_open(g.f);
		ef_enable_entry(g.f, c, EF_FUNC_A);
		ef_start(g.f);
		for (unsigned k = 0; k < 6; k++) {
			run(&g, 1, calm[i].often + calm[i].in_bursts, 0);
			run(&g, 3, calm[i].often, 0);
		}
		assert_int_equal(g.seen.taken, 0);
		assert_int_equal(vp_fake_sites(g.f->fake), 1);
		ef_destroy(g.f);
	}
}

/* Stopping at a place costs once, however many clauses there are: 12 %. */
static void clauses_share_a_hit(void **state)
{
	(void)state;
	struct guarded g = make(20, HIT_NS, 0);
	struct ef *f = g.f;
	uint32_t c0 = counting(f), c1 = counting(f);

	ef_open(f);
	uint32_t a = entry(f, EF_FUNC_A, "a");
	ef_ecb(f, a, c0);
	ef_ecb(f, a, c1);
	ef_enable(f);
	ef_start(f);
	run(&g, 12, 60, 0);
	assert_int_equal(g.seen.taken, 0);
	run(&g, 6, 110, 0);
	assert_int_equal(g.seen.taken, 1);
	assert_int_equal(vp_fake_sites(f->fake), 0);
	ef_destroy(f);
}

/* The cost that a backend reports after a hit counts like that before it: 12 %, then 22 %. */
static void charged_behind_the_hit(void **state)
{
	(void)state;
	struct guarded g = make(20, 0, 0);
	struct ef *f = g.f;
	uint32_t c0 = counting(f), c1 = counting(f);

	ef_open(f);
	uint32_t a = entry(f, EF_FUNC_A, "a");
	ef_ecb(f, a, c0);
	ef_ecb(f, a, c1);
	ef_enable(f);
	ef_start(f);
	for (unsigned quarter = 0; quarter < 18; quarter++) {
		for (unsigned i = 0; i < (quarter < 12 ? 60 : 110) && !g.seen.taken; i++) {
			vp_fake_hit(f->fake, i % 2, EF_FUNC_A);
			vp_engine_charge(vp_fake_engine(f->fake), i % 2, vp_fake_site(f->fake, EF_FUNC_A),
					 HIT_NS);
		}
		run(&g, 1, 0, 0);
		assert_true(quarter >= 12 || !g.seen.taken);
	}
	assert_int_equal(g.seen.taken, 1);
	assert_int_equal(vp_fake_sites(f->fake), 0);
	ef_destroy(f);
}

/* Inline counters are of a clause, so all of its probes go; the clause beside it stays. */
static void counters_go_with_their_clause(void **state)
{
	(void)state;
	struct guarded g = make(20, HIT_NS, 4);
	struct ef *f = g.f;
	uint32_t c = counting(f), other = ef_clause(f, ef_var_eq(f, DIF_VAR_pid, 1));

	ef_open(f);
	uint32_t a = entry(f, EF_FUNC_A, "a"), b = entry(f, EF_FUNC_B, "b"), d = entry(f, EF_FUNC_C, "c");
	ef_ecb(f, a, c);
	ef_ecb(f, b, c);
	ef_ecb(f, d, other);
	ef_enable(f);
	ef_start(f);
	run(&g, 6, 60, 60);
	assert_int_equal(g.seen.taken, 2);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_C));
	assert_int_equal(ef_agg_total(f), 6 * 120);
	ef_destroy(f);
}

/* The cost of clauses counts too: thousands of hits in a few milliseconds of reported time. */
static void firing_costs(void **state)
{
	(void)state;
	struct guarded g = make(1, 0, 0);
	uint32_t c = ef_clause(g.f, ef_var_eq(g.f, DIF_VAR_pid, 1));

	ef_open(g.f);
	ef_enable_entry(g.f, c, EF_FUNC_A);
	ef_start(g.f);
	run(&g, 6, 300000, 0);
	assert_int_equal(g.seen.taken, 1);
	assert_int_equal(vp_fake_sites(g.f->fake), 0);
	ef_destroy(g.f);
}

/* … but not what chill() waits: 10 % would be too much here. */
static void chill_is_asked_for(void **state)
{
	(void)state;
	struct guarded g = make(5, 0, 0);
	uint32_t c = ef_clause(g.f, NULL);

	ef_action(g.f, c, DIF_ACT_chill, ef_int(g.f, 5000000));
	g.f->open.flags |= VP_OPEN_DESTRUCTIVE;
	ef_open(g.f);
	ef_enable_entry(g.f, c, EF_FUNC_A);
	ef_start(g.f);
	run(&g, 7, 10, 0);
	assert_int_equal(ef_status(g.f, 0)->faults, 0);
	assert_int_equal(g.seen.taken, 0);
	ef_destroy(g.f);
}

/* A paused guest's probes go out when it runs again. */
static void busy(void **state)
{
	(void)state;
	struct guarded g = make(20, HIT_NS, 0);
	uint32_t c = counting(g.f);

	ef_open(g.f);
	ef_enable_entry(g.f, c, EF_FUNC_A);
	ef_start(g.f);
	vp_fake_set_busy(g.f->fake, true);
	run(&g, 6, 200, 0);
	assert_int_equal(g.seen.taken, 1);
	assert_int_equal(vp_fake_sites(g.f->fake), 1);
	vp_fake_set_busy(g.f->fake, false);
	ef_switch(g.f);
	assert_int_equal(vp_fake_sites(g.f->fake), 0);
	ef_destroy(g.f);
}

/* Samples cost as hits do. */
static void profile(void **state)
{
	(void)state;
	struct guarded g = make(5, HIT_NS, 0);
	struct ef *f = g.f;
	uint32_t c = counting(f);

	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_PROFILE, VP_ARGS_PROFILE, "", "profile-5000");
	ef_interval(f, p, 200000);
	uint32_t epid = ef_ecb(f, p, c);
	ef_enable(f);
	ef_start(f);
	for (unsigned quarter = 0; quarter < 6; quarter++) {
		for (unsigned n = 0; n < 40;)
			n += vp_fake_sample(f->fake, 0);
		run(&g, 1, 0, 0);
	}
	assert_int_equal(g.seen.taken, 1);
	assert_int_equal(g.seen.epid, epid);
	vp_fake_sample(f->fake, 0); /* one that was requested before fires nothing */
	uint64_t hits = ef_status(f, 0)->hits;
	usleep(5000);
	assert_false(vp_fake_sample(f->fake, 0));
	assert_int_equal(ef_status(f, 0)->hits, hits);
	ef_destroy(f);
}

/* An overflow's cost is the exit, whether or not the guest is in the probe's mode then. */
static void overflows(void **state)
{
	(void)state;
	const struct vp_cpc_event user = { .type = PERF_TYPE_SOFTWARE,
					   .period = VP_CPC_LEAST_NS,
					   .mode = VP_CPC_USER };
	struct guarded g = make(5, HIT_NS, 0);
	struct ef *f = g.f;
	uint32_t c = counting(f);

	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_CPC, VP_ARGS_PROFILE, "", "cpu_clock-user-200000");
	ef_cpc(f, p, &user);
	uint32_t epid = ef_ecb(f, p, c);
	ef_enable(f);
	ef_start(f);
	vp_fake_set_reg(f->fake, 0, VP_CS, 0x10);
	for (unsigned quarter = 0; quarter < 6; quarter++) {
		for (unsigned n = 0; n < 40; n++)
			vp_fake_overflow(f->fake, 0, 0, 0);
		run(&g, 1, 0, 0);
	}
	assert_int_equal(g.seen.taken, 1);
	assert_int_equal(g.seen.epid, epid);
	assert_int_equal(ef_status(f, 0)->hits, 0);
	assert_false(vp_fake_overflow(f->fake, 0, 0, 0)); /* the counter went with the probe */
	ef_destroy(f);
}

/* So do events of the vm provider, by what their clauses take. */
static void vm_events(void **state)
{
	(void)state;
	struct guarded g = make(1, 0, 0);
	struct ef *f = g.f;
	struct vp_engine *engine = vp_fake_engine(f->fake);
	uint32_t c = ef_clause(f, ef_var_eq(f, DIF_VAR_pid, 1)), event = VP_VM_EVENT(VP_VM_EXIT, 2);
	const uint64_t args[10] = { 2 };

	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_VM, VP_ARGS_NONE, "x", "exit");
	ef_event(f, p, event);
	ef_ecb(f, p, c);
	ef_enable(f);
	ef_start(f);
	for (unsigned quarter = 0; quarter < 6; quarter++) {
		for (unsigned i = 0; i < 300000; i++)
			vp_engine_vm(engine, 0, event, args, vp_fake_ctx(f->fake, 0));
		run(&g, 1, 0, 0);
	}
	assert_int_equal(g.seen.taken, 1);
	uint64_t hits = ef_status(f, 0)->hits;
	vp_engine_vm(engine, 0, event, args, vp_fake_ctx(f->fake, 0));
	assert_int_equal(ef_status(f, 0)->hits, hits);
	ef_destroy(f);
}

static void limits_are_checked(void **state)
{
	(void)state;
	struct guarded g = make(101, HIT_NS, 0);

	EF_FAILS(OT_ERR_BAD_DATA, ef_try_open(g.f));
	ef_destroy(g.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_expensive_goes),
		cmocka_unit_test(all_that_is_needed),
		cmocka_unit_test(without_need),
		cmocka_unit_test(clauses_share_a_hit),
		cmocka_unit_test(charged_behind_the_hit),
		cmocka_unit_test(counters_go_with_their_clause),
		cmocka_unit_test(firing_costs),
		cmocka_unit_test(chill_is_asked_for),
		cmocka_unit_test(busy),
		cmocka_unit_test(profile),
		cmocka_unit_test(overflows),
		cmocka_unit_test(vm_events),
		cmocka_unit_test(limits_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
