/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites that a jump of five bytes may replace, by their bytes: the nop of function tracing, and returns. A
 * kernel that is compiled with return thunks has a jump to one of these at each return, or has replaced that
 * jump when it booted: by one to another thunk, or by `ret` and four int3.
 */
#include <string.h>

#include "vmm-probe/arch/return_thunk.h"
#include "vmm-probe/arch/x86/insn/entry_mark.h"
#include "vmm-probe/arch/x86/insn/opcodes.h"
#include "vmm-probe/arch/x86/static_branch.h"
#include "vmm-probe/arch/x86/trampoline/emit.h"

bool vp_trampoline_fits(const uint8_t *code)
{
	return vp_native_is_nop5(code);
}

bool vp_trampoline_is_traced(const uint8_t *code, uint64_t len)
{
	uint32_t at = vp_entry_mark(code, len);

	return len >= at + VP_TRAMP_SITE && vp_native_is_nop5(code + at);
}

bool vp_trampoline_returns(const uint8_t *code, uint8_t room, uint64_t site, uint64_t *ret_to)
{
	static const uint8_t padded[VP_TRAMP_SITE] = { VP_OPCODE_RET, VP_OPCODE_INT3, VP_OPCODE_INT3,
						       VP_OPCODE_INT3, VP_OPCODE_INT3 };
	int32_t distance;

	if (room < VP_TRAMP_SITE)
		return false;
	if (code[0] == VP_OPCODE_JMP) {
		memcpy(&distance, code + 1, sizeof(distance));
		*ret_to = site + VP_TRAMP_SITE + (uint64_t)(int64_t)distance;
		return *ret_to != 0;
	}
	*ret_to = 0;
	return !memcmp(code, padded, sizeof(padded));
}

/* The bytes of the instruction that counts a return in the CPU's own word: shlq $5, %gs:…; 0: it is another.
 */
static unsigned counts_depth(const uint8_t *code)
{
	static const uint8_t shlq[] = { 0x65, 0x48, 0xc1 };

	if (memcmp(code, shlq, sizeof(shlq)) != 0)
		return 0;
	if (code[3] == 0x25 && code[8] == 5) /* from the next instruction on */
		return 9;
	return code[3] == 0x24 && code[4] == 0x25 && code[9] == 5 ? 10 : 0;
}

enum vp_thunk vp_return_thunk(const uint8_t code[VP_THUNK_BYTES], uint64_t at, bool called,
			      uint64_t *ret_next)
{
	/* lea 8(%rsp), %rsp; add $8, %rsp; each with a ret */
	static const uint8_t lea[] = { 0x48, 0x8d, 0x64, 0x24, 0x08, VP_OPCODE_RET },
			     add[] = { 0x48, 0x83, 0xc4, 0x08, VP_OPCODE_RET };
	const unsigned counts = counts_depth(code);
	int32_t distance;

	if (called)
		return memcmp(code, lea, sizeof(lea)) != 0 && memcmp(code, add, sizeof(add)) != 0
			   ? VP_THUNK_NONE
			   : VP_THUNK_RETURNS;
	if (code[0] == VP_OPCODE_RET || (counts && code[counts] == 0x74 && code[counts + 2] == VP_OPCODE_RET))
		return VP_THUNK_RETURNS;
	if (code[0] != VP_OPCODE_JMP && code[0] != VP_OPCODE_CALL)
		return VP_THUNK_NONE;
	memcpy(&distance, code + 1, sizeof(distance));
	*ret_next = at + 5 + (uint64_t)(int64_t)distance;
	return code[0] == VP_OPCODE_JMP ? VP_THUNK_GOES_ON : VP_THUNK_CALLS;
}

bool vp_trampoline_jump(uint64_t site, uint64_t at, uint8_t ret[VP_TRAMP_SITE])
{
	int32_t distance;

	if (!vp_emit_reaches(site + VP_TRAMP_SITE, at, &distance))
		return false;
	ret[0] = VP_OPCODE_JMP;
	memcpy(ret + 1, &distance, sizeof(distance));
	return true;
}
