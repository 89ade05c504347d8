/* SPDX-License-Identifier: GPL-2.0-or-later */
	.text
/* a static key's place, and where it leads */
	.globl	probed_keyed
	.type	probed_keyed, @function
	.balign	16
probed_keyed:
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
.Lkeyed_site:
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	leaq	6(%rdi), %rax
	ret
	int3
.Lkeyed_target:
	leaq	6(%rdi), %rax
	ret
	int3
	.size	probed_keyed, . - probed_keyed

/* what a function's beginning calls while it is traced: nothing but flags changes, which nobody needs there */
	.globl	ftrace_caller
	.type	ftrace_caller, @function
	.balign	16
ftrace_caller:
	lock incq traced_calls
	ret
	int3
	.size	ftrace_caller, . - ftrace_caller

	.globl	vector_patching_bp
vector_patching_bp:
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	leaq	72(%rsp), %rdi
	call	on_breakpoint
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	iretq

	.section .rodata
	.balign	8
	.globl	keyed_places
keyed_places:
	.quad	.Lkeyed_site, .Lkeyed_target

	.section .note.GNU-stack, "", @progbits
