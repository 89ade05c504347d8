/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/provider/sites: entries and ways out, one kind after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm-probe/arch/arch.h"
#include "vmm-probe/provider/sites.h"

#define GVA 0xffffffff81234560ull

static void assert_ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

static struct vp_exits exits_of(const void *code, uint32_t len)
{
	struct vp_exits e = { 0 };
	/* Exactly so large a block, so that a sanitizer sees any byte read behind it. */
	uint8_t *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, code, len);
	struct ot_err *err = vp_exits_find(GVA, copy, len, &e);

	free(copy);
	if (err)
		fail_msg("%s", ot_err_message(err));
	return e;
}

/* One way out, there and of that kind. */
static void one(const char *code, uint32_t len, uint32_t offset, uint8_t length, enum vp_branch_kind kind,
		uint64_t target)
{
	struct vp_exits e = exits_of(code, len);

	assert_int_equal(e.count, 1);
	assert_false(e.incomplete);
	assert_int_equal(e.list[0].offset, offset);
	assert_int_equal(e.list[0].length, length);
	assert_int_equal(e.list[0].branch.kind, kind);
	assert_true(e.list[0].branch.target == target);
	vp_exits_deinit(&e);
}

static void none(const char *code, uint32_t len)
{
	struct vp_exits e = exits_of(code, len);

	assert_int_equal(e.count, 0);
	assert_false(e.incomplete);
	vp_exits_deinit(&e);
}

#define ONE(code, ...) one(code, sizeof(code) - 1, __VA_ARGS__)
#define NONE(code)     none(code, sizeof(code) - 1)

static void returns(void **state)
{
	(void)state;
	ONE("\x0f\x1f\x44\x00\x00\x31\xc0\xc3", 7, 1, VP_BRANCH_RETURN, 0);
	ONE("\x31\xc0\xc3\xcc\xcc\xcc\xcc", 2, 1, VP_BRANCH_RETURN, 0);         /* with padding */
	ONE("\xf3\xc3", 0, 2, VP_BRANCH_RETURN, 0);                             /* rep ret */
	ONE("\xc2\x08\x00", 0, 3, VP_BRANCH_RETURN, 0);                         /* ret 8 */
	ONE("\xb8\xc3\xc3\xc3\xc3\xc3", 5, 1, VP_BRANCH_RETURN, 0);             /* c3 in an immediate */
	ONE("\x48\x8b\x84\xc3\xc3\xc3\xc3\x00\xc3", 8, 1, VP_BRANCH_RETURN, 0); /* c3 in an operand */
}

static void direct_jumps(void **state)
{
	(void)state;
	ONE("\x31\xc0\xe9\x00\x01\x00\x00", 2, 5, VP_BRANCH_JUMP, GVA + 7 + 0x100);
	ONE("\xe9\xf0\xff\xff\xff", 0, 5, VP_BRANCH_JUMP, GVA + 5 - 0x10);      /* backwards, out */
	ONE("\xeb\x40", 0, 2, VP_BRANCH_JUMP, GVA + 2 + 0x40);                  /* short, out */
	ONE("\x2e\xe9\x00\x01\x00\x00", 0, 6, VP_BRANCH_JUMP, GVA + 6 + 0x100); /* padded by a prefix */
	ONE("\x90\xe9\x00\x00\x00\x00", 1, 5, VP_BRANCH_JUMP, GVA + 6); /* to the byte behind the function */
	NONE("\x90\xeb\xfd");                                           /* a loop */
	NONE("\xe9\x00\x00\x00\x00\xeb\xfe");                           /* inside */
	NONE("\xe8\x00\x01\x00\x00\x0f\x0b");                           /* a call, then ud2 */
}

static void conditional_jumps(void **state)
{
	(void)state;
	ONE("\x0f\x84\x00\x01\x00\x00", 0, 6, VP_BRANCH_JUMP_IF, GVA + 6 + 0x100);
	ONE("\x75\x40", 0, 2, VP_BRANCH_JUMP_IF, GVA + 2 + 0x40);
	NONE("\x75\x00\x90\x75\xfb");
	NONE("\x0f\x1f\x84\x00\x00\x01\x00\x00"); /* a long nop: 0f, but no jump */
}

