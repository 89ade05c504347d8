/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest/phys and guest/mmu: ranges, holes that stay holes, page tables good and hostile. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest_fixture.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/mmu.h"

#define MIB (1ull << 20)

static int sparse_file(size_t size)
{
	int fd = memfd_create("ram", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	return fd;
}

static void assert_next(struct vp_phys *phys, uint64_t from, uint64_t start, uint64_t end)
{
	struct vp_gpa s, e;

	assert_ok(vp_phys_next_data(phys, vp_gpa(from), &s, &e));
	assert_int_equal(s.v, start);
	assert_int_equal(e.v, end);
}

static void holes_are_skipped_and_stay_holes(void **state)
{
	int fd = sparse_file(64 * MIB);
	struct vp_phys *phys;
	struct vp_gpa s, e;
	struct stat st;
	char *buf = malloc(64 * MIB);

	(void)state;
	assert_int_equal(pwrite(fd, "abc", 3, 5 * 4096), 3);
	assert_int_equal(pwrite(fd, "xyz", 3, 40 * MIB - 3), 3);
	assert_ok(vp_phys_create(&phys));
	/* The second half lies at 4 GiB, as in a machine with a hole below it. */
	assert_ok(vp_phys_add_file(phys, vp_gpa(4096 * MIB), 32 * MIB, fd, 32 * MIB));
	assert_ok(vp_phys_add_file(phys, vp_gpa(0), 32 * MIB, fd, 0));
	assert_int_equal(vp_phys_size(phys), 64 * MIB);

	assert_next(phys, 0, 5 * 4096, 6 * 4096);
	assert_next(phys, 5 * 4096 + 100, 5 * 4096 + 100, 6 * 4096);
	assert_next(phys, 6 * 4096, 4096 * MIB + 8 * MIB - 4096, 4096 * MIB + 8 * MIB);
	assert_err(vp_phys_next_data(phys, vp_gpa(4096 * MIB + 8 * MIB), &s, &e), OT_ERR_NOT_FOUND, NULL);
	assert_err(vp_phys_next_data(phys, vp_gpa(UINT64_MAX), &s, &e), OT_ERR_NOT_FOUND, NULL);

	assert_ok(vp_phys_read(phys, vp_gpa(0), buf, 32 * MIB));
	assert_memory_equal(buf + 5 * 4096, "abc", 4);
	assert_ok(vp_phys_read(phys, vp_gpa(4096 * MIB + 8 * MIB - 3), buf, 3));
	assert_memory_equal(buf, "xyz", 3);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_blocks * 512, 2 * 4096);
	vp_phys_destroy(phys);
	close(fd);
	free(buf);
}

static void what_is_not_ram_is_a_fault(void **state)
{
	struct vp_phys *phys;
	uint8_t *ram = calloc(1, 8192);
	char buf[8192];

	(void)state;
	assert_ok(vp_phys_create(&phys));
	assert_ok(vp_phys_add_memory(phys, vp_gpa(0x10000), 4096, ram));
	assert_ok(vp_phys_add_memory(phys, vp_gpa(0x11000), 4096, ram + 4096));
	ram[4095] = 1;
	ram[4096] = 2;
	assert_ok(vp_phys_read(phys, vp_gpa(0x10ffe), buf, 4));
	assert_memory_equal(buf, "\0\1\2\0", 4);
	assert_ok(vp_phys_read(phys, vp_gpa(0x10000), buf, 8192));
	assert_err(vp_phys_read(phys, vp_gpa(0xffff), buf, 1), OT_ERR_FAULT, "0xffff");
	assert_err(vp_phys_read(phys, vp_gpa(0x11fff), buf, 2), OT_ERR_FAULT, "0x12000");
	assert_err(vp_phys_read(phys, vp_gpa(UINT64_MAX), buf, 2), OT_ERR_FAULT, NULL);
	assert_ok(vp_phys_read(phys, vp_gpa(0), buf, 0));
	vp_phys_destroy(phys);
	free(ram);
}

