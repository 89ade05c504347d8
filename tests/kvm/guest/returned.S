/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions by their returns: what a jump of five bytes may replace, and what it may not. Each adds its two arguments. */
	.macro	function name
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.endm
	.macro	finish name
	.size	\name, . - \name
	.endm
	.macro	nop5
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	.endm

	.text
/* as a kernel has it that has replaced its return thunks */
	function returned_padded
	nop5
	leaq	(%rdi, %rsi), %rax
	ret
	int3
	int3
	int3
	int3
	finish	returned_padded

/* … and one that has not, with two ways out */
	function returned_thunk
	nop5
	leaq	(%rdi, %rsi), %rax
	testq	$1, %rdi
	jz	1f
	jmp	__x86_return_thunk
	int3
1:	jmp	__x86_return_thunk
	int3
	finish	returned_thunk

/* a branch, which is never taken, into the padding */
	function returned_branched
	nop5
	leaq	(%rdi, %rsi), %rax
	testq	%rax, %rax
	js	1f
	ret
	int3
	int3
1:	int3
	int3
	finish	returned_branched

/* not compiled for tracing: the thunk's jump tells nothing about its registers */
	function returned_plain
	pushq	%rbx
	leaq	(%rdi, %rsi), %rbx
	movq	%rbx, %rax
	popq	%rbx
	jmp	__x86_return_thunk
	int3
	finish	returned_plain

/* left by another function's call, in as many bytes as a thunk's jump has */
	function returned_tail
	nop5
	.byte	0xe9
	.long	returned_padded - . - 4
	int3
	finish	returned_tail

	.section .note.GNU-stack, "", @progbits
