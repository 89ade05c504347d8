/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stack frames of programs on x86-64: the psABI's DWARF numbers of registers, Linux' frame of a signal, and
 * what linkers write for the procedure linkage table. */
#ifndef VP_ARCH_X86_FRAMES_H
#define VP_ARCH_X86_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* System V psABI, figure 3.36 */
#define VP_DWARF_FP 6u
#define VP_DWARF_SP 7u
#define VP_DWARF_RA 16u

/* struct ucontext, at the stack pointer where a signal's handler returns to: uc_flags, uc_link and uc_stack,
 * then struct sigcontext (arch/x86/include/uapi/asm/sigcontext.h) */
#define VP_SIGNAL_FRAME_FP 120u
#define VP_SIGNAL_FRAME_SP 160u
#define VP_SIGNAL_FRAME_PC 168u

/* The table's entries have 16 bytes and push one word, from this offset on. The linkers describe all of them
 * at once: rsp + 8 + ((rip & 15) >= OFFSET) * 8. 0: the expression is another one. */
static inline uint8_t vp_native_plt_pushed_at(const uint8_t *expression, size_t len)
{
	/* breg7 8, breg16 0, lit15, and, litN, ge, lit3, shl, plus */
	static const uint8_t head[] = { 0x77, 8, 0x80, 0, 0x3f, 0x1a }, tail[] = { 0x2a, 0x33, 0x24, 0x22 };
	const size_t at = sizeof(head);

	if (len != sizeof(head) + 1 + sizeof(tail) || memcmp(expression, head, sizeof(head)) != 0 ||
	    memcmp(expression + at + 1, tail, sizeof(tail)) != 0 || expression[at] <= 0x30 ||
	    expression[at] > 0x3f)
		return 0;
	return expression[at] - 0x30;
}

/* The bytes that such an entry has pushed at @pc. */
static inline uint64_t vp_native_plt_pushed(uint64_t pc, uint64_t pushed_at)
{
	return (pc & 15) >= pushed_at ? 8 : 0;
}

#endif
