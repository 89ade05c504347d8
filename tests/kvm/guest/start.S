/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The small guest's first steps: entered by Linux's 64-bit boot protocol at its physical address (RSI: zero page),
 * it makes the page table that its symbols are linked for, and goes on up there. Compiled with PVH it has a second,
 * 32-bit entry, which QEMU's -kernel takes (RBX: hvm_start_info). The other vCPUs come from real mode, by a
 * trampoline that is copied below 1 MiB.
 */
#define VMA   0xffffffff80000000
#define TRAMPOLINE 0x8000
#define PRESENT_WRITABLE 3
#define LARGE 0x83

	.section .text.boot, "ax"
	.globl _start
_start:
	cli
	cld
	/* the first GiB one to one (PML4 slot 0, PDPT slot 0); of the kernel's half only the image, as Linux does (slots 511, 510) */
	movq	$(init_top_pgt - VMA), %rdi
	movq	$(page_directory - VMA + PRESENT_WRITABLE), %rax
	movq	%rax, pdpt_low - VMA
	movq	$(kernel_directory - VMA + PRESENT_WRITABLE), %rax
	movq	%rax, pdpt_high + 510 * 8 - VMA
	movq	$(0x1000000 + LARGE), %rax
	movq	$(kernel_directory + 8 * 8 - VMA), %rbx
	movl	$image_large_pages, %ecx
1:	movq	%rax, (%rbx)
	addq	$0x200000, %rax
	addq	$8, %rbx
	decl	%ecx
	jnz	1b
	/* and far behind it, pages that stepped.c maps */
	movq	$(lazy_table - VMA + PRESENT_WRITABLE), %rax
	movq	%rax, kernel_directory + 256 * 8 - VMA
	movq	$(pdpt_low - VMA + PRESENT_WRITABLE), %rax
	movq	%rax, init_top_pgt - VMA
	movq	$(pdpt_high - VMA + PRESENT_WRITABLE), %rax
	movq	%rax, init_top_pgt + 511 * 8 - VMA
	/* and the GiB with the local APIC */
	movq	$(device_directory - VMA + PRESENT_WRITABLE), %rax
	movq	%rax, pdpt_low + 3 * 8 - VMA
	movq	$(0xfee00000 + LARGE), %rax
	movq	%rax, device_directory + 503 * 8 - VMA
	movq	$LARGE, %rax
	movq	$(page_directory - VMA), %rbx
	movl	$512, %ecx
1:	movq	%rax, (%rbx)
	addq	$0x200000, %rax
	addq	$8, %rbx
	decl	%ecx
	jnz	1b
	movq	%rdi, %cr3
	movq	$high, %rax
	jmp	*%rax

#ifdef PVH
#define ZERO_PAGE_CMDLINE 0x228 /* where guest_main() looks */
#define START_INFO_CMDLINE 24
	.section .note.Xen, "a", @note
	.balign	4
	.long	4, 8, 18 /* XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz	"Xen"
	.quad	pvh_start - VMA

	/* Just enough of a page table for the 64-bit entry, which makes it anew. */
	.section .text.boot, "ax"
	.code32
pvh_start:
	movl	$(0x1000000 + LARGE), page_directory + 8 * 8 - VMA
	movl	$(page_directory - VMA + PRESENT_WRITABLE), pdpt_low - VMA
	movl	$(pdpt_low - VMA + PRESENT_WRITABLE), init_top_pgt - VMA
	movl	%cr4, %eax
	orl	$0x20, %eax
	movl	%eax, %cr4
	movl	$(init_top_pgt - VMA), %eax
	movl	%eax, %cr3
	movl	$0xc0000080, %ecx
	rdmsr
	orl	$0x100, %eax
	wrmsr
	movl	%cr0, %eax
	orl	$0x80000001, %eax
	movl	%eax, %cr0
	lgdt	pvh_gdt_pointer - VMA
	ljmpl	$0x10, $(pvh_long - VMA)
	.code64
pvh_long:
	movl	%ebx, %esi
	subq	$(ZERO_PAGE_CMDLINE - START_INFO_CMDLINE), %rsi
	jmp	_start
pvh_gdt_pointer:
	.word	31
	.long	gdt - VMA
#endif

	.text
	.code64
high:
	lgdt	gdt_pointer
	leaq	stacks + 4096, %rsp
	pushq	$0x10
	leaq	1f(%rip), %rax
	pushq	%rax
	lretq
1:	call	load_segments
	movq	%rsi, %rdi
	call	guest_main
2:	hlt
	jmp	2b

load_segments:
	movl	$0x18, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	%eax, %fs
	movl	%eax, %gs
	lidt	idt_pointer
	ret

	/* Real mode, CS = TRAMPOLINE >> 4. One vCPU at a time: ap_stack is the next one's. */
	.globl	trampoline, trampoline_end
	.code16
trampoline:
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	lgdtl	TRAMPOLINE + (low_gdt_pointer - trampoline)
	movl	%cr4, %eax
	orl	$0x20, %eax
	movl	%eax, %cr4
	movl	$(init_top_pgt - VMA), %eax
	movl	%eax, %cr3
	movl	$0xc0000080, %ecx
	rdmsr
	orl	$0x100, %eax
	wrmsr
	movl	%cr0, %eax
	orl	$0x80000001, %eax
	movl	%eax, %cr0
	ljmpl	$0x10, $(TRAMPOLINE + long_mode - trampoline)
	.code64
long_mode:
	movq	$ap_high, %rax
	jmp	*%rax
	.balign 8
low_gdt_pointer:
	.word	31
	.long	TRAMPOLINE + low_gdt - trampoline
	.balign 8
low_gdt:
	.quad	0, 0, 0x00af9b000000ffff, 0x00cf93000000ffff
trampoline_end:

ap_high:
	lgdt	gdt_pointer
	movq	ap_stack, %rsp
	call	load_segments
	call	ap_main
3:	hlt
	jmp	3b

	/* Exceptions: #BP counts, anything else ends the guest with its number. */
	.globl	vector_bp, vector_rest, vector_other
vector_bp:
	lock incl bp_count
	iretq
vector_rest:
	pushq	%rax
	movl	$0xfee000b0, %eax	/* the local APIC's end of interrupt */
	movl	$0, (%rax)
	popq	%rax
	iretq
vector_other:
	pushq	%rdi
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	movq	%rsp, %rdi
	call	on_exception
4:	hlt
	jmp	4b

	.data
	.balign 8
gdt:	.quad	0, 0, 0x00af9b000000ffff, 0x00cf93000000ffff
gdt_pointer:
	.word	31
	.quad	gdt
	.balign 8
	.globl	idt_pointer
idt_pointer:
	.word	256 * 16 - 1
	.quad	idt

	.section .bss.tables, "aw", @nobits
	.balign 4096
	.globl	init_top_pgt
init_top_pgt:	.skip 4096
pdpt_low:	.skip 4096
pdpt_high:	.skip 4096
page_directory:	.skip 4096
device_directory: .skip 4096
kernel_directory: .skip 4096
	.globl	lazy_table
lazy_table:	.skip 4096
	.globl	stacks
stacks:		.skip 4096 * 64

	.section .note.GNU-stack, "", @progbits
