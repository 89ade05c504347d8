/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * D's types: those of the language, those that a program declares, and those of the guest
 * kernel, which come lazily from a source (BTF, for example). Types live as long as the compiler or source
 * that made them; comparing pointers is not comparing types.
 */
#ifndef DIF_LANG_TYPES_TYPES_H
#define DIF_LANG_TYPES_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum dif_ckind {
	DIF_C_VOID,
	DIF_C_INT,
	DIF_C_FLOAT,
	DIF_C_POINTER,
	DIF_C_ARRAY,
	DIF_C_FUNCTION,
	DIF_C_STRUCT,
	DIF_C_UNION,
	DIF_C_ENUM,
	DIF_C_FORWARD, /* declared, never defined */
	DIF_C_TYPEDEF,
	DIF_C_CONST,
	DIF_C_VOLATILE,
	DIF_C_RESTRICT,
	DIF_C_STRING,  /* D's string */
	DIF_C_DYNAMIC, /* translated, or not known until run time */
	DIF_C_STACK,   /* value of stack(), ustack(), jstack() */
	DIF_C_SYMADDR, /* value of sym(), mod(), func() */
	DIF_C_USYMADDR,
};

struct dif_type;

struct dif_member {
	const char *name; /* "" for an anonymous struct or union */
	struct dif_type *type;
	uint64_t bit_offset; /* from the start of the aggregate */
	uint32_t bit_size;   /* of a bit-field; 0: not one */
};

struct dif_enumerator {
	const char *name;
	int64_t value;
};

/* Where lazy types come from. */
struct dif_type_source {
	/* Fill in what `complete == false` leaves out: ref, members, params, enumerators. */
	struct ot_err *(*complete)(struct dif_type_source *src, struct dif_type *type);
};

struct dif_type {
	enum dif_ckind kind;
	bool complete;        /* the fields marked (c) are valid */
	bool is_signed;       /* INT, ENUM */
	bool is_char;         /* INT: character data */
	bool is_bool;         /* INT: _Bool */
	bool is_userland;     /* POINTER: what it points to is in user space */
	bool is_forward;      /* ENUM declared, never defined */
	bool is_variadic;     /* FUNCTION (c) */
	bool is_d;            /* declared by D text, not by the guest */
	uint32_t bits;        /* INT: width when it is not 8 * size (a bit-field's type), else 0 */
	const char *name;     /* tag, typedef name, or of the base type ("unsigned int"); "" when anonymous */
	const char *module;   /* whose types: "vmlinux", a module's name, "D" or "C" */
	uint64_t size;        /* bytes; 0 for void, functions and incomplete types */
	struct dif_type *ref; /* (c) POINTER, ARRAY, TYPEDEF, qualifiers: of what; FUNCTION: result */
	uint64_t nelems;      /* ARRAY; 0 with is_flexible */
	uint32_t nmembers;    /* (c) STRUCT, UNION */
	struct dif_member *members;
	uint32_t nparams;          /* (c) FUNCTION */
	struct dif_member *params; /* name may be "" */
	uint32_t nenumerators;     /* (c) ENUM */
	struct dif_enumerator *enumerators;
	struct dif_type_source *source;
	uint64_t source_id; /* the source's own */
};

/** Make the (c) fields valid. Does nothing when they are. */
OT_MUST_CHECK struct ot_err *dif_type_complete(struct dif_type *type);

/** Through typedefs and qualifiers to the type itself; NULL when a source fails (never for
 * D's own types) or when a chain is longer than 64. */
struct dif_type *dif_type_resolve(struct dif_type *type);

/** A type's D name: "struct task_struct *", "int [10]". */
void dif_type_print(struct dif_type *type, struct ot_buf *out);

#endif
