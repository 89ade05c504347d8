/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Architectures: x86-64's page tables against its manual, and generic code with the null architecture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest_fixture.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/arch/x86/paging.h"
#include "vmm-probe/guest/kernel.h"

#define MIB       (1ull << 20)
#define RAM_AT    (vp_arch_null.kernel_start - MIB)
#define KERNEL_AT (MIB + 0x3000) /* in RAM */
#define BANNER    "Linux version 9.8.7-null (nobody)"

/* --- x86-64: one chain of tables, at 1000, 2000 … -------------------------------------------- */

struct chain {
	uint64_t entry[6]; /* by level */
	unsigned reads;
};

static bool read_chain(void *arg, unsigned level, uint64_t table, uint64_t index, uint64_t *ret)
{
	struct chain *c = arg;

	assert_int_equal(table, 0x1000 * level);
	assert_int_equal(index, 0x100 + level);
	c->reads++;
	*ret = c->entry[level];
	return true;
}

/* An address whose index in the table of level N is 0x100 + N. */
static uint64_t address(void)
{
	uint64_t va = 0x123;

	for (unsigned level = 1; level <= 5; level++)
		va |= (0x100ull + level) << (12 + 9 * (level - 1));
	return va;
}

static enum vp_walk walk(struct chain *c, unsigned levels, uint64_t need, struct vp_page *ret)
{
	c->reads = 0;
	return vp_page_walk(&vp_x86_paging, 0x1000 * levels, levels, address(), 1 | need, read_chain, c, ret);
}

static void every_size(void **state)
{
	static const struct {
		unsigned levels, leaf;
		uint64_t size;
	} rows[] = {
		{ 4, 1, 4096 }, { 4, 2, 2 * MIB }, { 4, 3, 1024 * MIB }, { 5, 1, 4096 }, { 5, 3, 1024 * MIB }
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++) {
		struct chain c = { { 0, 7, 0x1007, 0x2007, 0x3007, 0x4007 }, 0 };
		struct vp_page page;

		c.entry[rows[i].leaf] = 0x000fabcdc0000000ull | 0x80 | 7;
		assert_int_equal(walk(&c, rows[i].levels, 4, &page), VP_WALK_PAGE);
		assert_int_equal(page.size, rows[i].size);
		assert_int_equal(page.gpa, 0x000fabcdc0000000ull);
		assert_true(page.writable && page.executable);
		assert_int_equal(c.reads, rows[i].levels - rows[i].leaf + 1);
	}
}

/* The bit that makes a page of an entry of level 2 or 3 is reserved in level 4's. */
static void not_large(void **state)
{
	struct chain c = { { 0, 0x5007, 0x1007, 0x2007, 0x3087 }, 0 };
	struct vp_page page;

	(void)state;
	assert_int_equal(walk(&c, 4, 0, &page), VP_WALK_PAGE);
	assert_int_equal(page.gpa, 0x5000);
}

/* What one level forbids is forbidden. */
static void rights(void **state)
{
	(void)state;
	for (unsigned level = 1; level <= 4; level++) {
		struct chain c = { { 0, 0x5007, 0x1007, 0x2007, 0x3007 }, 0 };
		struct vp_page page;

		c.entry[level] = (c.entry[level] & ~6ull) | 1ull << 63;
		assert_int_equal(walk(&c, 4, 0, &page), VP_WALK_PAGE);
		assert_false(page.writable || page.executable);
		assert_int_equal(walk(&c, 4, vp_x86_paging.user, &page), VP_WALK_ABSENT);
		assert_int_equal(c.reads, 4 - level + 1);
		c.entry[level] = 0;
		assert_int_equal(walk(&c, 4, 0, &page), VP_WALK_ABSENT);
		assert_int_equal(page.size, 1ull << (12 + 9 * (level - 1)));
	}
}

