/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers of x86-64, by their numbers in instruction encodings; and their use by Linux and its
 * compilers. */
#ifndef VP_ARCH_X86_REGS_H
#define VP_ARCH_X86_REGS_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
enum vp_reg {
	VP_RAX, VP_RCX, VP_RDX, VP_RBX, VP_RSP, VP_RBP, VP_RSI, VP_RDI,
	VP_R8, VP_R9, VP_R10, VP_R11, VP_R12, VP_R13, VP_R14, VP_R15,
	VP_RIP, VP_RFLAGS, VP_CS, VP_SS, VP_FS_BASE, VP_GS_BASE, VP_K_GS_BASE,
	VP_CR0, VP_CR2, VP_CR3, VP_CR4, VP_EFER,
	VP_IDT_BASE, /* 0 if the backend does not know it */
	VP_NREGS,
};
/* clang-format on */

#define VP_REG_PC     VP_RIP
#define VP_REG_SP     VP_RSP
#define VP_REG_FP     VP_RBP
#define VP_REG_MODE   VP_CS  /* see vp_mode_is_user() */
#define VP_REG_ROOT   VP_CR3 /* of the running process's page tables */
#define VP_REG_RESULT VP_RAX /* of a function, at its return */

/* The first argument of a function: of a system call's, the caller's registers (struct pt_regs). */
#define VP_REG_ARG0 VP_RDI

/* Registers that a table of unwind rules may name besides the stack and frame pointer, as enum vp_orc_base
 * orders them. */
#define VP_REGS_UNWIND VP_R10, VP_R13, VP_RDI, VP_RDX

/* A function's first arguments, System V's calling convention; the others are on the stack, behind the return
 * address. */
#define VP_REGS_ARGS  VP_RDI, VP_RSI, VP_RDX, VP_RCX, VP_R8, VP_R9
#define VP_NREGS_ARGS 6
/* By the numbers that debugging information (DWARF) gives them. */
#define VP_REGS_DWARF                                                                                 \
	VP_RAX, VP_RDX, VP_RCX, VP_RBX, VP_RSI, VP_RDI, VP_RBP, VP_RSP, VP_R8, VP_R9, VP_R10, VP_R11, \
	    VP_R12, VP_R13, VP_R14, VP_R15
/* At a function's first instruction: where argument n, one of those others, is, from VP_REG_SP on. */
#define VP_STACK_ARG_AT(n) (8 * ((n)-VP_NREGS_ARGS + 1))

/* HotSpot's interpreter keeps the address of the executed bytecode in it. */
#define VP_REG_HOTSPOT_BYTECODE VP_R13

/* What a call instruction pushes, bytes; the registers that compilers keep values in, which the numbers below
 * this are; and those of them that a function may change for its caller. */
#define VP_CALL_PUSHES    8
#define VP_NREGS_GENERAL  16
#define VP_REGS_CLOBBERED VP_RAX, VP_RCX, VP_RDX, VP_RSI, VP_RDI, VP_R8, VP_R9, VP_R10, VP_R11

/* What the processor pushes for an exception, in words: the next instruction, the mode and the stack. */
#define VP_TRAP_FRAME_WORDS 4
#define VP_TRAP_FRAME_PC    0
#define VP_TRAP_FRAME_MODE  1
#define VP_TRAP_FRAME_SP    3

/* Its name in gdb's target descriptions, and the registers without which no kernel can be found and traced.
 */
#define VP_GDB_ARCHITECTURE "i386:x86-64"
#define VP_REGS_OF_KERNEL   ((((1ull << VP_RFLAGS) << 1) - 1) | 1ull << VP_CS | 1ull << VP_CR3)

/** Of VP_REG_MODE, or of that register where the kernel saved it: does user code run? The privilege level is
 * in CS. */
static inline bool vp_mode_is_user(uint64_t mode)
{
	return mode & 3;
}

#endif
