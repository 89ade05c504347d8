/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Branches, as struct vp_code_ops documents them. */
#ifndef VP_ARCH_X86_CODE_BRANCH_H
#define VP_ARCH_X86_CODE_BRANCH_H

#include <stdbool.h>

#include "vmm-probe/arch/code.h"

struct vp_branch vp_x86_branch(const uint8_t *bytes, uint8_t len, uint64_t gva);
uint64_t vp_x86_find_call(const uint8_t *code, uint64_t len, uint64_t gva, uint64_t from, uint64_t target);

#endif
