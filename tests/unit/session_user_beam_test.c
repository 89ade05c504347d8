/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding Erlang's machine: its tables by their shape, its registers by its code, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/beam_image.h"
#include "vmm-probe/arch/arch.h"

static struct beam_image image;
static const struct vp_user_reader reader = { beam_image_read, &image };
static struct vp_beam found;
static const char *why;

static enum vp_beam_found find(void)
{
	why = NULL;
	return vp_beam_find(&reader, &image.file, BI_BASE, &found, &why);
}

static void is_found_at(uint64_t tables)
{
	assert_int_equal(find(), VP_BEAM_FOUND);
	assert_int_equal(found.modules, BI_BASE + tables);
}

/* --- the machine --------------------------------------------------------------------------------------- */

static void layout(void **state)
{
	(void)state;
	beam_image_init(&image);
	is_found_at(BI_TABLES);
	assert_null(why);
	assert_int_equal(found.emulator_start, BI_BASE + 0x20000000);
	assert_int_equal(found.emulator_end, BI_BASE + 0x20008000);
	assert_int_equal(found.dirty_start, BI_BASE + 0x20010000);
	assert_int_equal(found.dirty_end, BI_BASE + 0x20010100);
	for (unsigned i = 0; i < VP_BEAM_SCHEDULERS; i++) {
		assert_int_equal(found.schedulers[i].first, BI_BASE + BI_NORMAL + 16 * i);
		assert_int_equal(found.schedulers[i].count, BI_BASE + BI_NORMAL + 16 * i + 8);
	}
	assert_int_equal(found.current, BI_BASE + BI_CURRENT);
	assert_int_equal(found.atoms, BI_BASE + 0x200 + 120);
	assert_int_equal(found.registers[VP_BEAM_STACK], VP_R13);
	assert_int_equal(found.registers[VP_BEAM_INSTRUCTION], VP_RBX);
	assert_int_equal(found.scheduler_size, BI_SCHEDULER);
	assert_int_equal(found.process_stack, 88);
	assert_int_equal(found.process_instruction, 248);
}

/* Of what the function refers to, the tables are what looks like them. */
static void others(void **state)
{
	(void)state;
	beam_image_init(&image);
	image.file.nplaces = 4;
	memcpy(image.file.places, (uint64_t[]){ 0x500, 0x400, BI_SIZE, BI_TABLES }, 32);
	memcpy(image.bytes + 0x400, image.bytes + BI_TABLES, 96);
	beam_image_put(&image, 0x400 + 64, BI_BASE + BI_ARRAY + 8); /* no modules there */
	beam_image_put(&image, 0x400 + 88, BI_BASE + BI_ARRAY + 8);
	memcpy(image.bytes + 0x500, image.bytes + BI_TABLES, 96);
	beam_image_put(&image, 0x500 + 64, BI_BASE + BI_SIZE); /* no memory */
	beam_image_put(&image, 0x500 + 88, BI_BASE + BI_SIZE);
	is_found_at(BI_TABLES);
}

/* The variables that code refers to, by displacement and by address; no others, and none twice. */
static void places(void **state)
{
	static const uint8_t code[] = {
		0x4c, 0x8d, 0x25, 0xf9, 0x1f, 0x00, 0x00,       /* lea 0x1ff9(%rip): 0x3000 */
		0x48, 0x8b, 0x04, 0x25, 0x08, 0x30, 0x00, 0x00, /* mov 0x3008 */
		0x4c, 0x8d, 0x25, 0xea, 0x1f, 0x00, 0x00,       /* 0x3000 again */
		0x4c, 0x8d, 0x25, 0xe4, 0x1f, 0x00, 0x00,       /* 0x3001 */
		0x4c, 0x8d, 0x25, 0x00, 0x00, 0x01, 0x00,       /* too far */
	};
	struct vp_beam_file f = { .data = 0x3000, .data_end = 0x3010 };
	uint8_t many[4 * VP_BEAM_PLACES_MAX + 16];

	(void)state;
	vp_beam_places(&f, code, sizeof(code), 0x1000);
	assert_int_equal(f.nplaces, 2);
	assert_int_equal(f.places[0], 0x3000);
	assert_int_equal(f.places[1], 0x3008);
	vp_beam_places(&f, code, 3, 0x1000);
	assert_int_equal(f.nplaces, 0);
	f = (struct vp_beam_file){ .data_end = UINT64_MAX };
	for (uint32_t i = 0; i < sizeof(many); i++)
		many[i] = (uint8_t)(i * 8);
	vp_beam_places(&f, many, sizeof(many), 0);
	assert_int_equal(f.nplaces, VP_BEAM_PLACES_MAX);
}

