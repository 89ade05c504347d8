/* SPDX-License-Identifier: GPL-2.0-or-later */
/* struct, union and enum: references, definitions, members, bit-fields, enumerators. */
#include <string.h>

#include "dif/lang/syntax/parse.h"

struct members {
	struct dif_member *list;
	size_t n, cap;
	uint64_t bits;  /* next free bit */
	uint64_t end;   /* of the last member, bytes */
	uint64_t align; /* of the aggregate, bytes */
	bool is_union;
	bool has_bitfields;
	struct ot_map names;
};

/* Bytes that a bit-field has for itself. */
static uint64_t bitfield_bytes(uint64_t bits)
{
	uint64_t n = 1;

	while (n * 8 < bits)
		n *= 2;
	return n;
}

static uint64_t align_of(struct dif_compiler *c, struct dif_type *type)
{
	struct dif_type *t = dif_base(c, type);
	uint64_t align = 1;

	for (int i = 0; t->kind == DIF_C_ARRAY && i < 32; i++)
		t = dif_base(c, t->ref);
	if (t->kind == DIF_C_STRUCT || t->kind == DIF_C_UNION) {
		for (uint32_t i = 0; i < t->nmembers; i++) {
			const struct dif_member *m = &t->members[i];
			uint64_t a =
			    m->bit_size && t->is_d ? bitfield_bytes(m->bit_size) : align_of(c, m->type);
			align = a > align && a <= 16 ? a : align;
		}
		return align;
	}
	align = dif_sizeof(c, t);
	if (t->kind == DIF_C_STRING || !align)
		return 1;
	return align > 16 ? 16 : align;
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return to ? (n + to - 1) / to * to : n;
}

/*
 * Place a member as the System V ABI does. Bit-fields are D's own: each starts at a byte and is aligned like
 * the smallest integer that holds it, the next member may start right behind its bits, and a struct with
 * bit-fields is not padded at its end.
 */
static void place(struct members *ms, struct dif_member *m, uint64_t size, uint64_t align)
{
	uint64_t at = ms->is_union ? 0 : ms->bits;

	if (m->bit_size)
		size = align = bitfield_bytes(m->bit_size);
	at = round_up(at, align * 8);
	m->bit_offset = at;
	if (!ms->is_union)
		ms->bits = at + (m->bit_size ? m->bit_size : size * 8);
	ms->end = at / 8 + size > ms->end ? at / 8 + size : ms->end;
	ms->align = align > ms->align ? align : ms->align;
	ms->has_bitfields |= m->bit_size != 0;
}

static bool add_member(struct dif_compiler *c, struct members *ms, struct dif_member m)
{
	if (ms->n == ms->cap) {
		size_t cap = ms->cap ? ms->cap * 2 : 16;
		struct dif_member *list = dif_alloc(c, &c->arena, cap * sizeof(*list));
		if (!list)
			return false;
		if (ms->n)
			memcpy(list, ms->list, ms->n * sizeof(*list));
		ms->list = list;
		ms->cap = cap;
	}
	uint64_t size = dif_sizeof(c, m.type);
	place(ms, &m, size, align_of(c, m.type));
	ms->list[ms->n++] = m;
	return true;
}

/* bit-field = ":" constant */
static bool bitfield(struct dif_compiler *c, struct dif_type *type, const char *name, uint32_t *ret)
{
	int64_t width;
	struct dif_type *wtype;
	uint32_t line = c->unit->tok.line;

	if (!dif_parse_constant(c, &width, &wtype) || width < 0 || (width == 0 && name))
		return dif_fail(c, DIF_D_DECL_BFCONST, line,
				"positive integral constant expression expected as bit-field size");
	if (!dif_is_int(c, type))
		return dif_fail(c, DIF_D_DECL_BFTYPE, line, "invalid type for bit-field: %s",
				name ? name : "(anon)");
	if ((uint64_t)width > dif_sizeof(c, type) * 8)
		return dif_fail(c, DIF_D_DECL_BFSIZE, line, "bit-field too big for type: %s",
				name ? name : "(anon)");
	*ret = (uint32_t)width;
	return true;
}