static void halves(void **state)
{
	const struct vp_paging *p = &vp_x86_paging;

	(void)state;
	assert_true(vp_is_canonical(p, 4, 0x00007fffffffffffull) &&
		    vp_is_canonical(p, 4, 0xffff800000000000ull));
	assert_false(vp_is_canonical(p, 4, 0x0000800000000000ull) ||
		     vp_is_canonical(p, 4, 0xffff7fffffffffffull));
	assert_true(vp_is_canonical(p, 5, 0x00ffffffffffffffull) &&
		    vp_is_canonical(p, 5, 0xff00000000000000ull));
	assert_false(vp_is_canonical(p, 5, 0x0100000000000000ull));
	assert_true(vp_is_in_half(p, 4, 0xffff800000000000ull, 8, true));
	assert_false(vp_is_in_half(p, 4, 0xffff7ffffffffff8ull, 16, true));
	assert_true(vp_is_in_half(p, 4, 0x00007ffffffffff8ull, 8, false));
	assert_false(vp_is_in_half(p, 4, 0x00007ffffffffff8ull, 9, false));
	assert_false(vp_is_in_half(p, 4, ~0ull, 2, true)); /* wraps */
	assert_true(vp_is_in_half(p, 4, 1ull << 60, 0, true));
}

/* --- the null architecture ------------------------------------------------------------------- */

static uint8_t ram[4 * MIB];

static struct vp_phys *null_machine(void)
{
	struct vp_phys *phys;

	memset(ram, 0, sizeof(ram));
	memcpy(ram + KERNEL_AT, BANNER, sizeof(BANNER));
	assert_ok(vp_phys_create(&phys));
	assert_ok(vp_phys_add_memory(phys, vp_gpa(RAM_AT), sizeof(ram), ram));
	return phys;
}

/* Without tables an address is what it is. */
static void null_memory(void **state)
{
	struct vp_phys *phys = null_machine();
	struct vp_mmu *mmu = calloc(1, sizeof(*mmu));
	char text[sizeof(BANNER)];
	struct vp_gpa gpa;
	uint64_t size;

	(void)state;
	assert_non_null(mmu);
	vp_mmu_init(mmu, vp_arch_null.paging, vp_gpa(0), 0);
	assert_ok(vp_mmu_read(phys, mmu, vp_gva(RAM_AT + KERNEL_AT), text, sizeof(text)));
	assert_string_equal(text, BANNER);
	assert_ok(vp_mmu_translate(phys, mmu, vp_gva(0xfedcba9876543210ull), &gpa, &size));
	assert_int_equal(gpa.v, 0xfedcba9876543210ull);
	assert_int_equal(size, 4096);
	assert_err(vp_mmu_read(phys, mmu, vp_gva(RAM_AT + sizeof(ram) - 1), text, 2), OT_ERR_FAULT,
		   "0x200300000");
	free(mmu);
	vp_phys_destroy(phys);
}

/* The search for a kernel knows no other architecture's addresses, tables or registers. */
static void null_kernel(void **state)
{
	struct vp_phys *phys = null_machine();
	struct vp_kernel *kernel = calloc(1, sizeof(*kernel));
	struct vp_regs regs = { .valid = 0 };
	struct vp_image image;

	(void)state;
	assert_non_null(kernel);
	assert_ok(vp_kernel_find(&vp_arch_null, phys, &regs, 1, kernel, &image));
	assert_string_equal(kernel->release, "9.8.7-null");
	assert_int_equal(kernel->banner_addr.v, RAM_AT + KERNEL_AT);
	assert_int_equal(kernel->base.v, vp_arch_null.kernel_start);
	assert_int_equal(kernel->size, MIB);
	vp_image_deinit(&image);
	assert_err(vp_kernel_find(&vp_arch_x86, phys, &regs, 1, kernel, &image), OT_ERR_NOT_FOUND,
		   "no Linux kernel");
	free(kernel);
	vp_phys_destroy(phys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size), cmocka_unit_test(not_large),   cmocka_unit_test(rights),
		cmocka_unit_test(halves),     cmocka_unit_test(null_memory), cmocka_unit_test(null_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
