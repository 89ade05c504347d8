/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarators. C writes types inside out: in `int (*a[3])(int)` the part in parentheses is
 * read before the suffix that it applies to. It is read with a placeholder as its base type,
 * and the placeholder becomes the real base when that is known.
 */
#include <string.h>

#include "dif/lang/syntax/parse.h"

static bool is_userland(struct dif_type *t)
{
	return t->is_userland && t->kind == DIF_C_TYPEDEF;
}

/* pointer = ("*" qualifier*)* */
static struct dif_type *parse_pointer(struct dif_compiler *c, struct dif_type *base)
{
	bool user = base && is_userland(base);

	while (base && dif_accept(c, DIF_T_MUL)) {
		if (!dif_nest(c))
			return NULL;
		base = dif_type_pointer(c, base);
		if (base)
			base->is_userland = user;
		for (;;) {
			if (dif_accept(c, DIF_T_CONST))
				base = dif_type_qualified(c, DIF_C_CONST, base);
			else if (dif_accept(c, DIF_T_VOLATILE))
				base = dif_type_qualified(c, DIF_C_VOLATILE, base);
			else if (!dif_accept(c, DIF_T_RESTRICT))
				break;
		}
	}
	return base;
}

static bool param(struct dif_compiler *c, struct dif_param *ret)
{
	struct dif_declspec spec;
	struct dif_declarator d;

	if (!dif_parse_declspec(c, &spec))
		return false;
	if (spec.storage != DIF_STORE_DEFAULT && spec.storage != DIF_STORE_REGISTER)
		return dif_fail(c, DIF_D_DECL_PARMCLASS, 0,
				"inappropriate storage class for function or associative array parameter");
	if (!dif_parse_declarator(c, spec.type, &d))
		return false;
	if (d.is_assoc)
		return dif_fail(c, DIF_D_DECL_PROTO_TYPE, 0, "associative arrays may not be parameters");
	/* arrays and functions decay */
	struct dif_type *base = dif_base(c, d.type);
	if (base->kind == DIF_C_ARRAY)
		d.type = dif_type_pointer(c, base->ref);
	else if (base->kind == DIF_C_FUNCTION)
		d.type = dif_type_pointer(c, d.type);
	*ret = (struct dif_param){ .name = d.name, .type = d.type };
	return d.type != NULL;
}

static bool check_param(struct dif_compiler *c, const struct dif_param *list, const struct dif_param *p,
			bool keys)
{
	bool is_void = dif_is_void(c, p->type);

	if (dif_is_kind(c, p->type, DIF_C_DYNAMIC) || (is_void && keys))
		return dif_fail(c, DIF_D_DECL_PROTO_TYPE, 0, "%s prototype may not use parameter of type %s",
				keys ? "array" : "function", dif_type_text(c, p->type));
	if (is_void && p->name)
		return dif_fail(c, DIF_D_DECL_PROTO_NAME, 0, "void parameter may not have a name: %s",
				p->name);
	for (const struct dif_param *o = list; p->name && o != p; o = o->next)
		if (o->name && !strcmp(o->name, p->name))
			return dif_fail(c, DIF_D_DECL_PROTO_FORM, 0,
					"parameter is already declared in prototype: %s", p->name);
	return true;
}

static bool check_params(struct dif_compiler *c, const struct dif_param *list, uint32_t n, bool keys)
{
	bool has_void = false;

	for (const struct dif_param *p = list; p; p = p->next) {
		if (!check_param(c, list, p, keys))
			return false;
		has_void |= dif_is_void(c, p->type);
	}
	if (has_void && n > 1)
		return dif_fail(c, DIF_D_DECL_PROTO_VOID, 0, "void must be sole parameter");
	return true;
}