static bool member(struct dif_compiler *c, struct members *ms, struct dif_type *base)
{
	struct dif_declarator d;
	uint32_t width = 0;

	if (!dif_parse_member_declarator(c, base, &d))
		return false;
	if (d.name && strchr(d.name, '`'))
		return dif_fail(c, DIF_D_DECL_SCOPE, d.line,
				"D scoping operator may not be used in a member name (%s)", d.name);
	if (d.is_assoc)
		return dif_fail(c, DIF_D_DECL_DYNOBJ, d.line, "cannot have dynamic member: %s",
				d.name ? d.name : "(anon)");
	if (c->unit->tok.kind == DIF_T_COLON) {
		dif_next(c);
		if (!bitfield(c, d.type, d.name, &width))
			return false;
		if (!width) /* int : 0; closes a unit for C; here every field has one of its own */
			return true;
	} else if (!d.name) {
		return dif_fail(c, DIF_D_DECL_MNAME, d.line, "member declaration requires a name");
	}
	if (dif_is_function(c, d.type))
		return dif_fail(c, DIF_D_DECL_VOIDOBJ, d.line, "cannot have void member: %s", d.name);
	if (!dif_check_object_type(c, d.type, d.name ? d.name : "", d.line))
		return false;
	if (d.name && ot_map_gets(&ms->names, d.name))
		return dif_fail(c, DIF_D_UNKNOWN, d.line,
				"failed to define member '%s': Duplicate member name definition", d.name);
	if (d.name && !ot_map_puts(&ms->names, d.name, ms))
		return dif_fail_memory(c);
	return add_member(
	    c, ms, (struct dif_member){ .name = d.name ? d.name : "", .type = d.type, .bit_size = width });
}

/* member-list = (declspec (member ("," member)*)? ";")* */
static bool member_list(struct dif_compiler *c, struct members *ms)
{
	while (c->unit->tok.kind != DIF_T_RBRACE) {
		struct dif_declspec spec;
		if (!dif_parse_declspec(c, &spec))
			return false;
		if (spec.storage != DIF_STORE_DEFAULT)
			return dif_fail(c, DIF_D_DECL_BADCLASS, spec.line,
					"storage classes may not be used with members");
		if (c->unit->tok.kind == DIF_T_SEMI) {
			struct dif_type *t = dif_base(c, spec.type);
			if ((t->kind != DIF_C_STRUCT && t->kind != DIF_C_UNION) || *t->name)
				return dif_fail(c, DIF_D_DECL_MNAME, spec.line,
						"member declaration requires a name");
			if (!add_member(c, ms, (struct dif_member){ .name = "", .type = spec.type }))
				return false;
		} else {
			do {
				if (!member(c, ms, spec.type))
					return false;
			} while (dif_accept(c, DIF_T_COMMA));
		}
		if (!dif_expect(c, DIF_T_SEMI))
			return false;
	}
	return dif_expect(c, DIF_T_RBRACE);
}

static struct dif_type *tag_entry(struct dif_compiler *c, enum dif_ckind kind, const char *name, bool define)
{
	const char *word = kind == DIF_C_STRUCT ? "struct" : kind == DIF_C_UNION ? "union" : "enum";
	const char *key = ot_arena_printf(&c->scratch, "%s %s", word, name);
	struct dif_type *t = key ? ot_map_gets(&c->types->tags, key) : NULL;

	if (!key)
		return dif_fail_memory(c);
	if (t) {
		bool open = t->kind == DIF_C_FORWARD || (t->kind == DIF_C_ENUM && t->is_forward);
		if (define && !open)
			return dif_fail(c, DIF_D_DECL_TYPERED, 0, "type redeclared: %s", key);
		return t;
	}
	if (!define && (t = dif_tag_find(c, kind, name)))
		return t;
	t = dif_type_new(c, kind == DIF_C_ENUM ? DIF_C_ENUM : DIF_C_FORWARD, name,
			 kind == DIF_C_ENUM ? 4 : 0);
	if (!t)
		return NULL;
	t->is_forward = true;
	if (!ot_map_puts(&c->types->tags, key, t))
		return dif_fail_memory(c);
	return t;
}

static const char *tag_name(struct dif_compiler *c)
{
	const char *name = NULL;

	if (c->unit->tok.kind == DIF_T_IDENT) {
		name = dif_strdup(c, &c->arena, c->unit->tok.text);
		dif_next(c);
	}
	return name;
}

/* sou = ("struct" | "union") (ident | ident? "{" member-list "}") */
struct dif_type *dif_parse_sou(struct dif_compiler *c, enum dif_ckind kind, bool *ret_defined)
{
	struct members ms = { .align = 1, .is_union = kind == DIF_C_UNION };
	struct dif_type *t;

