/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a guest on the hit path: page walks, hostile page tables, stacks, profile samples. */
#include "tests/unit/engine_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vmm-probe/engine/wire/orc_table.h"

#define MAX_RECORDS 64

/* A session whose only clause records *(uint64_t *)address at function A. */
static struct ef *deref_session(const struct vp_fake_config *config, uint64_t address, bool user)
{
	struct ef *f = config ? ef_create_with(config) : ef_create();
	uint32_t c = ef_clause(f, NULL);

	ef_action(f, c, DIF_ACT_difexpr, ef_deref(f, address, user));
	ef_trace(f, c);
	return f;
}

/* What it recorded; false: it faulted. */
static bool read_once(struct ef *f, uint64_t *ret)
{
	struct ef_record r[MAX_RECORDS];

	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	if (r[0].epid == VP_EPID_FAULT)
		return false;
	*ret = ef_u64(r[0].data + 16);
	return true;
}

static void expect_read(struct ef *f, uint64_t want)
{
	uint64_t value = 0;

	assert_true(read_once(f, &value));
	assert_int_equal(value, want);
	ef_destroy(f);
}

static void expect_badaddr(struct ef *f)
{
	uint64_t value;

	assert_false(read_once(f, &value));
	ef_destroy(f);
}

static void put(struct ef *f, uint64_t root, uint64_t va, uint64_t value)
{
	vp_fake_write(f->fake, root, va, &value, sizeof(value));
}

static void kernel_memory(void **state)
{
	struct ef *f = deref_session(NULL, EF_TASKS + 0x300, false);
	(void)state;

	put(f, f->kernel_root, EF_TASKS + 0x300, 0xabcdef);
	expect_read(f, 0xabcdef);
}

static void large_page(void **state)
{
	struct ef *f = deref_session(NULL, EF_TEXT + 0x12345, false);
	(void)state;

	put(f, f->kernel_root, EF_TEXT + 0x12345, 0x77);
	expect_read(f, 0x77);
}

/* Four bytes at the end of one page, four at the start of the next, which lies elsewhere. */
static void load_over_a_page_border(void **state)
{
	struct ef *f = deref_session(NULL, EF_USER + 0xffc, true);
	(void)state;

	put(f, f->user_root, EF_USER + 0xffc, 0x1122334455667788);
	expect_read(f, 0x1122334455667788);
}

/* Where the first page is known already: the second one is not behind it in memory. */
static void load_over_a_known_page_border(void **state)
{
	static const uint64_t at[] = { EF_TASKS + 0x40ff8, EF_TASKS + 0x40ffc, EF_TASKS + 0x40ff9 };
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	for (unsigned i = 0; i < 3; i++)
		ef_action(f, c, DIF_ACT_difexpr, ef_deref(f, at[i], false));
	ef_trace(f, c);
	for (unsigned i = 2; i-- > 0;)
		vp_fake_map(f->fake, f->kernel_root, EF_TASKS + 0x40000 + i * VP_FAKE_PAGE,
			    vp_fake_page(f->fake), 0, 12);
	put(f, f->kernel_root, at[0], 0x0706050403020100);
	put(f, f->kernel_root, at[0] + 8, 0x0f0e0d0c0b0a0908);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ef_u64(r[i].data + 16), 0x0706050403020100);
		assert_int_equal(ef_u64(r[i].data + 24), 0x0b0a090807060504);
		assert_int_equal(ef_u64(r[i].data + 32), 0x0807060504030201);
	}
	ef_destroy(f);
}

static void five_levels(void **state)
{
	const struct vp_fake_config config = { .nvcpus = 1, .ram_size = 8u << 20, .levels = 5 };
	struct ef *f = deref_session(&config, EF_TASKS + 0x300, false);
	(void)state;

	put(f, f->kernel_root, EF_TASKS + 0x300, 0x55);
	expect_read(f, 0x55);
}

