/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions. Binary operators climb a table of precedences instead of a function each. */
#include <string.h>

#include "dif/lang/syntax/parse.h"
#include "dif/lang/types/suggest.h"

struct binary {
	enum dif_tok tok;
	uint8_t precedence;
	enum dif_oper op;
};

static const struct binary binaries[] = {
	{ DIF_T_LOR, 1, DIF_O_LOR },  { DIF_T_LXOR, 2, DIF_O_LXOR }, { DIF_T_LAND, 3, DIF_O_LAND },
	{ DIF_T_OR, 4, DIF_O_OR },    { DIF_T_XOR, 5, DIF_O_XOR },   { DIF_T_AND, 6, DIF_O_AND },
	{ DIF_T_EQ, 7, DIF_O_EQ },    { DIF_T_NE, 7, DIF_O_NE },     { DIF_T_LT, 8, DIF_O_LT },
	{ DIF_T_LE, 8, DIF_O_LE },    { DIF_T_GT, 8, DIF_O_GT },     { DIF_T_GE, 8, DIF_O_GE },
	{ DIF_T_LSH, 9, DIF_O_LSH },  { DIF_T_RSH, 9, DIF_O_RSH },   { DIF_T_ADD, 10, DIF_O_ADD },
	{ DIF_T_SUB, 10, DIF_O_SUB }, { DIF_T_MUL, 11, DIF_O_MUL },  { DIF_T_DIV, 11, DIF_O_DIV },
	{ DIF_T_MOD, 11, DIF_O_MOD },
};

static struct dif_node *parse_unary(struct dif_compiler *c);

static bool is_word(const struct dif_token *tok)
{
	return tok->text && tok->kind != DIF_T_LITERAL && tok->kind != DIF_T_AGG && tok->kind != DIF_T_SPEC;
}

/* args = (assign ("," assign)*)? up to @close, which is eaten */
static struct dif_node *parse_args(struct dif_compiler *c, struct dif_node *owner, enum dif_tok close,
				   bool *ret_ok)
{
	struct dif_node *first = NULL, **tail = &first;

	*ret_ok = false;
	while (c->unit->tok.kind != close) {
		if (first && !dif_expect(c, DIF_T_COMMA))
			return NULL;
		*tail = dif_parse_assign(c);
		if (!*tail || !dif_node_adopt(c, owner, *tail))
			return NULL;
		tail = &(*tail)->next;
	}
	*ret_ok = dif_expect(c, close);
	return first;
}

/* scoped = ("self" | "this") "->" word */
static struct dif_node *parse_scoped(struct dif_compiler *c)
{
	enum dif_name_scope scope = c->unit->tok.kind == DIF_T_SELF ? DIF_NAME_SELF : DIF_NAME_THIS;

	dif_next(c);
	if (!dif_expect(c, DIF_T_ARROW))
		return NULL;
	if (!is_word(&c->unit->tok))
		return dif_syntax(c);
	struct dif_node *n = dif_node_name(c, scope, c->unit->tok.text);
	dif_next(c);
	return n;
}

static struct dif_node *parse_agg(struct dif_compiler *c)
{
	struct dif_node *n = dif_node_new(c, DIF_N_AGG);
	bool ok = true;

	if (!n)
		return NULL;
	n->name = c->unit->tok.text;
	dif_next(c);
	if (dif_accept(c, DIF_T_LBRACK)) {
		n->args = parse_args(c, n, DIF_T_RBRACK, &ok);
	}
	return ok ? n : NULL;
}

/* offsetof = "offsetof" "(" type-name "," word ")" */
static struct dif_node *parse_offsetof(struct dif_compiler *c)
{
	struct dif_node *n = dif_node_new(c, DIF_N_OFFSETOF);

	dif_next(c);
	if (!n || !dif_expect(c, DIF_T_LPAREN) || !(n->type = dif_parse_type_name(c)) ||
	    !dif_expect(c, DIF_T_COMMA))
		return NULL;
	if (!is_word(&c->unit->tok))
		return dif_syntax(c);
	n->name = c->unit->tok.text;
	dif_next(c);
	return dif_expect(c, DIF_T_RPAREN) ? n : NULL;
}

