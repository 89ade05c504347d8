/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions to be probed, one for each kind of beginning and end that kernels have. Each adds 1 to its own word of
 * `calls` (index in rdi is of no use to it: only the arguments' registers must survive to the entry probe).
 */
	.macro	function name
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.endm
	.macro	finish name
	.size	\name, . - \name
	.endm

	.text
/* the fentry nop; ret with room behind it */
	function probed_nop
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	leaq	(%rdi, %rsi), %rax
	ret
	int3
	finish	probed_nop

/* endbr64 in front of it; a return thunk's jump */
	function probed_endbr
	endbr64
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	leaq	1(%rdi), %rax
	jmp	__x86_return_thunk
	int3
	finish	probed_endbr

/* a push of two bytes, and a pop before the end */
	function probed_push
	pushq	%r12
	movq	%rdi, %r12
	leaq	2(%r12), %rax
	popq	%r12
	ret
	int3
	finish	probed_push

/* a push of one byte: only int3 fits */
	function probed_push1
	pushq	%rbp
	movq	%rsp, %rbp
	leaq	3(%rdi), %rax
	popq	%rbp
	ret
	finish	probed_push1

/* loads and compares first */
	function probed_load
	movq	word(%rip), %rax
	testq	%rdi, %rdi
	jz	1f
	addq	%rdi, %rax
1:	ret
	int3
	finish	probed_load

/* arithmetic on memory, flags used after it */
	function probed_flags
	cmpq	$5, %rdi
	movl	$0, %eax
	setb	%al
	adcq	%rdi, %rax
	ret
	int3
	finish	probed_flags

/* the stack, as for locals */
	function probed_frame
	subq	$0x28, %rsp
	movq	%rdi, 8(%rsp)
	movq	8(%rsp), %rax
	addq	$0x28, %rsp
	ret
	int3
	finish	probed_frame

/* nothing that could be trapped: a system instruction, and a way out that is none of a function's */
	function refused_entry
	rdtsc
	ret
	int3
	finish	refused_entry

	function refused_return
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	testq	%rdi, %rdi
	jnz	1f
	lretq
1:	leaq	5(%rdi), %rax
	ret
	int3
	finish	refused_return

/* loops to its first instruction, which is no entry then */
	function refused_loop
	subq	$1, %rdi
	jnz	refused_loop
	ret
	int3
	finish	refused_loop

/* a tail jump out */
	function probed_tail
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	leaq	4(%rdi), %rdi
	jmp	probed_load

	int3
	finish	probed_tail

	function __x86_return_thunk
	ret
	int3
	finish	__x86_return_thunk

	.data
	.balign	8
word:	.quad	0x1000

	.section .note.GNU-stack, "", @progbits
