/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements: a clause's body. */
#include "dif/lang/syntax/parse.h"

static struct dif_node *parse_stmt(struct dif_compiler *c, bool *ret_ok);

/* body = block | stmt */
static struct dif_node *parse_body(struct dif_compiler *c, bool *ret_ok)
{
	if (c->unit->tok.kind == DIF_T_LBRACE) {
		struct dif_node *list = dif_parse_block(c, ret_ok);
		if (*ret_ok)
			*ret_ok = dif_expect(c, DIF_T_RBRACE);
		return list;
	}
	struct dif_node *n = parse_stmt(c, ret_ok);
	return n;
}

static bool adopt_list(struct dif_compiler *c, struct dif_node *n, const struct dif_node *list)
{
	for (; list; list = list->next)
		if (!dif_node_adopt(c, n, list))
			return false;
	return true;
}

/* if = "if" "(" expr ")" body ("else" body)? */
static struct dif_node *parse_if(struct dif_compiler *c)
{
	struct dif_node *n = dif_node_new(c, DIF_N_IF);
	bool ok;

	dif_next(c);
	if (!n || !dif_nest(c) || !dif_expect(c, DIF_T_LPAREN) || !(n->left = dif_parse_expr(c)) ||
	    !dif_expect(c, DIF_T_RPAREN))
		return NULL;
	n->args = parse_body(c, &ok);
	if (!ok)
		return NULL;
	if (dif_accept(c, DIF_T_ELSE)) {
		n->third = parse_body(c, &ok);
		if (!ok)
			return NULL;
	}
	dif_unnest(c);
	if (!dif_node_adopt(c, n, n->left) || !adopt_list(c, n, n->args) || !adopt_list(c, n, n->third))
		return NULL;
	return n;
}

/* A declaration in place of a statement, which begins with @p type. */
static struct dif_node *declaration(struct dif_compiler *c, const struct dif_token *type)
{
	dif_raise(c, DIF_D_SYNTAX, type->line, "syntax error near \"%s\"", type->text);
	dif_hint(c, "variables are declared outside of clauses; in one they have the type of what is first "
		    "assigned: this->x = 1");
	return NULL;
}

/* stmt = if | expr? (";" | before "}"); an empty statement is NULL with *ret_ok */
static struct dif_node *parse_stmt(struct dif_compiler *c, bool *ret_ok)
{
	const struct dif_token first = c->unit->tok;
	bool is_type = dif_starts_type(c);
	struct dif_node *n = NULL;

	*ret_ok = false;
	if (c->unit->tok.kind == DIF_T_IF) {
		n = parse_if(c);
		*ret_ok = n != NULL;
		return n;
	}
	if (is_type && first.kind != DIF_T_IDENT)
		return declaration(c, &first);
	if (c->unit->tok.kind != DIF_T_SEMI) {
		struct dif_node *expr = dif_parse_expr(c);
		n = expr ? dif_node_new(c, DIF_N_EXPR) : NULL;
		if (!n)
			return NULL;
		n->left = expr;
		n->line = expr->line;
		if (!dif_node_adopt(c, n, expr))
			return NULL;
	}
	if (is_type && c->unit->tok.kind == DIF_T_IDENT)
		return declaration(c, &first);
	*ret_ok = c->unit->tok.kind == DIF_T_RBRACE || dif_expect(c, DIF_T_SEMI);
	return n;
}

/* block = "{" stmt*; the closing } is left as the current token, so that the caller can set
 * the mode in which the token behind it is read */
struct dif_node *dif_parse_block(struct dif_compiler *c, bool *ret_ok)
{
	struct dif_node *first = NULL, **tail = &first;

	*ret_ok = false;
	if (!dif_expect(c, DIF_T_LBRACE))
		return NULL;
	while (c->unit->tok.kind != DIF_T_RBRACE) {
		bool ok;
		if (c->unit->tok.kind == DIF_T_EOF)
			return dif_syntax(c);
		*tail = parse_stmt(c, &ok);
		if (!ok)
			return NULL;
		if (*tail)
			tail = &(*tail)->next;
	}
	*ret_ok = true;
	return first;
}