/* has = "__has_member" "(" type-name "," word ")" | "__has_symbol" "(" symbol ")" */
static struct dif_node *parse_has(struct dif_compiler *c)
{
	struct dif_node *n = dif_node_new(c, DIF_N_HAS);
	bool member = c->unit->tok.kind == DIF_T_HAS_MEMBER;

	dif_next(c);
	if (!n || !dif_expect(c, DIF_T_LPAREN))
		return NULL;
	if (member && (!(n->type = dif_parse_type_name(c)) || !dif_expect(c, DIF_T_COMMA)))
		return NULL;
	if (member ? !is_word(&c->unit->tok)
		   : c->unit->tok.kind != DIF_T_IDENT || !strchr(c->unit->tok.text, '`'))
		return dif_syntax(c);
	n->name = c->unit->tok.text;
	dif_next(c);
	return dif_expect(c, DIF_T_RPAREN) ? n : NULL;
}

/* xlate = "xlate" "<" type-name ">" "(" expr ")" */
static struct dif_node *parse_xlate(struct dif_compiler *c)
{
	struct dif_node *n = dif_node_new(c, DIF_N_XLATE);

	dif_next(c);
	if (!n || !dif_expect(c, DIF_T_LT) || !(n->type = dif_parse_type_name(c)) ||
	    !dif_expect(c, DIF_T_GT) || !dif_expect(c, DIF_T_LPAREN) || !(n->left = dif_parse_expr(c)) ||
	    !dif_node_adopt(c, n, n->left))
		return NULL;
	return dif_expect(c, DIF_T_RPAREN) ? n : NULL;
}

/* args[], or an inline that stands for something with args[] in it */
static bool uses_args(struct dif_compiler *c, const char *name)
{
	if (!strcmp(name, "args"))
		return true;
	struct dif_ident *id = ot_map_gets(&c->idents->globals, name);
	return id && id->kind == DIF_ID_INLINE && id->uses_args;
}

/* "(NAME)" that an operand follows: a cast, if NAME were a type. */
static bool is_unknown_cast(struct dif_compiler *c, const struct dif_node *n)
{
	enum dif_tok next = c->unit->tok.kind;

	return n->kind == DIF_N_IDENT && n->scope == DIF_NAME_GLOBAL &&
	       (next == DIF_T_IDENT || next == DIF_T_SELF || next == DIF_T_THIS || next == DIF_T_INTEGER);
}

/* parens = "(" expr ")" */
static struct dif_node *parse_parens(struct dif_compiler *c)
{
	struct dif_node *n;

	dif_next(c);
	n = dif_parse_expr(c);
	if (!n || !dif_expect(c, DIF_T_RPAREN))
		return NULL;
	n->is_parens = true;
	if (is_unknown_cast(c, n)) {
		dif_raise_syntax(c);
		dif_suggest_type(c, n->name);
		return NULL;
	}
	return n;
}

/* primary = ident | scoped | agg | integer | string | offsetof | has | xlate | parens */
static struct dif_node *parse_primary(struct dif_compiler *c)
{
	struct dif_node *n;

	switch ((int)c->unit->tok.kind) {
	case DIF_T_IDENT:
		n = dif_node_name(c, DIF_NAME_GLOBAL, c->unit->tok.text);
		if (n && uses_args(c, n->name))
			c->unit->uses_args = true;
		dif_next(c);
		return n;
	case DIF_T_SELF:
	case DIF_T_THIS:
		return parse_scoped(c);
	case DIF_T_AGG:
		return parse_agg(c);
	case DIF_T_INTEGER:
		n = dif_node_int(c, c->unit->tok.value, c->unit->tok.type);
		dif_next(c);
		return n;
	case DIF_T_LITERAL:
		n = dif_node_new(c, DIF_N_STRING);
		if (n) {
			n->name = c->unit->tok.text;
			n->len = c->unit->tok.len;
		}
		dif_next(c);
		return n;
	case DIF_T_OFFSETOF:
		return parse_offsetof(c);
	case DIF_T_HAS_MEMBER:
	case DIF_T_HAS_SYMBOL:
		return parse_has(c);
	case DIF_T_XLATE:
		return parse_xlate(c);
	case DIF_T_LPAREN:
		return parse_parens(c);
	}
	return dif_syntax(c);
}

