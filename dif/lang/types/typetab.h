/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of a compilation: the language's own, those declared in D, and, behind both,
 * the world's. Also the rules by which types go together.
 */
#ifndef DIF_LANG_TYPES_TYPETAB_H
#define DIF_LANG_TYPES_TYPETAB_H

#include "base/map.h"
#include "dif/lang/core/compiler.h"
#include "dif/lang/types/types.h"
#include "dif/obj/object.h"

/* Types that the compiler uses by name: a field each, which saves the search. */
struct dif_typetab {
	struct dif_type *void_, *char_, *uchar, *schar, *short_, *ushort, *int_, *uint, *long_, *ulong;
	struct dif_type *llong, *ullong, *bool_, *float_, *double_, *ldouble;
	struct dif_type *int8, *int16, *int32, *int64, *uint8, *uint16, *uint32, *uint64;
	struct dif_type *uintptr, *size, *ptrdiff, *pid, *id;
	struct dif_type *string, *dynamic, *stack, *symaddr, *usymaddr;
	struct dif_type *void_ptr, *char_ptr;
	struct dif_type_source task_source; /* of curthread's type (builtin.c) */
	struct dif_compiler *owner;
	struct ot_map tags;     /* "struct NAME" … → type */
	struct ot_map typedefs; /* NAME → type; base types under their full names too */
};

bool dif_types_init(struct dif_compiler *c);
void dif_types_deinit(struct dif_typetab *tab);

/* Making types; NULL only without memory. */
struct dif_type *dif_type_new(struct dif_compiler *c, enum dif_ckind kind, const char *name, uint64_t size);
struct dif_type *dif_type_pointer(struct dif_compiler *c, struct dif_type *to);
struct dif_type *dif_type_array(struct dif_compiler *c, struct dif_type *of, uint64_t nelems);
struct dif_type *dif_type_qualified(struct dif_compiler *c, enum dif_ckind kind, struct dif_type *of);

/** A typedef or base type by name, "mod`name" too; NULL: there is none. */
struct dif_type *dif_type_find(struct dif_compiler *c, const char *name);
/** "struct NAME" and the like, D's then the world's; NULL: there is none. */
struct dif_type *dif_tag_find(struct dif_compiler *c, enum dif_ckind kind, const char *name);

/* Through typedefs and qualifiers; an unreadable type counts as void. Never NULL. */
struct dif_type *dif_base(struct dif_compiler *c, struct dif_type *type);
/** Bytes, 0 when unknown; a string has the strsize option's. */
uint64_t dif_sizeof(struct dif_compiler *c, struct dif_type *type);
/** The target type of a pointer, array or string; NULL: it is another type. */
struct dif_type *dif_pointee(struct dif_compiler *c, struct dif_type *type);

bool dif_is_int(struct dif_compiler *c, struct dif_type *type); /* integers and enums */
bool dif_is_float(struct dif_compiler *c, struct dif_type *type);
bool dif_is_scalar(struct dif_compiler *c, struct dif_type *type); /* int, pointer */
bool dif_is_pointer(struct dif_compiler *c, struct dif_type *type);
bool dif_is_sou(struct dif_compiler *c, struct dif_type *type);
bool dif_is_void(struct dif_compiler *c, struct dif_type *type);
bool dif_is_string(struct dif_compiler *c, struct dif_type *type);
bool dif_is_function(struct dif_compiler *c, struct dif_type *type);
bool dif_is_array(struct dif_compiler *c, struct dif_type *type);
bool dif_is_kind(struct dif_compiler *c, struct dif_type *type, enum dif_ckind kind);
bool dif_is_incomplete(struct dif_compiler *c, struct dif_type *type);
/** string, char *, char []: usable where a string is expected. */
bool dif_is_stringlike(struct dif_compiler *c, struct dif_type *type);
bool dif_is_void_pointer(struct dif_compiler *c, struct dif_type *type);
/** Its value is an address in a register: strings, structs, arrays, stacks. */
bool dif_is_byref(struct dif_compiler *c, struct dif_type *type);
bool dif_is_signed(struct dif_compiler *c, struct dif_type *type);

/** The same type but for names of typedefs and qualifiers. */
bool dif_type_same(struct dif_compiler *c, struct dif_type *a, struct dif_type *b);
/** Pointers that may be compared or assigned (void * is compatible with all). */
bool dif_pointer_compatible(struct dif_compiler *c, struct dif_type *a, struct dif_type *b);
/** The type of an arithmetic operation on two integers: larger rank wins. */
struct dif_type *dif_type_promote(struct dif_compiler *c, struct dif_type *a, struct dif_type *b);

/** Find a member, inside of anonymous structs and unions too; *ret_bits is its offset from
 * the start of @p sou. */
struct dif_member *dif_member_find(struct dif_compiler *c, struct dif_type *sou, const char *name,
				   uint64_t *ret_bits);
/** A value of this type as the engine knows it. */
struct dif_rtype dif_type_rtype(struct dif_compiler *c, struct dif_type *type);

/** The type's D name in the node arena, for messages. */
const char *dif_type_text(struct dif_compiler *c, struct dif_type *type);

#endif
