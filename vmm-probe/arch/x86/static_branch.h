/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places that Linux patches on x86, in either form: a branch on a static key (arch/x86/kernel/jump_label.c),
 * a nop of 2 or 5 bytes or a jump of the same length; and function tracing's at a function's beginning
 * (arch/x86/kernel/ftrace.c), a nop of 5 bytes or a call. Before 5.13 the nop of 5 bytes depends on the CPU
 * (arch/x86/kernel/alternative.c, ideal_nops).
 */
#ifndef VP_ARCH_X86_STATIC_BRANCH_H
#define VP_ARCH_X86_STATIC_BRANCH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "vmm-probe/arch/x86/insn/opcodes.h"

static inline bool vp_native_is_nop5(const uint8_t *code)
{
	static const uint8_t p6[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 }, k8[] = { 0x66, 0x66, 0x66, 0x66, 0x90 };

	return !memcmp(code, p6, sizeof(p6)) || !memcmp(code, k8, sizeof(k8));
}

/** Are the five bytes at @p code function tracing's? */
static inline bool vp_native_is_fentry(const uint8_t *code)
{
	return *code == VP_OPCODE_CALL || vp_native_is_nop5(code);
}

/** Length of the branch at @p code, of which @p left bytes are there: the nop, or the jump to @p distance
 * from its beginning. 0: something else. */
static inline uint8_t vp_native_static_branch(const uint8_t *code, uint64_t left, int64_t distance)
{
	static const uint8_t nop2[] = { 0x66, 0x90 };
	int32_t rel32;

	if (left >= 5) {
		memcpy(&rel32, code + 1, sizeof(rel32));
		if (vp_native_is_nop5(code) || (code[0] == 0xe9 && rel32 == distance - 5))
			return 5;
	}
	if (left >= 2 && (!memcmp(code, nop2, 2) || (code[0] == 0xeb && (int8_t)code[1] == distance - 2)))
		return 2;
	return 0;
}

/* int3 */
static inline bool vp_native_is_breakpoint(const uint8_t *code, uint64_t len)
{
	return len == 1 && code[0] == VP_OPCODE_INT3;
}

/* nops, jmp, call: in any mode none of these bytes is an instruction alone. */
static inline bool vp_native_begins_longer(uint8_t byte)
{
	return byte == 0x0f || byte == 0x66 || byte == 0xe8 || byte == 0xe9 || byte == 0xeb;
}

#endif
