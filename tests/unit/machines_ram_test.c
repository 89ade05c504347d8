/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/machines: RAM as QEMU's monitor lists it, and as ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "vmm-probe/machines/qemu_view.h"
#include "vmm-probe/machines/ram_ranges.h"

#define MIB (1ull << 20)

/* A machine of two nodes, a DIMM and a persistent one, in a text with the views around it. */
static const char machine[] = "FlatView #0\n"
			      " AS \"I/O\", root: io\n"
			      " Root memory region: io\n"
			      "  0000000000000000-0000000000000007 (prio 0, i/o): dma-chan\n"
			      "  0000000000000008-000000000000005f (prio 0, i/o): io @0000000000000008\n"
			      "  0000000000000060-0000000000000060 (prio 0, i/o): i8042-data\n"
			      "  0000000000000061-000000000000ffff (prio 0, i/o): io\n"
			      "\n"
			      "FlatView #1\n"
			      " AS \"memory\", root: system\n"
			      " AS \"cpu-memory-0\", root: system\n"
			      " Root memory region: system\n"
			      "  0000000000000000-000000000009ffff (prio 0, ram): node0\n"
			      "  00000000000a0000-00000000000bffff (prio 1, ram): vga.vram\n"
			      "  00000000000c0000-00000000000dffff (prio 0, rom): node0 @00000000000c0000\n"
			      "  00000000000e0000-00000000000fffff (prio 0, ram): node0 @00000000000e0000\n"
			      "  0000000000100000-000000000fffffff (prio 0, ram): node0 @0000000000100000\n"
			      "  0000000010000000-000000001fffffff (prio 0, ram): node1\n"
			      "  00000000fd000000-00000000fdffffff (prio 1, ram): vga.vram\n"
			      "  0000000100000000-000000010fffffff (prio 0, ram): dimm (prio 1, i/o): \"\n"
			      "  0000000110000000-000000011fffffff (prio 0, nv-ram): pmem\n"
			      "  0000000120000000-000000012fffffff (prio 0, container): slots\n"
			      "\n"
			      "FlatView #2\n"
			      " AS \"other\", root: system\n"
			      "  0000000200000000-000000020fffffff (prio 0, ram): elsewhere\n";

static void ram_of_every_backend(void **state)
{
	static const struct {
		uint64_t start, end;
	} want[] = {
		{ 0, 0xa0000 },
		{ 0xe0000, 0x100000 },
		{ 0x100000, 0x10000000 },
		{ 0x10000000, 0x20000000 },
		{ 0x100000000, 0x110000000 },
		{ 0x110000000, 0x120000000 },
	};
	const char *at = vp_qemu_view_of(machine, "memory");
	uint64_t start, end;

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(want); i++) {
		assert_true(vp_qemu_view_ram(&at, &start, &end));
		assert_int_equal(start, want[i].start);
		assert_int_equal(end, want[i].end);
	}
	assert_false(vp_qemu_view_ram(&at, &start, &end));
	assert_false(vp_qemu_view_ram(&at, &start, &end)); /* for good */
}

static void ports_of_devices(void **state)
{
	const char *at = vp_qemu_view_of(machine, "I/O");
	uint64_t start, last;

	(void)state;
	assert_true(vp_qemu_view_device(&at, &start, &last));
	assert_int_equal(last, 7);
	assert_true(vp_qemu_view_device(&at, &start, &last));
	assert_int_equal(start, 0x60);
	assert_int_equal(last, 0x60);
	assert_false(vp_qemu_view_device(&at, &start, &last));
}

static void texts_that_are_none(void **state)
{
	static const char *const lines[] = {
		"",
		"  ",
		"  -",
		"0000000000000000-0000000000000fff (prio 0, ram): no blanks",
		"  0000000000000000 0000000000000fff (prio 0, ram): x",
		"  0000000000001000-0000000000000fff (prio 0, ram): backwards",
		"  0000000000000000-ffffffffffffffff (prio 0, ram): everything",
		"  00000000000000000-fffffffffffffffff (prio 0, ram): too long",
		"  0000000000000000-0000000000000fff (prio , ram): x",
		"  0000000000000000-0000000000000fff (prio 0, ram",
		"  0000000000000000-0000000000000fff (prio 0, ramd): x",
		"  zzzz-0000000000000fff (prio 0, ram): x",
	};
	uint64_t start, end;
	char text[300];

	(void)state;
	assert_null(vp_qemu_view_of("", "memory"));
	assert_null(vp_qemu_view_of(machine, "memor"));
	const char *none = NULL;
	assert_false(vp_qemu_view_ram(&none, &start, &end));
	for (size_t i = 0; i < OT_ARRAY_SIZE(lines); i++) {
		snprintf(text, sizeof(text), "FlatView #0\n AS \"memory\", root: r\n%s", lines[i]);
		const char *at = vp_qemu_view_of(text, "memory");
		assert_non_null(at);
		assert_false(vp_qemu_view_ram(&at, &start, &end));
	}
}

