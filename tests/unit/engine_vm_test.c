/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vm provider's probes in an engine: which events fire which, and that nothing is requested without
 * probes. */
#include "tests/unit/engine_fixture.h"

#include "dif/obj/names.h"

#define IO  VP_VM_EVENT(VP_VM_EXIT, 2)
#define HLT VP_VM_EVENT(VP_VM_EXIT, 5)

/* A clause that records arg1. */
static uint32_t recording(struct ef *f)
{
	uint32_t c = ef_clause(f, NULL);

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	return c;
}

static uint32_t vm_probe(struct ef *f, uint32_t event, uint32_t clause)
{
	uint32_t p = ef_probe(f, VP_PROBE_VM, VP_ARGS_NONE, "x", "exit");

	ef_event(f, p, event);
	return ef_ecb(f, p, clause);
}

static void tell(struct ef *f, uint32_t vcpu, uint32_t event, uint64_t arg1)
{
	const uint64_t args[10] = { event & 0xffff, arg1 };

	vp_engine_vm(vp_fake_engine(f->fake), vcpu, event, args, vp_fake_ctx(f->fake, vcpu));
}

static void by_event(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[8];
	uint32_t c = recording(f);
	(void)state;

	ef_open(f);
	uint32_t hlt = vm_probe(f, HLT, c), io = vm_probe(f, IO, c),
		 entry = vm_probe(f, VP_VM_EVENT(VP_VM_ENTRY, 0), c);
	ef_enable(f);
	tell(f, 0, IO, 1); /* not started */
	assert_int_equal(vp_fake_vm_events(f->fake), 0);
	ef_start(f);
	assert_int_equal(vp_fake_vm_events(f->fake), 1u << VP_VM_EXIT | 1u << VP_VM_ENTRY);
	tell(f, 0, IO, 2);
	tell(f, 1, HLT, 3);
	tell(f, 0, VP_VM_EVENT(VP_VM_ENTRY, 0), 4);
	tell(f, 0, VP_VM_EVENT(VP_VM_EXIT, VP_VM_HIT), 5); /* enabled by no probe */
	tell(f, 77, IO, 6);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 8), 2);
	assert_int_equal(r[0].epid, io);
	assert_int_equal(ef_u64(r[0].data + 16), 2);
	assert_int_equal(r[1].epid, entry);
	assert_int_equal(ef_u64(r[1].data + 16), 4);
	assert_int_equal(ef_records(f, 1, r, 8), 1);
	assert_int_equal(r[0].epid, hlt);
	EF_OK(vp_engine_session_stop(f->es));
	assert_int_equal(vp_fake_vm_events(f->fake), 0);
	tell(f, 0, IO, 7);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 8), 0);
	ef_destroy(f);
}

/* Once a second: how it has grown, and what it is. */
static void statistics(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[8];
	uint32_t c = ef_clause(f, NULL);
	(void)state;

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	vp_fake_set_ticks(f->fake, 0, 100);
	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_VM, VP_ARGS_NONE, "ticks", "stat");
	ef_event(f, p, VP_VM_EVENT(VP_VM_STAT, 0));
	ef_interval(f, p, 1000000);
	ef_ecb(f, p, c);
	ef_enable(f);
	ef_start(f);
	assert_int_equal(vp_fake_vm_events(f->fake), 0); /* a timer's, not a vCPU's */
	vp_fake_set_ticks(f->fake, 0, 130);
	while (!vp_fake_sample(f->fake, 0))
		;
	vp_fake_set_ticks(f->fake, 0, 135);
	while (!vp_fake_sample(f->fake, 0))
		;
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 8), 2);
	assert_int_equal(ef_u64(r[0].data + 16), 30);
	assert_int_equal(ef_u64(r[0].data + 24), 130);
	assert_int_equal(ef_u64(r[1].data + 16), 5);
	assert_int_equal(ef_u64(r[1].data + 24), 135);
	ef_destroy(f);
}

static void refused(void **state)
{
	struct vp_fake_config config = { .nvcpus = 2, .ram_size = 64ull << 20, .levels = 4 };
	struct ef *f = ef_create();
	(void)state;

	uint32_t c = recording(f);
	ef_open(f);
	vm_probe(f, VP_VM_EVENT(VP_VM_KINDS, 0), c);
	EF_FAILS(OT_ERR_UNSUPPORTED, ef_try_enable(f));
	ef_batch_clear(f);
	vm_probe(f, VP_VM_EVENT(VP_VM_STAT, 0), c); /* as often as can be */
	EF_FAILS(OT_ERR_LIMIT, ef_try_enable(f));
	ef_destroy(f);
	f = ef_create_with(&config); /* a backend without such events */
	c = recording(f);
	ef_open(f);
	vm_probe(f, IO, c);
	EF_FAILS(OT_ERR_UNSUPPORTED, ef_try_enable(f));
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_event),
		cmocka_unit_test(statistics),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
