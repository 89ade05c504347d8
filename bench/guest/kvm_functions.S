/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the KVM benchmark's guest calls: one function again and again, the first with nothing to stop at, the second
 * with an exit of its own that a monitor does nothing about, the others to be probed. And 40,000 more that are never
 * called, for a text with as many functions as Linux has; and a PVH entry, for QEMU.
 */
#define VMA 0xffffffff80000000

	.altmacro
	.macro	function name:req, first:vararg
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.byte	\first
	leaq	1(%rdi), %rax
	ret
	int3
	.size	\name, . - \name
	.endm

	.text
	function bench_bare, 0x0f, 0x1f, 0x44, 0x00, 0x00
	function bench_floor, 0x3e, 0x3e, 0x3e, 0xe6, 0x80
	function bench_entry, 0x0f, 0x1f, 0x44, 0x00, 0x00
	function bench_return, 0x0f, 0x1f, 0x44, 0x00, 0x00

	.macro	numbered n
	function many_\n, 0x0f, 0x1f, 0x44, 0x00, 0x00
	.endm
	.set	n, 0
	.rept	40000
	numbered %n
	.set	n, n + 1
	.endr

	.section .note.Xen, "a", @note
	.long	4, 8, 18
	.asciz	"Xen"
	.quad	pvh_start - VMA

	/* Protected mode, EBX: struct hvm_start_info, whose command line is all that is wanted of it. */
	.section .text.boot, "ax"
	.code32
pvh_start:
	cld
	movl	24(%ebx), %eax
	movl	%eax, zero_page - VMA + 0x228
	movl	$(pvh_directory - VMA), %edi
	movl	$0x83, %eax
	movl	$512, %ecx
1:	movl	%eax, (%edi)
	movl	$0, 4(%edi)
	addl	$0x200000, %eax
	addl	$8, %edi
	decl	%ecx
	jnz	1b
	movl	$(pvh_directory - VMA + 3), pvh_pdpt - VMA
	movl	$(pvh_pdpt - VMA + 3), pvh_pml4 - VMA
	movl	%cr4, %eax
	orl	$0x20, %eax
	movl	%eax, %cr4
	movl	$(pvh_pml4 - VMA), %eax
	movl	%eax, %cr3
	movl	$0xc0000080, %ecx
	rdmsr
	orl	$0x100, %eax
	wrmsr
	movl	%cr0, %eax
	orl	$0x80000001, %eax
	movl	%eax, %cr0
	lgdtl	pvh_gdt_pointer - VMA
	ljmpl	$0x10, $(pvh_long - VMA)
	.code64
pvh_long:
	movl	$0x18, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	$(zero_page - VMA), %esi
	movl	$(_start - VMA), %eax
	jmp	*%rax

	.data
	.balign	8
pvh_gdt: .quad	0, 0, 0x00af9b000000ffff, 0x00cf93000000ffff
pvh_gdt_pointer:
	.word	31
	.quad	pvh_gdt - VMA

	.section .bss.tables, "aw", @nobits
	.balign	4096
pvh_pml4: .skip	4096
pvh_pdpt: .skip	4096
pvh_directory: .skip 4096
zero_page: .skip 4096

	.section .note.GNU-stack, "", @progbits