static void indirect_jumps(void **state)
{
	(void)state;
	ONE("\xff\xe0", 0, 2, VP_BRANCH_INDIRECT, 0);                 /* jmp *%rax */
	ONE("\x41\xff\xe3", 0, 3, VP_BRANCH_INDIRECT, 0);             /* jmp *%r11 */
	ONE("\xff\x60\x18", 0, 3, VP_BRANCH_INDIRECT, 0);             /* jmp *0x18(%rax) */
	ONE("\xff\x25\x00\x01\x00\x00", 0, 6, VP_BRANCH_INDIRECT, 0); /* jmp *0x100(%rip) */
	ONE("\xff\x64\x24\x08", 0, 4, VP_BRANCH_INDIRECT, 0);         /* jmp *8(%rsp): a SIB without index */
	NONE("\xff\x24\xc5\x00\x00\x00\x81");                         /* jmp *table(,%rax,8) */
	NONE("\x3e\xff\xe0");                                         /* notrack jmp *%rax */
	NONE("\xff\xd0\xff\xc0\xff\x30");                             /* call *%rax, inc %eax, push (%rax) */
}

/* Whoever can tell at a hit where they go wants them too. */
static void jumps_by_a_table(void **state)
{
	static const uint8_t code[] = { 0xff, 0x24, 0xc5, 0, 0, 0, 0x81, 0x3e, 0xff, 0xe0, 0xc3 };
	struct vp_exits e = { .want_tables = true };
	(void)state;

	assert_ok(vp_exits_find(GVA, code, sizeof(code), &e));
	assert_int_equal(e.count, 3);
	assert_int_equal(e.list[0].branch.kind, VP_BRANCH_TABLE);
	assert_int_equal(e.list[1].offset, 7);
	assert_int_equal(e.list[1].branch.kind, VP_BRANCH_TABLE);
	assert_int_equal(e.list[2].offset, 10);
	vp_exits_deinit(&e);
}

/* Copies of eight bytes between registers and memory. */
static void moves(void **state)
{
	static const struct {
		const char *code;
		uint8_t len;
		struct vp_move move;
	} rows[] = {
		{ "\x4d\x8b\x6c\x24\x58", 5, { false, VP_R13, VP_R12, 0x58 } },
		{ "\x49\x89\x9c\x24\xf8\x00\x00\x00", 8, { true, VP_RBX, VP_R12, 0xf8 } },
		{ "\x48\x89\x43\xf0", 4, { true, VP_RAX, VP_RBX, -16 } },
		{ "\x48\x8b\x3f", 3, { false, VP_RDI, VP_RDI, 0 } },
		{ "\x4c\x8b\x45\x00", 4, { false, VP_R8, VP_RBP, 0 } },
		{ "\x48\x8b\x85\x00\xff\xff\xff", 7, { false, VP_RAX, VP_RBP, -256 } },
		{ "\x48\x89\x04\x24", 4, { true, VP_RAX, VP_RSP, 0 } },
	};
	static const struct {
		const char *code;
		uint8_t len;
	} none[] = {
		{ "\x8b\x43\x58\x90", 4 },                 /* four bytes */
		{ "\x48\x89\xc3\x90", 4 },                 /* between registers */
		{ "\x48\x8b\x05\x00\x01\x00\x00", 7 },     /* from the next instruction on */
		{ "\x48\x8b\x04\xc3", 4 },                 /* an index */
		{ "\x4a\x8b\x04\x23", 4 },                 /* … which is r12 */
		{ "\x48\x8b\x04\x25\x00\x01\x00\x00", 8 }, /* no base */
		{ "\x48\x8d\x43\x58", 4 },                 /* the address itself */
	};
	struct vp_move m = { .displacement = 77 };

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(none); i++)
		assert_false(vp_arch_x86.code->move((const uint8_t *)none[i].code, none[i].len, &m));
	assert_int_equal(m.displacement, 77);
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++) {
		const uint8_t *code = (const uint8_t *)rows[i].code;

		for (uint8_t len = 0; len < rows[i].len; len++)
			assert_false(vp_arch_x86.code->move(code, len, &m));
		assert_true(vp_arch_x86.code->move(code, rows[i].len, &m));
		assert_int_equal(m.store, rows[i].move.store);
		assert_int_equal(m.reg, rows[i].move.reg);
		assert_int_equal(m.base, rows[i].move.base);
		assert_int_equal(m.displacement, rows[i].move.displacement);
	}
}

