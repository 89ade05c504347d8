/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which traps replace which bytes of guest text, and when a trap is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "vmm-probe/backend/kvm/internal.h"

#define GVA 0xffffffff81000000ull

static const uint8_t nop5[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
static const uint8_t call5[5] = { 0xe8, 0x10, 0x00, 0x00, 0x00 };
static const uint8_t ret2[2] = { 0xc3, 0xcc };

struct text {
	struct vp_kvm kvm;
	uint8_t bytes[16]; /* guest text at GVA */
	struct vp_site sites[2];
	struct vp_plan plan;
	struct vp_kvm_traps *traps;
};

/* An fentry nop, counted and hit, and a ret. */
static void make(struct text *t)
{
	*t = (struct text){ 0 };
	memcpy(t->bytes, nop5, 5);
	memcpy(t->bytes + 5, ret2, 2);
	t->sites[0] = (struct vp_site){ .gva = GVA, .host = (uintptr_t)t->bytes, .length = 5, .room = 5 };
	memcpy(t->sites[0].bytes, nop5, 5);
	t->sites[1] =
	    (struct vp_site){ .gva = GVA + 5, .host = (uintptr_t)(t->bytes + 5), .length = 1, .room = 2 };
	memcpy(t->sites[1].bytes, ret2, 2);
	t->plan = (struct vp_plan){ .sites = t->sites, .nsites = 2 };
	struct ot_err *err = vp_kvm_traps_create(&t->kvm, &t->plan, &t->traps);
	assert_null(err);
	vp_kvm_traps_exchange(&t->kvm, NULL, t->traps);
	assert_true(t->traps->list[0].planted && t->traps->list[1].planted);
	assert_memory_equal(t->bytes, "\x3e\x3e\x3e\xe6", 4);
}

static void end(struct text *t, const uint8_t *first)
{
	vp_kvm_traps_exchange(&t->kvm, t->traps, NULL);
	assert_memory_equal(t->bytes, first, 5);
	assert_memory_equal(t->bytes + 5, ret2, 2);
	vp_kvm_traps_destroy(t->traps);
}

/* The guest's own tracing was enabled while the trap was removed: the trap is placed over the call, and its
 * removal restores the call.
 */
static void test_adopted(void **state)
{
	struct text t;

	(void)state;
	make(&t);
	struct vp_kvm_trap *trap = &t.traps->list[0];
	assert_true(vp_kvm_trap_out(&t.kvm, trap));
	assert_memory_equal(t.bytes, nop5, 5);
	memcpy(t.bytes, call5, 5);
	assert_true(vp_kvm_trap_fits(trap));
	assert_true(vp_kvm_trap_in(&t.kvm, trap));
	assert_int_equal(trap->insn.op, VP_INSN_CALL);
	assert_int_equal(trap->kind, VP_TRAP_OUT);
	assert_int_equal(atomic_load(&t.kvm.patching.lost), 0);
	end(&t, call5);
}

/* An int3 of the guest's is not overwritten. Once it is removed the trap is planted; one loss is counted. */
static void test_lost(void **state)
{
	struct text t;

	(void)state;
	make(&t);
	struct vp_kvm_trap *trap = &t.traps->list[0];
	assert_true(vp_kvm_trap_out(&t.kvm, trap));
	t.bytes[0] = 0xcc;
	assert_false(vp_kvm_trap_fits(trap));
	assert_false(vp_kvm_trap_in(&t.kvm, trap));
	assert_false(vp_kvm_trap_in(&t.kvm, trap));
	assert_int_equal(t.bytes[0], 0xcc);
	assert_int_equal(atomic_load(&t.kvm.patching.lost), 1);
	t.bytes[0] = nop5[0];
	assert_true(vp_kvm_trap_in(&t.kvm, trap));
	end(&t, nop5);
}

/* Bytes that the guest put over a trap stay. */
static void test_overwritten(void **state)
{
	struct text t;

	(void)state;
	make(&t);
	memcpy(t.bytes, call5, 5);
	assert_false(vp_kvm_trap_out(&t.kvm, &t.traps->list[0]));
	assert_int_equal(atomic_load(&t.kvm.patching.lost), 1);
	end(&t, call5);
}

/* While a window is open, only sentinels go in. */
static void test_window(void **state)
{
	struct text t;
	struct vp_kvm_traps *next = NULL;

	(void)state;
	make(&t);
	vp_kvm_traps_exchange(&t.kvm, t.traps, NULL);
	atomic_store(&t.kvm.patching.open_since, 1);
	t.sites[1].sentinel = VP_SENTINEL_LEAVE;
	struct ot_err *err = vp_kvm_traps_create(&t.kvm, &t.plan, &next);
	assert_null(err);
	vp_kvm_traps_exchange(&t.kvm, NULL, next);
	assert_false(next->list[0].planted);
	assert_true(next->list[1].planted);
	assert_memory_equal(t.bytes, nop5, 5);
	vp_kvm_traps_destroy(t.traps);
	t.traps = next;
	end(&t, nop5);
}

/* A site that is no longer mapped is not planted until it is requested again. */
static void test_gone(void **state)
{
	struct text t;
	struct vp_kvm_traps *next = NULL;

	(void)state;
	make(&t);
	struct vp_kvm_trap *trap = &t.traps->list[0];
	memcpy(t.bytes, nop5, 5); /* loaded again */
	trap->planted = false;
	trap->gone = true;
	for (uint64_t batch = 0; batch < 2; batch++) {
		struct vp_site newer[2] = { t.sites[0], t.sites[1] };
		const struct vp_plan plan = { .sites = newer, .nsites = 2 };
		newer[0].batch = batch;
		struct ot_err *err = vp_kvm_traps_create(&t.kvm, &plan, &next);
		assert_null(err);
		vp_kvm_traps_exchange(&t.kvm, t.traps, next);
		assert_int_equal(next->list[0].gone, batch == 0);
		assert_int_equal(next->list[0].planted, batch == 1);
		vp_kvm_traps_exchange(&t.kvm, next, t.traps);
		vp_kvm_traps_destroy(next);
		trap->gone = true;
	}
	end(&t, nop5);
}

/* A resident probe's jump over a ret takes its padding too, a trap at the same place two bytes of it. */
static void test_return(void **state)
{
	static const uint8_t forms[][5] = { { 0xc3, 0xcc, 0xcc, 0xcc, 0xcc },
					    { 0xe9, 0xfb, 0x0f, 0x00, 0x00 } };
	struct vp_kvm kvm = { 0 };
	(void)state;

	for (unsigned i = 0; i < 2; i++) {
		uint8_t bytes[16] = { 0 };
		struct vp_site trapped = {
			.gva = GVA, .host = (uintptr_t)bytes, .length = i ? 5 : 1, .room = 5
		};
		memcpy(bytes, forms[i], 5);
		memcpy(trapped.bytes, forms[i], 5);
		struct vp_site leads = trapped;
		leads.jump = GVA + 0x100005;
		const struct vp_plan plans[2] = { { .sites = &leads, .nsites = 1 },
						  { .sites = &trapped, .nsites = 1 } };
		struct vp_kvm_traps *jump, *trap;
		assert_null(vp_kvm_traps_create(&kvm, &plans[0], &jump));
		assert_null(vp_kvm_traps_create(&kvm, &plans[1], &trap));
		assert_int_equal(jump->list[0].kind, VP_TRAP_JUMP);
		assert_true(jump->jumps && !trap->jumps);
		assert_int_equal(trap->list[0].len, i ? 5 : 2);
		vp_kvm_traps_exchange(&kvm, NULL, jump);
		assert_memory_equal(bytes, "\xe9\x00\x00\x10\x00\x00", 6);
		vp_kvm_traps_exchange(&kvm, jump, trap);
		assert_memory_equal(bytes, i ? "\x3e\x3e\x3e\xe6" : "\xe6\x98\xcc\xcc\xcc", i ? 4 : 6);
		vp_kvm_traps_exchange(&kvm, trap, jump);
		assert_true(jump->list[0].planted && vp_kvm_trap_is_there(&jump->list[0]));
		vp_kvm_traps_exchange(&kvm, jump, NULL);
		assert_memory_equal(bytes, forms[i], 5);
		bytes[4] ^= 1; /* the guest's own: nothing of it is overwritten */
		vp_kvm_traps_exchange(&kvm, NULL, jump);
		assert_true(!jump->list[0].planted && jump->list[0].lost);
		assert_memory_equal(bytes, forms[i], 4);
		vp_kvm_traps_destroy(jump);
		vp_kvm_traps_destroy(trap);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adopted),     cmocka_unit_test(test_lost),
		cmocka_unit_test(test_overwritten), cmocka_unit_test(test_window),
		cmocka_unit_test(test_gone),        cmocka_unit_test(test_return),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
