/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies between registers and memory, as struct vp_code_ops documents them. */
#ifndef VP_ARCH_X86_CODE_MOVE_H
#define VP_ARCH_X86_CODE_MOVE_H

#include "vmm-probe/arch/code.h"

bool vp_x86_move(const uint8_t *bytes, uint64_t len, struct vp_move *ret);

#endif
