/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/planner: verdicts on instructions, by the engine's capabilities and the options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm-probe/arch/x86/insn/shape.h"
#include "vmm-probe/planner/planner.h"

#define GVA  0xffffffff81234560ull
#define TEXT VP_TRAPS_TEXT
#define INT3 VP_TRAPS_INT3
#define STEP VP_TRAPS_STEP
#define HW   VP_TRAPS_HW

static void assert_ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

struct row {
	const char *bytes;
	uint8_t length, room;
	uint32_t traps;
	enum vp_trap_wish wish;
	enum vp_plan_kind kind;
	uint8_t covers;
	const char *why; /* a part of it */
};

/* One verdict; and with each, what the site then says. */
static void check(const struct row *r)
{
	static const enum vp_site_trap traps[] = { [VP_PLAN_NATIVE] = VP_SITE_TEXT,
						   [VP_PLAN_EMULATE] = VP_SITE_TEXT,
						   [VP_PLAN_STEP] = VP_SITE_STEP,
						   [VP_PLAN_HW] = VP_SITE_HW };
	struct vp_batch_site site = { .gva = GVA,
				      .length = r->length,
				      .room = r->room ? r->room : r->length };
	struct vp_planner *p;

	memcpy(site.bytes, r->bytes, site.room);
	assert_ok(vp_planner_create(NULL, r->traps, r->wish, &p));
	struct vp_verdict v = vp_planner_site(p, &site);
	if (v.kind != r->kind || v.covers != r->covers)
		fail_msg("%02x %02x, traps %u, wish %d: %s, covers %u, %s", site.bytes[0], site.bytes[1],
			 r->traps, r->wish, vp_plan_kind_name(v.kind), v.covers, v.why ? v.why : "");
	if (r->kind != VP_PLAN_REFUSE) {
		assert_null(v.why);
		assert_int_equal(site.trap, traps[r->kind]);
	} else if (!strstr(v.why, r->why)) {
		fail_msg("%s: not '%s'", v.why, r->why);
	}
	vp_planner_destroy(p);
}

static void text_traps(void **state)
{
	static const struct row rows[] = {
		{ "\x0f\x1f\x44\x00\x00", 5, 0, TEXT, 0, VP_PLAN_NATIVE, 5, NULL },
		{ "\x66\x90", 2, 0, TEXT, 0, VP_PLAN_NATIVE, 2, NULL },
		{ "\xf3\x0f\x1e\xfa", 4, 0, TEXT, 0, VP_PLAN_NATIVE, 4, NULL },
		{ "\xe8\x00\x10\x00\x00", 5, 0, TEXT, 0, VP_PLAN_EMULATE, 5, NULL }, /* ftrace is on there */
		{ "\x41\x54", 2, 0, TEXT, 0, VP_PLAN_EMULATE, 2, NULL },
		{ "\xe9\x00\x10\x00\x00\xcc", 5, 6, TEXT, 0, VP_PLAN_EMULATE, 5, NULL },
		/* ret: two bytes with the int3 behind it, else one */
		{ "\xc3\xcc", 1, 2, TEXT, 0, VP_PLAN_EMULATE, 2, NULL },
		{ "\xc3", 1, 1, TEXT, 0, VP_PLAN_REFUSE, 0, "one byte" },
		{ "\xc3", 1, 1, TEXT | INT3, 0, VP_PLAN_EMULATE, 1, NULL },
		{ "\x55", 1, 0, TEXT, 0, VP_PLAN_REFUSE, 0, "int3 does not exit" },
		{ "\x55", 1, 0, TEXT | INT3, 0, VP_PLAN_EMULATE, 1, NULL },
		/* room behind anything but a ret is not the trap's to take */
		{ "\x55\xcc", 1, 2, TEXT, 0, VP_PLAN_REFUSE, 0, "one byte" },
		/* the guest's own breakpoint; only its first byte is known */
		{ "\xcc\x1f\x44\x00\x00", 1, 0, TEXT | INT3 | STEP, 0, VP_PLAN_REFUSE, 0,
		  "its own breakpoint" },
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++)
		check(&rows[i]);
}

/* cmpxchg %rcx,(%rdi), without lock: the emulator can't execute it, a step may. */
#define CMPXCHG "\x48\x0f\xb1\x0f"

