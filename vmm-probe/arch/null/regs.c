/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The null architecture's registers have no names in QEMU or gdb. */
#include "vmm-probe/arch/regs.h"

#include <stddef.h>

const char *const vp_reg_names[VP_NREGS] = { NULL };
