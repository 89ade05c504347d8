/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCPU threads that hit without pause while sessions open, enable, switch, exit and close. Nothing may be
 * lost or counted twice, and the thread sanitizer may find nothing.
 */
#include "tests/unit/engine_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/engine/service/parts.h"

#define NVCPUS      3
#define ROUNDS      60
#define RECORDS_MAX 4096

struct vcpu {
	struct ef *f;
	uint32_t index;
	uint32_t stop;
	uint64_t hits[3]; /* of functions A, B, C that found a site */
	pthread_t thread;
};

static const struct vp_fake_config config = {
	.nvcpus = NVCPUS,
	.ram_size = 8u << 20,
	.levels = 4,
	.counter_slots = 4,
	.can_profile = true,
};

static void *run_vcpu(void *arg)
{
	struct vcpu *v = arg;

	for (uint64_t i = 0; !__atomic_load_n(&v->stop, __ATOMIC_ACQUIRE); i++) {
		unsigned k = i % 3;
		uint64_t n = v->hits[k];
		vp_fake_set_reg(v->f->fake, v->index, VP_RDI, n);
		if (vp_fake_hit(v->f->fake, v->index, EF_FUNC_A + k * 0x100))
			__atomic_store_n(&v->hits[k], n + 1, __ATOMIC_RELEASE);
		vp_fake_sample(v->f->fake, v->index);
		if (i % 64 == 0)
			sched_yield(); /* more vCPUs than processors should not make the test crawl */
	}
	return NULL;
}

static void start(struct ef *f, struct vcpu *v)
{
	for (uint32_t i = 0; i < NVCPUS; i++) {
		v[i] = (struct vcpu){ .f = f, .index = i };
		assert_int_equal(pthread_create(&v[i].thread, NULL, run_vcpu, &v[i]), 0);
	}
}

static void join(struct vcpu *v)
{
	for (uint32_t i = 0; i < NVCPUS; i++) {
		__atomic_store_n(&v[i].stop, 1, __ATOMIC_RELEASE);
		pthread_join(v[i].thread, NULL);
	}
}

static void wait_hits(struct vcpu *v, unsigned k, uint64_t more)
{
	uint64_t at = __atomic_load_n(&v[0].hits[k], __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&v[0].hits[k], __ATOMIC_ACQUIRE) < at + more)
		sched_yield();
}

/* Records of A carry a number that counts up: with those dropped, none is missing, none is delivered
 * twice. */