static void steps(void **state)
{
	static const struct row rows[] = {
		{ CMPXCHG, 4, 0, TEXT, 0, VP_PLAN_REFUSE, 0, "host's KVM can't single-step" },
		{ CMPXCHG, 4, 0, TEXT | STEP, 0, VP_PLAN_STEP, 4, NULL },
		{ CMPXCHG, 4, 0, TEXT | STEP, VP_WISH_TEXT, VP_PLAN_REFUSE, 0, "-x trap=text" },
		/* std has one byte */
		{ "\xfd", 1, 0, TEXT | STEP, 0, VP_PLAN_REFUSE, 0, "one byte" },
		{ "\xfd", 1, 0, TEXT | STEP | INT3, 0, VP_PLAN_STEP, 1, NULL },
		/* requested, where it may */
		{ "\x41\x54", 2, 0, TEXT | STEP, VP_WISH_STEP, VP_PLAN_STEP, 2, NULL },
		{ "\x41\x54", 2, 0, TEXT | STEP, 0, VP_PLAN_EMULATE, 2, NULL },
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++)
		check(&rows[i]);
}

static void never_stepped(void **state)
{
#define NEVER(bytes, why)                                                                  \
	{                                                                                  \
		bytes, sizeof(bytes) - 1, 0, TEXT | INT3 | STEP, 0, VP_PLAN_REFUSE, 0, why \
	}
	static const struct row rows[] = {
		NEVER("\x0f\x01\xcb", "`stac`: a system"),
		NEVER("\x0f\x01\xf8", "`swapgs`: a system"),
		NEVER("\x0f\xa2", "`cpuid`: a system"),
		NEVER("\x0f\x30", "`wrmsr`: a system"),
		NEVER("\x0f\x31", "`rdtsc`: a system"),
		NEVER("\x0f\x0b", "`ud2`: a system"),
		NEVER("\xf4", "`hlt`: a system"),
		NEVER("\x0f\x20\xd8", "control or debug"),    /* %cr3 */
		NEVER("\x0f\x23\xf8", "control or debug"),    /* %dr7 */
		NEVER("\x8e\xd0", "a segment"),               /* mov %eax,%ss */
		NEVER("\x8c\xd8", "a segment"),               /* mov %ds,%eax */
		NEVER("\x0f\xa0", "a segment"),               /* push %fs */
		NEVER("\x9d", "observe a single step"),       /* popfq */
		NEVER("\xfa", "observe a single step"),       /* cli */
		NEVER("\xfb", "observe a single step"),       /* sti */
		NEVER("\x0f\x05", "observe a single step"),   /* syscall */
		NEVER("\x48\xcf", "a system"),                /* iretq */
		NEVER("\xcd\x80", "a system"),                /* int $0x80 */
		NEVER("\x48\xcb", "a system"),                /* retfq */
		NEVER("\xff\x2f", "a system"),                /* ljmp *(%rdi) */
		NEVER("\xe4\x60", "port"),                    /* in */
		NEVER("\x6e", "port"),                        /* outsb */
		NEVER("\xf3\xaa", "one iteration"),           /* rep stosb */
		NEVER("\xf0\x48\x0f\xb1\x0f", "lock prefix"), /* lock cmpxchg */
		NEVER("\x0f\xae\x27", "a system"),            /* xsave */
		NEVER("\xf3\x48\x0f\xae\xd7", "a system"),    /* wrfsbase */
		NEVER("\x0f\x01\xc1", "a system"),            /* vmcall */
		NEVER("\x0f\x04", "an unknown instruction"),
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++)
		check(&rows[i]);
}

/*
 * The same by opcodes, with every operand and every prefix that could make something else of them: no
 * disassembler's names decide, as those of another version may be others.
 */
struct never {
	const char *opcode;  /* with its escape */
	uint8_t mask, value; /* of the operand's byte */
};

