/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inline and translator definitions. */
#include <string.h>

#include "dif/lang/check/cook.h"
#include "dif/lang/check/xlate.h"
#include "dif/lang/syntax/parse.h"
#include "dif/lang/syntax/pragma.h"

/* The ; that ends a definition: what follows is read in outer mode again. */
bool dif_end_definition(struct dif_compiler *c)
{
	if (c->tok.kind != DIF_T_SEMI)
		return dif_syntax(c);
	c->lex.mode = DIF_LEX_OUTER;
	dif_next(c);
	return !c->failed;
}

/* --- inline -------------------------------------------------------------------------------------- */

static bool set_params(struct dif_compiler *c, struct dif_ident *id, const struct dif_declarator *d)
{
	const struct dif_param *p = d->keys;

	id->is_array = true;
	id->nkeys = d->nkeys;
	id->keys = dif_alloc(c, &c->arena, (d->nkeys + 1) * sizeof(*id->keys));
	id->param_names = dif_alloc(c, &c->arena, (d->nkeys + 1) * sizeof(*id->param_names));
	for (uint32_t i = 0; !c->failed && p; p = p->next, i++) {
		id->keys[i] = p->type;
		id->param_names[i] = p->name ? p->name : "";
	}
	return !c->failed;
}

/* A value of a parameter's type that nothing is known of, least of all that it is a constant. */
static struct dif_node *opaque(struct dif_compiler *c, struct dif_type *type)
{
	struct dif_node *n = dif_node_new(c, DIF_N_CAST), *zero = dif_node_int(c, 0, c->types.int_);

	if (!n || !zero)
		return NULL;
	n->left = zero;
	n->type = type;
	n->is_cooked = true;
	return n;
}

static bool incompatible(struct dif_compiler *c, const struct dif_ident *id, struct dif_type *type)
{
	return dif_fail(c, DIF_D_OP_INCOMPAT, id->line,
			"inline %s definition uses incompatible types: \"%s\" = \"%s\"", id->name,
			dif_type_text(c, id->type), dif_type_text(c, type));
}

/* Does the body's type go with the declared one? */
static bool check_type(struct dif_compiler *c, const struct dif_ident *id, const struct dif_node *body)
{
	if (body->kind == DIF_N_XLATE) {
		struct dif_type *out = dif_is_pointer(c, id->type) ? dif_pointee(c, id->type) : id->type;
		return dif_type_same(c, out, body->right->type) || incompatible(c, id, body->right->type);
	}
	return dif_assignable(c, id->type, body) || incompatible(c, id, body->type);
}

/* Cook the body once for its errors, with anything for the parameters. The inline itself is not known yet. */
static bool check_body(struct dif_compiler *c, const struct dif_ident *id)
{
	struct dif_ident *keep = c->params;
	struct dif_node *body = dif_node_clone(c, id->node);

	for (uint32_t i = 0; body && i < id->nkeys; i++) {
		struct dif_ident *p = dif_new(c, &c->scratch, struct dif_ident);
		struct dif_node *value = p ? opaque(c, id->keys[i]) : NULL;
		if (!value)
			return false;
		*p = (struct dif_ident){ .kind = DIF_ID_PARAM,
					 .name = id->param_names[i],
					 .type = id->keys[i],
					 .node = value,
					 .outer = c->params };
		c->params = p;
	}
	body = body ? dif_cook(c, body) : NULL;
	c->params = keep;
	return body && check_type(c, id, body);
}

static bool check_declarator(struct dif_compiler *c, const struct dif_declspec *spec,
			     const struct dif_declarator *d)
{
	if (spec->storage != DIF_STORE_DEFAULT)
		return dif_fail(c, DIF_D_DECL_BADCLASS, d->line,
				"specified storage class not appropriate for inline declaration");
	if (!d->name)
		return dif_syntax(c);
	if (strchr(d->name, '`'))
		return dif_fail(c, DIF_D_DECL_SCOPE, d->line,
				"D scoping operator may not be used in a declaration name");
	if (dif_ident_find(c, DIF_NAME_GLOBAL, d->name))
		return dif_fail(c, DIF_D_DECL_IDRED, d->line, "identifier redefined: %s", d->name);
	if (dif_is_array(c, d->type) && d->type->kind == DIF_C_ARRAY)
		return dif_fail(c, DIF_D_DECL_ARRNULL, d->line,
				"inline declaration requires array tuple signature: %s", d->name);
	if (dif_is_void(c, d->type))
		return dif_fail(c, DIF_D_DECL_VOIDOBJ, d->line, "cannot declare void inline: %s", d->name);
	if (dif_is_incomplete(c, d->type))
		return dif_fail(c, DIF_D_DECL_INCOMPLETE, d->line, "incomplete struct/union/enum %s: %s",
				dif_type_text(c, d->type), d->name);
	return true;
}