/* params = (param ("," param)* ("," "...")?)? */
bool dif_parse_params(struct dif_compiler *c, enum dif_tok close, struct dif_param **ret, uint32_t *ret_n,
		      bool *ret_variadic)
{
	struct dif_param *first = NULL, **tail = &first;
	uint32_t n = 0;

	*ret_variadic = false;
	while (c->unit->tok.kind != close) {
		if (n && !dif_expect(c, DIF_T_COMMA))
			return false;
		if (dif_accept(c, DIF_T_ELLIPSIS)) {
			*ret_variadic = true;
			break;
		}
		*tail = dif_new(c, &c->arena, struct dif_param);
		if (!*tail || !param(c, *tail))
			return false;
		tail = &(*tail)->next;
		n++;
	}
	if (c->unit->tok.kind != close)
		return dif_syntax(c);
	if (!check_params(c, first, n, close == DIF_T_RBRACK))
		return false;
	*ret = first;
	*ret_n = n;
	return true;
}

static struct dif_type *function_suffix(struct dif_compiler *c, struct dif_type *base)
{
	struct dif_param *list;
	uint32_t n;
	bool variadic;

	dif_next(c);
	if (!dif_parse_params(c, DIF_T_RPAREN, &list, &n, &variadic) || !dif_expect(c, DIF_T_RPAREN))
		return NULL;
	struct dif_type *t = dif_type_new(c, DIF_C_FUNCTION, "", 0);
	if (!t)
		return NULL;
	if (n == 1 && dif_is_void(c, list->type))
		n = 0;
	t->ref = base;
	t->is_variadic = variadic;
	t->nparams = n;
	t->params = dif_alloc(c, &c->arena, (n + 1) * sizeof(*t->params));
	for (uint32_t i = 0; i < n && t->params; i++, list = list->next) {
		t->params[i].name = list->name ? list->name : "";
		t->params[i].type = list->type;
	}
	return t->params ? t : NULL;
}

static bool assoc_suffix(struct dif_compiler *c, struct dif_declarator *d)
{
	bool variadic;

	if (d->is_assoc)
		return dif_fail(c, DIF_D_DECL_DYNOBJ, 0, "cannot declare array of associative arrays");
	d->is_assoc = true;
	if (!dif_parse_params(c, DIF_T_RBRACK, &d->keys, &d->nkeys, &variadic))
		return false;
	if (variadic)
		return dif_fail(c, DIF_D_DECL_PROTO_VARARGS, 0,
				"associative arrays may not use a variable-length key list");
	return dif_expect(c, DIF_T_RBRACK);
}

static bool bad_subscript(struct dif_compiler *c, uint32_t line)
{
	return dif_fail(c, DIF_D_DECL_ARRSUB, line,
			"positive integral constant expression or tuple signature expected as array "
			"declaration subscript");
}

/* array = "[" constant? "]"; *ret_size UINT64_MAX: none given */
static bool array_size(struct dif_compiler *c, struct dif_declarator *d, uint64_t *ret)
{
	int64_t n;

	*ret = UINT64_MAX;
	if (c->unit->tok.kind != DIF_T_RBRACK) {
		struct dif_type *type;
		uint32_t line = c->unit->tok.line;
		if (!dif_parse_constant(c, &n, &type) || n < 0)
			return bad_subscript(c, line);
		if (!n)
			d->empty_line = line;
		if (n > INT32_MAX)
			return dif_fail(c, DIF_D_DECL_ARRBIG, line, "array dimension too big");
		*ret = (uint64_t)n;
	}
	return dif_expect(c, DIF_T_RBRACK);
}

static bool starts_param(struct dif_compiler *c)
{
	switch ((int)c->unit->tok.kind) {
	case DIF_T_ELLIPSIS:
	case DIF_T_AUTO:
	case DIF_T_EXTERN:
	case DIF_T_REGISTER:
	case DIF_T_SELF:
	case DIF_T_STATIC:
	case DIF_T_THIS:
	case DIF_T_TYPEDEF:
		return true;
	}
	return dif_starts_type(c);
}

/* suffix = ("(" params ")" | "[" … "]")*; dimensions nest from the right */
static struct dif_type *parse_suffix(struct dif_compiler *c, struct dif_type *base, struct dif_declarator *d)
{
	uint64_t n;