static const struct never never_opcodes[] = {
	{ "\xff", 0x38, 0x28 }, /* far jumps */
	{ "\xff", 0x38, 0x18 }, /* far calls */
	{ "\xff", 0x38, 0x38 },     { "\xcb", 0, 0 },
	{ "\xca", 0, 0 }, /* far returns */
	{ "\xcf", 0, 0 },           { "\xcc", 0, 0 },
	{ "\xcd", 0, 0 },           { "\xf1", 0, 0 },
	{ "\x9c", 0, 0 },           { "\x9d", 0, 0 },
	{ "\xfa", 0, 0 },           { "\xfb", 0, 0 },
	{ "\xf4", 0, 0 },           { "\xd6", 0, 0 },
	{ "\x0f\x0b", 0, 0 }, /* ud2, ud1, ud0 */
	{ "\x0f\xb9", 0, 0 },       { "\x0f\xff", 0, 0 },
	{ "\x8c", 0, 0 },           { "\x8e", 0, 0 }, /* segment registers */
	{ "\x0f\xa0", 0, 0 },       { "\x0f\xa1", 0, 0 },
	{ "\x0f\xa8", 0, 0 },       { "\x0f\xa9", 0, 0 },
	{ "\x0f\xb2", 0, 0 },       { "\x0f\xb4", 0, 0 },
	{ "\x0f\xb5", 0, 0 },       { "\x0f\x20", 0, 0 }, /* control and debug registers */
	{ "\x0f\x21", 0, 0 },       { "\x0f\x22", 0, 0 },
	{ "\x0f\x23", 0, 0 },       { "\x0f\x00", 0, 0 },
	{ "\x0f\x01", 0, 0 },       { "\x0f\x02", 0, 0 },
	{ "\x0f\x03", 0, 0 },       { "\x0f\x05", 0, 0 },
	{ "\x0f\x06", 0, 0 },       { "\x0f\x07", 0, 0 },
	{ "\x0f\x08", 0, 0 },       { "\x0f\x09", 0, 0 },
	{ "\x0f\x30", 0, 0 },       { "\x0f\x31", 0, 0 },
	{ "\x0f\x32", 0, 0 },       { "\x0f\x33", 0, 0 },
	{ "\x0f\x34", 0, 0 },       { "\x0f\x35", 0, 0 },
	{ "\x0f\x37", 0, 0 },       { "\x0f\x78", 0, 0 },
	{ "\x0f\x79", 0, 0 },       { "\x0f\xa2", 0, 0 },
	{ "\x0f\xaa", 0, 0 },       { "\x0f\xae", 0xf8, 0xc0 }, /* rdfsbase and its like, with f3 */
	{ "\x0f\xae", 0xc7, 0 },                                /* fxsave … xsave …: by memory */
	{ "\x0f\xc7", 0x38, 0x18 }, { "\x0f\xc7", 0x38, 0x20 },
	{ "\x0f\xc7", 0x38, 0x28 }, { "\x0f\xc7", 0x38, 0x30 },
	{ "\x0f\xc7", 0x38, 0x38 }, { "\xc6", 0xff, 0xf8 }, /* transactions */
	{ "\xc7", 0xff, 0xf8 },     { "\x0f\x38\x80", 0, 0 },
	{ "\x0f\x38\x81", 0, 0 },   { "\x0f\x38\x82", 0, 0 },
	{ "\x0f\x38\xf5", 0, 0 },   { "\xe4", 0, 0 },
	{ "\xe5", 0, 0 },           { "\xe6", 0, 0 },
	{ "\xe7", 0, 0 },           { "\xec", 0, 0 },
	{ "\xed", 0, 0 },           { "\xee", 0, 0 },
	{ "\xef", 0, 0 },           { "\x6c", 0, 0 },
	{ "\x6d", 0, 0 },           { "\x6e", 0, 0 },
	{ "\x6f", 0, 0 },
};

/* MXCSR, cache lines: the rows of 0f ae by memory that may be stepped. */
static bool is_harmless(const struct never *n, const char *prefix, uint8_t modrm)
{
	unsigned middle = (modrm >> 3) & 7;

	if (strcmp(n->opcode, "\x0f\xae") != 0 || modrm >> 6 == 3 || *prefix == '\xf3' || *prefix == '\xf2')
		return false;
	return middle == 7 || (*prefix == '\x66' ? middle == 6 : middle == 2 || middle == 3);
}

static const enum vp_trap_wish wishes_of_steps[] = { VP_WISH_AUTO, VP_WISH_STEP, VP_WISH_HW };
#define NWISHES OT_ARRAY_SIZE(wishes_of_steps)

