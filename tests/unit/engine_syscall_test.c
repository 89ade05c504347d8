/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites that stand for the end of one system call in code which others use too. */
#include "tests/unit/engine_fixture.h"

#include <string.h>

#define CALLER   (EF_TEXT + 0x2000) /* the dispatcher's function, 0x100 bytes */
#define STACK(n) (EF_STACKS + (n)*0x4000ull)
#define NUMBER   217
#define ORIG_AX  15

/* vCPU @p cpu is at the end of a function, in system call @p number, and will go back to @p to. */
static void stand(struct ef *f, uint32_t cpu, uint64_t number, uint64_t to)
{
	uint64_t top = STACK(cpu) + EF_STACK_SIZE - f->facts.stack_padding - EF_PTREGS_WORDS * 8;

	vp_fake_set_reg(f->fake, cpu, VP_RSP, STACK(cpu) + 0x800);
	vp_fake_write(f->fake, f->kernel_root, STACK(cpu) + 0x800, &to, sizeof(to));
	vp_fake_write(f->fake, f->kernel_root, top + ORIG_AX * 8, &number, sizeof(number));
}

static struct ef *create(uint32_t counter_slots)
{
	const struct vp_fake_config config = {
		.nvcpus = 2,
		.ram_size = 8u << 20,
		.levels = 4,
		.counter_slots = counter_slots,
	};
	struct ef *f = ef_create_with(&config);

	f->facts.ptregs_syscall = ORIG_AX * 8;
	f->facts.syscall_caller.start = CALLER;
	f->facts.syscall_caller.end = CALLER + 0x100;
	return f;
}

/* A return probe with one site that is its own, and one in shared code. */
static void enable(struct ef *f, uint32_t clause)
{
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_SYSCALL_RETURN, "read", "return");

	ef_site(f, EF_RET(EF_FUNC_A), EF_FUNC_A);
	ef_site(f, EF_RET(EF_FUNC_B), EF_FUNC_B);
	((struct vp_batch_site *)(void *)f->sites.data)[f->nsites - 1].syscall = NUMBER + 1;
	ef_ecb(f, p, clause);
	ef_enable(f);
	ef_start(f);
}

static uint32_t hits(struct ef *f, uint64_t gva)
{
	struct ef_record r[8];

	vp_fake_hit(f->fake, 0, gva);
	ef_switch(f);
	return ef_records(f, 0, r, 8);
}

static void only_that_call_fires(void **state)
{
	struct ef *f = create(0);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	enable(f, c);
	stand(f, 0, NUMBER, CALLER + 0x40);
	assert_int_equal(hits(f, EF_RET(EF_FUNC_B)), 1);
	stand(f, 0, NUMBER, CALLER);
	assert_int_equal(hits(f, EF_RET(EF_FUNC_B)), 1);
	stand(f, 0, NUMBER, CALLER + 0x100); /* just behind */
	assert_int_equal(hits(f, EF_RET(EF_FUNC_B)), 0);
	stand(f, 0, NUMBER, CALLER - 1);
	assert_int_equal(hits(f, EF_RET(EF_FUNC_B)), 0);
	stand(f, 0, NUMBER + 1, CALLER + 0x40); /* another call that ends there */
	assert_int_equal(hits(f, EF_RET(EF_FUNC_B)), 0);
	assert_int_equal(hits(f, EF_RET(EF_FUNC_A)), 1); /* its own site asks nothing */
	vp_fake_set_reg(f->fake, 0, VP_RSP, 0x1000);     /* nowhere */
	assert_int_equal(hits(f, EF_RET(EF_FUNC_B)), 0);
	ef_destroy(f);
}

/* A number of 32-bit calls means nothing where 64-bit ones are called, and the other way round. */
static void each_abi_has_callers_and_numbers_of_its_own(void **state)
{
	struct ef *f = create(0);
	(void)state;

	f->facts.syscall_callers_32[1] = (struct vp_text_range){ CALLER + 0x200, CALLER + 0x300 };
	f->facts.syscall_callers_32[3] = (struct vp_text_range){ CALLER + 0x400, CALLER + 0x500 };
	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	uint32_t native = ef_probe(f, VP_PROBE_SITE, VP_ARGS_SYSCALL_RETURN, "read", "return");
	ef_site(f, EF_RET(EF_FUNC_A), EF_FUNC_A);
	uint32_t compat = ef_probe(f, VP_PROBE_SITE, VP_ARGS_SYSCALL_RETURN, "read", "return");
	ef_site(f, EF_RET(EF_FUNC_B), EF_FUNC_B);
	struct vp_batch_site *sites = (void *)f->sites.data;
	sites[0].syscall = NUMBER + 1;
	sites[1].syscall = (NUMBER + 1) | VP_SYSCALL_32;
	ef_ecb(f, native, c);
	ef_ecb(f, compat, c);
	ef_enable(f);
	ef_start(f);
	const struct {
		uint64_t caller;
		uint32_t native, compat;
	} at[] = { { 0, 1, 0 }, { 0x200, 0, 1 }, { 0x4ff, 0, 1 }, { 0x300, 0, 0 }, { 0x500, 0, 0 } };
	for (size_t i = 0; i < OT_ARRAY_SIZE(at); i++) {
		stand(f, 0, NUMBER, CALLER + at[i].caller);
		assert_int_equal(hits(f, EF_RET(EF_FUNC_A)), at[i].native);
		assert_int_equal(hits(f, EF_RET(EF_FUNC_B)), at[i].compat);
	}
	stand(f, 0, NUMBER + 1, CALLER + 0x200);
	assert_int_equal(hits(f, EF_RET(EF_FUNC_B)), 0);
	ef_destroy(f);
}