static void unmapped_and_not_canonical(void **state)
{
	static const uint64_t nowhere[] = { 0,
					    8,
					    EF_TASKS + 0x100000,
					    0x0000800000000000,
					    0x7fffffffffff0000,
					    0xffff7fffffffffff,
					    0xfffffffffffffffc,
					    0xffffffffffffffff,
					    EF_TEXT + 0x1ffffc };
	(void)state;

	for (unsigned i = 0; i < OT_ARRAY_SIZE(nowhere); i++) {
		expect_badaddr(deref_session(NULL, nowhere[i], false));
		expect_badaddr(deref_session(NULL, nowhere[i], true));
	}
}

/* Kernel memory is not user memory, and the other way round, whatever is mapped. */
static void spaces_are_apart(void **state)
{
	(void)state;
	expect_badaddr(deref_session(NULL, EF_TASKS, true));
	expect_badaddr(deref_session(NULL, EF_USER, false));
	/* mapped in the process's tables, but not for user mode */
	struct ef *f = deref_session(NULL, EF_USER + 0x10000, true);
	vp_fake_map(f->fake, f->user_root, EF_USER + 0x10000, vp_fake_page(f->fake), 0, 12);
	expect_badaddr(f);
}

/* Page tables full of what a hostile guest may put there. The loads fail or read RAM; nothing else. */
static void hostile_page_tables(void **state)
{
	static const uint64_t evil[] = {
		0,          1,        3,        0xffffffffffffffff, 0x000ffffffffff003,
		0x7ffff003, 0x800003, 0x7ff083, 0xfffffffff0c3,     0x83,
		0x7fffff83
	};
	unsigned seed = 5;
	(void)state;

	struct ef *f = deref_session(NULL, EF_STACKS + 0x100, false);
	uint64_t *ram = vp_fake_ram(f->fake, 0);
	for (unsigned round = 0; round < 300; round++) {
		/* the way to the stacks: every table from the root down, one entry at a time */
		uint64_t table = f->kernel_root, value, saved;
		unsigned depth = (unsigned)rand_r(&seed) % 4, shift = 39;
		for (unsigned i = 0; i < depth; i++, shift -= 9)
			table = ram[table / 8 + (EF_STACKS >> shift & 511)] & 0xffffffffff000;
		uint64_t *entry = &ram[table / 8 + (EF_STACKS >> shift & 511)];
		saved = *entry;
		*entry = round < 100 ? evil[round % OT_ARRAY_SIZE(evil)]
				     : (uint64_t)rand_r(&seed) << 32 | (uint32_t)rand_r(&seed) | 3;
		read_once(f, &value);
		*entry = saved;
	}
	put(f, f->kernel_root, EF_STACKS + 0x100, 9);
	expect_read(f, 9);
}

/* A table that points to itself ends after as many levels as there are. */
static void table_that_points_to_itself(void **state)
{
	struct ef *f = deref_session(NULL, 0xffffa00000000000, false);
	uint64_t *ram = vp_fake_ram(f->fake, 0), value;
	(void)state;

	ram[f->kernel_root / 8 + (0xffffa00000000000 >> 39 & 511)] = f->kernel_root | 3;
	read_once(f, &value);
	ef_destroy(f);
}

/* Cached translations of a stack or a process last for one firing only. */
static void remapped_between_hits(void **state)
{
	struct ef *f = deref_session(NULL, EF_STACKS, false);
	uint64_t value = 0;
	(void)state;

	put(f, f->kernel_root, EF_STACKS, 1);
	assert_true(read_once(f, &value));
	assert_int_equal(value, 1);
	vp_fake_map(f->fake, f->kernel_root, EF_STACKS, vp_fake_page(f->fake), 0, 12);
	put(f, f->kernel_root, EF_STACKS, 2);
	expect_read(f, 2);
}

