/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's own state of a vCPU, whose first members are the general registers. The plugin API reads a register
 * in 30 to 60 ns, which is most of a hit that records arguments; from this state it is one load. Translated
 * code keeps the state's address in one of the host's registers, and calls callbacks with that register as it
 * is.
 *
 * No API promises either. So nothing is assumed: at poll points its contents are compared with the API's
 * values at the same instruction, and it is used only for a vCPU all of whose registers were found there.
 * Before that, and at any other address, registers are the API's.
 */
#ifndef VP_TCG_CPU_STATE_H
#define VP_TCG_CPU_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm-probe/arch/regs.h"

/** Do the registers in @p regs, by their numbers from 0 on, equal the words at @p state? False also if too
 * many of them are equal to each other for a proof. @p state may be any address: it is read by the kernel. */
bool vp_tcg_state_is(const void *state, const uint64_t regs[VP_NREGS_GENERAL]);

/*
 * Defines @name, a callback for instructions of translated code, which calls
 *
 *   void target(unsigned int vcpu, void *udata, const uint64_t *state)
 *
 * with a candidate for the vCPU's state as third argument. @target has external linkage.
 */
/* clang-format off */
#define VP_TCG_ENTRY(name, target)                                       \
	__asm__(".pushsection .text\n"                                   \
		".balign 16\n"                                           \
		".hidden " #name ", " #target "\n"                       \
		".globl " #name "\n"                                     \
		".type " #name ", @function\n"                           \
		#name ":\n"                                              \
		".cfi_startproc\n"                                       \
		"	mov	%rbp, %rdx\n"                            \
		"	jmp	" #target "\n"                           \
		".cfi_endproc\n"                                         \
		".size " #name ", . - " #name "\n"                       \
		".popsection\n")
/* clang-format on */

#endif
