/* SPDX-License-Identifier: GPL-2.0-or-later */
/* As many functions as a Linux kernel has that can be probed, in text of that size; nobody calls them. */
	.altmacro
	.macro	many n
	.globl	many_\n
	.type	many_\n, @function
	.balign	256
many_\n:
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	testq	%rdi, %rdi
	jz	1f
	leaq	\n(%rdi), %rax
	ret
	int3
1:	xorl	%eax, %eax
	ret
	int3
	.size	many_\n, . - many_\n
	.endm

	.text
	.set	number, 0
	.rept	30000
	many	%number
	.set	number, number + 1
	.endr

	.section .note.GNU-stack, "", @progbits
