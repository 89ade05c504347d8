/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * D's error tags, the only list, and how an error is raised: the first one of a compilation
 * sticks in the compiler's state, every function above returns NULL or false until
 * dif_compile() hands it out.
 */
#ifndef DIF_LANG_CORE_DIAG_H
#define DIF_LANG_CORE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/compiler.h"

/* clang-format off */
#define DIF_ERRTAGS(X)                                                                                        \
	/* general */                                                                                         \
	X(UNKNOWN) X(SYNTAX) X(EMPTY) X(TYPE_ERR) X(TYPE_MEMBER) X(ASRELO) X(CG_EXPR) X(CG_DYN) X(ATTR_MIN)   \
	X(ID_OFLOW) X(PDESC_ZERO) X(PDESC_INVAL) X(PRED_SCALAR) X(NOREG)                                      \
	/* functions and operators */                                                                         \
	X(FUNC_IDENT) X(FUNC_UNDEF) X(FUNC_IDKIND) X(OFFSETOF_TYPE) X(OFFSETOF_BITFIELD) X(SIZEOF_TYPE)       \
	X(SIZEOF_BITFIELD) X(STRINGOF_TYPE) X(OP_IDENT) X(OP_INT) X(OP_SCALAR) X(OP_ARITH) X(OP_WRITE)        \
	X(OP_LVAL) X(OP_INCOMPAT) X(OP_VFPTR) X(OP_ARRFUN) X(OP_PTR) X(OP_SOU) X(OP_INCOMPLETE) X(OP_DYN)     \
	X(OP_ACT) X(DIV_ZERO) X(DEREF_NONPTR) X(DEREF_VOID) X(DEREF_FUNC) X(ADDROF_LVAL) X(ADDROF_VAR)        \
	X(ADDROF_BITFIELD) X(CAST_INVAL)                                                                      \
	/* aggregations and arrays */                                                                         \
	X(AGG_REDEF) X(AGG_FUNC) X(AGG_MDIM) X(AGG_COMM) X(AGG_SPEC) X(AGG_NULL) X(AGG_SCALAR) X(ARR_BADREF)  \
	X(ARR_LOCAL) X(ARR_BOUNDS) X(KEY_TYPE)                                                                              \
	/* translators */                                                                                     \
	X(XLATE_REDECL) X(XLATE_NOCONV) X(XLATE_NONE) X(XLATE_SOU) X(XLATE_INCOMPAT) X(XLATE_MEMB)            \
	/* pragmas, macros, characters */                                                                     \
	X(PRAGERR) X(PRAGCTL_INVAL) X(PRAGMA_INVAL) X(PRAGMA_UNUSED) X(PRAGMA_MALFORM) X(PRAGMA_OPTSET)       \
	X(PRAGMA_SCOPE) X(PRAGMA_DEPEND) X(MACRO_UNDEF) X(MACRO_OFLOW) X(MACRO_UNUSED) X(INT_OFLOW)           \
	X(INT_DIGIT) X(STR_NL) X(CHR_NL) X(CHR_NULL) X(CHR_OFLOW)                                             \
	/* identifiers */                                                                                     \
	X(IDENT_BADREF) X(IDENT_UNDEF) X(IDENT_AMBIG) X(SYM_BADREF) X(SYM_NOTYPES) X(SYM_MODEL) X(VAR_UNDEF)  \
	X(VAR_UNSUP) X(PROTO_LEN) X(PROTO_ARG) X(ARGS_MULTI) X(ARGS_XLATOR) X(ARGS_NONE) X(ARGS_TYPE)         \
	X(ARGS_IDX) X(REGS_IDX)                                                                               \
	/* printf and other data actions */                                                                   \
	X(PRINTF_DYN_PROTO) X(PRINTF_DYN_TYPE) X(PRINTF_AGG_CONV) X(PRINTF_ARG_PROTO) X(PRINTF_ARG_TYPE)      \
	X(PRINTF_ARG_EXTRA) X(PRINTF_ARG_FMT) X(PRINTF_FMT_EMPTY) X(PRINTA_PROTO) X(PRINTA_AGGARG)            \
	X(PRINTA_AGGBAD) X(PRINTA_AGGKEY) X(PRINTA_AGGPROTO) X(TRACE_VOID) X(TRACE_DYN) X(TRACE_AGG)          \
	X(PRINT_VOID) X(PRINT_DYN) X(PRINT_AGG) X(TRACEMEM_ADDR) X(TRACEMEM_SIZE) X(TRACEMEM_ARGS)            \
	X(TRACEMEM_DYNSIZE) X(STACK_PROTO) X(STACK_SIZE) X(USTACK_FRAMES) X(USTACK_STRSIZE) X(USTACK_PROTO)   \
	X(PRINTM_ADDR) X(PRINTM_SIZE) X(FREOPEN_INVALID)                                                      \
	/* declarations */                                                                                    \
	X(DECL_CHARATTR) X(DECL_VOIDATTR) X(DECL_SIGNINT) X(DECL_LONGINT) X(DECL_IDENT) X(DECL_CLASS)         \
	X(DECL_BADCLASS) X(DECL_PARMCLASS) X(DECL_COMBO) X(DECL_ARRSUB) X(DECL_ARRNULL) X(DECL_ARRBIG)        \
	X(DECL_IDRED) X(DECL_TYPERED) X(DECL_MNAME) X(DECL_SCOPE) X(DECL_BFCONST) X(DECL_BFSIZE)              \
	X(DECL_BFTYPE) X(DECL_ENCONST) X(DECL_ENOFLOW) X(DECL_USELESS) X(DECL_LOCASSC) X(DECL_VOIDOBJ)        \
	X(DECL_DYNOBJ) X(DECL_INCOMPLETE) X(DECL_PROTO_VARARGS) X(DECL_PROTO_TYPE) X(DECL_PROTO_VOID)         \
	X(DECL_PROTO_NAME) X(DECL_PROTO_FORM)                                                                 \
	/* order of actions */                                                                                \
	X(COMM_COMM) X(COMM_DREC) X(SPEC_SPEC) X(SPEC_COMM) X(SPEC_DREC) X(ACT_SPEC) X(EXIT_SPEC) X(DREC_COMM) \
	/* arguments of aggregations */                                                                       \
	X(LQUANT_BASETYPE) X(LQUANT_BASEVAL) X(LQUANT_LIMTYPE) X(LQUANT_LIMVAL) X(LQUANT_MISMATCH)            \
	X(LQUANT_STEPTYPE) X(LQUANT_STEPVAL) X(LQUANT_STEPLARGE) X(LQUANT_STEPSMALL) X(LQUANT_MATCHBASE)      \
	X(LQUANT_MATCHLIM) X(LQUANT_MATCHSTEP) X(QUANT_PROTO) X(LLQUANT_FACTORTYPE) X(LLQUANT_FACTORVAL)      \
	X(LLQUANT_FACTORMATCH) X(LLQUANT_LOWTYPE) X(LLQUANT_LOWVAL) X(LLQUANT_LOWMATCH) X(LLQUANT_HIGHTYPE)   \
	X(LLQUANT_HIGHVAL) X(LLQUANT_HIGHMATCH) X(LLQUANT_NSTEPTYPE) X(LLQUANT_NSTEPVAL)                      \
	X(LLQUANT_NSTEPMATCH) X(LLQUANT_MAGRANGE) X(LLQUANT_FACTORNSTEPS) X(LLQUANT_FACTOREVEN)               \
	X(LLQUANT_FACTORSMALL) X(LLQUANT_MAGTOOBIG) X(CLEAR_PROTO) X(CLEAR_AGGARG) X(CLEAR_AGGBAD)            \
	X(NORMALIZE_PROTO) X(NORMALIZE_SCALAR) X(NORMALIZE_AGGARG) X(NORMALIZE_AGGBAD) X(TRUNC_PROTO)         \
	X(TRUNC_SCALAR) X(TRUNC_AGGARG) X(TRUNC_AGGBAD)                                                       \
	/* processes and providers */                                                                         \
	X(PROC_OFF) X(PROC_ALIGN) X(PROC_NAME) X(PROC_GRAB) X(PROC_DYN) X(PROC_LIB) X(PROC_FUNC)              \
	X(PROC_CREATEFAIL) X(PROC_NODEV) X(PROC_BADPID) X(PROC_BADPROV) X(PROC_USDT) X(PROV_BADNAME)          \
	X(PROV_INCOMPAT) X(PROV_PRDUP) X(PROV_PRARGLEN) X(PROV_PRXLATOR)
