/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traps on branches on static keys: over either form, and out of the text while the guest patches it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine_fixture.h"
#include "vmm-probe/backend/kvm/internal.h"
#include "vmm-probe/engine/hit/walk.h"

#define LONG     (EF_TEXT + 0x2000) /* a branch of 5 bytes, to LONG + 0x100 */
#define SHORT    (EF_TEXT + 0x2010) /* one of 2, to SHORT + 0x20 */
#define OTHER    (EF_TEXT + 0x2020) /* a nop that is no branch */
#define TABLE    (EF_TEXT + 0x3000) /* struct jump_entry of LONG, SHORT and OTHER */
#define MUTEX    (EF_TEXT + 0x3100)
#define ENTRY(n) (TABLE + 16u * (n))

static const uint8_t nop5[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 }, nop2[2] = { 0x66, 0x90 };
static const uint8_t jump5[5] = { 0xe9, 0xfb, 0x00, 0x00, 0x00 }, jump2[2] = { 0xeb, 0x1e };
static const uint8_t elsewhere5[5] = { 0xe9, 0xfc, 0x00, 0x00, 0x00 };

struct machine {
	struct ef *ef;
	struct vp_kvm kvm;
	struct vp_kvm_vcpu vcpu;
	struct vp_site sites[3];
	struct vp_plan plan;
	struct vp_kvm_traps *traps;
};

static uint8_t *at(struct machine *m, uint64_t gva)
{
	uint8_t *host = (uint8_t *)(uintptr_t)vp_kernel_host_now(m->ef->es, gva);

	assert_non_null(host);
	return host;
}

static void put64(struct machine *m, uint64_t gva, uint64_t value)
{
	memcpy(at(m, gva), &value, sizeof(value));
}

static void add_site(struct machine *m, uint32_t n, uint64_t gva, uint64_t target, const uint8_t *bytes,
		     uint8_t len)
{
	int32_t distance = (int32_t)(gva - ENTRY(n));

	memcpy(at(m, gva), bytes, len);
	memcpy(at(m, ENTRY(n)), &distance, sizeof(distance));
	m->sites[n] = (struct vp_site){ .gva = gva,
					.target = target,
					.host = (uintptr_t)at(m, gva),
					.length = len,
					.room = len,
					.es = m->ef->es };
	memcpy(m->sites[n].bytes, bytes, len);
}

static void init_kvm(struct machine *m)
{
	pthread_condattr_t attr;

	m->kvm.config.nvcpus = 1;
	m->kvm.vcpus = &m->vcpu;
	atomic_store(&m->vcpu.running, 1); /* it is at a sentinel */
	pthread_mutex_init(&m->kvm.lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&m->kvm.changed, &attr);
	pthread_condattr_destroy(&attr);
}

static struct vp_kvm_traps *create(struct machine *m)
{
	struct vp_kvm_traps *traps = NULL;

	assert_null(vp_kvm_traps_create(&m->kvm, &m->plan, &traps));
	return traps;
}

static void exchange(struct machine *m, struct vp_kvm_traps *to)
{
	vp_kvm_traps_exchange(&m->kvm, m->traps, to);
	vp_kvm_traps_destroy(m->traps);
	m->traps = to;
	atomic_store(&m->kvm.traps, to);
}

static int setup(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->ef = ef_create();
	uint32_t c = ef_clause(m->ef, NULL);
	ef_action(m->ef, c, DIF_ACT_difexpr, ef_int(m->ef, 1));
	ef_open(m->ef);
	m->ef->es->facts.key_lock = MUTEX;
	init_kvm(m);
	add_site(m, 0, LONG, LONG + 0x100, nop5, 5);
	add_site(m, 1, SHORT, SHORT + 0x20, nop2, 2);
	add_site(m, 2, OTHER, 0, nop5, 5);
	m->plan = (struct vp_plan){ .sites = m->sites, .nsites = 3 };
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	exchange(m, NULL);
	pthread_cond_destroy(&m->kvm.changed);
	pthread_mutex_destroy(&m->kvm.lock);
	ef_destroy(m->ef);
	free(m);
	return 0;
}