static void nothing_is_lost(void **state)
{
	static struct ef_record r[RECORDS_MAX];
	struct ef *f = ef_create_with(&config);
	struct vcpu v[NVCPUS];
	uint64_t got[NVCPUS] = { 0 }, next[NVCPUS] = { 0 }, aggregated = 0, counted = 0, dropped = 0;
	(void)state;

	f->open.dynvars_size = 65536;
	uint32_t rec = ef_clause(f, NULL), agg = ef_clause(f, NULL), cnt = ef_clause(f, NULL);
	ef_action(f, rec, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_action(f, rec, DIF_ACT_difexpr, ef_self_set(f, 0x501, ef_var(f, DIF_VAR_arg0)));
	ef_key(f, agg, ef_string_var(f, DIF_VAR_execname));
	ef_agg(f, agg, DIF_AGG_sum, ef_int(f, 1), 1);
	ef_key(f, cnt, ef_int(f, 1));
	ef_agg(f, cnt, DIF_AGG_count, NULL, 1);
	ef_open(f);
	ef_enable_entry(f, rec, EF_FUNC_A);
	ef_enable_entry(f, agg, EF_FUNC_B);
	ef_enable_entry(f, cnt, EF_FUNC_C);
	ef_start(f);
	start(f, v);
	for (unsigned round = 0; round <= ROUNDS; round++) {
		const uint8_t *key;
		const uint64_t *words;
		if (round < ROUNDS) {
			wait_hits(v, 0, 20);
		} else {
			join(v);
			EF_OK(vp_engine_session_stop(f->es));
		}
		ef_switch(f);
		for (uint32_t cpu = 0; cpu < NVCPUS; cpu++) {
			uint32_t n = ef_records(f, cpu, r, RECORDS_MAX);
			got[cpu] += n;
			for (uint32_t i = 0; i < n; i++) {
				assert_true(ef_u64(r[i].data + 16) >= next[cpu]);
				assert_int_equal(ef_u64(r[i].data + 24), ef_u64(r[i].data + 16));
				next[cpu] = ef_u64(r[i].data + 16) + 1;
			}
			for (uint32_t n_agg = 0; ef_agg_entry(f, cpu, n_agg, &key, &words); n_agg++)
				*(key[4] == 's' ? &aggregated : &counted) += *words;
		}
	}
	for (uint32_t cpu = 0; cpu < NVCPUS; cpu++) {
		const struct vp_vcpu_status *s = ef_status(f, cpu);
		dropped = s->principal[0].dropped + s->principal[1].dropped;
		assert_int_equal(got[cpu] + dropped, v[cpu].hits[0]);
		assert_int_equal(s->faults, 0);
		aggregated -= v[cpu].hits[1];
		counted -= v[cpu].hits[2];
	}
	assert_int_equal(aggregated, 0);
	assert_int_equal(counted, 0);
	ef_destroy(f);
}

/* Sessions come and go, with probes added while they are active. */
static void sessions_come_and_go(void **state)
{
	struct ef *f = ef_create_with(&config);
	struct vcpu v[NVCPUS];
	(void)state;

	uint32_t rec = ef_clause(f, ef_var_eq(f, DIF_VAR_cpu, 1)), bad = ef_clause(f, NULL);
	ef_action(f, rec, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_execname));
	ef_action(f, bad, DIF_ACT_difexpr, ef_deref(f, 0, false));
	start(f, v);
	for (unsigned round = 0; round < ROUNDS; round++) {
		f->next_epid = 1;
		ef_open(f);
		ef_enable_entry(f, rec, EF_FUNC_A);
		uint32_t p = ef_probe(f, VP_PROBE_PROFILE, VP_ARGS_PROFILE, "", "profile-5000");
		ef_interval(f, p, 200000);
		ef_ecb(f, p, rec);
		ef_start(f);
		wait_hits(v, 0, 5);
		ef_enable_entry(f, bad, EF_FUNC_B);
		p = ef_probe(f, VP_PROBE_ERROR, VP_ARGS_ERROR, "", "ERROR");
		ef_ecb(f, p, rec);
		ef_enable(f);
		wait_hits(v, 1, 5);
		ef_switch(f);
		wait_hits(v, 0, 5);
		if (round % 2)
			EF_OK(vp_engine_session_stop(f->es));
		ef_switch(f);
		ef_close(f);
	}
	join(v);
	ef_destroy(f);
}

/* The guard reads what vCPUs write, and takes probes from under them. */
static void guard_strikes_under_fire(void **state)
{
	struct vp_fake_config expensive = config;
	struct vcpu v[NVCPUS];
	uint64_t now_ns = 0;
	(void)state;

	expensive.hit_cost_ns = 1000000000;
	struct ef *f = ef_create_with(&expensive);
	uint32_t c = ef_clause(f, ef_var_eq(f, DIF_VAR_cpu, 1));
	f->open.maxcost = 1;
	start(f, v);
	for (unsigned round = 0; round < 10; round++) {
		uint32_t taken = 0;
		f->next_epid = 1;
		ef_open(f);
		ef_enable_entry(f, c, EF_FUNC_A);
		ef_enable_entry(f, c, EF_FUNC_B);
		ef_start(f);
		for (unsigned i = 0; vp_fake_sites(f->fake) && i < 1000; i++) {
			wait_hits(v, 0, 5);
			now_ns += VP_GUARD_NS;
			vp_guard_check(vp_fake_engine(f->fake), now_ns);
			taken += ef_switch(f).overload.taken;
			if (taken == 1)
				break; /* the other may be the one that wait_hits() waits for */
		}
		assert_true(taken >= 1 && taken <= 2);
		assert_int_equal(vp_fake_sites(f->fake), 2 - taken);
		ef_close(f);
	}
	join(v);
	ef_destroy(f);
}

