/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of x86-64's instructions: entries, padding, and the bytes that a trap covers. */
#include <string.h>

#include "vmm-probe/arch/x86/code/branch.h"
#include "vmm-probe/arch/x86/code/code.h"
#include "vmm-probe/arch/x86/code/execute.h"
#include "vmm-probe/arch/x86/code/increment.h"
#include "vmm-probe/arch/x86/code/jump.h"
#include "vmm-probe/arch/x86/code/move.h"
#include "vmm-probe/arch/x86/code/operand.h"
#include "vmm-probe/arch/x86/code/steppable.h"
#include "vmm-probe/arch/x86/insn/entry_mark.h"
#include "vmm-probe/arch/x86/insn/insn.h"
#include "vmm-probe/arch/x86/insn/opcodes.h"
#include "vmm-probe/arch/x86/insn/shape.h"

#define JUMP_LENGTH 5

static uint32_t entry(const uint8_t *bytes, uint64_t len)
{
	return len > VP_ENTRY_MARK ? vp_entry_mark(bytes, len) : 0;
}

static uint8_t breakpoint(const uint8_t *bytes, uint64_t len)
{
	return len && bytes[0] == VP_OPCODE_INT3;
}

/* An instruction that never falls through is followed by int3, against speculation or up to where the next
 * function begins: a byte of those may be used, and behind a ret as many as a jump needs. */
static uint8_t room(const uint8_t *bytes, uint8_t len, uint64_t left)
{
	uint8_t most = len == 1 && bytes[0] == VP_OPCODE_RET ? JUMP_LENGTH : len + 1, n = len;

	while (n < most && n < left && n < VP_INSN_MAX && bytes[n] == VP_OPCODE_INT3)
		n++;
	return n;
}

/* An `out` has two bytes. An instruction of one byte needs int3, except a ret that is followed by an int3. */
static uint8_t covers(const uint8_t *bytes, uint8_t len, uint8_t room)
{
	return len == 1 && bytes[0] == VP_OPCODE_RET && room >= 2 ? 2 : len;
}

static enum vp_emulation emulation(const uint8_t *bytes, uint8_t len, uint64_t gva)
{
	struct vp_insn insn;

	if (!vp_insn_decode(bytes, len, gva, &insn) || insn.len != len)
		return VP_EMULATION_NONE;
	return insn.op == VP_INSN_NOP ? VP_EMULATION_NOP : VP_EMULATION_INSN;
}

const struct vp_code_ops vp_x86_code = {
	.length = vp_insn_length,
	.branch = vp_x86_branch,
	.jump_operand = vp_x86_jump_operand,
	.move = vp_x86_move,
	.entry = entry,
	.breakpoint = breakpoint,
	.find_call = vp_x86_find_call,
	.increment = vp_x86_increment,
	.find_increment = vp_x86_find_increment,
	.nop = { VP_OPCODE_NOP },
	.nop_len = 1,
	.operand = vp_x86_operand,
	.room = room,
	.covers = covers,
	.emulation = emulation,
	.stepper_create = vp_x86_stepper_create,
	.stepper_destroy = vp_x86_stepper_destroy,
	.stepper_refuses = vp_x86_stepper_refuses,
	.executor_create = vp_x86_executor_create,
};
