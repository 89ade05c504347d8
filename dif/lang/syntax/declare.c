/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations, parsed and put into effect: variables, externs, typedefs. */
#include <string.h>

#include "dif/lang/syntax/parse.h"

bool dif_check_object_type(struct dif_compiler *c, struct dif_type *type, const char *name, uint32_t line)
{
	struct dif_type *t = dif_base(c, type);

	for (int i = 0; t->kind == DIF_C_ARRAY && i < 32; i++)
		t = dif_base(c, t->ref);
	if (t->kind == DIF_C_VOID)
		return dif_fail(c, DIF_D_DECL_VOIDOBJ, line, "cannot have void object: %s", name);
	if (t->kind == DIF_C_DYNAMIC)
		return dif_fail(c, DIF_D_DECL_DYNOBJ, line, "cannot have dynamic object: %s", name);
	if (dif_is_incomplete(c, t))
		return dif_fail(c, DIF_D_DECL_INCOMPLETE, line, "incomplete struct/union/enum %s: %s",
				t->name ? t->name : "", name);
	return true;
}

static bool declare_typedef(struct dif_compiler *c, const struct dif_declarator *d)
{
	if (d->is_assoc)
		return dif_fail(c, DIF_D_DECL_ARRNULL, d->line, "associative arrays may not be typedefs");
	if (dif_ident_find(c, DIF_NAME_GLOBAL, d->name))
		return dif_fail(c, DIF_D_DECL_IDRED, d->line, "global variable identifier redeclared: %s",
				d->name);
	if (ot_map_gets(&c->types->typedefs, d->name)) {
		if (c->diag.file)
			return true;
		return dif_fail(c, DIF_D_DECL_IDRED, d->line, "typedef redeclared: %s", d->name);
	}
	struct dif_type *t = dif_type_new(c, DIF_C_TYPEDEF, d->name, d->type->size);
	if (!t)
		return false;
	t->ref = d->type;
	t->is_userland = d->type->is_userland && d->type->kind == DIF_C_TYPEDEF;
	return ot_map_puts(&c->types->typedefs, d->name, t) || dif_fail_memory(c);
}

static bool set_keys(struct dif_compiler *c, struct dif_ident *id, const struct dif_declarator *d)
{
	const struct dif_param *p = d->keys;

	id->is_array = true;
	id->has_keys = true;
	id->nkeys = d->nkeys;
	id->keys = dif_alloc(c, &c->arena, (d->nkeys + 1) * sizeof(*id->keys));
	for (uint32_t i = 0; id->keys && p; p = p->next)
		id->keys[i++] = p->type;
	return id->keys != NULL;
}

static bool same_variable(struct dif_compiler *c, const struct dif_ident *id, const struct dif_declarator *d)
{
	const struct dif_param *p = d->keys;

	if (id->kind != DIF_ID_VAR || !id->type || !dif_type_same(c, id->type, d->type) ||
	    id->is_array != d->is_assoc || (id->is_array && id->nkeys != d->nkeys))
		return false;
	for (uint32_t i = 0; p; p = p->next, i++)
		if (!dif_type_same(c, id->keys[i], p->type))
			return false;
	return true;
}

static bool declare_variable(struct dif_compiler *c, enum dif_name_scope scope,
			     const struct dif_declarator *d)
{
	if (scope == DIF_NAME_THIS && d->is_assoc)
		return dif_fail(c, DIF_D_DECL_LOCASSC, d->line,
				"clause-local variables may not be associative arrays: %s", d->name);
	if (d->type->kind == DIF_C_ARRAY && d->type->is_forward)
		return dif_fail(c, DIF_D_DECL_ARRNULL, d->line,
				"array declaration requires array dimension or tuple signature: %s", d->name);
	if (!dif_check_object_type(c, d->type, d->name, d->line))
		return false;
	struct dif_ident *id = dif_ident_find(c, scope, d->name);
	if (id && !dif_ident_is_own(id)) {
		if (same_variable(c, id, d))
			return true;
		return dif_fail(c, DIF_D_DECL_IDRED, d->line, "identifier redeclared: %s", d->name);
	}
	id = dif_ident_add(c, scope, d->name, DIF_ID_VAR);
	if (!id)
		return false;
	/* a function's name is a pointer to it */
	id->type = dif_is_function(c, d->type) ? dif_type_pointer(c, d->type) : d->type;
	id->is_declared = id->is_assigned = true;
	id->line = d->line;
	if (d->is_assoc && !set_keys(c, id, d))
		return false;
	return id->type && dif_ident_number(c, id);
}