static struct dif_node *parse_member(struct dif_compiler *c, struct dif_node *left, enum dif_oper op)
{
	struct dif_node *n = dif_node_new(c, DIF_N_MEMBER);

	dif_next(c);
	if (!n)
		return NULL;
	if (!is_word(&c->unit->tok))
		return dif_syntax(c);
	n->op = op;
	n->name = c->unit->tok.text;
	n->left = left;
	dif_next(c);
	return dif_node_adopt(c, n, left) ? n : NULL;
}

static struct dif_node *parse_call(struct dif_compiler *c, struct dif_node *left)
{
	struct dif_node *n = dif_node_new(c, DIF_N_FUNC);
	bool ok;

	if (!n)
		return NULL;
	if (left->kind != DIF_N_IDENT || left->scope != DIF_NAME_GLOBAL)
		return dif_fail(c, DIF_D_FUNC_IDENT, left->line,
				"function designator is not of function type");
	n->name = left->name;
	n->line = left->line;
	dif_next(c);
	n->args = parse_args(c, n, DIF_T_RPAREN, &ok);
	return ok ? n : NULL;
}

static struct dif_node *parse_index(struct dif_compiler *c, struct dif_node *left)
{
	struct dif_node *n = dif_node_new(c, DIF_N_OP2);
	bool ok;

	if (!n)
		return NULL;
	n->op = DIF_O_INDEX;
	n->line = left->line;
	n->left = left;
	if (!dif_node_adopt(c, n, left))
		return NULL;
	dif_next(c);
	n->args = parse_args(c, n, DIF_T_RBRACK, &ok);
	if (ok && !n->args)
		return dif_syntax(c);
	return ok ? n : NULL;
}

/* postfix = primary ("[" args "]" | "(" args ")" | "." word | "->" word | "++" | "--")* */
static struct dif_node *parse_postfix(struct dif_compiler *c)
{
	struct dif_node *n = parse_primary(c);

	while (n) {
		switch ((int)c->unit->tok.kind) {
		case DIF_T_LBRACK:
			n = parse_index(c, n);
			break;
		case DIF_T_LPAREN:
			n = parse_call(c, n);
			break;
		case DIF_T_DOT:
			n = parse_member(c, n, DIF_O_DOT);
			break;
		case DIF_T_ARROW:
			n = parse_member(c, n, DIF_O_ARROW);
			break;
		case DIF_T_INC:
			n = dif_node_op1(c, DIF_O_POSTINC, n);
			dif_next(c);
			break;
		case DIF_T_DEC:
			n = dif_node_op1(c, DIF_O_POSTDEC, n);
			dif_next(c);
			break;
		default:
			return n;
		}
	}
	return NULL;
}

static struct dif_node *type_node(struct dif_compiler *c, enum dif_tok close)
{
	struct dif_node *n = dif_node_new(c, DIF_N_TYPE);

	if (!n || !(n->type = dif_parse_type_name(c)) || !dif_expect(c, close))
		return NULL;
	return n;
}

/* sizeof = "sizeof" ("(" type-name ")" | unary) */
static struct dif_node *parse_sizeof(struct dif_compiler *c)
{
	dif_next(c);
	if (c->unit->tok.kind != DIF_T_LPAREN)
		return dif_node_op1(c, DIF_O_SIZEOF, parse_unary(c));
	dif_next(c);
	if (dif_starts_type(c))
		return dif_node_op1(c, DIF_O_SIZEOF, type_node(c, DIF_T_RPAREN));
	struct dif_node *n = dif_parse_expr(c);
	return n && dif_expect(c, DIF_T_RPAREN) ? dif_node_op1(c, DIF_O_SIZEOF, n) : NULL;
}

/* A ( was eaten: cast = "(" type-name ")" unary, or a parenthesised expression and its postfix. */
static struct dif_node *parse_cast(struct dif_compiler *c)
{
	struct dif_node *n = dif_node_new(c, DIF_N_CAST);

	dif_next(c);
	if (!n || !(n->type = dif_parse_type_name(c)) || !dif_expect(c, DIF_T_RPAREN) ||
	    !(n->left = parse_unary(c)))
		return NULL;
	return dif_node_adopt(c, n, n->left) ? n : NULL;
}

