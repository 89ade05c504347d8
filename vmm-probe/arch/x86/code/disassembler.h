/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libcapstone, opened for x86-64. One thread of a process uses it. */
#ifndef VP_ARCH_X86_CODE_DISASSEMBLER_H
#define VP_ARCH_X86_CODE_DISASSEMBLER_H

#include <capstone/capstone.h>
#include <stdbool.h>

#include "base/err.h"

struct vp_disassembler {
	csh handle;    /* 0: not open */
	cs_insn *insn; /* room for cs_disasm_iter()'s answer */
};

/** With the operands of each instruction if @p detail. NO_MEMORY; UNSUPPORTED: libcapstone has no x86. */
OT_MUST_CHECK struct ot_err *vp_x86_disassembler_open(bool detail, struct vp_disassembler *ret);
/** One that is not open is fine. */
void vp_x86_disassembler_close(struct vp_disassembler *d);

#endif
