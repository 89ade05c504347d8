/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stub's registers, by the target description that it sends (XML): the place of each in the answer to `g`,
 * and its number for `P`. Hostile input, parsed by expat; unknown registers only count.
 */
#ifndef VP_BACKEND_GDB_TARGET_H
#define VP_BACKEND_GDB_TARGET_H

#include <stddef.h>

#include "base/err.h"
#include "vmm-probe/arch/regs.h"

#define VP_GDB_REGS_MAX     1024
#define VP_GDB_INCLUDES_MAX 16
#define VP_GDB_ANNEX_MAX    64
#define VP_GDB_DOCUMENT_MAX (256u << 10)

struct vp_gdb_target {
	/* By number: bytes; 0: there is none. */
	uint16_t size[VP_GDB_REGS_MAX];
	uint32_t next; /* number of a register that names none */
	uint16_t number[VP_NREGS];
	uint64_t known; /* VP_REG_BIT()s */
	bool is_x86_64;
	/* further documents to read, in order */
	char includes[VP_GDB_INCLUDES_MAX][VP_GDB_ANNEX_MAX];
	uint32_t nincludes;
	/* set by vp_gdb_target_finish() */
	uint32_t offset[VP_NREGS]; /* in the answer to `g`, bytes */
};

/** Add one document. BAD_DATA: it is invalid. */
OT_MUST_CHECK struct ot_err *vp_gdb_target_add(struct vp_gdb_target *target, const char *xml, size_t len);

/** All documents were added. UNSUPPORTED: another machine, or a register that tracing a kernel requires is
 * missing. */
OT_MUST_CHECK struct ot_err *vp_gdb_target_finish(struct vp_gdb_target *target);

/** Registers from the answer to `g`: those with a bit in `valid`. BAD_DATA: no hexadecimal text. */
OT_MUST_CHECK struct ot_err *vp_gdb_target_regs(const struct vp_gdb_target *target, const char *hex,
						size_t len, struct vp_regs *ret);

#endif