/* Each text that a cut can leave: it ends, and says nothing that the whole one does not. */
static void cut_anywhere(void **state)
{
	(void)state;
	for (size_t len = 0; len < sizeof(machine); len++) {
		char *text = strndup(machine, len);
		const char *at = vp_qemu_view_of(text, "memory");
		uint64_t start, end;
		unsigned n = 0;
		while (vp_qemu_view_ram(&at, &start, &end)) {
			assert_true(end > start && end <= 0x120000000);
			n++;
		}
		assert_true(n <= 6);
		free(text);
	}
}

static void what_a_kernel_may_use(void **state)
{
	struct vp_ram_range r[4];

	(void)state;
	assert_int_equal(vp_ram_add(r, 0, 4, 0xe0000, 0x100000, 1 * MIB), 0); /* shadow */
	assert_int_equal(vp_ram_add(r, 0, 4, 0, 2 * MIB, 64 * MIB), 2);
	assert_int_equal(r[0].size, 0xa0000);
	assert_int_equal(r[1].gpa, 0x100000);
	assert_int_equal(r[1].host, 65 * MIB);
	assert_int_equal(r[1].size, MIB);
	assert_int_equal(r[1].fd_index, -1);
	assert_int_equal(vp_ram_add(r, 0, 1, 0, 2 * MIB, 64 * MIB), 1);             /* no room */
	assert_int_equal(vp_ram_add(r, 0, 4, 2 * MIB + 1, 2 * MIB + 0x1fff, 0), 0); /* no whole page */
	assert_int_equal(vp_ram_add(r, 0, 4, 2 * MIB + 1, 2 * MIB + 0x2fff, 64 * MIB + 1), 1);
	assert_int_equal(r[0].gpa, 2 * MIB + 0x1000);
	assert_int_equal(r[0].host, 64 * MIB + 0x1000);
	assert_int_equal(r[0].size, 0x1000);
	assert_int_equal(vp_ram_add(r, 0, 4, UINT64_MAX - 10, UINT64_MAX, 0), 0);
}

static void neighbours_are_joined(void **state)
{
	/* the second node's memory is elsewhere in the process; the third's adjoins by chance */
	struct vp_ram_range r[] = {
		{ .gpa = 8 * MIB, .size = 4 * MIB, .host = 104 * MIB },
		{ .gpa = 0, .size = 4 * MIB, .host = 200 * MIB },
		{ .gpa = 4 * MIB, .size = 4 * MIB, .host = 100 * MIB },
		{ .gpa = 16 * MIB, .size = 4 * MIB, .host = 108 * MIB },
	};
	struct vp_ram_range same[4];
	uint32_t n = vp_ram_join(r, 4);

	(void)state;
	assert_int_equal(n, 3);
	assert_int_equal(r[1].gpa, 4 * MIB);
	assert_int_equal(r[1].size, 8 * MIB);
	assert_int_equal(r[2].gpa, 16 * MIB);
	memcpy(same, r, sizeof(same));
	assert_true(vp_ram_same(r, n, same, n));
	assert_false(vp_ram_same(r, n, same, n - 1));
	same[2].host += 4096;
	assert_false(vp_ram_same(r, n, same, n));
	assert_int_equal(vp_ram_join(r, 0), 0);
}

/* Only what is written to a shared mapping is in its file. */
static void files_of_shared_mappings(void **state)
{
	const size_t size = 4 * 4096;
	int shared = memfd_create("shared", MFD_CLOEXEC), private = memfd_create("private", MFD_CLOEXEC);
	int fds[2];

	(void)state;
	assert_true(shared >= 0 && private >= 0);
	assert_int_equal(ftruncate(shared, (off_t)size) | ftruncate(private, (off_t)size), 0);
	void *a = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
	void *b = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, private, 0);
	void *c = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(a != MAP_FAILED && b != MAP_FAILED && c != MAP_FAILED);
	struct vp_ram_range r[] = {
		{ .size = 4096, .host = (uintptr_t)b, .fd_index = -1 },
		{ .gpa = MIB, .size = 4096, .host = (uintptr_t)a, .fd_index = -1 },
		{ .gpa = 2 * MIB, .size = 2 * 4096, .host = (uintptr_t)a + 4096, .fd_index = -1 },
		{ .gpa = 3 * MIB, .size = 4096, .host = (uintptr_t)c, .fd_index = -1 },
	};
	assert_int_equal(vp_ram_files(r, OT_ARRAY_SIZE(r), fds, 2), 1);
	assert_int_equal(r[0].fd_index, -1);
	assert_int_equal(r[1].fd_index, 0);
	assert_int_equal(r[1].offset, 0);
	assert_int_equal(r[2].fd_index, 0);
	assert_int_equal(r[2].offset, 4096);
	assert_int_equal(r[3].fd_index, -1);
	close(fds[0]);
	close(shared);
	close(private);
	munmap(a, size);
	munmap(b, size);
	munmap(c, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ram_of_every_backend),     cmocka_unit_test(ports_of_devices),
		cmocka_unit_test(texts_that_are_none),      cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(what_a_kernel_may_use),    cmocka_unit_test(neighbours_are_joined),
		cmocka_unit_test(files_of_shared_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
