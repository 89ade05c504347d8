/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that begin with an instruction which is not done in the guest's place, or whose memory is not there, or
 * which has neighbours of its own kind. The first instruction is what is probed.
 */
	.macro	function name
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.endm
	.macro	finish name
	ret
	int3
	.size	\name, . - \name
	.endm

	.text
	/* one byte, and no emulating KVM knows it */
	function stepped_fwait
	fwait
	leaq	1(%rdi), %rax
	finish	stepped_fwait

	function stepped_stac
	stac
	leaq	2(%rdi), %rax
	clac
	finish	stepped_stac

	function stepped_imul
	imulq	$3, %rdi, %rax
	finish	stepped_imul

	/* locked, on memory */
	function stepped_xadd
	lock xaddq	%rdi, (%rsi)
	movq	%rdi, %rax
	finish	stepped_xadd

	/* in turns: rcx words at rdi become rax */
	function stepped_string
	rep stosq
	movq	%rcx, %rax
	finish	stepped_string

	/* of memory that is a device's, or comes with the first access, or is read-only until then */
	function stepped_load
	movq	(%rsi), %rax
	addq	%rdi, %rax
	finish	stepped_load

	function stepped_store
	movq	%rdi, (%rsi)
	movq	(%rsi), %rax
	finish	stepped_store

	/* of one byte: our int3 and the guest's own side by side */
	function stepped_beside
	pushq	%rbp
	int3
	int3
	leaq	4(%rdi), %rax
	int3
	popq	%rbp
	finish	stepped_beside

	/* GS forms: what is done in the guest's place and what the CPU does must be the same */
	function stepped_gsload
	movq	%gs:8, %rax
	addq	%rdi, %rax
	finish	stepped_gsload

	function stepped_gsadd
	addq	%rdi, %gs:16
	movq	%gs:16, %rax
	finish	stepped_gsadd

	function stepped_gsindex
	movzwl	%gs:24(%rsi), %eax
	finish	stepped_gsindex

	/* The guest steps itself through a function: rdi is its argument, rsi the function. */
	.globl	trace_through
trace_through:
	pushfq
	orq	$0x100, (%rsp)
	popfq
	call	*%rsi
	pushfq
	andq	$~0x100, (%rsp)
	popfq
	ret
	int3

	.macro	save
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	.endm
	.macro	restore
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	.endm

	.globl	vector_pf, vector_db, vector_timer
vector_pf:
	save
	movq	%cr2, %rdi
	leaq	72(%rsp), %rsi
	cld
	call	on_page_fault
	restore
	addq	$8, %rsp
	iretq

vector_db:
	save
	leaq	72(%rsp), %rdi
	cld
	call	on_debug
	restore
	iretq

vector_timer:
	save
	cld
	call	on_timer
	restore
	iretq

	.section .note.GNU-stack, "", @progbits
