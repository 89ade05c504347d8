/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/guest/facts_percpu: which per-CPU area is which vCPU's, and what is said if that is not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "process_fixture.h"

#include "vmm-probe/engine/wire/facts.h"
#include "vmm-probe/guest/facts.h"
#include "vmm-probe/guest/facts_percpu.h"
#include "vmm-probe/guest/guest_internal.h"

#define A 0xffff888001000000ull
#define B 0xffff888001100000ull
#define C 0xffff888001200000ull

static const struct vp_percpu areas[] = { { 0, A }, { 1, B }, { 2, C } };

static struct vp_regs regs(uint64_t cs, uint64_t gs, uint64_t k_gs)
{
	struct vp_regs r = { .valid = VP_REG_BIT(VP_CS) | VP_REG_BIT(VP_GS_BASE) | VP_REG_BIT(VP_K_GS_BASE) };

	r.v[VP_CS] = cs;
	r.v[VP_GS_BASE] = gs;
	r.v[VP_K_GS_BASE] = k_gs;
	return r;
}

static void without_registers_the_order_counts(void **state)
{
	uint64_t bases[3];

	(void)state;
	vp_percpu_assign(areas, 3, NULL, 3, bases);
	assert_true(bases[0] == A && bases[1] == B && bases[2] == C);
	vp_percpu_assign(areas, 2, NULL, 3, bases);
	assert_true(bases[0] == A && bases[1] == B && bases[2] == 0);
}

static void registers_count_first(void **state)
{
	/* The kernel numbers the CPUs differently; one vCPU's registers could not be read. */
	struct vp_regs r[3] = { regs(0x10, C, 0), { .valid = 0 }, regs(0x33, 0, A) };
	uint64_t bases[3];

	(void)state;
	vp_percpu_assign(areas, 3, r, 3, bases);
	assert_true(bases[0] == C && bases[1] == B && bases[2] == A);
}

static void user_space_cannot_choose(void **state)
{
	/* A process set its GS base to another CPU's area. */
	struct vp_regs r[2] = { regs(0x33, B, A), regs(0x33, A, B) };
	uint64_t bases[2];

	(void)state;
	vp_percpu_assign(areas, 2, r, 2, bases);
	assert_true(bases[0] == A && bases[1] == B);
	/* In the kernel before it has swapped them: the other register shows it. */
	r[0] = regs(0x10, 0x7f0000000000, B);
	r[1] = regs(0x10, A, 0);
	vp_percpu_assign(areas, 2, r, 2, bases);
	assert_true(bases[0] == B && bases[1] == A);
}

static void nobody_gets_what_another_has(void **state)
{
	struct vp_regs r[2] = { regs(0x10, B, 0), regs(0x10, B, 0) };
	uint64_t bases[2];

	(void)state;
	vp_percpu_assign(areas, 2, r, 2, bases);
	assert_true(bases[0] == B && bases[1] == A);
}

static void facts_of_nothing(void **state)
{
	struct vp_facts f = { .guest_id = 7, .guest_name = "web01" };

	(void)state;
	vp_facts_none(&f);
	assert_int_equal(f.size, sizeof(f));
	assert_int_equal(f.guest_id, 7);
	assert_string_equal(f.guest_name, "web01");
	assert_int_equal(f.task_comm, VP_NO_OFFSET);
	assert_int_equal(f.ptregs_syscall, VP_NO_OFFSET);
	assert_true(f.current_task == ~0ull && f.kernel_root == 0 && f.percpu_base[0] == 0);
	assert_true(f.syscall_caller.start == f.syscall_caller.end);
}

/* If some vCPUs' processes are known and others' are not, -q does not suppress the note. */
static void some_processes_are_unknown(void **state)
{
	static const char what[] = "not every vCPU's running process is known";
	const uint64_t area = PF_BASE + 0x1800;
	(void)state;

	for (unsigned known = 0; known < 2; known++)
		for (unsigned types = 0; types < 2; types++) {
			struct process_guest *pg = process_guest_create(true);
			struct vp_guest *guest = process_guest_kernel(pg);
			struct vp_btf *btf = guest->btf;
			struct vp_facts f = { 0 };

			*process_word(pg, PF_NR_CPUS) = 2;
			*process_word(pg, PF_PERCPU) = area;
			*process_word(pg, area + PF_THIS_CPU_OFF) = known ? area : 0;
			guest->btf = types ? btf : NULL;
			struct ot_err *err = vp_facts_read(guest, NULL, 2, &f);

			assert_int_equal(err == NULL, types);
			ot_err_destroy(err);
			assert_int_equal(f.percpu_base[0], known ? area : 0);
			assert_int_equal(f.percpu_base[1], 0);
			assert_int_equal(strstr(vp_guest_warning(guest), what) != NULL, known && types);
			assert_int_equal(strstr(vp_guest_note(guest), what) != NULL, !known || !types);
			guest->btf = btf;
			process_guest_destroy(pg);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_registers_the_order_counts),
		cmocka_unit_test(registers_count_first),
		cmocka_unit_test(user_space_cannot_choose),
		cmocka_unit_test(nobody_gets_what_another_has),
		cmocka_unit_test(facts_of_nothing),
		cmocka_unit_test(some_processes_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
