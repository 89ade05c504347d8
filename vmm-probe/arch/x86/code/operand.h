/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operands of x86-64 in the notes of static probes. */
#ifndef VP_ARCH_X86_CODE_OPERAND_H
#define VP_ARCH_X86_CODE_OPERAND_H

#include "vmm-probe/arch/code.h"

/** vp_code_ops.operand of x86-64, as GNU as and LLVM write operands by default (AT&T's syntax). */
const char *vp_x86_operand(const char *text, size_t len, struct vp_asm_operand *ret);

#endif