/* exit() on all vCPUs at once: one wins, and the others lose nothing. */
static void one_exit_wins(void **state)
{
	struct ef *f = ef_create_with(&config);
	struct vcpu v[NVCPUS];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_exit, ef_var(f, DIF_VAR_cpu));
	start(f, v);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t exits = 0;
		uint64_t drops = 0;
		f->next_epid = 1;
		ef_open(f);
		ef_enable_entry(f, c, EF_FUNC_A);
		ef_start(f);
		while (!ef_switch(f).exit_called)
			sched_yield();
		struct vp_msg_switch_reply reply = ef_switch(f);
		for (uint32_t cpu = 0; cpu < NVCPUS; cpu++) {
			const struct vp_vcpu_status *status = ef_status(f, cpu);
			exits += status->exit_pending != 0;
			drops += status->principal[0].dropped + status->principal[1].dropped;
		}
		assert_int_equal(exits, 1);
		assert_int_equal(drops, 0);
		assert_true(reply.exit_status < NVCPUS);
		assert_int_equal(ef_status(f, reply.exit_status)->exit_pending, reply.exit_status + 1);
		ef_close(f);
	}
	join(v);
	ef_destroy(f);
}

/* Speculations opened, filled, committed and discarded from everywhere. */
static void speculations(void **state)
{
	struct ef *f = ef_create_with(&config);
	struct vcpu v[NVCPUS];
	static struct ef_record r[RECORDS_MAX];
	(void)state;

	/* Every vCPU opens and fills ids 1 and 2; the first commits both, the second discards 2. */
	struct dif_object *first = ef_var_eq(f, DIF_VAR_cpu, 0), *second = ef_var_eq(f, DIF_VAR_cpu, 1);
	uint32_t open = ef_clause(f, NULL), add[2],
		 end[3] = { ef_clause(f, first), ef_clause(f, first), ef_clause(f, second) };
	ef_action(f, open, DIF_ACT_difexpr, ef_call(f, DIF_SUBR_speculation));
	ef_action(f, end[0], DIF_ACT_commit, ef_int(f, 1));
	ef_action(f, end[1], DIF_ACT_commit, ef_int(f, 2));
	ef_action(f, end[2], DIF_ACT_discard, ef_int(f, 2));
	for (unsigned i = 0; i < 2; i++) {
		add[i] = ef_clause(f, NULL);
		ef_action(f, add[i], DIF_ACT_speculate, ef_int(f, i + 1));
		ef_action(f, add[i], DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	}
	ef_open(f);
	ef_enable_entry(f, open, EF_FUNC_A);
	uint32_t epid = ef_enable_entry(f, add[0], EF_FUNC_B);
	ef_enable_entry(f, add[1], EF_FUNC_B);
	for (unsigned i = 0; i < 3; i++)
		ef_enable_entry(f, end[i], EF_FUNC_C);
	ef_start(f);
	start(f, v);
	uint64_t committed = 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		wait_hits(v, 0, 20);
		uint64_t now = ef_switch(f).now_ns;
		for (uint32_t cpu = 0; cpu < NVCPUS; cpu++) {
			uint32_t n = ef_records(f, cpu, r, RECORDS_MAX);
			for (uint32_t i = 0; i < n; i++) {
				committed += r[i].epid == epid;
				assert_true(r[i].time_ns < now + 60000000000);
			}
		}
	}
	join(v);
	assert_true(committed > 0);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(sessions_come_and_go),
		cmocka_unit_test(guard_strikes_under_fire),
		cmocka_unit_test(one_exit_wins),
		cmocka_unit_test(speculations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
