/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions that represent expressions: inlines, translators, the output arguments of a provider's
 * probes. */
#include <string.h>

#include "dif/lang/check/cook.h"
#include "dif/lang/syntax/parse.h"
#include "dif/lang/syntax/xlator.h"
#include "dif/lang/types/pending.h"

/* --- inlines --------------------------------------------------------------------------------- */

static bool set_params(struct dif_compiler *c, struct dif_ident *id, const struct dif_declarator *d)
{
	const struct dif_param *p = d->keys;

	id->is_array = true;
	id->nkeys = d->nkeys;
	id->keys = dif_alloc(c, &c->arena, (d->nkeys + 1) * sizeof(*id->keys));
	id->param_names = dif_alloc(c, &c->arena, (d->nkeys + 1) * sizeof(*id->param_names));
	for (uint32_t i = 0; !c->diag.failed && p; p = p->next, i++) {
		id->keys[i] = p->type;
		id->param_names[i] = p->name ? p->name : "";
	}
	return !c->diag.failed;
}

/* An unknown value of a parameter's type, which is not a constant. */
static struct dif_node *opaque(struct dif_compiler *c, struct dif_type *type)
{
	struct dif_node *n = dif_node_new(c, DIF_N_CAST), *zero = dif_node_int(c, 0, c->types->int_);

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

/* Is the body's type compatible with the declared one? */
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
	struct dif_ident *keep = c->idents->params;
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
					 .outer = c->idents->params };
		c->idents->params = p;
	}
	body = body ? dif_cook(c, body) : NULL;
	c->idents->params = keep;
	return body && check_type(c, id, body);
}

/* A constant is one from here on, however long the chain of inlines that it was written with. */
static struct dif_node *fold_body(struct dif_compiler *c, const struct dif_ident *def)
{
	struct dif_node *body = def->node;

	if (def->is_array || !dif_is_scalar(c, def->type) || !dif_node_is_literal(c, body))
		return body;
	body = dif_cook(c, body);
	return body ? dif_cast_to(c, body, def->type) : NULL;
}

bool dif_define_inline(struct dif_compiler *c, const struct dif_parsed_inline *in)
{
	const struct dif_declarator *d = in->declarator;
	struct dif_ident def = { .name = d->name,
				 .type = d->type,
				 .node = in->body,
				 .line = d->line,
				 .uses_args = in->uses_args };

	if (d->is_assoc && !set_params(c, &def, d))
		return false;
	/* args[] has no type without a probe: such a body is checked where it is used */
	if (!def.uses_args && !check_body(c, &def))
		return false;
	struct dif_node *body = fold_body(c, &def);
	struct dif_ident *id = body ? dif_ident_add(c, DIF_NAME_GLOBAL, d->name, DIF_ID_INLINE) : NULL;
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
	return true;
}

/* --- translators ----------------------------------------------------------------------------- */

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
	c->idents->params = &p;
	struct dif_node *e = p.node ? dif_node_clone(c, m->expr) : NULL;
	e = e ? dif_cook(c, e) : NULL;
	c->idents->params = NULL;
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

bool dif_define_translator(struct dif_compiler *c, struct dif_xlator *x, uint32_t line)
{
	for (struct dif_xlator *o = c->idents->xlators; o; o = o->next)
		if (dif_type_same(c, o->out, x->out) && dif_type_same(c, o->in, x->in))
			return dif_fail(c, DIF_D_XLATE_REDECL, line,
					"translator from %s to %s has already been declared",
					dif_type_text(c, x->in), dif_type_text(c, x->out));
	if (!dif_is_sou(c, x->out))
		return dif_fail(c, DIF_D_XLATE_SOU, line, "translator output type must be a struct or union");
	if (!check_xlator(c, x))
		return false;
	x->next = c->idents->xlators;
	c->idents->xlators = x;
	dif_pragma_apply_translator(c);
	return !c->diag.failed;
}

/* --- probes of a declared provider ----------------------------------------------------------- */

/* The input argument that an output one is made from: the one of its name. */
static const struct dif_param *source_of(struct dif_compiler *c, const struct dif_param *native,
					 const struct dif_param *x, uint32_t line)
{
	if (!x->name)
		return dif_fail(c, DIF_D_DECL_PROTO_NAME, line, "parameter declaration requires a name");
	while (native && (!native->name || strcmp(native->name, x->name) != 0))
		native = native->next;
	if (!native)
		dif_fail(c, DIF_D_DECL_PROTO_FORM, line,
			 "parameter is not declared in probe output prototype: %s", x->name);
	return native;
}

/* Output arguments are input ones, or translated from them. */
bool dif_check_output(struct dif_compiler *c, const struct dif_param *native, const struct dif_param *xlated,
		      uint32_t line)
{
	for (const struct dif_param *x = xlated; x; x = x->next) {
		if (!x->name && dif_is_void(c, x->type))
			continue;
		const struct dif_param *from = source_of(c, native, x, line);
		if (!from)
			return false;
		struct dif_node value = { .type = from->type };
		if (dif_assignable(c, x->type, &value) || dif_xlator_exists(c, from->type, x->type))
			continue;
		return dif_fail(c, DIF_D_PROV_PRXLATOR, line, "translator from %s to %s is not defined",
				dif_type_text(c, from->type), dif_type_text(c, x->type));
	}
	return true;
}