/* Is this ( before a type? Reads one token ahead, and restores the lexer, which is a value. */
static bool is_cast(struct dif_compiler *c)
{
	if (c->unit->tok.kind != DIF_T_LPAREN)
		return false;
	struct dif_lexer keep = c->unit->lex;
	struct dif_token tok = c->unit->tok;
	const char *file = c->diag.file;
	dif_next(c);
	bool is_type = dif_starts_type(c);
	keep.text = c->unit->lex.text;
	if (!c->diag.failed) {
		c->unit->lex = keep;
		c->unit->tok = tok;
		c->diag.file = file;
		c->diag.line = tok.line;
		c->diag.column = tok.column;
	}
	return is_type;
}

/* unary = ("++" | "--" | "!" | "~" | "+" | "-" | "*" | "&" | "stringof") unary | sizeof | cast | postfix */
static struct dif_node *parse_unary(struct dif_compiler *c)
{
	static const struct {
		enum dif_tok tok;
		enum dif_oper op;
	} ops[] = {
		{ DIF_T_INC, DIF_O_PREINC },        { DIF_T_DEC, DIF_O_PREDEC },
		{ DIF_T_NOT, DIF_O_NOT },           { DIF_T_TILDE, DIF_O_BITNOT },
		{ DIF_T_ADD, DIF_O_POS },           { DIF_T_SUB, DIF_O_NEG },
		{ DIF_T_MUL, DIF_O_DEREF },         { DIF_T_AND, DIF_O_ADDROF },
		{ DIF_T_STRINGOF, DIF_O_STRINGOF },
	};
	struct dif_node *n = NULL;

	if (!dif_nest(c))
		return NULL;
	for (size_t i = 0; i < OT_ARRAY_SIZE(ops); i++) {
		if (ops[i].tok == c->unit->tok.kind) {
			dif_next(c);
			n = dif_node_op1(c, ops[i].op, parse_unary(c));
			dif_unnest(c);
			return n;
		}
	}
	if (c->unit->tok.kind == DIF_T_SIZEOF)
		n = parse_sizeof(c);
	else
		n = is_cast(c) ? parse_cast(c) : parse_postfix(c);
	dif_unnest(c);
	return n;
}

static const struct binary *find_binary(enum dif_tok tok)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(binaries); i++)
		if (binaries[i].tok == tok)
			return &binaries[i];
	return NULL;
}

/* @left, an operator and then no operand but a ")": "(NAME *)" is a cast, if NAME were a type. */
static void suggest_pointer(struct dif_compiler *c, enum dif_oper op, const struct dif_node *left)
{
	if (op == DIF_O_MUL && c->unit->tok.kind == DIF_T_RPAREN && left->kind == DIF_N_IDENT &&
	    left->scope == DIF_NAME_GLOBAL)
		dif_suggest_type(c, left->name);
}

/* binary = unary (op binary-of-higher-precedence)* */
static struct dif_node *parse_binary(struct dif_compiler *c, int min)
{
	struct dif_node *left = parse_unary(c);

	while (left) {
		const struct binary *b = find_binary(c->unit->tok.kind);
		if (!b || b->precedence < min)
			break;
		dif_next(c);
		struct dif_node *right = parse_binary(c, b->precedence + 1);
		if (!right)
			suggest_pointer(c, b->op, left);
		left = dif_node_op2(c, b->op, left, right);
	}
	return left;
}

/* An inline that stands for a number, and nothing else. */
static bool is_number(struct dif_compiler *c, const struct dif_node *n)
{
	struct dif_ident *id = n->scope == DIF_NAME_GLOBAL && !strchr(n->name, '`')
				   ? dif_ident_find(c, DIF_NAME_GLOBAL, n->name)
				   : NULL;

	return id && id->kind == DIF_ID_INLINE && !id->is_array && id->node->kind == DIF_N_INT;
}

