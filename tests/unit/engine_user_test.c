/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites in processes: they fire in one process only, with its registers, memory and stack. */
#include "tests/unit/engine_fixture.h"

#include <string.h>

#define MAX_RECORDS 64
#define FUNCTION    (EF_USER + 0x200)
#define STACK       (EF_USER + 0x800)

static void put(struct ef *f, uint64_t root, uint64_t va, uint64_t value, size_t size)
{
	vp_fake_write(f->fake, root, va, &value, size);
}

/* vCPU 0 runs the process 90, in user mode, at the function's first instruction. */
static struct ef *world(void)
{
	struct ef *f = ef_create();

	f->facts.task_group_leader = 0x700;
	put(f, f->kernel_root, EF_TASKS + 0x700, EF_TASKS, 8);
	vp_fake_set_reg(f->fake, 0, VP_CS, 0x33);
	vp_fake_set_reg(f->fake, 0, VP_RSP, STACK);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 11);
	return f;
}

static const struct vp_batch_process *process(const struct ef *f)
{
	static struct vp_batch_process p;

	p = (struct vp_batch_process){
		.root = f->user_root & ~0x1fffull, .mm = 1, .since_ns = 77, .pid = 90
	};
	return &p;
}

/* A probe at FUNCTION in the batch. */
static struct vp_batch_probe *add_probe(struct ef *f, uint32_t clause, uint32_t args)
{
	static const uint8_t push[] = { 0x55 };
	struct vp_batch_site s = { .gva = FUNCTION, .length = 1, .room = 1 };
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, args, "main", "entry");
	struct vp_batch_probe *p = (struct vp_batch_probe *)(void *)f->probes.data + probe;

	memcpy(s.bytes, push, sizeof(push));
	ot_buf_append(&f->sites, &s, sizeof(s));
	p->first_site = f->nsites++;
	p->nsites = 1;
	p->process = *process(f);
	ef_ecb(f, probe, clause);
	return p;
}

static uint32_t fired(struct ef *f)
{
	struct ef_record r[MAX_RECORDS];

	assert_true(vp_fake_hit(f->fake, 0, FUNCTION));
	ef_switch(f);
	return ef_records(f, 0, r, MAX_RECORDS);
}

/* The same number, memory and start: each alone is not enough. */
static void only_in_its_process(void **state)
{
	struct ef *f = world();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_open(f);
	add_probe(f, c, VP_ARGS_FBT_ENTRY);
	ef_enable(f);
	ef_start(f);
	assert_int_equal(fired(f), 1);
	static const struct {
		uint64_t at, other, own;
		size_t size;
	} fields[] = { { EF_TASK_TGID, 91, 90, 4 }, { EF_TASK_MM, 2, 1, 8 }, { EF_TASK_START, 78, 77, 8 } };
	for (size_t i = 0; i < OT_ARRAY_SIZE(fields); i++) {
		put(f, f->kernel_root, EF_TASKS + fields[i].at, fields[i].other, fields[i].size);
		assert_int_equal(fired(f), 0);
		put(f, f->kernel_root, EF_TASKS + fields[i].at, fields[i].own, fields[i].size);
		assert_int_equal(fired(f), 1);
	}
	ef_destroy(f);
}

/* A child by vfork() has its parent's memory, and a number of its own. Its child by vfork() has both too. */
static void in_a_child_that_has_borrowed_its_memory(void **state)
{
	struct ef *f = world();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_pid));
	ef_open(f);
	add_probe(f, c, VP_ARGS_FBT_ENTRY);
	ef_enable(f);
	ef_start(f);
	/* vCPU 0's task is the child of 92, which is that of vCPU 1's, which is of the process */
	uint64_t child = EF_TASKS, between = EF_TASKS + 0x800, parent = EF_TASKS + 0x1000;
	put(f, f->kernel_root, child + EF_TASK_TGID, 93, 4);
	put(f, f->kernel_root, child + EF_TASK_PARENT, between, 8);
	put(f, f->kernel_root, between + EF_TASK_TGID, 92, 4);
	put(f, f->kernel_root, between + EF_TASK_PARENT, parent, 8);
	put(f, f->kernel_root, parent + EF_TASK_TGID, 90, 4);
	put(f, f->kernel_root, parent + 0x700, parent, 8);
	put(f, f->kernel_root, parent + EF_TASK_START, 77, 8);
	assert_int_equal(fired(f), 1);
	put(f, f->kernel_root, parent + EF_TASK_START, 78, 8); /* another one with the number */
	assert_int_equal(fired(f), 0);
	put(f, f->kernel_root, parent + EF_TASK_START, 77, 8);
	put(f, f->kernel_root, child + EF_TASK_MM, 2, 8); /* it has called exec(), or was forked */
	assert_int_equal(fired(f), 0);
	put(f, f->kernel_root, child + EF_TASK_MM, 1, 8);
	put(f, f->kernel_root, between + EF_TASK_PARENT, child, 8); /* a loop */
	assert_int_equal(fired(f), 0);
	ef_destroy(f);
}