/* The page-table entry of a mapped page, at @level (0: the last). */
static uint64_t *entry_of(struct ef *f, uint64_t va, unsigned level)
{
	uint64_t table = f->kernel_root, *e = NULL;

	for (unsigned l = 4; l-- > level;) {
		e = (uint64_t *)vp_fake_ram(f->fake, table) + (va >> (12 + 9 * l) & 511);
		table = *e & 0x000ffffffffff000ull;
	}
	return e;
}

/* A store is done whole where the guest could do it, and not at all where it could not. */
static void stores(void **state)
{
	struct ef *f = deref_session(NULL, EF_STACKS, false);
	const struct vp_site *site = vp_fake_site(f->fake, EF_FUNC_A);
	uint64_t one = 1, two = 2, value = 0;
	(void)state;

	assert_non_null(site);
	vp_fake_map(f->fake, f->kernel_root, EF_STACKS + VP_FAKE_PAGE, vp_fake_page(f->fake), 0, 12);
	assert_true(vp_site_store(site, 0, EF_STACKS + VP_FAKE_PAGE - 4, &one, 8));
	assert_true(vp_site_load(site, 0, EF_STACKS + VP_FAKE_PAGE - 4, &value, 8));
	assert_int_equal(value, 1);
	/* the second page, the first, a table above both */
	uint64_t *entries[] = { entry_of(f, EF_STACKS + VP_FAKE_PAGE, 0), entry_of(f, EF_STACKS, 0),
				entry_of(f, EF_STACKS, 2) };
	for (unsigned i = 0; i < 3; i++) {
		*entries[i] &= ~2ull;
		assert_false(vp_site_store(site, 0, EF_STACKS + VP_FAKE_PAGE - 4, &two, 8));
		assert_true(vp_site_load(site, 0, EF_STACKS + VP_FAKE_PAGE - 4, &value, 8));
		assert_int_equal(value, 1);
		*entries[i] |= 2;
	}
	assert_true(vp_site_store(site, 0, EF_STACKS + VP_FAKE_PAGE - 4, &two, 8));
	assert_false(
	    vp_site_store(site, 0, EF_STACKS + 2 * VP_FAKE_PAGE - 4, &two, 8)); /* half of it is nowhere */
	assert_false(vp_site_store(site, 0, EF_USER, &two, 8));
	assert_false(vp_site_store(site, 0, ~0ull - 3, &two, 8));
	ef_destroy(f);
}

/* The direct map is remembered until the backend says that memory changed. */
static void memory_changed(void **state)
{
	struct ef *f = deref_session(NULL, EF_TASKS, false);
	uint64_t value = 0;
	(void)state;

	put(f, f->kernel_root, EF_TASKS, 1);
	assert_true(read_once(f, &value));
	vp_fake_map(f->fake, f->kernel_root, EF_TASKS, vp_fake_page(f->fake), 0, 12);
	put(f, f->kernel_root, EF_TASKS, 2);
	vp_engine_memory_changed(vp_fake_engine(f->fake));
	expect_read(f, 2);
}

/* A clause that records *(uint64_t *)address of each of @n addresses at function A. */
static struct ef *deref_all(const uint64_t *addresses, unsigned n)
{
	struct ef *f = ef_create();
	uint32_t c = ef_clause(f, NULL);

	for (unsigned i = 0; i < n; i++)
		ef_action(f, c, DIF_ACT_difexpr, ef_deref(f, addresses[i], false));
	ef_trace(f, c);
	return f;
}

/* Map the pages again, and put @first, and what follows it, in them. No one tells the engine. */
static void map_all(struct ef *f, const uint64_t *pages, unsigned n, uint64_t first)
{
	for (unsigned i = 0; i < n; i++) {
		vp_fake_map(f->fake, f->kernel_root, pages[i], vp_fake_page(f->fake), 0, 12);
		put(f, f->kernel_root, pages[i], first + i);
	}
}

/* Pages that are looked for at one place of the TLB: two are remembered (until the halves are exchanged), and
 * of more each is read right. */
