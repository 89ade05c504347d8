/* SPDX-License-Identifier: GPL-2.0-or-later */
/* No page tables: virtual addresses are physical. */
#ifndef VP_ARCH_NULL_PAGING_H
#define VP_ARCH_NULL_PAGING_H

#include "vmm-probe/arch/paging.h"

static const struct vp_paging vp_null_paging = { .identity = true, .page_shift = 12 };

#endif