/* Where the target of an indirect jump is. */
static void jump_operands(void **state)
{
	static const struct {
		const char *code;
		uint8_t len;
		struct vp_asm_operand op;
	} rows[] = {
		{ "\xff\xe0", 2, { .kind = VP_ASM_REG, .has_base = true, .base = VP_RAX } },
		{ "\x3e\x41\xff\xe4", 4, { .kind = VP_ASM_REG, .has_base = true, .base = VP_R12 } },
		{ "\xff\x60\x18",
		  3,
		  { .kind = VP_ASM_MEMORY, .has_base = true, .base = VP_RAX, .value = 24 } },
		{ "\x41\xff\xa5\xf0\xff\xff\xff",
		  7,
		  { .kind = VP_ASM_MEMORY, .has_base = true, .base = VP_R13, .value = (uint64_t)-16 } },
		{ "\xff\x25\x00\x01\x00\x00", 6, { .kind = VP_ASM_MEMORY, .value = GVA + 6 + 0x100 } },
		{ "\xff\x64\x24\x08",
		  4,
		  { .kind = VP_ASM_MEMORY, .has_base = true, .base = VP_RSP, .value = 8 } },
		{ "\x42\xff\x24\xe2",
		  4,
		  { .kind = VP_ASM_MEMORY,
		    .has_base = true,
		    .base = VP_RDX,
		    .has_index = true,
		    .index = VP_R12,
		    .scale = 3 } },
		{ "\xff\x24\xc5\x00\x00\x00\x81",
		  7,
		  { .kind = VP_ASM_MEMORY,
		    .has_index = true,
		    .index = VP_RAX,
		    .scale = 3,
		    .value = 0xffffffff81000000 } },
	};
	static const char *const none[] = { "\xff\xd0", "\xff\x28", "\x64\xff\x20", "\x67\xff\x20",
					    "\x66\xff\xe0" };
	struct vp_asm_operand op = { .size = 77 };
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(none); i++) /* a call, a far jump, %fs, 32 and 16 bits */
		assert_false(vp_arch_x86.code->jump_operand((const uint8_t *)none[i],
							    (uint8_t)strlen(none[i]), GVA, &op));
	assert_int_equal(op.size, 77);
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++) {
		const uint8_t *code = (const uint8_t *)rows[i].code;

		for (uint8_t len = 0; len < rows[i].len; len++)
			assert_false(vp_arch_x86.code->jump_operand(code, len, GVA, &op));
		assert_true(vp_arch_x86.code->jump_operand(code, rows[i].len, GVA, &op));
		assert_int_equal(op.kind, rows[i].op.kind);
		assert_int_equal(op.value, rows[i].op.value);
		assert_int_equal(op.has_base, rows[i].op.has_base);
		assert_int_equal(op.has_index, rows[i].op.has_index);
		assert_true(!op.has_base || op.base == rows[i].op.base);
		assert_true(!op.has_index || (op.index == rows[i].op.index && op.scale == rows[i].op.scale));
		assert_int_equal(op.size, 8);
	}
}

static void several_ways_out(void **state)
{
	static const char code[] = "\x85\xff"                 /* 0: test %edi,%edi */
				   "\x74\x05"                 /* 2: je 9 */
				   "\xe9\x00\x10\x00\x00"     /* 4: jmp away */
				   "\x31\xc0"                 /* 9: xor %eax,%eax */
				   "\xc3"                     /* 11: ret */
				   "\xcc"                     /* 12 */
				   "\x0f\x85\xed\xff\xff\xff" /* 13: jne 0 */
				   "\xc3";                    /* 19: ret */
	struct vp_exits e = exits_of(code, sizeof(code) - 1);

	(void)state;
	assert_int_equal(e.count, 3);
	assert_int_equal(e.list[0].offset, 4);
	assert_int_equal(e.list[1].offset, 11);
	assert_int_equal(e.list[2].offset, 19);
	vp_exits_deinit(&e);
}

/* Instructions that older disassemblers don't know: what follows them must be seen where it is. */
static void new_instructions_are_stepped_over(void **state)
{
	(void)state;
	ONE("\x0f\x01\xe8\xc3", 3, 1, VP_BRANCH_RETURN, 0);                 /* serialize */
	ONE("\x0f\x01\xee\xc3", 3, 1, VP_BRANCH_RETURN, 0);                 /* rdpkru */
	ONE("\x66\x0f\xae\xf1\xc3", 4, 1, VP_BRANCH_RETURN, 0);             /* tpause %ecx */
	ONE("\x67\x0f\xb9\x40\xc3\xc3", 5, 1, VP_BRANCH_RETURN, 0);         /* ud1 -0x3d(%eax) */
	ONE("\xf2\x0f\x01\xc6\xc3", 4, 1, VP_BRANCH_RETURN, 0);             /* a form of wrmsrns' family */
	ONE("\xc4\xe2\x78\x49\xc0\xc3", 5, 1, VP_BRANCH_RETURN, 0);         /* tilerelease */
	ONE("\x62\xf1\x7d\x08\x72\xc0\xc3\xc3", 7, 1, VP_BRANCH_RETURN, 0); /* vprord $0xc3 */
	ONE("\x62\xf3\x7d\x08\x25\xc0\xc3\xc3", 7, 1, VP_BRANCH_RETURN, 0); /* vpternlogd $0xc3 */
	ONE("\x62\xf2\x7d\x08\x58\x48\xc3\xc3", 7, 1, VP_BRANCH_RETURN, 0); /* with an 8-bit displacement */
}