	dif_next(c);
	const char *name = tag_name(c);
	*ret_defined = c->unit->tok.kind == DIF_T_LBRACE;
	if (!*ret_defined)
		return name ? tag_entry(c, kind, name, false) : dif_syntax(c);
	dif_next(c);
	/* GNU C's struct without members comes from headers only */
	if (c->unit->tok.kind == DIF_T_RBRACE && !c->diag.file)
		return dif_syntax(c);
	if (name && strchr(name, '`'))
		return dif_fail(c, DIF_D_DECL_SCOPE, 0, "D scoping operator may not be used in a type name");
	t = name ? tag_entry(c, kind, name, true) : dif_type_new(c, DIF_C_FORWARD, "", 0);
	if (!t)
		return NULL;
	ot_map_init(&ms.names);
	bool ok = member_list(c, &ms);
	ot_map_deinit(&ms.names);
	if (!ok)
		return NULL;
	t->kind = kind;
	t->is_forward = false;
	t->members = ms.list;
	t->nmembers = (uint32_t)ms.n;
	t->size = ms.has_bitfields ? ms.end : round_up(ms.end, ms.align);
	return t;
}

static bool enumerator(struct dif_compiler *c, struct dif_type *t, int64_t *next, struct dif_enumerator *ret)
{
	if (c->unit->tok.kind != DIF_T_IDENT)
		return dif_syntax(c);
	const char *name = dif_strdup(c, &c->arena, c->unit->tok.text);
	uint32_t line = c->unit->tok.line;
	dif_next(c);
	if (name && strchr(name, '`'))
		return dif_fail(c, DIF_D_DECL_SCOPE, line,
				"D scoping operator may not be used in a declaration name");
	if (dif_accept(c, DIF_T_ASGN)) {
		struct dif_type *type;
		if (!dif_parse_constant(c, next, &type))
			return dif_fail(c, DIF_D_DECL_ENCONST, line,
					"enumerator '%s' must be assigned to an integral constant expression",
					name);
	}
	if (*next > INT32_MAX || *next < INT32_MIN)
		return dif_fail(c, DIF_D_DECL_ENOFLOW, line, "enumerator '%s' value overflows INT_MAX", name);
	*ret = (struct dif_enumerator){ .name = name, .value = (*next)++ };
	struct dif_ident *id = name ? dif_ident_find(c, DIF_NAME_GLOBAL, name) : NULL;
	if (id && id->kind == DIF_ID_CONST && id->type == t)
		return dif_fail(c, DIF_D_UNKNOWN, line,
				"failed to define enumerator '%s': Duplicate member name definition", name);
	if (id) {
		if (c->diag.file)
			return true; /* a header's enumerator gives way */
		return dif_fail(c, DIF_D_DECL_IDRED, line, "identifier redeclared: %s", name);
	}
	id = name ? dif_ident_add(c, DIF_NAME_GLOBAL, name, DIF_ID_CONST) : NULL;
	if (!id)
		return false;
	id->type = t;
	id->value = (uint64_t)ret->value;
	return true;
}

/* enum = "enum" (ident | ident? "{" enumerator ("," enumerator)* ","? "}") */
struct dif_type *dif_parse_enum(struct dif_compiler *c, bool *ret_defined)
{
	struct dif_enumerator *list = NULL;
	size_t n = 0, cap = 0;
	int64_t next = 0;

	dif_next(c);
	const char *name = tag_name(c);
	*ret_defined = c->unit->tok.kind == DIF_T_LBRACE;
	if (!*ret_defined)
		return name ? tag_entry(c, DIF_C_ENUM, name, false) : dif_syntax(c);
	struct dif_type *t = name ? tag_entry(c, DIF_C_ENUM, name, true) : dif_type_new(c, DIF_C_ENUM, "", 4);
	if (!t)
		return NULL;
	t->is_signed = true;
	dif_next(c);
	while (c->unit->tok.kind != DIF_T_RBRACE || !n) {
		if (n == cap) {
			struct dif_enumerator *more =
			    dif_alloc(c, &c->arena, (cap = cap ? cap * 2 : 16) * sizeof(*more));
			if (!more)
				return NULL;
			if (n)
				memcpy(more, list, n * sizeof(*more));
			list = more;
		}
		if (!enumerator(c, t, &next, &list[n++]))
			return NULL;
		if (!dif_accept(c, DIF_T_COMMA))
			break;
	}
	if (!dif_expect(c, DIF_T_RBRACE))
		return NULL;
	t->is_forward = false;
	t->enumerators = list;
	t->nenumerators = (uint32_t)n;
	return t;
}
