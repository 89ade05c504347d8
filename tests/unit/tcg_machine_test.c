/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/machines/qemu_machine.c: QEMU's command line, and the split of a PC's RAM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "vmm-probe/backend/tcg/api_version.h"
#include "vmm-probe/machines/qemu_machine.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

#define PARSE(args, ret) vp_qemu_machine_parse(args, sizeof(args) - 1, ret)

static void default_machine_is_pc(void **state)
{
	struct vp_qemu_machine m;

	(void)state;
	PARSE("qemu-system-x86_64\0-m\0"
	      "2G\0",
	      &m);
	assert_string_equal(m.type, "pc");
	assert_string_equal(m.name, "");
	assert_int_equal(m.max_below_4g, 0);
	PARSE("", &m);
	assert_string_equal(m.type, "pc");
}

static void machine_and_name_are_found_in_every_spelling(void **state)
{
	struct vp_qemu_machine m;

	(void)state;
	PARSE("q\0-machine\0q35,memory-backend=mem\0-name\0web01\0", &m);
	assert_string_equal(m.type, "q35");
	assert_string_equal(m.name, "web01");
	PARSE("q\0-M\0pc-q35-9.2\0-name\0guest=web02,debug-threads=on\0", &m);
	assert_string_equal(m.type, "pc-q35-9.2");
	assert_string_equal(m.name, "web02");
	PARSE("q\0--machine\0accel=tcg,type=microvm,max-ram-below-4g=1G\0-name\0debug-threads=on,guest=a\0",
	      &m);
	assert_string_equal(m.type, "microvm");
	assert_string_equal(m.name, "a");
	assert_int_equal(m.max_below_4g, GIB);
	PARSE("q\0-name\0a,,b\0", &m);
	assert_string_equal(m.name, "a,b");
}

static void last_option_counts(void **state)
{
	struct vp_qemu_machine m;

	(void)state;
	PARSE("q\0-M\0pc\0-M\0q35\0-machine\0max-ram-below-4g=0x40000000\0", &m);
	assert_string_equal(m.type, "q35");
	assert_int_equal(m.max_below_4g, GIB);
}

static void a_value_may_look_like_an_option(void **state)
{
	struct vp_qemu_machine m;

	(void)state;
	PARSE("q\0-append\0-M\0-name\0-M\0-smp\0"
	      "4\0",
	      &m);
	assert_string_equal(m.name, "-M");
	assert_string_equal(m.type, "pc");
	PARSE("q\0-nographic\0-M\0q35\0", &m); /* no option with a value */
	assert_string_equal(m.type, "q35");
}

static void objects_that_encrypt_memory_are_found(void **state)
{
	struct vp_qemu_machine m;

	(void)state;
	PARSE("qemu\0-object\0sev-snp-guest,id=s0\0-machine\0q35,confidential-guest-support=s0\0", &m);
	assert_true(m.confidential);
	PARSE("qemu\0-object\0{\"qom-type\":\"tdx-guest\",\"id\":\"t\"}\0", &m);
	assert_true(m.confidential);
	PARSE("qemu\0-object\0memory-backend-memfd,id=m,size=1G\0-name\0sev\0", &m);
	assert_false(m.confidential);
}

static void memory_of_several_backends_is_found(void **state)
{
	static const char *const with[] = {
		"q\0-numa\0node,memdev=m0,cpus=0\0",
		"q\0-device\0pc-dimm,memdev=d\0",
		"q\0-device\0nvdimm,memdev=d\0",
		"q\0-device\0{\"driver\":\"virtio-mem-pci\",\"id\":\"v\"}\0",
	};
	struct vp_qemu_machine m;

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(with); i++) {
		const char *value = with[i] + 2 + strlen(with[i] + 2) + 1;
		vp_qemu_machine_parse(with[i], (size_t)(value - with[i]) + strlen(value) + 1, &m);
		assert_true(m.several_memories);
	}
	PARSE("q\0-numa\0node,cpus=0\0-numa\0node,cpus=1\0-device\0virtio-balloon\0-m\0"
	      "1G,maxmem=4G\0-object\0memory-backend-memfd,id=m,size=1G\0-machine\0memory-backend=m\0",
	      &m);
	assert_false(m.several_memories);
}