bool dif_node_is_literal(struct dif_compiler *c, const struct dif_node *n)
{
	switch (n->kind) {
	case DIF_N_INT:
		return true;
	case DIF_N_IDENT:
		return is_number(c, n);
	case DIF_N_OP1:
		return (n->op >= DIF_O_NEG && n->op <= DIF_O_BITNOT && dif_node_is_literal(c, n->left)) ||
		       (n->op == DIF_O_SIZEOF &&
			(n->left->kind == DIF_N_TYPE || n->left->kind == DIF_N_STRING));
	case DIF_N_OP2:
		return n->op >= DIF_O_MUL && n->op <= DIF_O_LOR && dif_node_is_literal(c, n->left) &&
		       dif_node_is_literal(c, n->right);
	case DIF_N_CAST:
		return dif_node_is_literal(c, n->left);
	default:
		return false;
	}
}

/* If the condition is a constant, only the selected arm is used: it may be an action, and the other arm need
 * not be valid. */
static struct dif_node *choose(struct dif_compiler *c, struct dif_node *n)
{
	if (!dif_node_is_literal(c, n->left))
		return n;
	n->left = c->unit->client->check(c, n->left);
	if (!n->left || n->left->kind != DIF_N_INT)
		return n->left ? n : NULL;
	return n->left->value ? n->right : n->third;
}

/* cond = binary ("?" expr ":" cond)? */
struct dif_node *dif_parse_cond(struct dif_compiler *c)
{
	if (!dif_nest(c))
		return NULL;
	struct dif_node *left = parse_binary(c, 1);
	if (left && c->unit->tok.kind == DIF_T_QUESTION) {
		struct dif_node *n = dif_node_new(c, DIF_N_OP3);
		dif_next(c);
		if (!n || !(n->right = dif_parse_expr(c)) || !dif_expect(c, DIF_T_COLON) ||
		    !(n->third = dif_parse_cond(c)))
			return NULL;
		n->left = left;
		n->line = left->line;
		if (!dif_node_adopt(c, n, left) || !dif_node_adopt(c, n, n->right) ||
		    !dif_node_adopt(c, n, n->third))
			return NULL;
		left = choose(c, n);
	}
	dif_unnest(c);
	return left;
}

/* assign = cond | unary ("=" | "+=" | …) assign */
struct dif_node *dif_parse_assign(struct dif_compiler *c)
{
	static const struct {
		enum dif_tok tok;
		enum dif_oper arith;
	} ops[] = {
		{ DIF_T_ASGN, DIF_O_NONE },    { DIF_T_ADD_ASGN, DIF_O_ADD }, { DIF_T_SUB_ASGN, DIF_O_SUB },
		{ DIF_T_MUL_ASGN, DIF_O_MUL }, { DIF_T_DIV_ASGN, DIF_O_DIV }, { DIF_T_MOD_ASGN, DIF_O_MOD },
		{ DIF_T_AND_ASGN, DIF_O_AND }, { DIF_T_OR_ASGN, DIF_O_OR },   { DIF_T_XOR_ASGN, DIF_O_XOR },
		{ DIF_T_LSH_ASGN, DIF_O_LSH }, { DIF_T_RSH_ASGN, DIF_O_RSH },
	};
	if (!dif_nest(c))
		return NULL;
	struct dif_node *left = dif_parse_cond(c);

	for (size_t i = 0; left && i < OT_ARRAY_SIZE(ops); i++) {
		if (ops[i].tok != c->unit->tok.kind)
			continue;
		dif_next(c);
		left = dif_node_op2(c, DIF_O_ASGN, left, dif_parse_assign(c));
		if (left)
			left->arith = ops[i].arith;
		break;
	}
	dif_unnest(c);
	return left;
}

/* expr = assign ("," assign)* */
struct dif_node *dif_parse_expr(struct dif_compiler *c)
{
	struct dif_node *left = dif_parse_assign(c);

	while (left && dif_accept(c, DIF_T_COMMA))
		left = dif_node_op2(c, DIF_O_COMMA, left, dif_parse_assign(c));
	return left;
}

bool dif_parse_constant(struct dif_compiler *c, int64_t *ret, struct dif_type **ret_type)
{
	struct dif_node *n = dif_parse_cond(c);

	if (!n || !(n = c->unit->client->check(c, n)) || n->kind != DIF_N_INT)
		return false;
	*ret = (int64_t)n->value;
	*ret_type = n->type;
	return true;
}