/* Each word of the tables matters, and each of the first module that is there. */
static void shape(void **state)
{
	static const struct {
		uint64_t at, value;
	} rows[] = {
		{ BI_TABLES + 0, 4 },
		{ BI_TABLES + 8, VP_BEAM_MODULES_MAX + 1 },
		{ BI_TABLES + 16, ~0ull },
		{ BI_TABLES + 64, 0 },
		{ BI_TABLES + 64, BI_BASE + BI_ARRAY + 32 }, /* the last one found is before it */
		{ BI_TABLES + 72, 0 },
		{ BI_TABLES + 72, 5 },
		{ BI_TABLES + 88, BI_BASE + BI_ARRAY + 64 },
		{ BI_TABLES + 88, BI_BASE + BI_ARRAY + 8 },
		{ BI_ARRAY, 0 },
		{ BI_ARRAY + 16, BI_BASE + 0x4f00 },
		{ BI_ARRAY + 24, BI_BASE + BI_FIRST - 8 },
		{ BI_ARRAY + 24, BI_BASE + BI_FIRST + 64 }, /* its functions go on behind its end */
		{ BI_FIRST, 0 },
		{ BI_FIRST, ~0ull },
		{ BI_FIRST + 96, BI_BASE + BI_FIRST },
		{ BI_FIRST + 96, ~0ull },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		beam_image_init(&image);
		beam_image_put(&image, rows[i].at, rows[i].value);
		if (find() != VP_BEAM_EARLY)
			fail_msg("row %zu", i);
	}
}

static void missing_pages(void **state)
{
	static const uint64_t holes[] = { BI_TABLES + 88, BI_CURRENT, BI_NORMAL,
					  BI_ARRAY + 40,  BI_FIRST,   BI_FIRST + 120 };

	(void)state;
	for (size_t i = 0; i < sizeof(holes) / sizeof(*holes); i++) {
		beam_image_init(&image);
		image.hole = holes[i];
		image.hole_end = holes[i] + 4;
		if (find() != VP_BEAM_EARLY)
			fail_msg("hole %zu", i);
	}
}

static void just_starting(void **state)
{
	(void)state;
	beam_image_init(&image);
	beam_image_put(&image, BI_NORMAL, 0);
	assert_int_equal(find(), VP_BEAM_EARLY);
	beam_image_init(&image);
	image.bytes[BI_CURRENT] = 0; /* its first modules are just being loaded */
	assert_int_equal(find(), VP_BEAM_EARLY);
	image.bytes[BI_CURRENT] = 3;
	assert_int_equal(find(), VP_BEAM_EARLY);
}

/* --- what is refused ----------------------------------------------------------------------------------- */

static void is_refused(const char *with)
{
	assert_int_equal(find(), VP_BEAM_UNKNOWN);
	assert_non_null(strstr(why, with));
}

static void refused(void **state)
{
	(void)state;
	beam_image_init(&image);
	image.file.compiles = 1;
	is_refused("JIT");
	beam_image_init(&image);
	strcpy(image.file.release, "26");
	is_refused("another release");
	beam_image_init(&image);
	image.file.has_release = false;
	is_refused("etp_otp_release");
	beam_image_init(&image);
	image.file.has_registers = false;
	is_refused("process_main");
	beam_image_init(&image);
	image.file.nplaces = 0;
	is_refused("module tables");
	for (unsigned i = 0; i < VP_BEAM_NSYMBOLS; i++) {
		beam_image_init(&image);
		image.file.symbols[i] = 0;
		is_refused("variables");
	}
}

