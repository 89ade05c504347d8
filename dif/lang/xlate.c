/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlines, translators and args[]: expressions that stand for other expressions. */
#include "dif/lang/xlate.h"

#include <string.h>

#include "dif/lang/cook.h"

#define EXPAND_MAX 40

static bool expand_begin(struct dif_compiler *c, uint32_t line)
{
	if (++c->expand_depth <= EXPAND_MAX)
		return true;
	dif_fail(c, DIF_D_SYNTAX, line, "inlines and translators are nested more than %d deep", EXPAND_MAX);
	return false;
}

/* Cook a copy of @p body with parameters @p params in force. */
static struct dif_node *expand(struct dif_compiler *c, const struct dif_node *body, struct dif_ident *params,
			       uint32_t line)
{
	struct dif_ident *keep = c->params;
	struct dif_node *n = NULL;

	if (expand_begin(c, line)) {
		c->params = params;
		n = dif_node_clone(c, body);
		n = n ? dif_cook(c, n) : NULL;
		c->params = keep;
	}
	c->expand_depth--;
	return n;
}

static struct dif_ident *bind(struct dif_compiler *c, const char *name, struct dif_type *type,
			      struct dif_node *node, struct dif_ident *outer)
{
	struct dif_ident *id = dif_new(c, &c->scratch, struct dif_ident);

	if (!id)
		return NULL;
	id->kind = DIF_ID_PARAM;
	id->name = name ? name : "";
	id->type = type;
	id->node = node;
	id->outer = outer;
	return id;
}

/* --- inlines --------------------------------------------------------------------------------- */

struct dif_node *dif_cook_inline(struct dif_compiler *c, struct dif_node *n, struct dif_ident *id,
				 struct dif_node *args)
{
	struct dif_ident *params = NULL;
	uint32_t i = 0;

	if (dif_node_count(args) != id->nkeys)
		return dif_fail(c, DIF_D_PROTO_LEN, n->line,
				"%s[ ] prototype mismatch: %u arg(s) passed, %u expected", id->name,
				dif_node_count(args), id->nkeys);
	if (id->is_busy)
		return dif_fail(c, DIF_D_IDENT_BADREF, n->line, "inline %s refers to itself", id->name);
	for (struct dif_node *a = args; a; a = a->next, i++) {
		if (!dif_assignable(c, id->keys[i], a))
			return dif_fail(
			    c, DIF_D_PROTO_ARG, n->line,
			    "%s[ ] argument #%u is incompatible with prototype: prototype: %s, argument: %s",
			    id->name, i + 1, dif_type_text(c, id->keys[i]), dif_type_text(c, a->type));
		params = bind(c, id->param_names[i], id->keys[i], a, params);
		if (!params)
			return NULL;
	}
	id->is_busy = true;
	struct dif_node *body = expand(c, id->node, params, n->line);
	id->is_busy = false;
	if (!body)
		return NULL;
	if (body->kind == DIF_N_XLATE)
		return body;
	if (!dif_type_same(c, body->type, id->type)) {
		if (!dif_is_kind(c, id->type, DIF_C_DYNAMIC))
			body = dif_cast_to(c, body, id->type);
	} else {
		body->type = id->type;
	}
	if (body) {
		body->is_lvalue = body->is_lvalue && body->kind == DIF_N_SYM;
		body->is_writable = false;
		body->line = n->line;
	}
	return body;
}

/* --- translators --------------------------------------------------------------------------- */

static struct dif_xlator *find_xlator(struct dif_compiler *c, struct dif_type *in, struct dif_type *out)
{
	for (struct dif_xlator *x = c->xlators; x; x = x->next) {
		if (!dif_type_same(c, x->out, out))
			continue;
		if (dif_type_same(c, x->in, in) || (dif_is_int(c, x->in) && dif_is_int(c, in)) ||
		    (dif_is_pointer(c, x->in) && dif_is_pointer(c, in) &&
		     dif_pointer_compatible(c, x->in, in)))
			return x;
	}
	return NULL;
}

static struct dif_type *xlate_target(struct dif_compiler *c, struct dif_type *type)
{
	return dif_is_pointer(c, type) ? dif_pointee(c, type) : type;
}

bool dif_xlator_exists(struct dif_compiler *c, struct dif_type *in, struct dif_type *out)
{
	return find_xlator(c, in, xlate_target(c, out)) != NULL;
}