static void pages_that_share_a_place(void **state)
{
	static const uint64_t pages[] = { EF_TASKS + 0x40000, EF_TASKS + 0x80000, EF_TASKS + 0xc0000 };
	struct ef_record r[MAX_RECORDS];
	(void)state;

	for (unsigned n = 2; n <= 3; n++) {
		struct ef *f = deref_all(pages, n);
		map_all(f, pages, n, 1);
		assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
		if (n == 2)
			map_all(f, pages, n, 11);
		assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
		ef_switch(f);
		assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 2);
		for (unsigned i = 0; i < 2 * n; i++)
			assert_int_equal(ef_u64(r[i / n].data + 16 + 8 * (i % n)), i % n + 1);
		ef_destroy(f);
	}
}

static void other_process(void **state)
{
	struct ef *f = deref_session(NULL, EF_USER + 8, true);
	uint64_t value = 0;
	(void)state;

	put(f, f->user_root, EF_USER + 8, 1);
	assert_true(read_once(f, &value));
	assert_int_equal(value, 1);
	uint64_t other = vp_fake_root(f->fake);
	while (other & 0x1000)
		other = vp_fake_root(f->fake);
	vp_fake_map(f->fake, other, EF_USER, vp_fake_page(f->fake), 4, 12);
	put(f, other, EF_USER + 8, 2);
	vp_fake_set_reg(f->fake, 0, VP_CR3, other | 0xfff); /* PCID bits */
	expect_read(f, 2);
}

/* --- stacks ----------------------------------------------------------------------------------------- */

/* A clause that records stack(), caller and stackdepth at A. */
static struct ef *stack_session(const void *orc, size_t orc_size, uint32_t frames)
{
	struct ef *f = ef_create();
	uint32_t c = ef_clause(f, NULL);
	struct dif_action *a = ef_action(f, c, DIF_ACT_stack, NULL);

	a->arg = frames;
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_caller));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_stackdepth));
	f->orc = orc;
	f->orc_size = orc_size;
	ef_trace(f, c);
	return f;
}

static const uint8_t *stack_record(struct ef *f)
{
	static struct ef_record r[MAX_RECORDS];

	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	return r[0].data + 16;
}

static void frame_pointers(void **state)
{
	struct ef *f = stack_session(NULL, 0, 4);
	uint64_t sp = EF_STACKS + 0x800;
	(void)state;

	/* entry: [sp] is the return address into B; rbp is B's frame, whose return address is in C */
	put(f, f->kernel_root, sp, EF_FUNC_B + 0x10);
	put(f, f->kernel_root, sp + 0x20, 0); /* C's frame pointer: the end */
	put(f, f->kernel_root, sp + 0x28, EF_FUNC_C + 0x10);
	vp_fake_set_reg(f->fake, 0, VP_RBP, sp + 0x20);
	const uint8_t *s = stack_record(f);
	assert_int_equal(ef_u64(s), EF_FUNC_A);
	assert_int_equal(ef_u64(s + 8), EF_FUNC_B + 0x10);
	assert_int_equal(ef_u64(s + 16), EF_FUNC_C + 0x10);
	assert_int_equal(ef_u64(s + 24), 0);
	assert_int_equal(ef_u64(s + 32), EF_FUNC_B + 0x10);
	assert_int_equal(ef_u64(s + 40), 3);
	ef_destroy(f);
}

struct orc_table {
	struct vp_orc_header header;
	uint64_t addrs[4];
	struct vp_orc_rule rules[4];
};

/* A: at entry; B has pushed 3 words, rbp among them; C is called by an interrupt's frame, which came from B;
 * behind C nothing. */