static void sentinel(struct machine *m, enum vp_sentinel kind, uint64_t entry)
{
	vp_kvm_at_key_sentinel(&m->kvm, 0, kind, entry);
	assert_int_equal(atomic_load(&m->kvm.held), 0);
	assert_int_equal(atomic_load(&m->vcpu.running), 1);
}

static bool is_trap(struct machine *m, uint32_t n)
{
	const struct vp_kvm_trap *t = &m->traps->list[n];

	return t->planted && !memcmp(at(m, t->site->gva), t->now, t->len) && t->now[t->len - 2] == 0xe6;
}

static struct vp_patching told(struct machine *m)
{
	struct vp_patching p;

	vp_kvm_patching_read(&m->kvm, &p);
	return p;
}

/* The guest patches both branches. The trap is then over the jump, which is what a hit executes, and what is
 * left when the trap is removed. */
static void test_patched(void **state)
{
	struct machine *m = *state;

	exchange(m, create(m));
	sentinel(m, VP_SENTINEL_KEY_ENTER, ENTRY(0));
	assert_memory_equal(at(m, LONG), nop5, 5);
	assert_true(is_trap(m, 1) && is_trap(m, 2)); /* the others stay */
	sentinel(m, VP_SENTINEL_KEY_ENTER, ENTRY(1));
	assert_memory_equal(at(m, SHORT), nop2, 2);
	memcpy(at(m, LONG), jump5, 5);
	memcpy(at(m, SHORT), jump2, 2);
	sentinel(m, VP_SENTINEL_KEY_LEAVE, 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(is_trap(m, i));
		assert_int_equal(m->traps->list[i].insn.op, VP_INSN_JMP);
		assert_int_equal((uint64_t)m->traps->list[i].insn.src.value, m->sites[i].target);
	}
	assert_int_equal(told(m).windows, 1);
	assert_int_equal(told(m).lost, 0);
	exchange(m, NULL);
	assert_memory_equal(at(m, LONG), jump5, 5);
	assert_memory_equal(at(m, SHORT), jump2, 2);
}

/* The site's bytes are older than the guest's last patch. */
static void test_other_form_from_the_start(void **state)
{
	struct machine *m = *state;

	memcpy(at(m, LONG), jump5, 5);
	exchange(m, create(m));
	assert_true(is_trap(m, 0));
	assert_int_equal(m->traps->list[0].insn.op, VP_INSN_JMP);
	exchange(m, NULL);
	assert_memory_equal(at(m, LONG), jump5, 5);
}

/* Bytes that are neither form are the guest's. The sweep plants the trap when they are gone. */
static void test_neither_form(void **state)
{
	struct machine *m = *state;

	exchange(m, create(m));
	sentinel(m, VP_SENTINEL_KEY_ENTER, ENTRY(0));
	memcpy(at(m, LONG), elsewhere5, 5);
	sentinel(m, VP_SENTINEL_KEY_LEAVE, 0);
	assert_memory_equal(at(m, LONG), elsewhere5, 5);
	assert_false(m->traps->list[0].planted);
	assert_int_equal(told(m).lost, 1);
	memcpy(at(m, LONG), jump5, 5);
	atomic_store(&m->vcpu.running, 0);
	vp_kvm_sweep(&m->kvm);
	assert_true(is_trap(m, 0));
	/* and a site that never was a branch to its target is refused */
	struct vp_kvm_traps *traps;
	memcpy(m->sites[0].bytes, elsewhere5, 5);
	struct ot_err *err = vp_kvm_traps_create(&m->kvm, &m->plan, &traps);
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
	ot_err_destroy(err);
}