static void the_stack_may_have_padding(void **state)
{
	struct ef *f = create(0);
	(void)state;

	f->facts.stack_padding = 16;
	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	enable(f, c);
	stand(f, 0, NUMBER, CALLER + 0x40);
	assert_int_equal(hits(f, EF_RET(EF_FUNC_B)), 1);
	ef_destroy(f);
}

static void unknown_facts_never_fire(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct ef *f = create(0);

		if (i)
			f->facts.ptregs_syscall = VP_NO_OFFSET;
		else
			f->facts.syscall_caller.start = f->facts.syscall_caller.end = 0;
		uint32_t c = ef_clause(f, NULL);
		ef_open(f);
		enable(f, c);
		stand(f, 0, NUMBER, i ? CALLER : 0);
		assert_int_equal(hits(f, EF_RET(EF_FUNC_B)), 0);
		ef_destroy(f);
	}
}

/* A counter can't ask: the site of its own is counted inline, the shared one by firing; the sum is right. */
static void conditions_and_inline_counters_add_up(void **state)
{
	struct ef *f = create(4);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
	enable(f, c);
	const struct vp_site *own = vp_fake_site(f->fake, EF_RET(EF_FUNC_A));
	const struct vp_site *shared = vp_fake_site(f->fake, EF_RET(EF_FUNC_B));

	assert_int_equal(own->ncounters, 1);
	assert_int_equal(own->necbs, 0);
	assert_int_equal(shared->ncounters, 0);
	assert_int_equal(shared->necbs, 1);
	assert_true(shared->regs & VP_REG_BIT(VP_RSP));
	stand(f, 0, NUMBER, CALLER + 0x40);
	stand(f, 1, NUMBER + 7, CALLER + 0x40);
	for (int i = 0; i < 3; i++)
		vp_fake_hit(f->fake, 0, EF_RET(EF_FUNC_A));
	for (int i = 0; i < 5; i++) {
		vp_fake_hit(f->fake, 0, EF_RET(EF_FUNC_B));
		vp_fake_hit(f->fake, 1, EF_RET(EF_FUNC_B));
	}
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 8);
	ef_destroy(f);
}

/* A function called through both ABIs: the task shows which. */
static void calls_of_one_abi(uint32_t condition, uint64_t expected)
{
	enum { STATUS = 8 };
	struct ef *f = create(4);
	uint32_t status = VP_TASK_COMPAT;

	f->facts.task_status = STATUS;
	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
	const char *const names[] = { "entry", "return" };
	const uint64_t at[] = { EF_FUNC_A, EF_RET(EF_FUNC_A) };
	for (int i = 0; i < 2; i++) {
		uint32_t p = ef_probe(f, VP_PROBE_SITE, i ? VP_ARGS_SYSCALL_RETURN : VP_ARGS_SYSCALL_ENTRY,
				      "getppid", names[i]);
		ef_site(f, at[i], EF_FUNC_A);
		((struct vp_batch_site *)(void *)f->sites.data)[f->nsites - 1].syscall = condition;
		ef_ecb(f, p, c);
	}
	ef_enable(f);
	ef_start(f);
	/* vCPU 1's task is in one of 32 bits; other bits say nothing */
	vp_fake_write(f->fake, f->kernel_root, EF_TASKS + 4096 + STATUS, &status, sizeof(status));
	status = ~VP_TASK_COMPAT;
	vp_fake_write(f->fake, f->kernel_root, EF_TASKS + STATUS, &status, sizeof(status));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(vp_fake_site(f->fake, at[i])->ncounters, 0);
		for (int k = 0; k < 11; k++)
			assert_true(vp_fake_hit(f->fake, 0, at[i]));
		for (int k = 0; k < 25; k++)
			assert_true(vp_fake_hit(f->fake, 1, at[i]));
	}
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), expected);
	ef_destroy(f);
}

static void calls_of_32_bits_do_not_fire(void **state)
{
	(void)state;
	calls_of_one_abi(VP_SYSCALL_NATIVE, 2 * 11);
}

static void only_calls_of_32_bits_fire(void **state)
{
	(void)state;
	calls_of_one_abi(VP_SYSCALL_COMPAT, 2 * 25);
}

/* Nothing says whose it is: it fires. */
static void an_unknown_abi_fires(void **state)
{
	struct ef *f = create(0);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_SYSCALL_ENTRY, "getppid", "entry");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	((struct vp_batch_site *)(void *)f->sites.data)[0].syscall = VP_SYSCALL_NATIVE;
	ef_ecb(f, p, c);
	ef_enable(f);
	ef_start(f);
	assert_int_equal(hits(f, EF_FUNC_A), 1);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_that_call_fires),
		cmocka_unit_test(each_abi_has_callers_and_numbers_of_its_own),
		cmocka_unit_test(the_stack_may_have_padding),
		cmocka_unit_test(unknown_facts_never_fire),
		cmocka_unit_test(conditions_and_inline_counters_add_up),
		cmocka_unit_test(calls_of_32_bits_do_not_fire),
		cmocka_unit_test(only_calls_of_32_bits_fire),
		cmocka_unit_test(an_unknown_abi_fires),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