static const struct orc_table table = {
	{ VP_ORC_MAGIC, 4 },
	{ EF_FUNC_A, EF_FUNC_B, EF_FUNC_C, EF_FUNC_C + 0x80 },
	{
	    { 8, 0, VP_ORC_SP, VP_ORC_UNDEFINED, VP_ORC_CALL, 0 },
	    { 32, -16, VP_ORC_SP, VP_ORC_SP, VP_ORC_CALL, 0 },
	    { 8, 0, VP_ORC_SP, VP_ORC_UNDEFINED, VP_ORC_REGS, 0 },
	    { 0, 0, VP_ORC_END, VP_ORC_UNDEFINED, VP_ORC_CALL, 0 },
	},
};

static void orc_rules(void **state)
{
	struct ef *f = stack_session(&table, sizeof(table), 8);
	uint64_t sp = EF_STACKS + 0x400, regs = sp + 8 + 32 + 8;
	(void)state;

	vp_fake_set_reg(f->fake, 0, VP_RSP, sp);
	put(f, f->kernel_root, sp, EF_FUNC_B + 0x20);                      /* A returns to B */
	put(f, f->kernel_root, sp + 8 + 24, EF_FUNC_C + 0x20);             /* B returns to C */
	put(f, f->kernel_root, regs + EF_PTREGS_IP * 8, EF_FUNC_B + 0x40); /* C's pt_regs: interrupted in B */
	put(f, f->kernel_root, regs + EF_PTREGS_CS * 8, 0x10);
	put(f, f->kernel_root, regs + EF_PTREGS_SP * 8, sp + 0x200);
	put(f, f->kernel_root, sp + 0x200 + 24, EF_FUNC_C + 0x90); /* and B was called from behind C */
	const uint8_t *s = stack_record(f);
	assert_int_equal(ef_u64(s), EF_FUNC_A);
	assert_int_equal(ef_u64(s + 8), EF_FUNC_B + 0x20);
	assert_int_equal(ef_u64(s + 16), EF_FUNC_C + 0x20);
	assert_int_equal(ef_u64(s + 24), EF_FUNC_B + 0x40);
	assert_int_equal(ef_u64(s + 32), EF_FUNC_C + 0x90);
	assert_int_equal(ef_u64(s + 40), 0); /* the rule says: outermost */
	ef_destroy(f);
}

/* A frame that came from user space ends the kernel's stack. */
static void stack_ends_at_user_space(void **state)
{
	struct ef *f = stack_session(&table, sizeof(table), 8);
	uint64_t sp = EF_STACKS + 0x400, regs = sp + 8 + 32 + 8;
	(void)state;

	vp_fake_set_reg(f->fake, 0, VP_RSP, sp);
	put(f, f->kernel_root, sp, EF_FUNC_B + 0x20);
	put(f, f->kernel_root, sp + 8 + 24, EF_FUNC_C + 0x20);
	put(f, f->kernel_root, regs + EF_PTREGS_IP * 8, EF_USER);
	put(f, f->kernel_root, regs + EF_PTREGS_CS * 8, 0x33);
	const uint8_t *s = stack_record(f);
	assert_int_equal(ef_u64(s + 16), EF_FUNC_C + 0x20);
	assert_int_equal(ef_u64(s + 24), 0);
	ef_destroy(f);
}

/* A stack whose frames lead back to themselves, and tables of nonsense: bounded, and no crash. */
static void hostile_stacks(void **state)
{
	struct orc_table evil = table;
	unsigned seed = 6;
	(void)state;

	for (unsigned round = 0; round < 100; round++) {
		uint8_t *bytes = (uint8_t *)evil.rules;
		for (unsigned i = 0; i < sizeof(evil.rules); i++)
			bytes[i] = (uint8_t)(rand_r(&seed) % (round % 2 ? 256 : 12));
		for (unsigned i = 0; i < 4; i++)
			evil.addrs[i] = round % 3 ? table.addrs[i] : (uint64_t)rand_r(&seed) << 33;
		struct ef *f = stack_session(&evil, sizeof(evil), 100);
		for (unsigned i = 0; i < 512; i++)
			put(f, f->kernel_root, EF_STACKS + i * 8,
			    rand_r(&seed) % 2 ? EF_FUNC_A + (uint64_t)rand_r(&seed) % 0x300
					      : EF_STACKS + (uint64_t)rand_r(&seed) % 0x1000);
		vp_fake_set_reg(f->fake, 0, VP_RBP, EF_STACKS + 0x800);
		stack_record(f);
		ef_destroy(f);
	}
}

