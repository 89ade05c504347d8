/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opcodes of one byte that decide about traps (Intel's Software Developer's Manual, volume 2). */
#ifndef VP_ARCH_X86_INSN_OPCODES_H
#define VP_ARCH_X86_INSN_OPCODES_H

#define VP_OPCODE_INT3 0xccu /* also padding behind jumps and returns */
#define VP_OPCODE_NOP  0x90u
#define VP_OPCODE_RET  0xc3u
#define VP_OPCODE_CALL 0xe8u /* with a 32-bit displacement */
#define VP_OPCODE_JMP  0xe9u /* the same */
#define VP_OPCODE_OUT  0xe6u /* of AL to an 8-bit port: two bytes */

#endif
