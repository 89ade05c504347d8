/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which entries of a kernel's page table lead to the memory of resident probes, and when none does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "vmm-probe/backend/kvm/internal.h"

#define RAM_GPA   0x100000ull
#define PAGE      4096ull
#define TABLE(n)  (RAM_GPA + (n)*PAGE)
#define SPARE_GPA 0x100000000ull
#define IMAGE     0xffffffff80000000ull
#define IMAGE_END (IMAGE + 5 * VP_KVM_LARGE_PAGE) /* entries 0 to 4 are the image's */
#define FIRST     (5 + 8u)
#define CODE      4u
#define DATA      2u

#define PRESENT 1ull
#define LARGE   0x80ull

/* A kernel whose page table is three pages of RAM: the top table's last entry, that of the table below it but
 * one, and the entries of the image's GiB. */
struct machine {
	_Alignas(4096) uint64_t table[3][512];
	struct vp_ram_range ram;
	struct vp_kvm kvm;
	struct vp_resident_kernel kernel;
	struct vp_kvm_resident r;
};

static struct machine machine;

static struct machine *boot(void)
{
	struct machine *m = &machine;

	memset(m, 0, sizeof(*m));
	m->ram =
	    (struct vp_ram_range){ .gpa = RAM_GPA, .size = sizeof(m->table), .host = (uintptr_t)m->table };
	m->kvm.ram = &m->ram;
	m->kvm.config.nram = 1;
	m->r.gpa = SPARE_GPA;
	m->kernel = (struct vp_resident_kernel){ .root = TABLE(0), .levels = 4, .image_end = IMAGE_END };
	m->table[0][511] = TABLE(1) | PRESENT;
	m->table[1][510] = TABLE(2) | PRESENT;
	for (unsigned i = 0; i < 5; i++)
		m->table[2][i] = (i + 8) * VP_KVM_LARGE_PAGE | PRESENT | LARGE;
	m->r.room.code_size = (uint32_t)(CODE * VP_KVM_LARGE_PAGE);
	m->r.data_size = DATA * VP_KVM_LARGE_PAGE;
	return m;
}

static void maps(struct machine *m)
{
	struct ot_err *err = vp_kvm_resident_map(&m->kvm, &m->kernel, &m->r);

	if (err)
		fail_msg("%s", ot_err_message(err));
}

static void refuses(struct machine *m, enum ot_err_code code, const char *text)
{
	uint64_t before[512];

	memcpy(before, m->table[2], sizeof(before));
	struct ot_err *err = vp_kvm_resident_map(&m->kvm, &m->kernel, &m->r);
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), code);
	assert_non_null(strstr(ot_err_message(err), text));
	ot_err_destroy(err);
	assert_memory_equal(before, m->table[2], sizeof(before));
}

/* Code can't be written, data can't be executed, user mode gets neither, and nothing else has changed. */
static void test_entries(void **state)
{
	struct machine *m = boot();

	(void)state;
	maps(m);
	assert_int_equal(m->r.room.code_gva, IMAGE + FIRST * VP_KVM_LARGE_PAGE);
	assert_int_equal(m->r.room.data_gva, m->r.room.code_gva + CODE * VP_KVM_LARGE_PAGE);
	for (unsigned i = 5; i < 512; i++) {
		uint64_t expected = 0;
		if (i >= FIRST && i < FIRST + CODE)
			expected = 0xe1; /* present, accessed, dirty, 2 MiB */
		else if (i >= FIRST + CODE && i < FIRST + CODE + DATA)
			expected = 0x80000000000000e3ull; /* and writable, not executable */
		if (expected)
			expected |= SPARE_GPA + (i - FIRST) * VP_KVM_LARGE_PAGE;
		assert_int_equal(m->table[2][i], expected);
	}
}