static void user_stack(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	uint64_t regs = EF_STACKS + EF_STACK_SIZE - EF_PTREGS_WORDS * 8, bp = EF_USER + 0x100;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	struct dif_action *a = ef_action(f, c, DIF_ACT_ustack, NULL);
	a->arg = 4;
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_ucaller));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_ustackdepth));
	ef_trace(f, c);
	put(f, f->kernel_root, regs + EF_PTREGS_IP * 8, 0x401000);
	put(f, f->kernel_root, regs + EF_PTREGS_CS * 8, 0x33);
	put(f, f->kernel_root, regs + EF_PTREGS_SP * 8, bp - 0x20);
	put(f, f->kernel_root, regs + EF_PTREGS_BP * 8, bp);
	put(f, f->user_root, bp, bp + 0x40);
	put(f, f->user_root, bp + 8, 0x402000);
	put(f, f->user_root, bp + 0x40, 0);
	put(f, f->user_root, bp + 0x48, 0x403000);
	vp_fake_hit(f->fake, 0, EF_FUNC_A);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	const uint8_t *s = r[0].data + 16;
	static const uint64_t want[] = { 90, 0x401000, 0x402000, 0x403000, 0 };
	for (unsigned i = 0; i < OT_ARRAY_SIZE(want); i++)
		assert_int_equal(ef_u64(s + 8 * i), want[i]);
	assert_int_equal(ef_u64(s + 40), 0x402000);
	assert_int_equal(ef_u64(s + 48), 3);
	ef_destroy(f);
}

/* In the kernel, uregs[] are what it has saved; the others, vmregs[], and those of a task without a process
 * are a fault. */
static void user_registers(void **state)
{
	static const struct {
		uint32_t array, reg;
		uint64_t mode, value; /* value 0: a fault */
	} cases[] = {
		{ DIF_VAR_uregs, VP_RIP, 0x33, 0x401000 }, { DIF_VAR_uregs, VP_RSI, 0x33, 77 },
		{ DIF_VAR_uregs, VP_CS, 0x33, 0x33 },      { DIF_VAR_uregs, VP_R12, 0x33, 0 },
		{ DIF_VAR_uregs, VP_SS, 0x33, 0 },         { DIF_VAR_uregs, VP_NREGS, 0x33, 0 },
		{ DIF_VAR_vmregs, VP_RIP, 0x33, 0 },       { DIF_VAR_uregs, VP_RIP, 0x10, 0 },
	};
	uint64_t regs = EF_STACKS + EF_STACK_SIZE - EF_PTREGS_WORDS * 8;
	(void)state;

	for (unsigned i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		struct ef *f = ef_create();
		struct ef_record r[MAX_RECORDS];

		f->facts.ptregs_general[VP_RSI] = EF_PTREGS_SI * 8;
		f->facts.ptregs_general[VP_R12] = VP_NO_OFFSET;
		uint32_t c = ef_clause(f, NULL);
		ef_action(f, c, DIF_ACT_difexpr, ef_elem(f, cases[i].array, cases[i].reg));
		ef_trace(f, c);
		put(f, f->kernel_root, regs + EF_PTREGS_IP * 8, 0x401000);
		put(f, f->kernel_root, regs + EF_PTREGS_SI * 8, 77);
		put(f, f->kernel_root, regs + EF_PTREGS_CS * 8, cases[i].mode);
		vp_fake_hit(f->fake, 0, EF_FUNC_A);
		ef_switch(f);
		assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
		if (cases[i].value)
			assert_int_equal(ef_u64(r[0].data + 16), cases[i].value);
		else
			assert_int_equal(r[0].epid, VP_EPID_FAULT);
		ef_destroy(f);
	}
}

