/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linux's constants on x86-64. */
#ifndef VP_ARCH_X86_LINUX_H
#define VP_ARCH_X86_LINUX_H

/* __START_KERNEL_map to the modules' area; only the image is mapped there
 * (Documentation/arch/x86/x86_64/mm.rst) */
#define VP_KERNEL_MAP_START 0xffffffff80000000ull
#define VP_KERNEL_MAP_END   0xffffffffc0000000ull
/* Where kernels are linked to be: __START_KERNEL_map + CONFIG_PHYSICAL_START */
#define VP_KERNEL_LINK_BASE 0xffffffff81000000ull
/* MODULES_END, arch/x86/include/asm/pgtable_64_types.h; the area begins after the kernel's image. */
#define VP_MODULES_END      0xffffffffff000000ull

/* Constants begin at the next 2 MiB behind the text (arch/x86/kernel/vmlinux.lds.S). */
#define VP_KERNEL_CONSTANTS_ALIGN (2ull << 20)

/* e_machine of its ELF files */
#define VP_ELF_MACHINE EM_X86_64

#endif
