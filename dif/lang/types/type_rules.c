/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of types, and their compatibility. */
#include <string.h>

#include "dif/lang/types/typetab.h"

#define RECURSION_MAX 32

struct dif_type *dif_base(struct dif_compiler *c, struct dif_type *type)
{
	struct dif_type *t = type ? dif_type_resolve(type) : NULL;

	return t ? t : c->types->void_;
}

uint64_t dif_sizeof(struct dif_compiler *c, struct dif_type *type)
{
	uint64_t n = 1;

	for (int i = 0; i < RECURSION_MAX; i++) {
		struct dif_type *t = dif_base(c, type);
		switch (t->kind) {
		case DIF_C_POINTER:
			return n * 8;
		case DIF_C_STRING:
			return n * c->opts->strsize;
		case DIF_C_ARRAY:
			if (t->nelems && __builtin_mul_overflow(n, t->nelems, &n))
				return 0;
			if (!t->nelems)
				return 0;
			type = t->ref;
			break;
		default:
			return n * t->size;
		}
	}
	return 0;
}

bool dif_is_kind(struct dif_compiler *c, struct dif_type *type, enum dif_ckind kind)
{
	return type && dif_base(c, type)->kind == kind;
}

bool dif_is_int(struct dif_compiler *c, struct dif_type *type)
{
	return dif_is_kind(c, type, DIF_C_INT) || dif_is_kind(c, type, DIF_C_ENUM);
}

bool dif_is_float(struct dif_compiler *c, struct dif_type *type)
{
	return dif_is_kind(c, type, DIF_C_FLOAT);
}

bool dif_is_pointer(struct dif_compiler *c, struct dif_type *type)
{
	return dif_is_kind(c, type, DIF_C_POINTER);
}

bool dif_is_scalar(struct dif_compiler *c, struct dif_type *type)
{
	return dif_is_int(c, type) || dif_is_pointer(c, type);
}

bool dif_is_sou(struct dif_compiler *c, struct dif_type *type)
{
	return dif_is_kind(c, type, DIF_C_STRUCT) || dif_is_kind(c, type, DIF_C_UNION);
}

bool dif_is_void(struct dif_compiler *c, struct dif_type *type)
{
	return dif_is_kind(c, type, DIF_C_VOID);
}

bool dif_is_string(struct dif_compiler *c, struct dif_type *type)
{
	return dif_is_kind(c, type, DIF_C_STRING);
}

bool dif_is_function(struct dif_compiler *c, struct dif_type *type)
{
	return dif_is_kind(c, type, DIF_C_FUNCTION);
}

bool dif_is_array(struct dif_compiler *c, struct dif_type *type)
{
	return dif_is_kind(c, type, DIF_C_ARRAY);
}

bool dif_is_incomplete(struct dif_compiler *c, struct dif_type *type)
{
	struct dif_type *t = dif_base(c, type);

	if (t->kind == DIF_C_FORWARD || (t->kind == DIF_C_ENUM && t->is_forward))
		return true;
	return t->kind == DIF_C_ARRAY && t->nelems && dif_is_incomplete(c, t->ref);
}

struct dif_type *dif_pointee(struct dif_compiler *c, struct dif_type *type)
{
	struct dif_type *t = dif_base(c, type);

	if (t->kind == DIF_C_STRING)
		return c->types->char_;
	return t->kind == DIF_C_POINTER || t->kind == DIF_C_ARRAY ? t->ref : NULL;
}

static bool is_char(struct dif_compiler *c, struct dif_type *type)
{
	struct dif_type *t = dif_base(c, type);

	return t->kind == DIF_C_INT && t->size == 1 && !t->is_bool;
}

bool dif_is_stringlike(struct dif_compiler *c, struct dif_type *type)
{
	if (dif_is_string(c, type))
		return true;
	struct dif_type *to = dif_pointee(c, type);
	return to && is_char(c, to);
}

bool dif_is_void_pointer(struct dif_compiler *c, struct dif_type *type)
{
	struct dif_type *to = dif_is_pointer(c, type) ? dif_pointee(c, type) : NULL;

	return to && dif_is_void(c, to);
}

bool dif_is_byref(struct dif_compiler *c, struct dif_type *type)
{
	switch (dif_base(c, type)->kind) {
	case DIF_C_STRING:
	case DIF_C_STRUCT:
	case DIF_C_UNION:
	case DIF_C_ARRAY:
		return true;
	default:
		return dif_is_float(c, type);
	}
}

bool dif_is_signed(struct dif_compiler *c, struct dif_type *type)
{
	struct dif_type *t = dif_base(c, type);

	return (t->kind == DIF_C_INT || t->kind == DIF_C_ENUM) && t->is_signed;
}

