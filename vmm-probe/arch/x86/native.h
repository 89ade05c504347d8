/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86-64's definitions for arch/native.h. */
#ifndef VP_ARCH_X86_NATIVE_H
#define VP_ARCH_X86_NATIVE_H

#include "vmm-probe/arch/x86/frames.h"
#include "vmm-probe/arch/x86/linux.h"
#include "vmm-probe/arch/x86/paging.h"
#include "vmm-probe/arch/x86/static_branch.h"
#include "vmm-probe/arch/x86/vector.h"

#define vp_native_paging      vp_x86_paging
#define vp_native_paging_root vp_x86_paging_root
#define VP_PAGING_REGS        VP_CR0, VP_EFER, VP_CR3, VP_CR4
#define VP_PAGING_LEVELS(n)   ((n) == 4 || (n) == 5)
#define VP_PAGING_LEVELS_MIN  4
/* The range of an entry of the top level with 4 levels: a direct map of up to 512 GiB. */
#define VP_DIRECT_MAP_SHIFT   39

#endif