static bool declare_extern(struct dif_compiler *c, const struct dif_declarator *d)
{
	struct dif_ident *id = dif_ident_find(c, DIF_NAME_GLOBAL, d->name);

	if (d->is_assoc)
		return dif_fail(c, DIF_D_DECL_CLASS, d->line,
				"associative arrays may not be external symbols: %s", d->name);
	if (id) {
		if (id->kind == DIF_ID_EXTERN && dif_type_same(c, id->type, d->type))
			return true;
		/* a prototype of C's strchr() and the like does not hide D's */
		if (id->func && dif_is_function(c, d->type))
			return true;
		return dif_fail(c, DIF_D_DECL_IDRED, d->line, "identifier redeclared: %s", d->name);
	}
	id = dif_ident_add(c, DIF_NAME_GLOBAL, d->name, DIF_ID_EXTERN);
	if (id)
		id->type = d->type;
	return id != NULL;
}

static bool declare(struct dif_compiler *c, const struct dif_declspec *spec, const struct dif_declarator *d)
{
	if (!d->name)
		return dif_syntax(c);
	if (strchr(d->name, '`'))
		return dif_fail(c, DIF_D_DECL_SCOPE, d->line,
				"D scoping operator may not be used in a declaration name");
	switch (spec->storage) {
	case DIF_STORE_TYPEDEF:
		return declare_typedef(c, d);
	case DIF_STORE_EXTERN:
		return declare_extern(c, d);
	case DIF_STORE_SELF:
		return declare_variable(c, DIF_NAME_SELF, d);
	case DIF_STORE_THIS:
		return declare_variable(c, DIF_NAME_THIS, d);
	case DIF_STORE_DEFAULT:
		/* a prototype in a header declares a function of the guest */
		if (dif_is_function(c, d->type))
			return declare_extern(c, d);
		return declare_variable(c, DIF_NAME_GLOBAL, d);
	case DIF_STORE_STATIC:
		/* a header's own function: nothing of it is in the guest */
		if (c->diag.file && dif_is_function(c, d->type))
			return true;
		break;
	case DIF_STORE_AUTO:
	case DIF_STORE_REGISTER:
		break;
	}
	return dif_fail(c, DIF_D_DECL_BADCLASS, spec->line, "specified storage class not appropriate in D");
}

/* block = "{" … "}": the body of a function in a header is C, and skipped. Leaves the "}". */
static bool skip_function(struct dif_compiler *c)
{
	uint32_t depth = 0;

	do {
		if (c->unit->tok.kind == DIF_T_EOF)
			return dif_syntax(c);
		depth += c->unit->tok.kind == DIF_T_LBRACE;
		depth -= c->unit->tok.kind == DIF_T_RBRACE;
		if (depth)
			dif_next(c);
	} while (depth);
	return true;
}

/* declaration = declspec (declarator ("," declarator)*)? ";" */
bool dif_parse_declaration(struct dif_compiler *c)
{
	struct dif_declspec spec;
	bool is_body = false;

	c->unit->lex.mode = DIF_LEX_INNER;
	if (!dif_parse_declspec(c, &spec))
		return false;
	if (c->unit->tok.kind == DIF_T_SEMI) {
		/* a typedef without a name still declares its struct, union or enum */
		if (!spec.defines_tag ||
		    (spec.storage != DIF_STORE_DEFAULT && spec.storage != DIF_STORE_TYPEDEF))
			return dif_fail(c, DIF_D_DECL_USELESS, spec.line, "useless declaration");
	} else {
		do {
			struct dif_declarator d;
			if (!dif_parse_declarator(c, spec.type, &d) || !declare(c, &spec, &d))
				return false;
			is_body =
			    c->diag.file && c->unit->tok.kind == DIF_T_LBRACE && dif_is_function(c, d.type);
			if (is_body && !skip_function(c))
				return false;
		} while (!is_body && dif_accept(c, DIF_T_COMMA));
	}
	if (c->unit->tok.kind != (is_body ? DIF_T_RBRACE : DIF_T_SEMI))
		return dif_syntax(c);
	c->unit->lex.mode = DIF_LEX_OUTER;
	dif_next(c);
	return !c->diag.failed;
}