static void what_is_no_code_ends_the_search(void **state)
{
	static const char code[] = "\xc3\x06\xc3";
	struct vp_exits e = exits_of(code, 3); /* 06 is no instruction of 64-bit code */

	(void)state;
	assert_int_equal(e.count, 1);
	assert_true(e.incomplete);
	vp_exits_deinit(&e);
	e = exits_of("\x31\xc0\xe9\x00\x01", 5); /* cut off by the symbol's end */
	assert_int_equal(e.count, 0);
	assert_true(e.incomplete);
	vp_exits_deinit(&e);
	e = exits_of("", 0);
	assert_int_equal(e.count, 0);
	assert_false(e.incomplete);
	vp_exits_deinit(&e);
}

/* Whatever the bytes: nothing read behind them, every site inside. */
static void any_bytes_are_survived(void **state)
{
	uint64_t x = 88172645463325252ull;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		uint8_t code[24];
		uint32_t len = (uint32_t)(round % 25);

		for (unsigned i = 0; i < sizeof(code); i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			/* Half of them opcodes that begin something long. */
			code[i] =
			    x & 0x100 ? (uint8_t)x : (uint8_t) "\x62\xc4\x0f\x66\x3e\xff\xe9\x67"[x & 7];
		}
		struct vp_exits e = exits_of(code, len);

		for (size_t i = 0; i < e.count; i++)
			assert_true(e.list[i].length && e.list[i].offset + e.list[i].length <= len);
		vp_exits_deinit(&e);
	}
}

static void entries(void **state)
{
	(void)state;
	assert_int_equal(vp_entry_offset((const uint8_t *)"\xf3\x0f\x1e\xfa\x55\x90", 6), 4);
	assert_int_equal(vp_entry_offset((const uint8_t *)"\x66\x0f\x1f\x00\x55\x90", 6), 4);
	assert_int_equal(vp_entry_offset((const uint8_t *)"\x0f\x1f\x40\xd6\x55\x90", 6), 4);
	assert_int_equal(vp_entry_offset((const uint8_t *)"\x0f\x1f\x44\x00\x00\x55", 6), 0);
	assert_int_equal(vp_entry_offset((const uint8_t *)"\xf3\x0f\x1e\xfa", 4), 0); /* nothing behind it */
	assert_int_equal(vp_entry_offset((const uint8_t *)"\xf3", 1), 0);
}

/* Where branches inside a function go: to instructions, and what must not be, into the middle of one. */
static void branch_targets(void **state)
{
	/* 0: dec %rdi; 3: jnz 0; 5: jrcxz 9; 7: jmp 10; 9: ret; 10: int3; 11: jmp out */
	static const uint8_t code[] = "\x48\xff\xcf\x75\xfb\xe3\x02\xeb\x01\xc3\xcc\xe9\x00\x10\x00\x00";
	struct vp_exits e = { .want_targets = true };

	(void)state;
	assert_ok(vp_exits_find(GVA, code, sizeof(code) - 1, &e));
	assert_int_equal(e.count, 2);
	assert_int_equal(e.ntargets, 3);
	assert_true(vp_exits_has_target(&e, 0, 1));
	assert_false(vp_exits_has_target(&e, 1, 9));
	assert_true(vp_exits_has_target(&e, 9, 10));
	/* the int3 that a trap on the ret would cover */
	assert_true(vp_exits_has_target(&e, 10, 11));
	assert_false(vp_exits_has_target(&e, 11, 16));
	e.want_targets = false;
	assert_ok(vp_exits_find(GVA, code, sizeof(code) - 1, &e));
	assert_int_equal(e.ntargets, 0);
	vp_exits_deinit(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branch_targets),
		cmocka_unit_test(returns),
		cmocka_unit_test(direct_jumps),
		cmocka_unit_test(conditional_jumps),
		cmocka_unit_test(indirect_jumps),
		cmocka_unit_test(jumps_by_a_table),
		cmocka_unit_test(jump_operands),
		cmocka_unit_test(moves),
		cmocka_unit_test(several_ways_out),
		cmocka_unit_test(new_instructions_are_stepped_over),
		cmocka_unit_test(what_is_no_code_ends_the_search),
		cmocka_unit_test(any_bytes_are_survived),
		cmocka_unit_test(entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
