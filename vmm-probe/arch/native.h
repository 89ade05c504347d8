/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The architecture that this is built for, as constants and inline functions: engines and backends are of one
 * architecture, and a hit pays for no indirect call. The interface for the operator's process is in arch.h.
 *
 * An architecture's native.h defines
 *   vp_native_paging              the format of its page tables
 *   vp_native_paging_root()       the page tables that a vCPU uses
 *   vp_native_may_be_64bit()      may a vCPU run a 64-bit kernel?
 *   VP_PAGING_REGS                the registers that this reads
 *   VP_PAGING_LEVELS(n)           may there be n levels?
 *   VP_PAGING_LEVELS_MIN          the fewest
 *   vp_native_vector()            the address of an entry of a vCPU's table of exception handlers; 0: unknown
 *   VP_VECTOR_WORDS               of 64 bits in such an entry
 *   vp_native_vector_handler()    the handler's address in it
 *   vp_native_static_branch()     the length of a branch on a static key; 0: none stands there
 *   vp_native_is_fentry()         are these the five bytes of function tracing, off or on?
 *   vp_native_is_breakpoint()     is this instruction the one that a kernel patches its text under?
 *   vp_native_begins_longer()     is this a first byte of what a kernel puts in the place of such an
 *                                 instruction, and of longer ones only?
 *   VP_DIRECT_MAP_SHIFT           log2 of the part of the address space in which Linux maps all of a guest's
 * memory, or its beginning
 *   VP_KERNEL_MAP_START, _END     where Linux maps its image, and nothing else: [start, end)
 *   VP_KERNEL_LINK_BASE           where its image is linked to be
 *   VP_KERNEL_CONSTANTS_ALIGN     of the constants behind its text
 *   VP_MODULES_END                of the modules' area
 *   VP_ELF_MACHINE                e_machine of its ELF files
 *   VP_DWARF_FP, _SP, _RA         DWARF's numbers of the frame pointer, the stack pointer, the return address
 * VP_SIGNAL_FRAME_FP, _SP, _PC their places in the kernel's frame for a signal, from the stack pointer of the
 * code that the signal's handler returns to vp_native_plt_pushed_at() the offset in an entry of the procedure
 * linkage table from which on one more word is on the stack, by the DWARF expression that describes it; 0:
 * that is something else vp_native_plt_pushed() bytes that the entry has pushed when it is at an address
 */
#ifndef VP_ARCH_NATIVE_H
#define VP_ARCH_NATIVE_H

#ifdef VP_ARCH_NULL
#include "vmm-probe/arch/null/native.h"
#else
#include "vmm-probe/arch/x86/native.h"
#endif

#endif
