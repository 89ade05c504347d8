/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Static probes as <sys/sdt.h> writes them, with the text of the arguments in the caller's hands:
 *
 *     NOTE("probed", "name", "0", "8@%%rdi", "D"(value));
 *
 * a nop, and a note that says where it is, which u16 counts who wants it ("0": none does), and that its first
 * argument is in rdi there.
 */
#ifndef TESTS_LINUX_USER_NOTE_H
#define TESTS_LINUX_USER_NOTE_H

/* clang-format off */
#define NOTE_TEXT(provider, name, semaphore, arguments) \
	"990: nop\n" \
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
	".endif\n"

#define NOTE(provider, name, semaphore, arguments, ...) \
	__asm__ volatile(NOTE_TEXT(provider, name, semaphore, arguments) : : __VA_ARGS__ : "memory")

/* The same with rsp at @words while it is passed, for arguments on the stack. No signal may come there. */
#define NOTE_AT(words, provider, name, semaphore, arguments, ...) \
	do { \
		const void *note_at = (words); \
		__asm__ volatile("xchg %[at], %%rsp\n" NOTE_TEXT(provider, name, semaphore, arguments) \
				 "xchg %[at], %%rsp\n" : [at] "+&r"(note_at) : __VA_ARGS__ : "memory"); \
	} while (0)
/* clang-format on */

#endif