static void bad_ranges_are_refused(void **state)
{
	int fd = sparse_file(MIB);
	struct vp_phys *phys;
	uint8_t *ram = calloc(1, 8192);

	(void)state;
	assert_ok(vp_phys_create(&phys));
	assert_ok(vp_phys_add_memory(phys, vp_gpa(0x10000), 8192, ram));
	assert_err(vp_phys_add_memory(phys, vp_gpa(0x11000), 4096, ram), OT_ERR_BAD_DATA, "overlaps");
	assert_err(vp_phys_add_memory(phys, vp_gpa(0xf000), 8192, ram), OT_ERR_BAD_DATA, "overlaps");
	assert_err(vp_phys_add_memory(phys, vp_gpa(0), 1u << 20, ram), OT_ERR_BAD_DATA, "overlaps");
	assert_err(vp_phys_add_memory(phys, vp_gpa(1), 4096, ram), OT_ERR_BAD_DATA, "whole pages");
	assert_err(vp_phys_add_memory(phys, vp_gpa(0), 0, ram), OT_ERR_BAD_DATA, NULL);
	assert_err(vp_phys_add_memory(phys, vp_gpa(UINT64_MAX - 4095), 8192, ram), OT_ERR_BAD_DATA, NULL);
	assert_err(vp_phys_add_file(phys, vp_gpa(MIB), MIB, fd, 4096), OT_ERR_BAD_DATA, "truncated");
	assert_err(vp_phys_add_file(phys, vp_gpa(MIB), MIB, fd, UINT64_MAX - 4095), OT_ERR_BAD_DATA, NULL);
	assert_err(vp_phys_add_file(phys, vp_gpa(MIB), MIB, -1, 0), OT_ERR_OS, NULL);
	assert_err(vp_phys_add_process(phys, vp_gpa(MIB), MIB, getpid(), 123), OT_ERR_BAD_DATA, NULL);
	/* A file that shrinks later: an error, no signal. */
	assert_ok(vp_phys_add_file(phys, vp_gpa(MIB), MIB, fd, 0));
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_err(vp_phys_read(phys, vp_gpa(MIB + 4096), ram, 8), OT_ERR_FAULT, "ends before");
	for (unsigned int i = 2; i < VP_PHYS_RANGES_MAX; i++)
		assert_ok(vp_phys_add_memory(phys, vp_gpa(i * 4 * MIB), 4096, ram));
	assert_err(vp_phys_add_memory(phys, vp_gpa(1ull << 40), 4096, ram), OT_ERR_LIMIT, NULL);
	vp_phys_destroy(phys);
	close(fd);
	free(ram);
}

static size_t resident_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long total = 0, resident = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu", &total, &resident), 2);
	fclose(f);
	return resident;
}

static void memory_of_a_process_is_read_without_filling_it(void **state)
{
	size_t size = 16 * MIB;
	char *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *buf = malloc(size);
	struct vp_phys *phys;
	struct vp_gpa s, e;
	size_t before;

	(void)state;
	assert_non_null(buf);
	memset(buf, 1, size);
	assert_true(mem != MAP_FAILED);
	madvise(mem, size, MADV_NOHUGEPAGE);
	strcpy(mem + 5 * MIB, "here");
	assert_ok(vp_phys_create(&phys));
	assert_ok(vp_phys_add_process(phys, vp_gpa(0), size, getpid(), (uint64_t)(uintptr_t)mem));
	assert_next(phys, 0, 5 * MIB, 5 * MIB + 4096);
	assert_err(vp_phys_next_data(phys, vp_gpa(6 * MIB), &s, &e), OT_ERR_NOT_FOUND, NULL);
	before = resident_pages();
	assert_ok(vp_phys_read(phys, vp_gpa(0), buf, size));
	assert_string_equal(buf + 5 * MIB, "here");
	assert_true(resident_pages() < before + size / 4096 / 8);
	munmap(mem, size);
	assert_err(vp_phys_read(phys, vp_gpa(0), buf, 1), OT_ERR_GUEST_GONE, NULL);
	vp_phys_destroy(phys);
	free(buf);
}

/* RAM with tables, built with @p levels. */
struct machine {
	uint8_t *ram;
	struct vp_phys *phys;
	struct vp_mmu mmu;
	uint64_t next; /* free memory for tables */
};

#define RAM_SIZE (8 * MIB)
#define ROOT     0x1000u

