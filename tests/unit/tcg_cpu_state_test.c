/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/backend/tcg/cpu_state.h: the trial of what may be QEMU's state of a vCPU, and how a callback gets
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "vmm-probe/backend/tcg/cpu_state.h"

#define PAGE 4096

static void make(uint64_t regs[VP_NREGS_GENERAL])
{
	for (unsigned i = 0; i < VP_NREGS_GENERAL; i++)
		regs[i] = 0xffff888000000000 + i * 0x1234567;
}

static void all_are_there(void **state)
{
	uint64_t regs[VP_NREGS_GENERAL], there[VP_NREGS_GENERAL];
	(void)state;

	make(regs);
	make(there);
	assert_true(vp_tcg_state_is(there, regs));
}

static void one_differs(void **state)
{
	uint64_t regs[VP_NREGS_GENERAL], there[VP_NREGS_GENERAL];
	(void)state;

	for (unsigned i = 0; i < VP_NREGS_GENERAL; i++)
		for (unsigned bit = 0; bit < 64; bit += 21) {
			make(regs);
			make(there);
			there[i] ^= 1ull << bit;
			assert_false(vp_tcg_state_is(there, regs));
		}
}

/* They are equal, but so would be other memory. */
static void too_few_to_tell(void **state)
{
	uint64_t regs[VP_NREGS_GENERAL] = { 0 };
	(void)state;

	assert_false(vp_tcg_state_is(regs, regs));
	memset(regs, 0xff, sizeof(regs));
	assert_false(vp_tcg_state_is(regs, regs));
	for (unsigned i = 0; i < VP_NREGS_GENERAL; i++)
		regs[i] = i % 5;
	assert_false(vp_tcg_state_is(regs, regs));
	for (unsigned i = 0; i < VP_NREGS_GENERAL; i++)
		regs[i] = i % 7;
	assert_true(vp_tcg_state_is(regs, regs));
}

/* Any address can be tried. */
static void nothing_is_there(void **state)
{
	uint64_t regs[VP_NREGS_GENERAL];
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)state;

	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
	make(regs);
	memcpy(pages + PAGE - sizeof(regs), regs, sizeof(regs));
	assert_true(vp_tcg_state_is(pages + PAGE - sizeof(regs), regs));
	assert_false(vp_tcg_state_is(pages + PAGE - sizeof(regs) + 1, regs));
	assert_false(vp_tcg_state_is(pages + PAGE, regs));
	assert_false(vp_tcg_state_is(NULL, regs));
	assert_false(vp_tcg_state_is((void *)0x7fffffffffff0000, regs));
	assert_false(vp_tcg_state_is((void *)0xffff888000000000, regs));
	assert_int_equal(munmap(pages, 2 * PAGE), 0);
}

/* --- the way into a callback ----------------------------------------------------------------- */

void test_entry(unsigned int vcpu, void *udata);
void test_target(unsigned int vcpu, void *udata, const uint64_t *state);
VP_TCG_ENTRY(test_entry, test_target);

static struct {
	unsigned int vcpu;
	void *udata;
	const uint64_t *state;
} got;

void test_target(unsigned int vcpu, void *udata, const uint64_t *state)
{
	got.vcpu = vcpu;
	got.udata = udata;
	got.state = state;
}

/* As translated code calls it: rbp is the state's address. The stack is left well below what the compiler may
 * have there. */
static void call_entry(unsigned int vcpu, void *udata, const uint64_t *state)
{
	__asm__ volatile("mov %%rsp, %%rbx\n"
			 "sub $256, %%rsp\n"
			 "and $-16, %%rsp\n"
			 "push %%rbp\n"
			 "push %%rbp\n"
			 "mov %[state], %%rbp\n"
			 "call test_entry\n"
			 "pop %%rbp\n"
			 "pop %%rbp\n"
			 "mov %%rbx, %%rsp\n"
			 : "+D"(vcpu), "+S"(udata)
			 : [state] "r"(state)
			 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void entry_passes_the_state(void **state)
{
	const uint64_t there = 5;
	int mark;
	(void)state;

	call_entry(3, &mark, &there);
	assert_int_equal(got.vcpu, 3);
	assert_ptr_equal(got.udata, &mark);
	assert_ptr_equal(got.state, &there);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_there),          cmocka_unit_test(one_differs),
		cmocka_unit_test(too_few_to_tell),        cmocka_unit_test(nothing_is_there),
		cmocka_unit_test(entry_passes_the_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
