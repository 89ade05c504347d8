/* SPDX-License-Identifier: GPL-2.0-or-later */
	.text
/* Two places of a tracepoint: branches on its static key, to code that makes its static call. */
	.macro	keyed name, nop:vararg
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
.L\name\()_site:
	.byte	\nop
.Lbehind_\name:
	leaq	6(%rdi), %rax
	ret
	int3
.L\name\()_code:
	movq	%rdi, %rsi
.L\name\()_event:
	call	keyed_event
	jmp	.Lbehind_\name
	.size	\name, . - \name
	.endm

	keyed	probed_keyed, 0x0f, 0x1f, 0x44, 0x00, 0x00
	keyed	probed_keyed_short, 0x66, 0x90

/* the tracepoint's callbacks: nothing but flags changes, which nobody needs there */
	.globl	keyed_event
	.type	keyed_event, @function
	.balign	16
keyed_event:
	lock incq keyed_events
	ret
	int3
	.size	keyed_event, . - keyed_event

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
/* struct jump_entry, struct static_call_site: distances */
	.macro	jump_entry name
	.long	.L\name\()_site - ., .L\name\()_code - .
	.quad	__tracepoint_keyed + 8 - .
	.endm
	.balign	8
	.globl	__start___jump_table, __stop___jump_table, __start_static_call_sites, __stop_static_call_sites
__start___jump_table:
	jump_entry probed_keyed
	jump_entry probed_keyed_short
__stop___jump_table:
__start_static_call_sites:
	.long	.Lprobed_keyed_event - ., __SCK__tp_func_keyed - .
	.long	.Lprobed_keyed_short_event - ., __SCK__tp_func_keyed - .
__stop_static_call_sites:
.Lkeyed:
	.asciz	"keyed"

/* The types that a kernel's own tell of tracepoints and mutexes; a name is its offset among the strings. */
	.macro	name of, text
	.set	.Lname_\of, . - .Lstrings
	.asciz	"\text"
	.endm
	.macro	member of, offset
	.long	.Lname_\of, 1, 8 * \offset
	.endm
	.balign	8
	.globl	__start_BTF, __stop_BTF
__start_BTF:
	.short	0xeb9f
	.byte	1, 0
	.long	24, 0, .Lstrings - .Ltypes, .Lstrings - .Ltypes, .Lstrings_end - .Lstrings
.Ltypes:
	.long	.Lname_u64, 1 << 24, 8, 64          /* 1: an integer */
	.long	0, 13 << 24 | 2, 0, 0, 1, 0, 1      /* 2: void (u64 data, u64) */
	.long	0, 2 << 24, 2                       /* 3: a pointer to 2 */
	.long	.Lname_btf_trace, 8 << 24, 3        /* 4: a name for 3 */
	.long	.Lname_tracepoint, 4 << 24 | 5, 80  /* 5: a struct */
	member	name, 0
	member	key, 8
	member	static_call_key, 24
	member	regfunc, 56
	member	funcs, 72
	.long	.Lname_mutex, 4 << 24 | 1, 32       /* 6: a struct */
	member	owner, 0
.Lstrings:
	.byte	0
	name	u64, "u64"
	name	btf_trace, "btf_trace_keyed"
	name	tracepoint, "tracepoint"
	name	name, "name"
	name	key, "key"
	name	static_call_key, "static_call_key"
	name	regfunc, "regfunc"
	name	funcs, "funcs"
	name	mutex, "mutex"
	name	owner, "owner"
.Lstrings_end:
__stop_BTF:

	.data
	.balign	8
	.globl	__tracepoint_keyed, __SCK__tp_func_keyed
__tracepoint_keyed:
	.quad	.Lkeyed, 0, 0, __SCK__tp_func_keyed, 0, 0, 0, 0, 0, 0
__SCK__tp_func_keyed:
	.quad	0, 0

	.section .note.GNU-stack, "", @progbits
