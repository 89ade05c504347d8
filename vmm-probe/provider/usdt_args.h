/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments of a program's static probes (USDT). A note has the place of each one at the probe's instruction,
 * in the form of <sys/sdt.h>: SIZE@OPERAND, several with spaces between them. SIZE is 1, 2, 4 or 8 bytes,
 * negative if the value is signed; OPERAND is the assembler's operand (vp_code_ops.operand).
 *
 * An argument that can't be read is refused alone; the others stay valid.
 */
#ifndef VP_PROVIDER_USDT_ARGS_H
#define VP_PROVIDER_USDT_ARGS_H

#include "dif/obj/program.h"
#include "vmm-probe/arch/code.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/symbolic/expr.h"

struct vp_usdt_arg {
	const char *text; /* its part of the note's text, borrowed; not terminated */
	size_t len;
	uint8_t size;                /* bytes; 0: refused */
	bool is_signed;              /* … and extended so to 64 bits */
	const struct vp_expr *value; /* at the probe's instruction; NULL: refused */
	const char *refused;         /* the reason why it has no value (static); NULL: it has one */
};

struct vp_usdt_args {
	struct vp_usdt_arg items[VP_SITE_ARGS];
	uint32_t count; /* those behind VP_SITE_ARGS are left out: D has no name for them */
};

/* The addresses of a process's symbols. */
struct vp_usdt_symbols {
	void *arg;
	/* The address, in the process, of the one symbol with this name of @p len bytes. False: the file has
	 * none, or several. NULL: no symbol is known. */
	bool (*find)(void *arg, const char *name, size_t len, uint64_t *ret);
	/* Not 0: where the arguments' instruction is. A symbol is then as far from the instruction pointer as
	 * it is from there, in whichever process; else it is at its address. */
	uint64_t site;
};

/** Read @p text, the note's arguments, which is borrowed by *ret. Values are in @p exprs. Time is bounded by
 * the text's length and one call of symbols->find() for each argument. NO_MEMORY is the only error. */
OT_MUST_CHECK struct ot_err *vp_usdt_args_read(const char *text, const struct vp_code_ops *code,
					       const struct vp_usdt_symbols *symbols, struct vp_exprs *exprs,
					       struct vp_usdt_args *ret);

/** Make the site program (engine/wire/batch.h) that computes the arguments; in @p exprs' arena. A refused one
 * faults when a clause uses it, because no number could represent it. */
OT_MUST_CHECK struct ot_err *vp_usdt_program(const struct vp_usdt_args *args, struct vp_exprs *exprs,
					     struct dif_clause *ret);

#endif
