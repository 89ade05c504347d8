/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlines, translators and args[]: expressions that represent other expressions. */
#include <string.h>

#include "dif/lang/check/cook.h"
#include "dif/lang/syntax/xlator.h"
#include "dif/lang/types/suggest.h"

#define EXPAND_MAX 40

static bool expand_begin(struct dif_compiler *c, uint32_t line)
{
	if (++c->clause->expand_depth <= EXPAND_MAX)
		return true;
	dif_fail(c, DIF_D_SYNTAX, line, "inlines and translators are nested more than %d deep", EXPAND_MAX);
	return false;
}

/* Cook a copy of @p body with parameters @p params in force. */
static struct dif_node *expand(struct dif_compiler *c, const struct dif_node *body, struct dif_ident *params,
			       uint32_t line)
{
	struct dif_ident *keep = c->idents->params;
	struct dif_node *n = NULL;

	if (expand_begin(c, line)) {
		c->idents->params = params;
		n = dif_node_clone(c, body);
		n = n ? dif_cook(c, n) : NULL;
		c->idents->params = keep;
	}
	c->clause->expand_depth--;
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
				"%s[ ] prototype mismatch: %u key%s passed, %u expected", id->name,
				dif_node_count(args), dif_node_count(args) == 1 ? "" : "s", id->nkeys);
	if (id->is_busy)
		return dif_fail(c, DIF_D_IDENT_UNDEF, n->line, "failed to resolve %s: it refers to itself",
				id->name);
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
	c->clause->hide_uses++;
	struct dif_node *body = expand(c, id->node, params, n->line);
	c->clause->hide_uses--;
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
	if (body)
		body->line = n->line;
	return body;
}

/* --- translators --------------------------------------------------------------------------- */

/* One for this very type, or else one whose input @value could be assigned to. */
static struct dif_xlator *find_xlator(struct dif_compiler *c, const struct dif_node *value,
				      struct dif_type *out)
{
	struct dif_xlator *x;

	for (x = c->idents->xlators; x; x = x->next)
		if (dif_type_same(c, x->out, out) && dif_type_same(c, x->in, value->type))
			return x;
	for (x = c->idents->xlators; x; x = x->next)
		if (dif_type_same(c, x->out, out) && dif_assignable(c, x->in, value))
			return x;
	return NULL;
}

static struct dif_type *xlate_target(struct dif_compiler *c, struct dif_type *type)
{
	return dif_is_pointer(c, type) ? dif_pointee(c, type) : type;
}

bool dif_xlator_exists(struct dif_compiler *c, struct dif_type *in, struct dif_type *out)
{
	struct dif_node value = { .type = in };

	return find_xlator(c, &value, xlate_target(c, out)) != NULL;
}

struct dif_node *dif_cook_xlate(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_type *out = xlate_target(c, n->type);

	n->left = dif_cook(c, n->left);
	if (!n->left)
		return NULL;
	if (!find_xlator(c, n->left, out))
		return dif_fail(c, DIF_D_XLATE_NONE, n->line, "cannot translate from \"%s\" to \"%s\"",
				dif_type_text(c, n->left->type), dif_type_text(c, n->type));
	/* the value does not exist as a whole: only its members do */
	n->right = dif_node_new(c, DIF_N_TYPE);
	if (!n->right)
		return NULL;
	n->right->type = out;
	n->op = dif_is_pointer(c, n->type) ? DIF_O_ARROW : DIF_O_DOT;
	n->type = c->types->dynamic;
	return n;
}

struct dif_node *dif_xlate_tested(struct dif_compiler *c, struct dif_node *n)
{
	if (n->kind != DIF_N_XLATE || n->op != DIF_O_ARROW)
		return n;
	return dif_is_pointer(c, n->left->type) ? n->left : dif_node_int(c, 1, c->types->int_);
}

