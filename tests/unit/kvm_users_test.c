/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites in processes by debug registers: which of them a stop fires, what another process pays, and how many
 * there may be. */
#include <stdlib.h>
#include <string.h>

#include "engine_fixture.h"
#include "vmm-probe/backend/kvm/internal.h"
#include "vmm-probe/engine/hit/hit_session.h"

#define FUNCTION  (EF_USER + 0x200)
#define RFLAGS_RF (1ull << 16)
#define RFLAGS_TF (1ull << 8)
#define DR6_B0    1u
#define DR6_BS    (1u << 14)
#define COST_NS   700u

/* The process 90, in which a probe is at FUNCTION, on vCPU 0 of an engine's guest. */
struct machine {
	struct ef *ef;
	struct vp_kvm kvm;
	struct vp_kvm_vcpu vcpu;
	struct kvm_run run;
	struct vp_site site;
	struct vp_plan plan;
	struct vp_kvm_traps *traps;
};

static void put(struct machine *m, uint64_t root, uint64_t va, uint64_t value, size_t size)
{
	vp_fake_write(m->ef->fake, root, va, &value, size);
}

static void enable(struct machine *m)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5 };
	struct ef *f = m->ef;
	struct vp_batch_site s = { .gva = FUNCTION, .length = 1, .room = sizeof(code) };
	uint32_t c = ef_clause(f, NULL);

	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "main", "entry");
	struct vp_batch_probe *p = (struct vp_batch_probe *)(void *)f->probes.data + probe;
	memcpy(s.bytes, code, sizeof(code));
	ot_buf_append(&f->sites, &s, sizeof(s));
	p->first_site = f->nsites++;
	p->nsites = 1;
	p->process = (struct vp_batch_process){
		.root = f->user_root & ~0x1fffull, .mm = 1, .since_ns = 77, .pid = 90
	};
	ef_ecb(f, probe, c);
	ef_enable(f);
	ef_start(f);
	vp_fake_write(f->fake, f->user_root, FUNCTION, code, sizeof(code));
}

static void create_traps(struct machine *m)
{
	assert_null(vp_kvm_traps_create(&m->kvm, &m->plan, &m->traps));
	atomic_store(&m->kvm.traps, m->traps);
}

static int setup(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->ef = ef_create();
	m->ef->facts.task_group_leader = 0x700;
	put(m, m->ef->kernel_root, EF_TASKS + 0x700, EF_TASKS, 8);
	vp_fake_set_reg(m->ef->fake, 0, VP_CS, 0x33);
	enable(m);
	m->site = *vp_fake_site(m->ef->fake, FUNCTION);
	m->site.cost_ns = COST_NS;
	m->plan = (struct vp_plan){ .sites = &m->site, .nusers = 1 };
	m->kvm.config.nvcpus = 1;
	m->kvm.config.host.hw = m->kvm.config.host.hw_user = true;
	m->kvm.engine = vp_fake_engine(m->ef->fake);
	m->kvm.vcpus = &m->vcpu;
	m->vcpu.run = &m->run;
	m->vcpu.fd = -1;
	assert_null(vp_kvm_redo_create(&m->kvm.redo));
	create_traps(m);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	vp_kvm_traps_destroy(m->traps);
	vp_kvm_redo_destroy(m->kvm.redo);
	ef_destroy(m->ef);
	free(m);
	return 0;
}

/* KVM_RUN returns at @gva under the page table @cr3. True: it is handled. */
static bool stop_at(struct machine *m, uint64_t gva, uint64_t cr3, uint64_t dr6)
{
	m->run = (struct kvm_run){ .exit_reason = KVM_EXIT_DEBUG, .kvm_valid_regs = KVM_SYNC_X86_SREGS };
	m->run.debug.arch.exception = 1;
	m->run.debug.arch.dr6 = dr6;
	m->run.s.regs.regs.rip = gva;
	m->run.s.regs.sregs.cr3 = cr3;
	return vp_kvm_after(&m->kvm, 0, 0);
}

static uint64_t fired(struct machine *m)
{
	ef_switch(m->ef);
	return ef_agg_total(m->ef);
}

static uint64_t cost(const struct machine *m)
{
	return m->ef->es->vcpus[0].load.outside_ns;
}

/* It fires, and the CPU executes the instruction without stopping at it again. */
static void in_its_process(void **state)
{
	struct machine *m = *state;

	assert_int_equal(m->traps->hw[0], FUNCTION);
	assert_int_equal(m->traps->hw[1], 0);
	/* the user's page table of a kernel that has two for each process, with a PCID */
	assert_true(stop_at(m, FUNCTION, m->ef->user_root | 0x1005, DR6_B0));
	assert_int_equal(m->run.s.regs.regs.rflags, RFLAGS_RF);
	assert_int_equal(m->run.kvm_dirty_regs, KVM_SYNC_X86_REGS);
	assert_int_equal(m->run.s.regs.regs.rip, FUNCTION);
	assert_int_equal(fired(m), 1);
	assert_int_equal(cost(m), COST_NS);
}