struct dif_node *dif_cook_xlate(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_type *out = xlate_target(c, n->type);

	n->left = dif_cook(c, n->left);
	if (!n->left)
		return NULL;
	if (!dif_is_sou(c, out))
		return dif_fail(c, DIF_D_XLATE_SOU, n->line,
				"cannot translate to \"%s\": not a struct or union",
				dif_type_text(c, n->type));
	if (!find_xlator(c, n->left->type, out))
		return dif_fail(c, DIF_D_XLATE_NONE, n->line,
				"no translator is defined from \"%s\" to \"%s\"",
				dif_type_text(c, n->left->type), dif_type_text(c, out));
	/* as a whole the value exists nowhere: only its members do */
	n->right = dif_node_new(c, DIF_N_TYPE);
	if (!n->right)
		return NULL;
	n->right->type = out;
	n->type = c->types.dynamic;
	return n;
}

struct dif_node *dif_xlate_member(struct dif_compiler *c, struct dif_node *n, struct dif_node *x)
{
	struct dif_type *out = x->right->type;
	struct dif_xlator *xl = find_xlator(c, x->left->type, out);
	uint64_t bits;
	struct dif_member *type = dif_member_find(c, out, n->name, &bits);

	if (!type)
		return dif_fail(c, DIF_D_TYPE_MEMBER, n->line, "%s is not a member of %s", n->name,
				dif_type_text(c, out));
	for (struct dif_xlmember *m = xl->members; m; m = m->next) {
		if (strcmp(m->name, n->name))
			continue;
		struct dif_ident *param = bind(c, xl->param, NULL, x->left, NULL);
		struct dif_node *v = param ? expand(c, m->expr, param, n->line) : NULL;
		if (!v)
			return NULL;
		v->line = n->line;
		v->is_writable = false;
		return dif_type_same(c, v->type, type->type) ? v : dif_cast_to(c, v, type->type);
	}
	return dif_fail(c, DIF_D_XLATE_NOCONV, n->line,
			"translator for %s does not define conversion for member: %s", dif_type_text(c, out),
			n->name);
}

/* --- args[] ----------------------------------------------------------------------------------- */

static struct dif_node *args_type_error(struct dif_compiler *c, struct dif_node *n)
{
	return dif_fail(c, DIF_D_ARGS_TYPE, n->line,
			"args[ ] may only be referenced using an integer constant index");
}

struct dif_node *dif_cook_args(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_type *native, *type;
	unsigned mapping;
	struct dif_node *idx = n->args;

	if (idx->kind != DIF_N_INT)
		return args_type_error(c, n);
	if (!c->clause.desc || !c->clause.nmatched || !c->clause.args_known)
		return dif_fail(c, DIF_D_ARGS_NONE, n->line,
				"args[ ] may not be referenced because probe description matches %s",
				c->clause.nmatched ? "a probe whose argument types are not known"
						   : "no probes");
	if (c->clause.args_differ)
		return dif_fail(c, DIF_D_ARGS_MULTI, n->line,
				"args[ ] may not be referenced because probe description matches an unstable "
				"set of probes");
	if (idx->value >= (uint64_t)c->clause.first.nargs)
		return dif_fail(c, DIF_D_ARGS_IDX, n->line,
				"index %lld is out of range for %s:%s:%s:%s args[ ]", (long long)idx->value,
				c->clause.first.provider, c->clause.first.module, c->clause.first.function,
				c->clause.first.name);
	if (!c->world->probe_arg || !c->world->probe_arg(c->world->env, c->clause.first.id,
							 (unsigned)idx->value, &native, &type, &mapping))
		return dif_fail(c, DIF_D_ARGS_TYPE, n->line, "failed to resolve native type for args[%lld]",
				(long long)idx->value);
	n->kind = DIF_N_VAR;
	n->ident = dif_ident_find(c, DIF_NAME_GLOBAL, "args");
	n->type = native;
	n->args = dif_node_int(c, mapping, c->types.int_);
	if (!n->args || !n->ident)
		return NULL;
	n->args->is_cooked = true;
	n->is_cooked = true;
	n->is_lvalue = false;
	if (native == type || dif_type_same(c, native, type))
		return n;
	if (!find_xlator(c, native, xlate_target(c, type)))
		return dif_fail(c, DIF_D_ARGS_XLATOR, n->line,
				"translator for args[%lld] from %s to %s is not defined",
				(long long)idx->value, dif_type_text(c, native), dif_type_text(c, type));
	struct dif_node *x = dif_node_new(c, DIF_N_XLATE);
	if (!x)
		return NULL;
	x->type = type;
	x->left = n;
	return dif_cook_xlate(c, x);
}