static void machine_init(struct machine *m, unsigned int levels)
{
	m->ram = calloc(1, RAM_SIZE);
	m->next = 0x2000;
	assert_non_null(m->ram);
	assert_ok(vp_phys_create(&m->phys));
	assert_ok(vp_phys_add_memory(m->phys, vp_gpa(0), RAM_SIZE, m->ram));
	vp_mmu_init(&m->mmu, vp_arch_x86.paging, vp_gpa(ROOT | 0xfff),
		    levels); /* low bits of a CR3 are no address */
}

static void machine_deinit(struct machine *m)
{
	vp_phys_destroy(m->phys);
	free(m->ram);
}

static void assert_maps(struct machine *m, uint64_t gva, uint64_t gpa, uint64_t size)
{
	struct vp_gpa got;
	uint64_t got_size;

	assert_ok(vp_mmu_translate(m->phys, &m->mmu, vp_gva(gva), &got, &got_size));
	assert_int_equal(got.v, gpa);
	assert_int_equal(got_size, size);
	/* And once more, from the cache. */
	assert_ok(vp_mmu_translate(m->phys, &m->mmu, vp_gva(gva + (gva & 1 ? -1 : 1)), &got, NULL));
	assert_int_equal(got.v, gpa + (gva & 1 ? -1ull : 1));
}

static void pages_of_all_sizes_are_walked(void **state)
{
	(void)state;
	for (unsigned int levels = 4; levels <= 5; levels++) {
		uint64_t high = levels == 5 ? 0xff11000000000000ull : 0xffff888000000000ull;
		struct machine m;
		struct vp_gpa gpa;

		machine_init(&m, levels);
		map_page(m.ram, ROOT, levels, high, 0x40000000, 1ull << 30, &m.next);
		map_page(m.ram, ROOT, levels, 0xffffffff81000000, 0x200000, 2 * MIB, &m.next);
		map_page(m.ram, ROOT, levels, 0x7f0000123000, 0x555000, 4096, &m.next);
		assert_maps(&m, high + 0x12345678, 0x40000000 + 0x12345678, 1ull << 30);
		assert_maps(&m, 0xffffffff811fffff, 0x3fffff, 2 * MIB);
		assert_maps(&m, 0x7f0000123456, 0x555456, 4096);
		assert_err(vp_mmu_translate(m.phys, &m.mmu, vp_gva(0x7f0000124000), &gpa, NULL), OT_ERR_FAULT,
			   "not mapped");
		assert_err(vp_mmu_translate(m.phys, &m.mmu, vp_gva(0x0900000000000000), &gpa, NULL),
			   OT_ERR_FAULT, "not canonical");
		if (levels == 4)
			assert_err(vp_mmu_translate(m.phys, &m.mmu, vp_gva(0xff11000000000000), &gpa, NULL),
				   OT_ERR_FAULT, "not canonical");
		machine_deinit(&m);
	}
}

static void reads_cross_pages(void **state)
{
	struct machine m;
	char buf[3 * 4096];

	(void)state;
	machine_init(&m, 4);
	map_page(m.ram, ROOT, 4, 0x400000, 0x300000, 4096, &m.next);
	map_page(m.ram, ROOT, 4, 0x401000, 0x200000, 4096, &m.next); /* backwards in RAM */
	map_page(m.ram, ROOT, 4, 0x402000, 64 * MIB, 4096, &m.next); /* not RAM */
	memcpy(m.ram + 0x300ffe, "ab", 2);
	memcpy(m.ram + 0x200000, "cd", 2);
	assert_ok(vp_mmu_read(m.phys, &m.mmu, vp_gva(0x400ffe), buf, 4));
	assert_memory_equal(buf, "abcd", 4);
	assert_err(vp_mmu_read(m.phys, &m.mmu, vp_gva(0x401fff), buf, 2), OT_ERR_FAULT, "is not RAM");
	assert_err(vp_mmu_read(m.phys, &m.mmu, vp_gva(0x3ff000), buf, 8192), OT_ERR_FAULT, "0x3ff000");
	assert_err(vp_mmu_read(m.phys, &m.mmu, vp_gva(UINT64_MAX - 1), buf, 16), OT_ERR_FAULT, "wraps");
	machine_deinit(&m);
}

