/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The null architecture's kernel: a MiB at 8 GiB, where no number of a symbol list is taken for an address;
 * modules are in the next one. */
#ifndef VP_ARCH_NULL_LINUX_H
#define VP_ARCH_NULL_LINUX_H

#define VP_KERNEL_MAP_START       (8ull << 30)
#define VP_KERNEL_MAP_END         (VP_KERNEL_MAP_START + (1u << 20))
#define VP_KERNEL_LINK_BASE       VP_KERNEL_MAP_START
#define VP_MODULES_END            (VP_KERNEL_MAP_END + (1u << 20))
#define VP_KERNEL_CONSTANTS_ALIGN 4096u
#define VP_ELF_MACHINE            EM_NONE

#endif