/* Another layout than the table's shows in the numbers of schedulers. */
static void schedulers(void **state)
{
	static const uint64_t numbers[] = { BI_SCHEDULERS + 184, BI_SCHEDULERS + BI_SCHEDULER + 184,
					    BI_SCHEDULERS + 2 * BI_SCHEDULER + 192,
					    BI_SCHEDULERS + 3 * BI_SCHEDULER + 192 };

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		beam_image_init(&image);
		beam_image_put(&image, numbers[i], 7);
		is_refused("schedulers");
	}
	beam_image_init(&image);
	beam_image_put(&image, BI_NORMAL + 8, 0); /* at least one */
	is_refused("schedulers");
	beam_image_put(&image, BI_NORMAL + 8, ~0ull);
	is_refused("schedulers");
	beam_image_init(&image);
	beam_image_put(&image, BI_NORMAL + 24, 0); /* dirty ones there may be none */
	is_found_at(BI_TABLES);
}

/* --- registers ----------------------------------------------------------------------------------------- */

#define LOAD_R13   "\x4d\x8b\x6c\x24\x58"             /* mov 0x58(%r12),%r13 */
#define LOAD_RBP   "\x49\x8b\x6c\x24\x58"             /* mov 0x58(%r12),%rbp */
#define LOAD_RAX   "\x49\x8b\x44\x24\x58"             /* mov 0x58(%r12),%rax */
#define LOAD_STACK "\x4c\x8b\x74\x24\x58"             /* mov 0x58(%rsp),%r14 */
#define STORE_RBX  "\x49\x89\x9c\x24\xf8\x00\x00\x00" /* mov %rbx,0xf8(%r12) */
#define STORE_R13  "\x4d\x89\xac\x24\xf8\x00\x00\x00" /* mov %r13,0xf8(%r12) */

struct code {
	uint8_t bytes[1024];
	size_t len;
};

static void add(struct code *c, unsigned times, const char *bytes, size_t len)
{
	assert_true(c->len + times * len <= sizeof(c->bytes));
	for (unsigned i = 0; i < times; i++, c->len += len)
		memcpy(c->bytes + c->len, bytes, len);
}
#define ADD(c, times, bytes) add(c, times, bytes, sizeof(bytes) - 1)

static bool registers_of(const struct code *c, uint32_t regs[VP_BEAM_REGISTERS])
{
	return vp_beam_registers(vp_arch_x86.code, c->bytes, c->len, regs);
}

static void registers(void **state)
{
	uint32_t regs[VP_BEAM_REGISTERS];
	struct code c = { .len = 0 };

	(void)state;
	assert_false(registers_of(&c, regs));
	ADD(&c, 8, LOAD_R13);
	assert_false(registers_of(&c, regs));
	ADD(&c, 7, STORE_RBX);
	assert_false(registers_of(&c, regs));
	ADD(&c, 1, STORE_RBX);
	assert_true(registers_of(&c, regs));
	assert_int_equal(regs[VP_BEAM_STACK], VP_R13);
	assert_int_equal(regs[VP_BEAM_INSTRUCTION], VP_RBX);
	ADD(&c, 20, LOAD_RAX);   /* is lost at each call */
	ADD(&c, 20, LOAD_STACK); /* is no process's */
	ADD(&c, 3, LOAD_RBP);
	ADD(&c, 5, "\x06"); /* is no instruction */
	ADD(&c, 3, "\x00\x00");
	assert_true(registers_of(&c, regs));
	ADD(&c, 1, LOAD_RBP); /* half as often */
	assert_false(registers_of(&c, regs));
	c.len = 0;
	ADD(&c, 8, LOAD_R13);
	ADD(&c, 8, STORE_R13); /* it can't be both */
	assert_false(registers_of(&c, regs));
}

/* Any bytes: none behind the end is read. */
static void any_code(void **state)
{
	uint32_t regs[VP_BEAM_REGISTERS];

	(void)state;
	srandom(7);
	for (unsigned i = 0; i < 2000; i++) {
		size_t len = (size_t)random() % 64;
		uint8_t *bytes = malloc(len ? len : 1);

		assert_non_null(bytes);
		for (size_t k = 0; k < len; k++)
			bytes[k] = (uint8_t)random();
		assert_false(vp_beam_registers(vp_arch_x86.code, bytes, len, regs));
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout),   cmocka_unit_test(places),        cmocka_unit_test(others),
		cmocka_unit_test(shape),    cmocka_unit_test(missing_pages), cmocka_unit_test(just_starting),
		cmocka_unit_test(refused),  cmocka_unit_test(schedulers),    cmocka_unit_test(registers),
		cmocka_unit_test(any_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
