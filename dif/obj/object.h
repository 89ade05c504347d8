/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A DIF object: the code of one D expression with its constants. It is position-independent data, and must
 * not be used before dif_verify() has accepted it.
 *
 * struct dif_rtype and struct dif_var have the published sizes and fields, as in DOF's sections.
 */
#ifndef DIF_OBJ_OBJECT_H
#define DIF_OBJ_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "dif/obj/names.h"
#include "dif/obj/opcodes.h"

/* dif_rtype.kind */
enum { DIF_TYPE_CTF = 0, DIF_TYPE_STRING = 1 };

/* dif_rtype.ckind: the numbers of CTF type kinds. */
enum {
	DIF_CTF_UNKNOWN = 0,
	DIF_CTF_INTEGER = 1,
	DIF_CTF_FLOAT = 2,
	DIF_CTF_POINTER = 3,
	DIF_CTF_ARRAY = 4,
	DIF_CTF_FUNCTION = 5,
	DIF_CTF_STRUCT = 6,
	DIF_CTF_UNION = 7,
	DIF_CTF_ENUM = 8,
	DIF_CTF_FORWARD = 9,
	DIF_CTF_TYPEDEF = 10,
};

/* dif_rtype.flags */
enum { DIF_TF_BYREF = 1, DIF_TF_BYUREF = 2 };

/* A type as the engine uses it: its size, and whether it is by value or by reference. */
struct dif_rtype {
	uint8_t kind;
	uint8_t ckind;
	uint8_t flags;
	uint8_t pad;
	uint32_t size; /* bytes; 0 for a string: the strsize option's */
};

enum { DIF_VARKIND_ARRAY = 0, DIF_VARKIND_SCALAR = 1 };
enum { DIF_SCOPE_GLOBAL = 0, DIF_SCOPE_THREAD = 1, DIF_SCOPE_LOCAL = 2 };
enum { DIF_VARF_REF = 1, DIF_VARF_MOD = 2 };

/* A variable that an object uses. */
struct dif_var {
	uint32_t name; /* offset in strs */
	uint32_t id;
	uint8_t kind;
	uint8_t scope;
	uint16_t flags;
	struct dif_rtype type;
};

_Static_assert(sizeof(struct dif_rtype) == 8, "published size");
_Static_assert(sizeof(struct dif_var) == 20, "published size");

/* All arrays are borrowed, usually from an arena. */
struct dif_object {
	uint32_t *text;
	uint64_t *ints;
	char *strs; /* offset-addressed; last byte NUL */
	struct dif_var *vars;
	uint32_t text_len; /* instructions */
	uint32_t int_len;
	uint32_t str_len; /* bytes */
	uint32_t var_len;
	struct dif_rtype ret;
	bool destructive; /* calls copyout or copyoutstr; set by dif_verify() */
};

/** Print a listing in the form of `dtrace -S` (see docs/dif.md). */
void dif_object_list(const struct dif_object *obj, struct ot_buf *out);

/* Operand classes of opcodes.h; NONE: no such opcode. */
enum dif_op_class {
	DIF_CLASS_NONE,
	DIF_CLASS_R3,
	DIF_CLASS_R2,
	DIF_CLASS_ST,
	DIF_CLASS_CMP,
	DIF_CLASS_TST,
	DIF_CLASS_BR,
	DIF_CLASS_RET,
	DIF_CLASS_NOP,
	DIF_CLASS_IDX,
	DIF_CLASS_ARR,
	DIF_CLASS_LDV,
	DIF_CLASS_STV,
	DIF_CLASS_CALL,
	DIF_CLASS_PUSH,
};

enum dif_op_class dif_op_class(unsigned op);
const char *dif_op_name(unsigned op);       /* "ldgs"; NULL when unknown */
const char *dif_var_name(unsigned id);      /* "execname"; NULL for users' own */
bool dif_var_is_string(unsigned id);        /* a built-in whose value is a string */
const char *dif_subr_name(unsigned subr);   /* "strlen"; NULL when unknown */
const char *dif_action_name(unsigned kind); /* "printf", "quantize"; NULL when unknown */
const char *dif_fault_text(enum dif_fault fault);
bool dif_fault_has_address(enum dif_fault fault);

#endif