/* The expression of one member, with the translated value for the parameter. */
static struct dif_node *member_value(struct dif_compiler *c, struct dif_node *x, const struct dif_xlator *xl,
				     const struct dif_xlmember *m, uint32_t line)
{
	struct dif_ident *param = bind(c, xl->param, NULL, x->left, NULL);
	struct dif_node *v = param ? expand(c, m->expr, param, line) : NULL;

	if (v) {
		v->line = line;
		v->is_writable = false;
	}
	return v;
}

struct dif_node *dif_xlate_member(struct dif_compiler *c, struct dif_node *n, struct dif_node *x)
{
	struct dif_type *out = x->right->type;
	struct dif_xlator *xl = find_xlator(c, x->left, out);
	struct dif_xlmember *m = xl->members;
	uint64_t bits;

	while (m && strcmp(m->name, n->name) != 0)
		m = m->next;
	if (!m) {
		dif_fail(c, DIF_D_XLATE_NOCONV, n->line,
			 "translator does not define conversion for member: %s", n->name);
		dif_suggest_member(c, out, n->name);
		dif_suggest_behind_prefix(c, out, n->name);
		return NULL;
	}
	if (n->op == DIF_O_ARROW && x->op != DIF_O_ARROW)
		return dif_fail(c, DIF_D_OP_PTR, n->line, "operator -> must be applied to a pointer");
	if (n->op == DIF_O_DOT && x->op != DIF_O_DOT)
		return dif_fail(
		    c, DIF_D_OP_SOU, n->line,
		    "operator . cannot be applied to type \"%s *\"; must be applied to a struct or "
		    "union",
		    dif_type_text(c, out));
	struct dif_type *type = dif_member_find(c, out, n->name, &bits)->type;
	struct dif_node *v = member_value(c, x, xl, m, n->line);
	if (!v || v->kind == DIF_N_XLATE)
		return v;
	return dif_type_same(c, v->type, type) ? v : dif_cast_to(c, v, type);
}

/* --- translated structs as a whole ----------------------------------------------------------- */

static struct dif_node *member_assignment(struct dif_compiler *c, struct dif_node *x,
					  const struct dif_xlator *xl, const struct dif_xlmember *m)
{
	struct dif_node *v = member_value(c, x, xl, m, x->line), *place = dif_node_new(c, DIF_N_PLACE);
	struct dif_node *to = dif_node_new(c, DIF_N_MEMBER);

	if (!v || !place || !to)
		return NULL;
	if (v->kind == DIF_N_XLATE && v->op == DIF_O_ARROW)
		return dif_fail(c, DIF_D_CG_DYN, x->line,
				"member %s is a translated pointer, which has no value", m->name);
	place->type = xl->out;
	to->left = place;
	to->name = m->name;
	to->op = DIF_O_DOT;
	to->member = dif_member_find(c, xl->out, m->name, &to->member_bits);
	to->type = to->member->type;
	if (v->kind == DIF_N_XLATE ? !dif_xlate_whole(c, v)
				   : dif_is_int(c, to->type) && !(v = dif_cast_to(c, v, to->type)))
		return NULL;
	struct dif_node *asgn = dif_node_op2(c, DIF_O_ASGN, to, v);
	if (asgn) {
		asgn->type = to->type;
		asgn->is_cooked = to->is_cooked = place->is_cooked = true;
	}
	return asgn;
}

bool dif_xlate_whole(struct dif_compiler *c, struct dif_node *x)
{
	const struct dif_xlator *xl = find_xlator(c, x->left, x->right->type);
	struct dif_node **tail = &x->args;

	for (const struct dif_xlmember *m = xl->members; m; m = m->next) {
		*tail = member_assignment(c, x, xl, m);
		if (!*tail || !dif_node_adopt(c, x, *tail))
			return false;
		tail = &(*tail)->next;
	}
	x->type = x->right->type;
	return true;
}

/* --- args[] ----------------------------------------------------------------------------------- */