/* The root is the same where the same kernel boots again in the same place, and its entries are empty. */
static void test_boots_again(void **state)
{
	struct machine *m = boot();
	uint64_t ours[512];

	(void)state;
	maps(m);
	memcpy(ours, m->table[2], sizeof(ours));
	maps(m);
	assert_memory_equal(ours, m->table[2], sizeof(ours));
	memset(&m->table[2][FIRST], 0, (CODE + DATA) * 8);
	maps(m);
	assert_memory_equal(ours, m->table[2], sizeof(ours));
}

/* What the guest has changed meanwhile is not ours. */
static void test_unmapped(void **state)
{
	struct machine *m = boot();

	(void)state;
	vp_kvm_resident_unmap(&m->r, m->kvm.ram, m->kvm.config.nram);
	maps(m);
	assert_int_equal(m->r.table, TABLE(2));
	m->table[2][FIRST + 1] |= 2;
	uint64_t changed = m->table[2][FIRST + 1];
	vp_kvm_resident_unmap(&m->r, m->kvm.ram, m->kvm.config.nram);
	for (unsigned i = 0; i < 512; i++)
		assert_int_equal(m->table[2][i] != 0, i < 5 || i == FIRST + 1);
	assert_int_equal(m->table[2][FIRST + 1], changed);
	m->r.table = TABLE(7); /* behind RAM */
	vp_kvm_resident_unmap(&m->r, m->kvm.ram, m->kvm.config.nram);
}

/* Entries that the guest has changed are in use, and are not written again. */
static void test_changed(void **state)
{
	struct machine *m = boot();

	(void)state;
	maps(m);
	m->table[2][FIRST + CODE] &= ~PRESENT;
	refuses(m, OT_ERR_UNSUPPORTED, "is in use");
}

static void test_in_use(void **state)
{
	(void)state;
	for (unsigned i = 5; i < FIRST + CODE + DATA + 8; i++) {
		struct machine *m = boot();
		m->table[2][i] = LARGE; /* not present, but not empty */
		refuses(m, OT_ERR_UNSUPPORTED, "is in use");
	}
	struct machine *m = boot();
	m->table[2][FIRST + CODE + DATA + 8] = LARGE;
	maps(m);
}

/* An image in the first half of the GiB ends it: modules may begin behind that half. */
static void test_no_space(void **state)
{
	struct machine *m = boot();

	(void)state;
	m->kernel.image_end = IMAGE + 255 * VP_KVM_LARGE_PAGE;
	refuses(m, OT_ERR_LIMIT, "empty entries behind its image");
	m->kernel.image_end = IMAGE + 300 * VP_KVM_LARGE_PAGE;
	maps(m);
	m = boot();
	m->kernel.image_end = IMAGE + 511 * VP_KVM_LARGE_PAGE;
	refuses(m, OT_ERR_LIMIT, "empty entries behind its image");
	m->kernel.image_end = IMAGE + 512 * VP_KVM_LARGE_PAGE;
	refuses(m, OT_ERR_LIMIT, "empty entries behind its image");
}

static void test_hostile_tables(void **state)
{
	struct machine *m = boot();

	(void)state;
	m->table[1][510] |= LARGE;
	refuses(m, OT_ERR_UNSUPPORTED, "not as expected");
	m->table[1][510] = TABLE(2);
	refuses(m, OT_ERR_UNSUPPORTED, "not as expected");
	m->table[1][510] = TABLE(3) | PRESENT; /* behind RAM */
	refuses(m, OT_ERR_UNSUPPORTED, "not in RAM");
	m->table[0][511] = (RAM_GPA - PAGE) | PRESENT;
	refuses(m, OT_ERR_UNSUPPORTED, "not as expected");
	m->kernel.root = ~0ull;
	refuses(m, OT_ERR_UNSUPPORTED, "not as expected");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),  cmocka_unit_test(test_boots_again),
		cmocka_unit_test(test_changed),  cmocka_unit_test(test_in_use),
		cmocka_unit_test(test_no_space), cmocka_unit_test(test_hostile_tables),
		cmocka_unit_test(test_unmapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
