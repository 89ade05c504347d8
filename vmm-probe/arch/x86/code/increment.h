/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Increments of per-CPU counters. */
#ifndef VP_ARCH_X86_CODE_INCREMENT_H
#define VP_ARCH_X86_CODE_INCREMENT_H

#include "vmm-probe/arch/code.h"

/** As vp_code_ops.increment and find_increment. */
bool vp_x86_increment(const uint8_t *bytes, uint64_t len, uint64_t gva, struct vp_increment *ret);
uint64_t vp_x86_find_increment(const uint8_t *code, uint64_t len, uint64_t gva, uint64_t from,
			       struct vp_increment *ret);

#endif
