/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Increments of per-CPU counters: `inc %gs:COUNTER(%rip)`, and add, sub and dec of the same form
 * (arch/x86/include/asm/percpu.h). They are found by their first bytes, then by decoding.
 */
#include "vmm-probe/arch/x86/code/increment.h"

#include <string.h>

#include "vmm-probe/arch/x86/insn/insn.h"

#define PREFIX_GS     0x65
#define INCREMENT_MIN 8u /* bytes of the shortest */

bool vp_x86_increment(const uint8_t *bytes, uint64_t len, uint64_t gva, struct vp_increment *ret)
{
	struct vp_insn insn;

	if (!vp_insn_decode(bytes, len < 15 ? (unsigned)len : 15, gva, &insn) || insn.size != 8 ||
	    insn.dst.kind != VP_OPERAND_MEM || !insn.dst.gs || insn.dst.index != VP_NO_REG ||
	    (insn.dst.base != VP_REG_RIP && insn.dst.base != VP_NO_REG))
		return false;
	struct vp_increment found = { .len = insn.len, .by = 1 };
	switch (insn.op) {
	case VP_INSN_INC:
		break;
	case VP_INSN_DEC:
		found.by = -1;
		break;
	case VP_INSN_ADD:
		found.by_register = insn.src.kind == VP_OPERAND_REG;
		found.reg = found.by_register ? insn.src.reg : 0;
		found.by = insn.src.value;
		break;
	case VP_INSN_SUB:
		if (insn.src.kind != VP_OPERAND_IMM)
			return false;
		found.by = -insn.src.value;
		break;
	default:
		return false;
	}
	found.counter = (uint64_t)insn.dst.value + (insn.dst.base == VP_REG_RIP ? gva + insn.len : 0);
	*ret = found;
	return true;
}

uint64_t vp_x86_find_increment(const uint8_t *code, uint64_t len, uint64_t gva, uint64_t from,
			       struct vp_increment *ret)
{
	for (uint64_t at = from; at < len && len - at >= INCREMENT_MIN; at++) {
		const uint8_t *p = memchr(code + at, PREFIX_GS, len - at);
		if (!p)
			break;
		at = (uint64_t)(p - code);
		/* REX.W behind it: most are ruled out by that */
		if (len - at >= INCREMENT_MIN && (p[1] & 0xf8) == 0x48 &&
		    vp_x86_increment(p, len - at, gva + at, ret))
			return at;
	}
	return len;
}
