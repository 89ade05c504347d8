/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inline and translator definitions. */
#include <string.h>

#include "dif/lang/syntax/parse.h"
#include "dif/lang/syntax/xlator.h"

/* The ; that ends a definition: the text behind it is read in outer mode again. */
bool dif_end_definition(struct dif_compiler *c)
{
	if (c->unit->tok.kind != DIF_T_SEMI)
		return dif_syntax(c);
	c->unit->lex.mode = DIF_LEX_OUTER;
	dif_next(c);
	return !c->diag.failed;
}

/* --- inline -------------------------------------------------------------------------------------- */

/* A library may define a built-in variable in the guest's own terms, such as execargs. */
static bool is_taken(struct dif_compiler *c, const char *name)
{
	const struct dif_ident *id = dif_ident_find(c, DIF_NAME_GLOBAL, name);

	return id && !(c->unit->is_library && id->kind == DIF_ID_BUILTIN) && !dif_ident_is_own(id);
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
	if (is_taken(c, d->name))
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

	c->unit->lex.mode = DIF_LEX_INNER;
	dif_next(c);
	if (!dif_parse_declspec(c, &spec) || !dif_parse_declarator(c, spec.type, &d) ||
	    !check_declarator(c, &spec, &d) || !dif_expect(c, DIF_T_ASGN))
		return false;
	struct dif_parsed_inline def = { .declarator = &d };
	c->unit->uses_args = false;
	def.body = dif_parse_expr(c);
	if (!def.body || c->unit->tok.kind != DIF_T_SEMI)
		return c->diag.failed ? false : dif_syntax(c) != NULL;
	def.uses_args = c->unit->uses_args;
	return c->unit->client->define_inline(c, &def) && dif_end_definition(c);
}

/* --- translator ------------------------------------------------------------------------------------ */

static bool xl_member(struct dif_compiler *c, struct dif_xlmember ***tail)
{
	if (!c->unit->tok.text || c->unit->tok.kind == DIF_T_LITERAL || c->unit->tok.kind == DIF_T_AGG)
		return dif_syntax(c);
	struct dif_xlmember *m = dif_new(c, &c->arena, struct dif_xlmember);
	if (!m)
		return false;
	m->name = c->unit->tok.text;
	m->line = c->unit->tok.line;
	dif_next(c);
	if (!dif_expect(c, DIF_T_ASGN) || !(m->expr = dif_parse_assign(c)) || !dif_expect(c, DIF_T_SEMI))
		return false;
	**tail = m;
	*tail = &m->next;
	return true;
}

/* translator = "translator" type-name "<" declspec declarator ">" "{" (word "=" assign ";")* "}" ";" */
bool dif_parse_translator(struct dif_compiler *c)
{
	struct dif_xlator *x = dif_new(c, &c->arena, struct dif_xlator);
	struct dif_declspec spec;
	struct dif_declarator d;
	uint32_t line = c->unit->tok.line;

	c->unit->lex.mode = DIF_LEX_INNER;
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
	while (c->unit->tok.kind != DIF_T_RBRACE)
		if (!xl_member(c, &tail))
			return false;
	dif_next(c);
	if (c->diag.failed || !c->unit->client->define_translator(c, x, line))
		return false;
	return dif_end_definition(c);
}