static void never_with(struct vp_planner *const planners[NWISHES], const struct never *n, const char *prefix,
		       uint8_t modrm)
{
	struct vp_batch_site site = { .gva = GVA };
	/* 0f 00 is one, too */
	size_t opcode = n->opcode[0] == '\x0f' && !n->opcode[1] ? 2 : strlen(n->opcode), at = 0;
	uint8_t bytes[15] = { 0 };

	for (; prefix[at]; at++)
		bytes[at] = (uint8_t)prefix[at];
	memcpy(bytes + at, n->opcode, opcode);
	bytes[at + opcode] = modrm;
	site.length = site.room = vp_insn_length(bytes, sizeof(bytes));
	if (!site.length || is_harmless(n, prefix, modrm))
		return;
	memcpy(site.bytes, bytes, site.length);
	for (size_t i = 0; i < NWISHES; i++) {
		struct vp_verdict v = vp_planner_site(planners[i], &site);
		if (v.kind != VP_PLAN_REFUSE)
			fail_msg("%02x %02x %02x %02x: %s", bytes[0], bytes[1], bytes[2], bytes[3],
				 vp_plan_kind_name(v.kind));
	}
}

static void never_stepped_whatever_the_operand(void **state)
{
	static const char *const prefixes[] = { "",         "\x66",     "\xf3", "\xf2",    "\x2e",
						"\x65",     "\x67",     "\x48", "\x41",    "\x4f",
						"\x66\x48", "\xf3\x48", "\xf0", "\x3e\x41" };
	struct vp_planner *planners[NWISHES];

	(void)state;
	for (size_t i = 0; i < NWISHES; i++)
		assert_ok(vp_planner_create(NULL, TEXT | INT3 | STEP | HW, wishes_of_steps[i], &planners[i]));
	for (size_t i = 0; i < OT_ARRAY_SIZE(never_opcodes); i++) {
		const struct never *n = &never_opcodes[i];
		for (size_t k = 0; k < OT_ARRAY_SIZE(prefixes); k++) {
			/* Its middle bits, from memory and as a register. */
			for (unsigned modrm = 0; modrm < 256; modrm += 4) {
				if ((modrm & n->mask) == n->value)
					never_with(planners, n, prefixes[k], (uint8_t)modrm);
			}
		}
	}
	for (size_t i = 0; i < NWISHES; i++)
		vp_planner_destroy(planners[i]);
}

/* What a step may do, or the tables would be safe by refusing everything. */
static void may_be_stepped(void **state)
{
	static const char *const rows[] = {
		CMPXCHG,
		"\x9b",                 /* fwait */
		"\xd9\xe8",             /* fld1 */
		"\x48\x87\x07",         /* xchg %rax,(%rdi) */
		"\x48\x0f\xc1\x07",     /* xadd */
		"\x48\x0f\xc7\x0f",     /* cmpxchg16b */
		"\x48\x0f\xab\x07",     /* bts %rax,(%rdi) */
		"\x48\x0f\xba\x2f\x05", /* bts $5,(%rdi) */
		"\xf3\x48\x0f\xb8\xc7", /* popcnt */
		"\x48\x0f\xbc\xc7",     /* bsf */
		"\x48\xf7\xf1",         /* div */
		"\x48\x0f\xa4\xd0\x05", /* shld */
		"\x48\x0f\xc8",         /* bswap */
		"\x0f\xae\xf0",         /* mfence */
		"\x0f\xae\xe8",         /* lfence */
		"\x0f\xae\x3f",         /* clflush */
		"\x0f\xae\x17",         /* ldmxcsr */
		"\x0f\x18\x0f",         /* prefetch */
		"\x0f\x6f\x07",         /* movq to a vector register */
		"\x66\x0f\x38\xdc\xc1", /* aesenc */
		"\x66\x0f\x3a\x44\xc1\x01",
		"\xc5\xf8\x77",         /* vzeroupper */
		"\xc4\xe2\x7d\x18\x07", /* vbroadcastss */
		"\xa4",                 /* movsb */
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++) {
		uint8_t length = (uint8_t)strlen(rows[i]);
		struct row r = { rows[i],      length,       0,      TEXT | INT3 | STEP,
				 VP_WISH_STEP, VP_PLAN_STEP, length, NULL };

		check(&r);
	}
}

static void debug_registers(void **state)
{
	static const struct row rows[] = {
		{ "\x55", 1, 0, TEXT | HW, VP_WISH_HW, VP_PLAN_HW, 0, NULL },
		{ "\x0f\x1f\x44\x00\x00", 5, 0, TEXT | HW, VP_WISH_HW, VP_PLAN_HW, 0, NULL },
		{ CMPXCHG, 4, 0, TEXT | HW, VP_WISH_HW, VP_PLAN_REFUSE, 0, "can't single-step" },
		{ CMPXCHG, 4, 0, TEXT | HW | STEP, VP_WISH_HW, VP_PLAN_HW, 0, NULL },
		{ "\x0f\x31", 2, 0, TEXT | HW | STEP, VP_WISH_HW, VP_PLAN_REFUSE, 0, "`rdtsc`" },
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++)
		check(&rows[i]);
}