/* Another page table has another process: nothing fires, and the session pays for the stop. */
static void in_another(void **state)
{
	struct machine *m = *state;

	assert_true(stop_at(m, FUNCTION, m->ef->user_root + 0x10000, DR6_B0));
	assert_int_equal(m->run.s.regs.regs.rflags, RFLAGS_RF);
	assert_int_equal(m->run.kvm_dirty_regs, KVM_SYNC_X86_REGS);
	assert_int_equal(fired(m), 0);
	assert_int_equal(cost(m), COST_NS);
}

/* Another instruction is there now, or a debugger's int3: that is no hit. One in what follows is let pass. A
 * page that isn't there can't be compared. */
static void by_its_bytes(void **state)
{
	static const struct {
		uint64_t at;
		uint8_t byte;
		bool fires;
	} rows[] = { { 0, 0x90, false }, { 0, 0xcc, false }, { 0, 0x55, true }, { 2, 0x8b, false },
		     { 2, 0xcc, true },  { 2, 0x89, true },  { 4, 0x11, true } };
	struct machine *m = *state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++) {
		put(m, m->ef->user_root, FUNCTION + rows[i].at, rows[i].byte, 1);
		assert_true(stop_at(m, FUNCTION, m->ef->user_root, DR6_B0));
		assert_int_equal(m->run.s.regs.regs.rflags, RFLAGS_RF);
		assert_int_equal(fired(m), rows[i].fires);
	}
	*vp_fake_entry(m->ef->fake, m->ef->user_root, FUNCTION) = 0;
	assert_true(stop_at(m, FUNCTION, m->ef->user_root, DR6_B0));
	assert_int_equal(fired(m), 1);
}

/* The guest's own traps: KVM can't be asked here, so they go to the VMM. */
static void not_ours(void **state)
{
	struct machine *m = *state;

	assert_false(stop_at(m, FUNCTION + 1, m->ef->user_root, DR6_B0));
	assert_false(stop_at(m, FUNCTION, m->ef->user_root, DR6_BS));
	m->run.s.regs.regs.rflags = 0;
	assert_int_equal(fired(m), 0);
	assert_int_equal(cost(m), 0);
}

/* Places share a register where they have one address, and the kernel's with the processes' are four. */
static void at_most_four(void **state)
{
	struct machine *m = *state;
	struct vp_site sites[2 + VP_HW_SITES];
	struct vp_plan plan = { .sites = sites, .nsites = 1, .nusers = VP_HW_SITES };
	struct vp_kvm_traps *traps = NULL;
	uint8_t nop[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	sites[0] = (struct vp_site){
		.gva = EF_FUNC_A, .host = (uintptr_t)nop, .length = 5, .room = 5, .trap = VP_SITE_HW
	};
	memcpy(sites[0].bytes, nop, sizeof(nop));
	for (uint32_t i = 1; i < OT_ARRAY_SIZE(sites); i++) {
		sites[i] = m->site;
		sites[i].gva += i;
		sites[i].root += i << 13;
	}
	struct ot_err *err = vp_kvm_traps_create(&m->kvm, &plan, &traps);
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_LIMIT);
	assert_non_null(strstr(ot_err_message(err), "a CPU has 4 debug registers"));
	ot_err_destroy(err);
	sites[4].gva = sites[1].gva;
	assert_null(vp_kvm_traps_create(&m->kvm, &plan, &traps));
	const uint64_t want[VP_HW_SITES] = { EF_FUNC_A, sites[1].gva, sites[2].gva, sites[3].gva };
	assert_memory_equal(traps->hw, want, sizeof(want));
	assert_int_equal(traps->nusers, VP_HW_SITES);
	vp_kvm_traps_destroy(traps);
	sites[4].gva = FUNCTION + 4;
	plan = (struct vp_plan){ .sites = sites + 1, .nusers = VP_HW_SITES };
	assert_null(vp_kvm_traps_create(&m->kvm, &plan, &traps));
	vp_kvm_traps_destroy(traps);
	plan.nusers++;
	sites[5].gva = FUNCTION + 5;
	err = vp_kvm_traps_create(&m->kvm, &plan, &traps);
	assert_non_null(err);
	ot_err_destroy(err);
}

/* Registers of a host that stop the kernel only. */
static void not_on_this_host(void **state)
{
	struct machine *m = *state;
	struct vp_kvm_traps *traps = NULL;

	m->kvm.config.host.hw_user = false;
	struct ot_err *err = vp_kvm_traps_create(&m->kvm, &m->plan, &traps);
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_UNSUPPORTED);
	ot_err_destroy(err);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(in_its_process), TEST(in_another),   TEST(by_its_bytes),
		TEST(not_ours),       TEST(at_most_four), TEST(not_on_this_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
