/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Targets of indirect jumps, as struct vp_code_ops documents them. */
#ifndef VP_ARCH_X86_CODE_JUMP_H
#define VP_ARCH_X86_CODE_JUMP_H

#include "vmm-probe/arch/code.h"

bool vp_x86_jump_operand(const uint8_t *bytes, uint8_t len, uint64_t gva, struct vp_asm_operand *ret);

#endif
