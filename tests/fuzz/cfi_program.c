/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library that is rules for stacks and little else, so that most bytes that a fuzzer changes are of these:
 * short functions, whose rules have each kind of instruction that compilers write.
 */
#define FUNCTIONS "60"

__attribute__((visibility("default"))) int cfi_program(void);

int cfi_program(void)
{
	return 1;
}

/* A frame by rbp, with a state to come back to; one by rsp, with other registers and a place far ahead; and
 * one that an expression gives. */
/* clang-format off */
__asm__(".text\n"
	".rept " FUNCTIONS "\n"
	".cfi_startproc\n"
	"nop\n" ".cfi_def_cfa_offset 16\n" ".cfi_offset 6, -16\n"
	"nop\n" ".cfi_def_cfa_register 6\n" ".cfi_remember_state\n"
	"nop\n" ".cfi_def_cfa 7, 8\n" ".cfi_restore 6\n"
	"ret\n" ".cfi_restore_state\n"
	"nop\n" ".cfi_same_value 3\n" ".cfi_undefined 12\n"
	"ret\n"
	".cfi_endproc\n"
	".cfi_startproc\n"
	".cfi_adjust_cfa_offset 1024\n" ".cfi_offset 3, -24\n" ".cfi_offset 12, -32\n" ".cfi_register 13, 3\n"
	".skip 70, 0x90\n"
	".cfi_adjust_cfa_offset -1024\n" ".cfi_rel_offset 14, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".cfi_startproc\n"
	".cfi_escape 0x0f, 0x05, 0x77, 0x08, 0x06, 0x23, 0x08\n"
	"ret\n"
	".cfi_endproc\n"
	".endr\n");
/* clang-format on */
