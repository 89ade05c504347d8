/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mark of a target of indirect calls, with which a function may begin. Any thread. */
#ifndef VP_ARCH_X86_INSN_ENTRY_MARK_H
#define VP_ARCH_X86_INSN_ENTRY_MARK_H

#include <stdint.h>
#include <string.h>

#define VP_ENTRY_MARK 4u

/** Bytes of the mark at the beginning of @p bytes: VP_ENTRY_MARK, or 0 for none. It is endbr64, or what the
 * kernel puts in its place in functions that are not called indirectly: gen_endbr_poison() of asm/ibt.h,
 * which is another nop since Linux 6.15. */
static inline uint32_t vp_entry_mark(const uint8_t *bytes, uint64_t len)
{
	static const uint8_t marks[][VP_ENTRY_MARK] = {
		{ 0xf3, 0x0f, 0x1e, 0xfa },
		{ 0x66, 0x0f, 0x1f, 0x00 },
		{ 0x0f, 0x1f, 0x40, 0xd6 },
	};

	for (unsigned i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (len >= VP_ENTRY_MARK && !memcmp(bytes, marks[i], VP_ENTRY_MARK))
			return VP_ENTRY_MARK;
	return 0;
}

#endif