/* clang-format on */

enum dif_errtag {
	DIF_D_NONE, /* an error without a tag */
#define X(tag) DIF_D_##tag,
	DIF_ERRTAGS(X)
#undef X
	    DIF_D_COUNT,
};

/* One error. Strings live as long as the compiler. */
struct dif_diag {
	const char *tag;  /* "D_SYNTAX"; NULL: an untagged one */
	const char *file; /* NULL: the source itself */
	uint32_t line;    /* 0: none, then `region` says where ("in action list") */
	uint32_t column;  /* from 1; 0 unknown */
	const char *region;
	const char *message;
	const char *hint; /* what to do; NULL */
};

/* The first error of a compilation, and where a compilation stands. */
struct dif_diagnostics {
	bool failed;
	bool no_memory;
	struct dif_diag first;
	const char *file;      /* from #line; NULL: the source itself */
	uint32_t line, column; /* of the current token */
	const char *region;    /* the part of a clause being compiled, named where there is no line */
	uint32_t check_depth;  /* of expressions being checked; outside of them no region is named */
};

struct dif_compiler;

/** "D_SYNTAX"; NULL for DIF_D_NONE. */
const char *dif_errtag_name(enum dif_errtag tag);

/** Raise an error at @p line (0: the current token's). Only the first of a compilation is kept. */
void dif_raise(struct dif_compiler *c, enum dif_errtag tag, uint32_t line, const char *fmt, ...)
    OT_PRINTF(4, 5);
void dif_raise_memory(struct dif_compiler *c);

static inline void *dif_nothing(void)
{
	return NULL;
}

/* The same as expressions that are NULL or false, for `return dif_fail(…)`: so a compiler sees that none of
 * the function's other outputs is used then. */
#define dif_fail(...)      (dif_raise(__VA_ARGS__), dif_nothing())
/* Memory ran out: the compilation ends with the no-memory error. */
#define dif_fail_memory(c) (dif_raise_memory(c), dif_nothing())

/** Add advice to the error that was just raised. */
void dif_hint(struct dif_compiler *c, const char *fmt, ...) OT_PRINTF(2, 3);

/** dtrace's text of a diagnostic: "line 3: syntax error near …", with "[TAG] " in front under
 * errtags. */
void dif_diag_print(const struct dif_diag *diag, bool errtags, struct ot_buf *out);

#endif