/* A typedef of D's, and a pointer for each star behind it; NULL: it is not declared. */
static struct dif_type *translated_type(struct dif_compiler *c, const char *text)
{
	size_t len = strcspn(text, " *");
	char name[128] = { 0 };
	struct dif_type *type;

	if (len >= sizeof(name))
		return NULL;
	memcpy(name, text, len);
	type = dif_type_find(c, name);
	for (const char *p = text + len; type && *p; p++)
		if (*p == '*')
			type = dif_type_pointer(c, type);
	return type;
}

/* args[n], @n with its native type, becomes a translator's result, or the string that it points to.
 */
static struct dif_node *translate(struct dif_compiler *c, struct dif_node *n, const char *text,
				  long long index)
{
	struct dif_type *type = translated_type(c, text);
	struct dif_node *x;

	if (!type)
		return dif_fail(c, DIF_D_ARGS_TYPE, n->line,
				"failed to resolve translated type for args[%lld]", index);
	if (dif_is_string(c, type))
		return dif_cook(c, dif_node_op1(c, DIF_O_STRINGOF, n));
	if (!find_xlator(c, n, xlate_target(c, type)))
		return dif_fail(c, DIF_D_ARGS_XLATOR, n->line,
				"translator for args[%lld] from %s to %s is not defined", index,
				dif_type_text(c, n->type), dif_type_text(c, type));
	x = dif_node_new(c, DIF_N_XLATE);
	if (!x)
		return NULL;
	x->line = n->line;
	x->type = type;
	x->left = n;
	return dif_cook_xlate(c, x);
}

/* For the description in its original text. */
static struct dif_node *args_out_of_range(struct dif_compiler *c, uint32_t line, long long index)
{
	struct ot_buf desc = { 0 };

	dif_probedesc_print(c->clause->desc, &desc);
	dif_fail(c, DIF_D_ARGS_IDX, line, "index %lld is out of range for %s args[ ]", index,
		 ot_buf_str(&desc));
	ot_buf_deinit(&desc);
	return NULL;
}

static struct dif_node *args_differ(struct dif_compiler *c, uint32_t line)
{
	struct ot_buf desc = { 0 };

	dif_probedesc_print(c->clause->desc, &desc);
	dif_fail(
	    c, DIF_D_ARGS_MULTI, line,
	    "args[ ] may not be referenced because probe description %s matches an unstable set of probes",
	    ot_buf_str(&desc));
	ot_buf_deinit(&desc);
	return NULL;
}

/* The index is an integer constant. */
struct dif_node *dif_cook_args(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_probe_arg arg;
	struct dif_node *idx = n->args;
	long long index = (long long)idx->value;

	if (!c->clause->desc || !c->clause->nmatched || !c->clause->args_known)
		return dif_fail(c, DIF_D_ARGS_NONE, n->line,
				"args[ ] may not be referenced because probe description matches %s",
				c->clause->nmatched ? "a probe whose argument types are not known"
						    : "no probes");
	if (c->clause->args_differ >> (idx->value < 63 ? idx->value : 63) & 1)
		return args_differ(c, n->line);
	if (idx->value >= (uint64_t)c->clause->first.nargs)
		return args_out_of_range(c, n->line, index);
	if (!c->world->probe_arg ||
	    !c->world->probe_arg(c->world->env, c->clause->first.id, (unsigned)idx->value, &arg))
		return dif_fail(c, DIF_D_ARGS_TYPE, n->line, "failed to resolve native type for args[%lld]",
				index);
	c->clause->args_used |= 1ull << (index < 63 ? index : 63);
	n->kind = DIF_N_VAR;
	n->ident = dif_ident_find(c, DIF_NAME_GLOBAL, "args");
	n->type = arg.native;
	n->args = dif_node_int(c, arg.mapping, c->types->int_);
	if (!n->args || !n->ident)
		return NULL;
	n->args->is_cooked = true;
	n->is_cooked = true;
	n->is_lvalue = false;
	return arg.translated ? translate(c, n, arg.translated, index) : n;
}