/* A backend knows a site in a process by page table and address; it is none of the kernel's. */
static void the_plan_has_both(void **state)
{
	struct ef *f = world();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
	add_probe(f, c, VP_ARGS_FBT_ENTRY);
	ef_enable(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_start(f);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	const struct vp_site *site = vp_fake_site(f->fake, FUNCTION);
	assert_non_null(site);
	assert_true(vp_site_is_of(site, FUNCTION, f->user_root | 0x1000));
	assert_false(vp_site_is_of(site, FUNCTION + 0x1000, f->user_root));
	assert_false(vp_site_is_of(site, FUNCTION, f->user_root + 0x10000));
	/* what is counted inline would count other processes too */
	assert_int_equal(site->ncounters, 0);
	assert_int_equal(site->necbs, 1);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_A)->root, 0);
	vp_fake_hit(f->fake, 0, FUNCTION);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 1);
	ef_destroy(f);
}

/* Descriptions may have been read before and after the process's code changed: each place keeps the bytes
 * that it was found by, and those with the same ones are one. */
static void other_bytes_are_another_site(void **state)
{
	struct ef *f = world();
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_open(f);
	add_probe(f, c, VP_ARGS_FBT_ENTRY);
	add_probe(f, c, VP_ARGS_NONE);
	add_probe(f, c, VP_ARGS_NONE);
	((struct vp_batch_site *)(void *)f->sites.data)[1].bytes[0] = 0xcc;
	ef_enable(f);
	ef_start(f);
	const struct vp_site *site = vp_fake_site(f->fake, FUNCTION);
	assert_non_null(site);
	assert_int_equal(site[0].bytes[0], 0x55);
	assert_int_equal(site[0].necbs, 2);
	assert_int_equal(site[1].gva, FUNCTION);
	assert_int_equal(site[1].bytes[0], 0xcc);
	assert_int_equal(site[1].necbs, 1);
	ef_destroy(f);
}

/* Arguments in registers and on the process's stack; its stack begins with the return address. */
static void registers_and_stack(void **state)
{
	struct ef *f = world();
	struct ef_record r[MAX_RECORDS];
	uint64_t bp = EF_USER + 0x900;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	struct dif_action *a = ef_action(f, c, DIF_ACT_ustack, NULL);
	a->arg = 4;
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg7));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_ucaller));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_stackdepth));
	ef_open(f);
	add_probe(f, c, VP_ARGS_FBT_ENTRY);
	ef_enable(f);
	ef_start(f);
	vp_fake_set_reg(f->fake, 0, VP_RBP, bp);
	put(f, f->user_root, STACK, 0x402000, 8);
	put(f, f->user_root, STACK + 16, 17, 8);
	put(f, f->user_root, bp, 0, 8);
	put(f, f->user_root, bp + 8, 0x403000, 8);
	vp_fake_hit(f->fake, 0, FUNCTION);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	static const uint64_t want[] = { 90, FUNCTION, 0x402000, 0x403000, 0, 11, 17, 0x402000, 0 };
	for (unsigned i = 0; i < OT_ARRAY_SIZE(want); i++)
		assert_int_equal(ef_u64(r[0].data + 16 + 8 * i), want[i]);
	ef_destroy(f);
}

static void refused(struct ef *f)
{
	struct ot_err *err = ef_try_enable(f);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
	ot_err_destroy(err);
	ef_batch_clear(f);
}

/* What no client of ours sends. */
static void malformed(void **state)
{
	struct ef *f = world();
	struct vp_batch_site *s;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_open(f);
	add_probe(f, c, VP_ARGS_FBT_ENTRY)->process.root = 0;
	refused(f);
	add_probe(f, c, VP_ARGS_FBT_ENTRY)->process.root |= 1;
	refused(f);
	add_probe(f, c, VP_ARGS_FBT_ENTRY)->process.mm = 0;
	refused(f);
	for (unsigned i = 0; i < 6; i++) {
		add_probe(f, c, VP_ARGS_FBT_ENTRY);
		s = (void *)f->sites.data;
		s->gva = i == 0 ? EF_FUNC_A : s->gva;
		s->length = i == 1 ? 0 : 1;
		s->room = i == 2 ? 16 : 1;
		s->sentinel = i == 3 ? VP_SENTINEL_ENTER : 0;
		s->syscall = i == 4 ? 1 : 0;
		s->trap = i == 5 ? VP_SITE_HW : VP_SITE_TEXT; /* this backend needs none */
		refused(f);
	}
	add_probe(f, c, VP_ARGS_FBT_ENTRY);
	ef_enable(f);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_in_its_process),
		cmocka_unit_test(in_a_child_that_has_borrowed_its_memory),
		cmocka_unit_test(the_plan_has_both),
		cmocka_unit_test(other_bytes_are_another_site),
		cmocka_unit_test(registers_and_stack),
		cmocka_unit_test(malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
