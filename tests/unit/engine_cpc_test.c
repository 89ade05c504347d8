/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of vCPUs in an engine: who shares one, what fires at an overflow, and what is refused. */
#include "tests/unit/engine_fixture.h"

#include "dif/obj/names.h"

#define KERNEL_PC (EF_FUNC_A + 4)
#define USER_PC   0x401234ull

static const struct vp_cpc_event cycles = { .type = PERF_TYPE_HARDWARE, .period = 5000 },
				 misses = { .type = PERF_TYPE_HARDWARE, .config = 3, .period = 5000 };

/* A clause that records arg0, arg1 and arg2. */
static uint32_t recording(struct ef *f)
{
	uint32_t c = ef_clause(f, NULL);

	for (unsigned i = 0; i < 3; i++)
		ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0 + i));
	return c;
}

static uint32_t cpc_probe(struct ef *f, const struct vp_cpc_event *event, uint32_t clause)
{
	uint32_t p = ef_probe(f, VP_PROBE_CPC, VP_ARGS_PROFILE, "", "cpu_cycles-all-5000");

	ef_cpc(f, p, event);
	return ef_ecb(f, p, clause);
}

static void run_in_user_mode(struct ef *f, uint32_t vcpu, bool user)
{
	vp_fake_set_reg(f->fake, vcpu, VP_RIP, user ? USER_PC : KERNEL_PC);
	vp_fake_set_reg(f->fake, vcpu, VP_CS, user ? 0x33 : 0x10);
}

static void assert_record(const struct ef_record *r, uint32_t epid, uint64_t kernel, uint64_t user,
			  uint64_t missed)
{
	assert_int_equal(r->epid, epid);
	assert_int_equal(ef_u64(r->data + 16), kernel);
	assert_int_equal(ef_u64(r->data + 24), user);
	assert_int_equal(ef_u64(r->data + 32), missed);
}

static void overflows_fire(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[8];
	uint32_t c = recording(f);
	(void)state;

	ef_open(f);
	uint32_t first = cpc_probe(f, &cycles, c), other = cpc_probe(f, &misses, c),
		 second = cpc_probe(f, &cycles, c);
	ef_enable(f);
	assert_false(vp_fake_overflow(f->fake, 0, 0, 0)); /* not started */
	ef_start(f);
	run_in_user_mode(f, 0, false);
	run_in_user_mode(f, 1, true);
	assert_true(vp_fake_overflow(f->fake, 0, 0, 0));
	assert_true(vp_fake_overflow(f->fake, 1, 1, 7));
	assert_true(vp_fake_overflow(f->fake, 77, 1, 0)); /* no such vCPU */
	assert_false(vp_fake_overflow(f->fake, 0, 2, 0)); /* two counters, for three probes */
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 8), 2);
	assert_record(&r[0], first, KERNEL_PC, 0, 0);
	assert_record(&r[1], second, KERNEL_PC, 0, 0);
	assert_int_equal(ef_records(f, 1, r, 8), 1);
	assert_record(&r[0], other, 0, USER_PC, 7);
	EF_OK(vp_engine_session_stop(f->es));
	assert_false(vp_fake_overflow(f->fake, 0, 0, 0));
	ef_destroy(f);
}

/* The host's kernel does not know the guest's modes; the CPU's counters do, and skid is theirs. */
static void modes_of_software_events(void **state)
{
	const struct vp_cpc_event user = { .type = PERF_TYPE_SOFTWARE,
					   .period = 200000,
					   .mode = VP_CPC_USER },
				  kernel = { .type = PERF_TYPE_HARDWARE,
					     .period = 5000,
					     .mode = VP_CPC_KERNEL };
	struct ef *f = ef_create();
	struct ef_record r[8];
	uint32_t c = recording(f);
	(void)state;

	ef_open(f);
	uint32_t by_host = cpc_probe(f, &user, c), by_cpu = cpc_probe(f, &kernel, c);
	ef_enable(f);
	ef_start(f);
	for (unsigned mode = 0; mode < 2; mode++) {
		run_in_user_mode(f, 0, mode);
		vp_fake_overflow(f->fake, 0, 0, 0);
		vp_fake_overflow(f->fake, 0, 1, 0);
	}
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 8), 3);
	assert_record(&r[0], by_cpu, KERNEL_PC, 0, 0);
	assert_record(&r[1], by_host, 0, USER_PC, 0);
	assert_record(&r[2], by_cpu, 0, USER_PC, 0);
	ef_destroy(f);
}

static void hostile_events_are_refused(void **state)
{
	static const struct vp_cpc_event bad[] = {
		{ .type = PERF_TYPE_HARDWARE, .period = 4999 },
		{ .type = PERF_TYPE_HARDWARE, .period = VP_CPC_MOST + 1 },
		{ .type = PERF_TYPE_HARDWARE, .period = 5000, .mode = VP_CPC_MODES },
		{ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .period = 5000 },
		{ .type = PERF_TYPE_TRACEPOINT, .period = 5000 },
		{ .type = PERF_TYPE_BREAKPOINT, .period = 5000 },
		{ .type = PERF_TYPE_MAX, .period = 5000 },
		{ .type = UINT32_MAX, .period = 5000 },
	};
	struct ef *f = ef_create();
	uint32_t c = recording(f);
	(void)state;

	ef_open(f);
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++) {
		cpc_probe(f, &bad[i], c);
		EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
		ef_batch_clear(f);
	}
	ef_destroy(f);
}

static void there_is_a_limit(void **state)
{
	struct ef *f = ef_create();
	uint32_t c = recording(f);
	(void)state;

	ef_open(f);
	for (uint32_t i = 0; i < VP_CPC_MAX; i++)
		cpc_probe(f, &(struct vp_cpc_event){ .type = PERF_TYPE_RAW, .period = 5000 + i }, c);
	cpc_probe(f, &(struct vp_cpc_event){ .type = PERF_TYPE_RAW, .period = 5000 }, c); /* shares one */
	ef_enable(f);
	cpc_probe(f, &(struct vp_cpc_event){ .type = PERF_TYPE_RAW, .period = 5000 + VP_CPC_MAX }, c);
	ef_enable(f);
	EF_FAILS(OT_ERR_LIMIT, vp_engine_session_start(f->es));
	ef_destroy(f);
}

static void a_backend_without_counters(void **state)
{
	const struct vp_fake_config config = { .nvcpus = 1, .ram_size = 8u << 20, .levels = 4 };
	struct ef *f = ef_create_with(&config);
	uint32_t c = recording(f);
	(void)state;

	ef_open(f);
	cpc_probe(f, &cycles, c);
	EF_FAILS(OT_ERR_UNSUPPORTED, ef_try_enable(f));
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overflows_fire),
		cmocka_unit_test(modes_of_software_events),
		cmocka_unit_test(hostile_events_are_refused),
		cmocka_unit_test(there_is_a_limit),
		cmocka_unit_test(a_backend_without_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