	if (!dif_nest(c))
		return NULL;
	if (c->unit->tok.kind == DIF_T_LPAREN) {
		struct dif_type *fn = function_suffix(c, base);
		base = fn;
	} else if (dif_accept(c, DIF_T_LBRACK)) {
		if (starts_param(c)) {
			if (!assoc_suffix(c, d))
				return NULL;
			base = parse_suffix(c, base, d);
		} else {
			if (!array_size(c, d, &n))
				return NULL;
			bool was_assoc = d->is_assoc;
			struct dif_type *of = parse_suffix(c, base, d);
			if (!of)
				return NULL;
			if (d->is_assoc && !was_assoc)
				return dif_fail(c, DIF_D_DECL_DYNOBJ, 0,
						"cannot declare array of associative arrays");
			if (n == UINT64_MAX) {
				base = dif_type_array(c, of, 0);
				if (base)
					base->is_forward = true; /* no size given */
			} else {
				base = dif_type_array(c, of, n);
			}
		}
	}
	dif_unnest(c);
	return base;
}

/* Sizes of arrays around the placeholder were taken before it was known. */
static void fix_sizes(struct dif_compiler *c, struct dif_type *t, const struct dif_type *stop)
{
	if (t == stop || (t->kind != DIF_C_ARRAY && t->kind != DIF_C_POINTER && t->kind != DIF_C_FUNCTION))
		return;
	fix_sizes(c, t->ref, stop);
	if (t->kind == DIF_C_ARRAY)
		t->size = t->nelems * dif_sizeof(c, t->ref);
}

static bool parse_nested(struct dif_compiler *c, struct dif_type *base, struct dif_declarator *d)
{
	struct dif_type *hole = dif_type_new(c, DIF_C_VOID, "", 0);

	dif_next(c);
	if (!hole || !dif_nest(c) || !dif_parse_member_declarator(c, hole, d) || !dif_expect(c, DIF_T_RPAREN))
		return false;
	dif_unnest(c);
	struct dif_declarator dummy = { 0 };
	struct dif_type *real = parse_suffix(c, base, &dummy);
	if (!real)
		return false;
	if (dummy.empty_line)
		d->empty_line = dummy.empty_line;
	if (dummy.is_assoc) {
		d->is_assoc = true;
		d->keys = dummy.keys;
		d->nkeys = dummy.nkeys;
	}
	if (d->type == hole) {
		d->type = real;
		return true;
	}
	*hole = *real;
	fix_sizes(c, d->type, hole);
	return true;
}

/* declarator = pointer ("(" declarator ")" | ident)? suffix */
bool dif_parse_member_declarator(struct dif_compiler *c, struct dif_type *base, struct dif_declarator *ret)
{
	struct dif_declarator d = { .line = c->unit->tok.line };
	uint32_t nesting = c->unit->nesting;

	base = parse_pointer(c, base);
	c->unit->nesting = nesting;
	if (!base)
		return false;
	if (c->unit->tok.kind == DIF_T_LPAREN) {
		if (!parse_nested(c, base, &d))
			return false;
	} else {
		if (c->unit->tok.kind == DIF_T_IDENT) {
			d.name = dif_strdup(c, &c->arena, c->unit->tok.text);
			d.line = c->unit->tok.line;
			dif_next(c);
		}
		d.type = parse_suffix(c, base, &d);
	}
	*ret = d;
	return d.type && !c->diag.failed;
}

bool dif_parse_declarator(struct dif_compiler *c, struct dif_type *base, struct dif_declarator *ret)
{
	if (!dif_parse_member_declarator(c, base, ret))
		return false;
	return !ret->empty_line || bad_subscript(c, ret->empty_line);
}

/* type-name = declspec abstract-declarator */
struct dif_type *dif_parse_type_name(struct dif_compiler *c)
{
	struct dif_declspec spec;
	struct dif_declarator d;

	if (!dif_parse_declspec(c, &spec))
		return NULL;
	if (spec.storage != DIF_STORE_DEFAULT)
		return dif_syntax(c);
	if (!dif_parse_declarator(c, spec.type, &d))
		return NULL;
	if (d.name || d.is_assoc)
		return dif_syntax(c);
	return d.type;
}