/* In a process nothing is planted: any instruction has a debug register, whatever is wished, or is refused.
 */
static void in_processes(void **state)
{
	static const enum vp_trap_wish all[] = { VP_WISH_AUTO, VP_WISH_TEXT, VP_WISH_STEP, VP_WISH_HW };
	static const char *const rows[] = { "\x55", "\x0f\x31", "\x0f\x05", CMPXCHG };
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		struct vp_planner *p;

		assert_ok(vp_planner_create(NULL, TEXT | HW | VP_TRAPS_USER, all[i], &p));
		for (size_t k = 0; k < OT_ARRAY_SIZE(rows); k++) {
			struct vp_batch_site site = { .gva = 0x401ffeull };

			site.length = site.room = (uint8_t)strlen(rows[k]);
			memcpy(site.bytes, rows[k], site.length);
			struct vp_verdict v = vp_planner_site(p, &site);
			assert_int_equal(v.kind, VP_PLAN_HW);
			assert_int_equal(v.covers, 0);
			assert_int_equal(site.trap, VP_SITE_HW);
		}
		vp_planner_destroy(p);
	}
	struct vp_planner *p;
	struct vp_batch_site site = { .gva = 0x401000, .length = 1, .room = 1, .bytes = { 0x90 } };

	assert_ok(vp_planner_create(NULL, TEXT | HW | STEP, VP_WISH_AUTO, &p));
	struct vp_verdict v = vp_planner_site(p, &site);
	assert_int_equal(v.kind, VP_PLAN_REFUSE);
	assert_non_null(strstr(v.why, "does not stop programs at debug registers"));
	vp_planner_destroy(p);
}

/* One probe's places in a process are at most as many as registers. The kernel's are not concerned. */
static void together(void **state)
{
	struct vp_batch_site sites[VP_HW_SITES + 2] = { 0 };
	struct vp_planner *p;
	(void)state;

	assert_ok(vp_planner_create(NULL, TEXT | HW | VP_TRAPS_USER, VP_WISH_AUTO, &p));
	for (uint32_t i = 0; i < OT_ARRAY_SIZE(sites); i++)
		sites[i].gva = GVA + i;
	assert_null(vp_planner_together(p, sites, OT_ARRAY_SIZE(sites)));
	for (uint32_t i = 0; i <= VP_HW_SITES; i++)
		sites[i].gva = 0x401000 + i;
	assert_null(vp_planner_together(p, sites, VP_HW_SITES));
	const char *why = vp_planner_together(p, sites, VP_HW_SITES + 1);
	assert_non_null(why);
	assert_non_null(
	    strstr(why, "it has 5 places, and in a guest on KVM each takes one of 4 debug registers"));
	sites[1].gva = sites[0].gva; /* several processes at one address */
	assert_null(vp_planner_together(p, sites, VP_HW_SITES + 1));
	assert_null(vp_planner_together(p, NULL, 0));
	vp_planner_destroy(p);
}

static void wishes(void **state)
{
	static const struct {
		uint32_t traps;
		const char *word, *why;
	} rows[] = {
		{ 0, "auto", NULL },
		{ 0, "text", "need no traps" },
		{ 0, "hw", "need no traps" },
		{ TEXT, "text", NULL },
		{ TEXT, "step", "can't single-step" },
		{ TEXT | STEP, "step", NULL },
		{ TEXT | STEP, "hw", "no debug registers" },
		{ TEXT | HW, "hw", NULL },
	};
	enum vp_trap_wish wish;

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++) {
		assert_true(vp_trap_wish_parse(rows[i].word, &wish));
		struct ot_err *err = vp_planner_check(rows[i].traps, wish);
		assert_int_equal(!err, !rows[i].why);
		if (err)
			assert_non_null(strstr(ot_err_message(err), rows[i].why));
		ot_err_destroy(err);
	}
	assert_false(vp_trap_wish_parse("any", &wish));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_traps),     cmocka_unit_test(steps),
		cmocka_unit_test(never_stepped),  cmocka_unit_test(never_stepped_whatever_the_operand),
		cmocka_unit_test(may_be_stepped), cmocka_unit_test(debug_registers),
		cmocka_unit_test(in_processes),   cmocka_unit_test(together),
		cmocka_unit_test(wishes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