/* --- profile ------------------------------------------------------------------------------------------- */

/* Wait until the timer has asked this vCPU for a sample, and give it. */
static void sample(struct ef *f, uint32_t cpu)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	for (unsigned i = 0; i < 10000; i++) {
		if (vp_fake_sample(f->fake, cpu))
			return;
		nanosleep(&ms, NULL);
	}
	fail();
}

static void profile_samples(void **state)
{
	struct ef *f = ef_create();
	struct ef_record r[MAX_RECORDS];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	for (unsigned i = 0; i < 3; i++)
		ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0 + i));
	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_PROFILE, VP_ARGS_PROFILE, "", "profile-997");
	ef_interval(f, p, 1000000);
	uint32_t fast = ef_ecb(f, p, c);
	p = ef_probe(f, VP_PROBE_PROFILE, VP_ARGS_PROFILE, "", "profile-1hour");
	ef_interval(f, p, 3600000000000);
	ef_ecb(f, p, c);
	ef_enable(f);
	assert_false(vp_fake_sample(f->fake, 0));
	ef_start(f);
	vp_fake_set_reg(f->fake, 0, VP_RIP, EF_FUNC_A + 4);
	vp_fake_set_reg(f->fake, 1, VP_RIP, 0x401234);
	vp_fake_set_reg(f->fake, 1, VP_CS, 0x33);
	sample(f, 0);
	sample(f, 1);
	sample(f, 1);
	EF_OK(vp_engine_session_stop(f->es));
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	assert_int_equal(r[0].epid, fast);
	assert_int_equal(ef_u64(r[0].data + 16), EF_FUNC_A + 4);
	assert_int_equal(ef_u64(r[0].data + 24), 0);
	assert_true(ef_u64(r[0].data + 32) < 60000000000);
	assert_int_equal(ef_records(f, 1, r, MAX_RECORDS), 2);
	assert_int_equal(ef_u64(r[0].data + 16), 0);
	assert_int_equal(ef_u64(r[0].data + 24), 0x401234);
	/* nothing more once it has stopped */
	vp_fake_sample(f->fake, 0);
	vp_fake_sample(f->fake, 0);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 0);
	ef_destroy(f);
}

static void profile_needs_a_backend_that_can(void **state)
{
	const struct vp_fake_config config = { .nvcpus = 1, .ram_size = 8u << 20, .levels = 4 };
	struct ef *f = ef_create_with(&config);
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	uint32_t p = ef_probe(f, VP_PROBE_PROFILE, VP_ARGS_PROFILE, "", "profile-97");
	ef_interval(f, p, 1000000);
	ef_ecb(f, p, c);
	EF_FAILS(OT_ERR_UNSUPPORTED, ef_try_enable(f));
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_memory),
		cmocka_unit_test(large_page),
		cmocka_unit_test(load_over_a_page_border),
		cmocka_unit_test(load_over_a_known_page_border),
		cmocka_unit_test(five_levels),
		cmocka_unit_test(unmapped_and_not_canonical),
		cmocka_unit_test(spaces_are_apart),
		cmocka_unit_test(hostile_page_tables),
		cmocka_unit_test(table_that_points_to_itself),
		cmocka_unit_test(remapped_between_hits),
		cmocka_unit_test(stores),
		cmocka_unit_test(memory_changed),
		cmocka_unit_test(pages_that_share_a_place),
		cmocka_unit_test(other_process),
		cmocka_unit_test(frame_pointers),
		cmocka_unit_test(orc_rules),
		cmocka_unit_test(stack_ends_at_user_space),
		cmocka_unit_test(hostile_stacks),
		cmocka_unit_test(user_stack),
		cmocka_unit_test(user_registers),
		cmocka_unit_test(profile_samples),
		cmocka_unit_test(profile_needs_a_backend_that_can),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
