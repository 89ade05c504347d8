/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and emulating x86-64 code: the table of the operations. */
#ifndef VP_ARCH_X86_CODE_CODE_H
#define VP_ARCH_X86_CODE_CODE_H

#include "vmm-probe/arch/code.h"

extern const struct vp_code_ops vp_x86_code;

#endif
