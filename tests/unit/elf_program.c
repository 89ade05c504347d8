/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program for guest_elf_image_test and the fuzzers of vmm-probe/guest/elf/: functions and objects of each
 * kind, and two probes as <sys/sdt.h> writes them. Nobody runs it.
 */
#include <stdint.h>

/* clang-format off */
#define PROBE(provider, name, semaphore, arguments) \
	__asm__ volatile("990: nop\n" \
		".pushsection .note.stapsdt,\"\",\"note\"\n" \
		".balign 4\n" \
		".4byte 992f-991f, 994f-993f, 3\n" \
		"991: .asciz \"stapsdt\"\n" \
		"992: .balign 4\n" \
		"993: .8byte 990b\n" \
		".8byte _.stapsdt.base\n" \
		".8byte " semaphore "\n" \
		".asciz \"" provider "\"\n" \
		".asciz \"" name "\"\n" \
		".asciz \"" arguments "\"\n" \
		"994: .balign 4\n" \
		".popsection\n" \
		".ifndef _.stapsdt.base\n" \
		".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
		".weak _.stapsdt.base\n" \
		".hidden _.stapsdt.base\n" \
		"_.stapsdt.base: .space 1\n" \
		".size _.stapsdt.base, 1\n" \
		".popsection\n" \
		".endif\n")
/* clang-format on */

__attribute__((section(".probes"))) uint16_t elf_semaphore;
int elf_object = 42;
static int elf_counter;

__attribute__((noinline)) static int elf_local(int n)
{
	PROBE("elf", "first", "elf_semaphore", "-4@%edi");
	return n + ++elf_counter;
}

__attribute__((noinline)) int elf_global(int n)
{
	PROBE("elf", "second__one", "0", "");
	return elf_local(n) * elf_object;
}

__attribute__((alias("elf_global"))) int __elf_alias(int n);

int main(int argc, char **argv)
{
	(void)argv;
	return elf_global(argc);
}