static void broken_command_lines_are_bounded(void **state)
{
	char longest[3000];
	struct vp_qemu_machine m;

	(void)state;
	PARSE("q\0-machine", &m); /* no value */
	assert_string_equal(m.type, "pc");
	PARSE("q\0-name\0", &m);
	assert_string_equal(m.name, "");
	PARSE("-\0-\0--\0", &m);
	assert_string_equal(m.type, "pc");
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "-name", 6);
	longest[sizeof(longest) - 1] = '\0';
	vp_qemu_machine_parse(longest, sizeof(longest) - 1, &m);
	assert_int_equal(strlen(m.name), sizeof(m.name) - 1);
}

/* What QEMU 10's "info mtree -f" showed for each. */
static void ram_is_split_as_qemu_splits_it(void **state)
{
	static const struct {
		const char *type;
		uint64_t max_below_4g, size, low;
	} cases[] = {
		{ "q35", 0, 512 * MIB, 512 * MIB },      { "q35", 0, 2560 * MIB, 2560 * MIB },
		{ "q35", 0, 3 * GIB, 2 * GIB },          { "q35", GIB, 2 * GIB, GIB },
		{ "pc-q35-10.0", 0, 16 * GIB, 2 * GIB }, { "pc", 0, 3 * GIB, 3 * GIB },
		{ "pc", 0, 4 * GIB, 3 * GIB },           { "microvm", 0, 4 * GIB, 3 * GIB },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vp_qemu_machine m = { .max_below_4g = cases[i].max_below_4g };

		strcpy(m.type, cases[i].type);
		assert_int_equal(vp_qemu_ram_low(&m, cases[i].size), cases[i].low);
	}
}

#define DATA(text) "some\0constants\0" text "\0behind it"

static void a_qemu_is_known_by_its_data(void **state)
{
	static const struct {
		const char *data;
		size_t size;
		unsigned major, minor;
	} rows[] = {
#define ROW(text, ...) { DATA(text), sizeof(DATA(text)), __VA_ARGS__ }
		ROW("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)\nCopyright", 10, 0),
		ROW("QEMU emulator version 11.1.3", 11, 1),
		ROW("QEMU emulator version 11.0", 11, 0),
		/* what only begins like it is passed over */
		ROW("QEMU emulator version %s\0QEMU emulator version 12.3.50 (v12.3.0-1-gabcdef)", 12, 3),
		ROW("QEMU emulator version 11", 0, 0),
		ROW("QEMU emulator version 11111.1", 0, 0),
		ROW("QEMU version 11.1", 0, 0),
#undef ROW
		{ "QEMU emulator version 11.", 25, 0, 0 }, /* cut off by the segment's end */
		{ "", 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++) {
		struct vp_tcg_release r = { 0 };

		assert_int_equal(vp_tcg_find_release(rows[i].data, rows[i].size, &r), rows[i].major != 0);
		assert_int_equal(r.major, rows[i].major);
		assert_int_equal(r.minor, rows[i].minor);
	}
}

static void each_release_has_its_api(void **state)
{
	static const struct {
		struct vp_tcg_release release;
		bool write_register, set_pc;
		int version;
	} rows[] = {
		{ { 10, 0 }, false, false, 4 },
		{ { 10, 1 }, true, false, 5 },
		{ { 10, 2 }, true, false, 5 },
		{ { 11, 0 }, true, true, 6 },
		{ { 11, 1 }, true, true, 7 },
		{ { 11, 2 }, true, true, 7 },
		{ { 12, 0 }, true, true, 7 },
		/* a QEMU that does not report it: its features, and the newest version with them */
		{ { 0, 0 }, false, false, 4 },
		{ { 0, 0 }, true, true, 7 },
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++)
		assert_int_equal(vp_tcg_api_version(&rows[i].release, rows[i].write_register, rows[i].set_pc),
				 rows[i].version);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_qemu_is_known_by_its_data),
		cmocka_unit_test(each_release_has_its_api),
		cmocka_unit_test(default_machine_is_pc),
		cmocka_unit_test(machine_and_name_are_found_in_every_spelling),
		cmocka_unit_test(last_option_counts),
		cmocka_unit_test(a_value_may_look_like_an_option),
		cmocka_unit_test(objects_that_encrypt_memory_are_found),
		cmocka_unit_test(memory_of_several_backends_is_found),
		cmocka_unit_test(broken_command_lines_are_bounded),
		cmocka_unit_test(ram_is_split_as_qemu_splits_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