/* What has no trap costs its patcher no hold, whatever a hostile guest's entry says. */
static void test_not_ours(void **state)
{
	struct machine *m = *state;

	exchange(m, create(m));
	sentinel(m, VP_SENTINEL_KEY_ENTER, ENTRY(2));
	sentinel(m, VP_SENTINEL_KEY_ENTER, ENTRY(3));
	sentinel(m, VP_SENTINEL_KEY_ENTER, 0x1234);
	sentinel(m, VP_SENTINEL_KEY_ENTER, UINT64_MAX - 7);
	sentinel(m, VP_SENTINEL_KEY_LEAVE, 0);
	assert_int_equal(vp_kvm_held_ns(&m->kvm), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_true(is_trap(m, i));
	assert_int_equal(told(m).windows, 0);
}

/* A task may be past KEY_ENTER while the first trap is to be planted. It is planted when that has left, or
 * the mutex is free; a new plan changes nothing about it. */
static void test_first_while_it_patches(void **state)
{
	for (unsigned leaves = 0; leaves < 2; leaves++) {
		struct machine *m = *state;
		put64(m, MUTEX, EF_TASKS);
		exchange(m, create(m));
		assert_memory_equal(at(m, LONG), nop5, 5);
		assert_memory_equal(at(m, SHORT), nop2, 2);
		assert_true(is_trap(m, 2));
		assert_int_equal(told(m).windows, leaves + 1);
		exchange(m, create(m));
		atomic_store(&m->vcpu.running, 0);
		vp_kvm_sweep(&m->kvm);
		assert_memory_equal(at(m, LONG), nop5, 5);
		put64(m, MUTEX, 0);
		exchange(m, create(m));
		assert_memory_equal(at(m, LONG), nop5, 5);
		if (leaves) {
			atomic_store(&m->vcpu.running, 1);
			sentinel(m, VP_SENTINEL_KEY_LEAVE, 0);
		} else {
			vp_kvm_sweep(&m->kvm);
		}
		assert_true(is_trap(m, 0) && is_trap(m, 1));
		exchange(m, NULL);
		atomic_store(&m->vcpu.running, 1);
	}
}

/* A trap that stands already stays in a new plan, though a task holds the mutex: it has not come to it. */
static void test_kept_by_a_new_plan(void **state)
{
	struct machine *m = *state;

	exchange(m, create(m));
	put64(m, MUTEX, EF_TASKS);
	exchange(m, create(m));
	assert_true(is_trap(m, 0));
	sentinel(m, VP_SENTINEL_KEY_ENTER, ENTRY(0));
	exchange(m, create(m));
	assert_false(m->traps->list[0].planted);
	assert_true(is_trap(m, 1));
	/* no plan has it any more */
	m->plan.sites++;
	m->plan.nsites--;
	exchange(m, create(m));
	assert_int_equal(atomic_load(&m->kvm.keys.patched), 0);
	assert_int_equal(atomic_load(&m->kvm.keys.since), 0);
	assert_true(is_trap(m, 0));
}

/* Function tracing patches at the same time: neither window's end plants what the other keeps out. */
static void test_in_a_window(void **state)
{
	struct machine *m = *state;

	exchange(m, create(m));
	sentinel(m, VP_SENTINEL_KEY_ENTER, ENTRY(0));
	vp_kvm_at_sentinel(&m->kvm, 0, VP_SENTINEL_ENTER, EF_STACKS + 64);
	assert_false(m->traps->list[1].planted);
	sentinel(m, VP_SENTINEL_KEY_ENTER, ENTRY(1));
	sentinel(m, VP_SENTINEL_KEY_LEAVE, 0);
	assert_memory_equal(at(m, LONG), nop5, 5);
	assert_memory_equal(at(m, SHORT), nop2, 2);
	sentinel(m, VP_SENTINEL_KEY_ENTER, ENTRY(1));
	vp_kvm_at_sentinel(&m->kvm, 0, VP_SENTINEL_LEAVE, EF_STACKS + 64);
	assert_true(is_trap(m, 0) && is_trap(m, 2));
	assert_memory_equal(at(m, SHORT), nop2, 2);
	sentinel(m, VP_SENTINEL_KEY_LEAVE, 0);
	assert_true(is_trap(m, 1));
	assert_int_equal(told(m).windows, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_patched, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_form_from_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(test_neither_form, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_ours, setup, teardown),
		cmocka_unit_test_setup_teardown(test_first_while_it_patches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kept_by_a_new_plan, setup, teardown),
		cmocka_unit_test_setup_teardown(test_in_a_window, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