static bool same(struct dif_compiler *c, struct dif_type *a, struct dif_type *b, int depth)
{
	if (a == b) /* no name needs to be resolved */
		return true;
	a = dif_base(c, a);
	b = dif_base(c, b);
	if (a == b)
		return true;
	if (a->kind != b->kind || depth > RECURSION_MAX)
		return false;
	switch (a->kind) {
	case DIF_C_INT:
	case DIF_C_FLOAT:
		return a->size == b->size && a->is_signed == b->is_signed && a->is_bool == b->is_bool;
	case DIF_C_POINTER:
		return same(c, a->ref, b->ref, depth + 1);
	case DIF_C_ARRAY:
		return a->nelems == b->nelems && same(c, a->ref, b->ref, depth + 1);
	case DIF_C_STRUCT:
	case DIF_C_UNION:
	case DIF_C_ENUM:
	case DIF_C_FORWARD:
		return a->size == b->size && *a->name && !strcmp(a->name, b->name);
	case DIF_C_FUNCTION: /* D does not distinguish function types */
	default:
		return true;
	}
}

bool dif_type_same(struct dif_compiler *c, struct dif_type *a, struct dif_type *b)
{
	return same(c, a, b, 0);
}

bool dif_pointer_compatible(struct dif_compiler *c, struct dif_type *a, struct dif_type *b)
{
	struct dif_type *pa = dif_pointee(c, a), *pb = dif_pointee(c, b);

	if (!pa || !pb)
		return false;
	if (dif_is_void(c, pa) || dif_is_void(c, pb) || same(c, pa, pb, 0))
		return true;
	/* char * and unsigned char * are compatible, as both are strings; a declared but undefined struct is
	 * compatible with its definition */
	if (is_char(c, pa) && is_char(c, pb))
		return true;
	struct dif_type *ta = dif_base(c, pa), *tb = dif_base(c, pb);
	return (ta->kind == DIF_C_FORWARD || tb->kind == DIF_C_FORWARD) && *ta->name &&
	       !strcmp(ta->name, tb->name);
}

static uint64_t rank(struct dif_type *t)
{
	return t->size * 8 + !t->is_signed;
}

struct dif_type *dif_type_promote(struct dif_compiler *c, struct dif_type *a, struct dif_type *b)
{
	struct dif_type *ta = dif_base(c, a), *tb = dif_base(c, b);

	/* an enum calculates as its integer */
	if (ta->kind == DIF_C_ENUM)
		a = ta = ta->is_signed ? c->types->int_ : c->types->uint;
	if (tb->kind == DIF_C_ENUM)
		b = tb = tb->is_signed ? c->types->int_ : c->types->uint;
	return rank(ta) >= rank(tb) ? a : b;
}

static struct dif_member *find_member(struct dif_compiler *c, struct dif_type *sou, const char *name,
				      uint64_t *ret_bits, int depth)
{
	sou = dif_base(c, sou);
	if ((sou->kind != DIF_C_STRUCT && sou->kind != DIF_C_UNION) || depth > RECURSION_MAX)
		return NULL;
	for (uint32_t i = 0; i < sou->nmembers; i++) {
		struct dif_member *m = &sou->members[i];
		if (m->name && *m->name) {
			if (strcmp(m->name, name) != 0)
				continue;
			*ret_bits = m->bit_offset;
			return m;
		}
		struct dif_member *in = find_member(c, m->type, name, ret_bits, depth + 1);
		if (in) {
			*ret_bits += m->bit_offset;
			return in;
		}
	}
	return NULL;
}

struct dif_member *dif_member_find(struct dif_compiler *c, struct dif_type *sou, const char *name,
				   uint64_t *ret_bits)
{
	return find_member(c, sou, name, ret_bits, 0);
}

struct dif_rtype dif_type_rtype(struct dif_compiler *c, struct dif_type *type)
{
	static const uint8_t ckinds[] = {
		[DIF_C_INT] = DIF_CTF_INTEGER,       [DIF_C_FLOAT] = DIF_CTF_FLOAT,
		[DIF_C_POINTER] = DIF_CTF_POINTER,   [DIF_C_ARRAY] = DIF_CTF_ARRAY,
		[DIF_C_FUNCTION] = DIF_CTF_FUNCTION, [DIF_C_STRUCT] = DIF_CTF_STRUCT,
		[DIF_C_UNION] = DIF_CTF_UNION,       [DIF_C_ENUM] = DIF_CTF_ENUM,
		[DIF_C_FORWARD] = DIF_CTF_FORWARD,   [DIF_C_SYMADDR] = DIF_CTF_INTEGER,
		[DIF_C_STACK] = DIF_CTF_INTEGER,
	};
	struct dif_type *t = dif_base(c, type);
	struct dif_rtype r = { .kind = DIF_TYPE_CTF };

	if (t->kind == DIF_C_STRING) {
		r.kind = DIF_TYPE_STRING;
		r.flags = DIF_TF_BYREF;
		return r; /* size 0: the strsize option's */
	}
	r.ckind = t->kind < OT_ARRAY_SIZE(ckinds) ? ckinds[t->kind] : 0;
	uint64_t size = t->kind == DIF_C_FUNCTION ? 8 : dif_sizeof(c, t);
	r.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
	if (dif_is_byref(c, t))
		r.flags = DIF_TF_BYREF;
	return r;
}

const char *dif_type_text(struct dif_compiler *c, struct dif_type *type)
{
	struct ot_buf buf = { 0 };

	dif_type_print(type, &buf);
	const char *s = dif_strdup(c, &c->scratch, ot_buf_str(&buf));
	ot_buf_deinit(&buf);
	return s ? s : "?";
}