static void the_cache_forgets_when_told(void **state)
{
	struct machine m;
	struct vp_gpa gpa;

	(void)state;
	machine_init(&m, 4);
	map_page(m.ram, ROOT, 4, 0x400000, 0x300000, 4096, &m.next);
	assert_maps(&m, 0x400000, 0x300000, 4096);
	map_page(m.ram, ROOT, 4, 0x400000, 0x500000, 4096, &m.next);
	assert_ok(vp_mmu_translate(m.phys, &m.mmu, vp_gva(0x400000), &gpa, NULL));
	assert_int_equal(gpa.v, 0x300000);
	vp_mmu_flush(&m.mmu);
	assert_maps(&m, 0x400000, 0x500000, 4096);
	machine_deinit(&m);
}

static void hostile_tables_end(void **state)
{
	struct machine m;
	struct vp_gpa gpa;
	struct vp_gva start, end;
	uint64_t *root;

	(void)state;
	machine_init(&m, 5);
	root = (uint64_t *)(m.ram + ROOT);
	for (unsigned int i = 0; i < 512; i++)
		root[i] = ROOT | 0x3; /* every table is every other */
	assert_ok(vp_mmu_translate(m.phys, &m.mmu, vp_gva(0xffffffff81000000), &gpa, NULL));
	assert_int_equal(gpa.v, ROOT);
	assert_ok(vp_mmu_next_mapped(m.phys, &m.mmu, vp_gva(0xffffffff80000000), vp_gva(0xffffffff80400000),
				     &start, &end));
	assert_int_equal(end.v, 0xffffffff80400000);

	root[511] = 0x000ffffffffff003ull; /* a table at the end of physical memory */
	vp_mmu_flush(&m.mmu);
	assert_err(vp_mmu_translate(m.phys, &m.mmu, vp_gva(0xffffffff81000000), &gpa, NULL), OT_ERR_FAULT,
		   "page table of guest address 0xffffffff81000000");
	machine_deinit(&m);
}

static void mapped_stretches_are_found(void **state)
{
	const uint64_t from = 0xffffffff80000000, to = 0xffffffffc0000000;
	struct machine m;
	struct vp_gva s, e;

	(void)state;
	machine_init(&m, 4);
	assert_err(vp_mmu_next_mapped(m.phys, &m.mmu, vp_gva(from), vp_gva(to), &s, &e), OT_ERR_NOT_FOUND,
		   NULL);
	map_page(m.ram, ROOT, 4, 0xffffffff92000000, 0x200000, 2 * MIB, &m.next);
	map_page(m.ram, ROOT, 4, 0xffffffff92200000, 0x1000, 4096, &m.next);
	map_page(m.ram, ROOT, 4, 0xffffffff92203000, 0x1000, 4096, &m.next);
	vp_mmu_flush(&m.mmu);
	assert_ok(vp_mmu_next_mapped(m.phys, &m.mmu, vp_gva(from), vp_gva(to), &s, &e));
	assert_int_equal(s.v, 0xffffffff92000000);
	assert_int_equal(e.v, 0xffffffff92201000);
	assert_ok(vp_mmu_next_mapped(m.phys, &m.mmu, e, vp_gva(to), &s, &e));
	assert_int_equal(s.v, 0xffffffff92203000);
	assert_int_equal(e.v, 0xffffffff92204000);
	assert_err(vp_mmu_next_mapped(m.phys, &m.mmu, e, vp_gva(to), &s, &e), OT_ERR_NOT_FOUND, NULL);
	/* The top page of the address space. */
	map_page(m.ram, ROOT, 4, 0xfffffffffffff000, 0x1000, 4096, &m.next);
	vp_mmu_flush(&m.mmu);
	assert_ok(vp_mmu_next_mapped(m.phys, &m.mmu, vp_gva(to), vp_gva(UINT64_MAX), &s, &e));
	assert_int_equal(s.v, 0xfffffffffffff000);
	machine_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holes_are_skipped_and_stay_holes),
		cmocka_unit_test(what_is_not_ram_is_a_fault),
		cmocka_unit_test(bad_ranges_are_refused),
		cmocka_unit_test(memory_of_a_process_is_read_without_filling_it),
		cmocka_unit_test(pages_of_all_sizes_are_walked),
		cmocka_unit_test(reads_cross_pages),
		cmocka_unit_test(the_cache_forgets_when_told),
		cmocka_unit_test(hostile_tables_end),
		cmocka_unit_test(mapped_stretches_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