/* inline = "inline" declspec declarator "=" expr ";" */
bool dif_parse_inline(struct dif_compiler *c)
{
	struct dif_declspec spec;
	struct dif_declarator d;

	c->lex.mode = DIF_LEX_INNER;
	dif_next(c);
	if (!dif_parse_declspec(c, &spec) || !dif_parse_declarator(c, spec.type, &d) ||
	    !check_declarator(c, &spec, &d) || !dif_expect(c, DIF_T_ASGN))
		return false;
	c->clause.uses_args = false;
	struct dif_node *body = dif_parse_expr(c);
	if (!body || c->tok.kind != DIF_T_SEMI)
		return c->failed ? false : dif_syntax(c) != NULL;
	struct dif_ident def = { .name = d.name, .type = d.type, .node = body, .line = d.line };
	if (d.is_assoc && !set_params(c, &def, &d))
		return false;
	/* args[] has no type away from a probe: such a body is checked where it is used */
	def.uses_args = c->clause.uses_args;
	if (!def.uses_args && !check_body(c, &def))
		return false;
	/* a constant is one from here on, however long the chain of inlines that it was written with */
	if (!def.is_array && dif_is_scalar(c, def.type) && dif_node_is_literal(c, body)) {
		body = dif_cook(c, body);
		body = body ? dif_cast_to(c, body, def.type) : NULL;
		if (!body)
			return false;
	}
	struct dif_ident *id = dif_ident_add(c, DIF_NAME_GLOBAL, d.name, DIF_ID_INLINE);
	if (!id)
		return false;
	id->uses_args = def.uses_args;
	id->type = def.type;
	id->node = body;
	id->line = def.line;
	id->is_array = def.is_array;
	id->nkeys = def.nkeys;
	id->keys = def.keys;
	id->param_names = def.param_names;
	return dif_end_definition(c);
}

/* --- translator ------------------------------------------------------------------------------------ */

static bool xl_member(struct dif_compiler *c, struct dif_xlmember ***tail)
{
	if (!c->tok.text || c->tok.kind == DIF_T_LITERAL || c->tok.kind == DIF_T_AGG)
		return dif_syntax(c);
	struct dif_xlmember *m = dif_new(c, &c->arena, struct dif_xlmember);
	if (!m)
		return false;
	m->name = c->tok.text;
	m->line = c->tok.line;
	dif_next(c);
	if (!dif_expect(c, DIF_T_ASGN) || !(m->expr = dif_parse_assign(c)) || !dif_expect(c, DIF_T_SEMI))
		return false;
	**tail = m;
	*tail = &m->next;
	return true;
}

static bool xl_fits(struct dif_compiler *c, struct dif_type *want, const struct dif_node *e)
{
	if (e->kind == DIF_N_XLATE)
		return dif_type_same(c, dif_is_pointer(c, want) ? dif_pointee(c, want) : want,
				     e->right->type);
	return dif_assignable(c, want, e);
}

/* A member's expression, with the parameter standing for an input of its type. */
static bool check_xlmember(struct dif_compiler *c, struct dif_xlator *x, const struct dif_xlmember *m)
{
	struct dif_ident p = { .kind = DIF_ID_PARAM, .name = x->param, .node = opaque(c, x->in) };
	uint64_t bits;
	struct dif_member *member = dif_member_find(c, x->out, m->name, &bits);

	if (!member)
		return dif_fail(c, DIF_D_XLATE_MEMB, m->line, "translator member %s is not a member of %s",
				m->name, dif_type_text(c, x->out));
	c->params = &p;
	struct dif_node *e = p.node ? dif_node_clone(c, m->expr) : NULL;
	e = e ? dif_cook(c, e) : NULL;
	c->params = NULL;
	if (!e)
		return false;
	if (xl_fits(c, member->type, e))
		return true;
	return dif_fail(c, DIF_D_XLATE_INCOMPAT, m->line,
			"translator member %s definition uses incompatible types: \"%s\" = \"%s\"", m->name,
			dif_type_text(c, member->type), dif_type_text(c, e->type));
}

static bool check_xlator(struct dif_compiler *c, struct dif_xlator *x)
{
	for (const struct dif_xlmember *m = x->members; m; m = m->next)
		if (!check_xlmember(c, x, m))
			return false;
	return true;
}

/* translator = "translator" type-name "<" declspec declarator ">" "{" (word "=" assign ";")* "}" ";" */
bool dif_parse_translator(struct dif_compiler *c)
{
	struct dif_xlator *x = dif_new(c, &c->arena, struct dif_xlator);
	struct dif_declspec spec;
	struct dif_declarator d;
	uint32_t line = c->tok.line;

	c->lex.mode = DIF_LEX_INNER;
	dif_next(c);
	if (!x || !(x->out = dif_parse_type_name(c)) || !dif_expect(c, DIF_T_LT) ||
	    !dif_parse_declspec(c, &spec) || !dif_parse_declarator(c, spec.type, &d) ||
	    !dif_expect(c, DIF_T_GT))
		return false;
	if (!d.name || d.is_assoc)
		return dif_syntax(c);
	x->in = d.type;
	x->param = d.name;
	if (!dif_expect(c, DIF_T_LBRACE))
		return false;
	struct dif_xlmember **tail = &x->members;
	while (c->tok.kind != DIF_T_RBRACE)
		if (!xl_member(c, &tail))
			return false;
	dif_next(c);
	for (struct dif_xlator *o = c->xlators; o; o = o->next)
		if (dif_type_same(c, o->out, x->out) && dif_type_same(c, o->in, x->in))
			return dif_fail(c, DIF_D_XLATE_REDECL, line,
					"translator from %s to %s has already been declared",
					dif_type_text(c, x->in), dif_type_text(c, x->out));
	if (!dif_is_sou(c, x->out))
		return dif_fail(c, DIF_D_XLATE_SOU, line,
				"translator output type must be a struct or union: %s",
				dif_type_text(c, x->out));
	if (c->failed || !check_xlator(c, x))
		return false;
	x->next = c->xlators;
	c->xlators = x;
	dif_pragma_apply_translator(c);
	return dif_end_definition(c);
}
