/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a QEMU's machine has nothing, by its monitor's text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "vmm-probe/machines/qemu_gap.h"

#define GIB  (1ull << 30)
#define SIZE (16ull << 20)

static const char head[] = "address-space: cpu-memory-0\n"
			   "address-space: memory\n"
			   "  0000000000000000-ffffffffffffffff (prio 0, i/o): system\n"
			   "    0000000000000000-ffffffffffffffff (prio -1, i/o): pci\n"
			   "      00000000000a0000-00000000000bffff (prio 1, i/o): vga-lowmem\n"
			   "    00000000fec00000-00000000fec00fff (prio 0, i/o): ioapic\n";

/* Regions of another address space take no room. */
static const char tail[] = "\n"
			   "address-space: device\n"
			   "  0000000000000000-000000ffffffffff (prio 0, i/o): all\n";

static uint64_t gap_in(const char *text, struct vp_qemu_window pci, uint32_t bits, uint64_t size)
{
	uint64_t at = 0;

	return vp_qemu_gap(text, &pci, bits, size, &at) ? at : 0;
}

static uint64_t gap(const char *more, struct vp_qemu_window pci, uint32_t bits)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s%s%s", head, more, tail);
	return gap_in(text, pci, bits, SIZE);
}

static void behind_everything(void **state)
{
	static const char ram[] = "    0000000100000000-000000017fffffff (prio 0, ram): alias ram-above-4g "
				  "@pc.ram 0000000080000000\n";
	static const char plugged[] = "    0000000100000000-000000017fffffff (prio 0, ram): alias "
				      "ram-above-4g @pc.ram 0000000080000000\n"
				      "    0000000180000000-00000004ffffffff (prio 0, i/o): device-memory\n";
	(void)state;

	assert_int_equal(gap("", (struct vp_qemu_window){ 4 * GIB, 6 * GIB }, 40), 6 * GIB);
	assert_int_equal(gap(ram, (struct vp_qemu_window){ 6 * GIB, 8 * GIB }, 40), 8 * GIB);
	assert_int_equal(gap(plugged, (struct vp_qemu_window){ 20 * GIB, 52 * GIB }, 40), 52 * GIB);
	/* A window that the firmware has put elsewhere. */
	assert_int_equal(gap(ram, (struct vp_qemu_window){ 900 * GIB, 910 * GIB }, 40), 6 * GIB);
	assert_int_equal(gap("", (struct vp_qemu_window){ 0, 0 }, 40), 4 * GIB);
	/* No multiple of a GiB: the next one. */
	assert_int_equal(gap("    0000000100000000-0000000100000fff (prio 0, ram): x\n",
			     (struct vp_qemu_window){ 0, 0 }, 40),
			 5 * GIB);
}

/* Devices that the guest has mapped, one of them within another. */
static void devices(void **state)
{
	static const char text[] = "    0000000100000000-00000001ffffffff (prio 1, i/o): container\n"
				   "      0000000180000000-0000000180ffffff (prio 1, ram): bar\n"
				   "    0000000200800000-00000002008fffff (prio 1, i/o): another\n"
				   "    0000000240ffffff-0000000240ffffff (prio 1, i/o): a byte\n";
	(void)state;

	assert_int_equal(gap(text, (struct vp_qemu_window){ 0, 0 }, 40), 10 * GIB);
}

/* The last eighth, and the places that hardware or firmware keep. */
static void kept(void **state)
{
	char text[128];
	(void)state;

	snprintf(text, sizeof(text), "    %016llx-%016llx (prio 0, ram): x\n", 4 * GIB, 510 * GIB - 1);
	assert_int_equal(gap(text, (struct vp_qemu_window){ 0, 0 }, 39), 0); /* behind 7/8 */
	assert_int_equal(gap(text, (struct vp_qemu_window){ 0, 0 }, 40), 510 * GIB);
	snprintf(text, sizeof(text), "    %016llx-%016llx (prio 0, ram): x\n", 4 * GIB, 512 * GIB - 1);
	assert_int_equal(gap(text, (struct vp_qemu_window){ 0, 0 }, 40), 0);
	assert_int_equal(gap(text, (struct vp_qemu_window){ 0, 0 }, 41), 1024 * GIB);
	snprintf(text, sizeof(text), "    %016llx-%016llx (prio 0, ram): x\n", 4 * GIB,
		 (1ull << 46) - 5 * GIB);
	assert_int_equal(gap(text, (struct vp_qemu_window){ 0, 0 }, 46), 0);
	assert_int_equal(gap(text, (struct vp_qemu_window){ 0, 0 }, 48), 1ull << 46);
	snprintf(text, sizeof(text), "    %016llx-%016llx (prio 0, ram): x\n", 4 * GIB,
		 (1ull << 47) - 5 * GIB);
	assert_int_equal(gap(text, (struct vp_qemu_window){ 0, 0 }, 48), 1ull << 47);
	assert_int_equal(gap("", (struct vp_qemu_window){ 4 * GIB, 55 * GIB }, 36), 55 * GIB);
	assert_int_equal(gap("", (struct vp_qemu_window){ 4 * GIB, 56 * GIB }, 36), 0);
}

/* As a monitor writes them to a terminal. */
static void ends_of_lines(void **state)
{
	static const char text[] = "address-space: memory-of-a-device\r\n"
				   "  0000000000000000-000000ffffffffff (prio 0, i/o): all\r\n"
				   "\r\n"
				   "address-space: memory\r\n"
				   "  0000000100000000-00000001ffffffff (prio 0, ram): ram\r\n"
				   "\r\n"
				   "address-space: other\r\n"
				   "  0000000200000000-00000002ffffffff (prio 0, ram): elsewhere\r\n";
	(void)state;

	assert_int_equal(gap_in(text, (struct vp_qemu_window){ 0, 0 }, 40, SIZE), 8 * GIB);
}

static void hostile(void **state)
{
	static const char *const texts[] = { "", "address-space: memory",
					     "address-space: memory (disabled)\n",
					     "no address space at all\n" };
	const struct vp_qemu_window pci = { 4 * GIB, 6 * GIB };
	(void)state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(gap_in(texts[i], pci, 40, SIZE), 0);
	for (uint32_t bits = 0; bits < 300; bits += bits < 60 ? 1 : 13)
		assert_int_equal(gap_in("address-space: memory\n", pci, bits, SIZE) != 0,
				 bits >= 36 && bits <= 52);
	assert_int_equal(gap_in("address-space: memory\n", pci, 40, 0), 0);
	assert_int_equal(gap_in("address-space: memory\n", pci, 40, GIB + 1), 0);
	/* The end of all addresses, and lines that are none. */
	assert_int_equal(gap("    0000000180000000-ffffffffffffffff (prio 0, ram): rest\n"
			     "    c000000000000000-ffffffffffffffff (prio 0, ram): high\n"
			     "    00000001c0000000-0000000180000000 (prio 0, ram): backwards\n"
			     "    00000001zz000000-0000000180000000 (prio 0, ram): none\n"
			     "0000000180000000-00000001ffffffff (prio 0, ram): not indented\n",
			     pci, 40),
			 6 * GIB);
	assert_int_equal(
	    gap_in("address-space: memory\n  0000000000000000-00000002ffffffff (prio 0, ram): cut", pci, 40,
		   SIZE),
	    12 * GIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(behind_everything), cmocka_unit_test(devices), cmocka_unit_test(kept),
		cmocka_unit_test(ends_of_lines),     cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
