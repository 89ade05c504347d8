/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes of the tree: made, copied, counted. */
#include "dif/lang/syntax/ast.h"

#include "dif/lang/syntax/unit.h"

struct dif_node *dif_node_new(struct dif_compiler *c, enum dif_node_kind kind)
{
	struct dif_node *n = dif_new(c, c->nodes, struct dif_node);

	if (!n)
		return NULL;
	n->kind = kind;
	n->line = c->unit->tok.line;
	return n;
}

bool dif_node_adopt(struct dif_compiler *c, struct dif_node *node, const struct dif_node *child)
{
	if (child && child->depth >= node->depth)
		node->depth = child->depth + 1;
	if (node->depth <= DIF_DEPTH_MAX)
		return true;
	dif_fail(c, DIF_D_SYNTAX, node->line, "expression is more than %d levels deep", DIF_DEPTH_MAX);
	return false;
}

struct dif_node *dif_node_int(struct dif_compiler *c, uint64_t value, struct dif_type *type)
{
	struct dif_node *n = dif_node_new(c, DIF_N_INT);

	if (n) {
		n->value = value;
		n->type = type;
	}
	return n;
}

struct dif_node *dif_node_op1(struct dif_compiler *c, enum dif_oper op, struct dif_node *left)
{
	struct dif_node *n = left ? dif_node_new(c, DIF_N_OP1) : NULL;

	if (!n)
		return NULL;
	n->op = op;
	n->left = left;
	n->line = left->line;
	return dif_node_adopt(c, n, left) ? n : NULL;
}

struct dif_node *dif_node_op2(struct dif_compiler *c, enum dif_oper op, struct dif_node *left,
			      struct dif_node *right)
{
	struct dif_node *n = left && right ? dif_node_new(c, DIF_N_OP2) : NULL;

	if (!n)
		return NULL;
	n->op = op;
	n->left = left;
	n->right = right;
	n->line = left->line;
	return dif_node_adopt(c, n, left) && dif_node_adopt(c, n, right) ? n : NULL;
}

struct dif_node *dif_node_name(struct dif_compiler *c, enum dif_name_scope scope, const char *name)
{
	struct dif_node *n = dif_node_new(c, DIF_N_IDENT);

	if (n) {
		n->scope = scope;
		n->name = name;
	}
	return n;
}

struct dif_node *dif_node_clone_list(struct dif_compiler *c, const struct dif_node *list)
{
	struct dif_node *first = NULL, **tail = &first;

	for (; list; list = list->next) {
		*tail = dif_node_clone(c, list);
		if (!*tail)
			return NULL;
		tail = &(*tail)->next;
	}
	return first;
}

/* Recursion is bounded by the tree's depth. */
struct dif_node *dif_node_clone(struct dif_compiler *c, const struct dif_node *node)
{
	struct dif_node *n;

	/* inlines that use each other twice double with every level */
	if (++c->unit->ncopied > DIF_COPIES_MAX)
		return dif_fail(c, DIF_D_SYNTAX, node->line,
				"inlines and translators expand to more than %d operators", DIF_COPIES_MAX);
	n = dif_new(c, c->nodes, struct dif_node);
	if (!n)
		return NULL;
	*n = *node;
	n->next = NULL;
	if ((node->left && !(n->left = dif_node_clone(c, node->left))) ||
	    (node->right && !(n->right = dif_node_clone(c, node->right))) ||
	    (node->third && !(n->third = dif_node_clone_list(c, node->third))) ||
	    (node->args && !(n->args = dif_node_clone_list(c, node->args))))
		return NULL;
	return n;
}

uint32_t dif_node_count(const struct dif_node *list)
{
	uint32_t n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

const char *dif_oper_text(enum dif_oper op)
{
	static const char *const text[] = {
		[DIF_O_NEG] = "-",         [DIF_O_POS] = "+",
		[DIF_O_NOT] = "!",         [DIF_O_BITNOT] = "~",
		[DIF_O_DEREF] = "*",       [DIF_O_ADDROF] = "&",
		[DIF_O_SIZEOF] = "sizeof", [DIF_O_STRINGOF] = "stringof",
		[DIF_O_PREINC] = "++",     [DIF_O_PREDEC] = "--",
		[DIF_O_POSTINC] = "++",    [DIF_O_POSTDEC] = "--",
		[DIF_O_MUL] = "*",         [DIF_O_DIV] = "/",
		[DIF_O_MOD] = "%",         [DIF_O_ADD] = "+",
		[DIF_O_SUB] = "-",         [DIF_O_LSH] = "<<",
		[DIF_O_RSH] = ">>",        [DIF_O_LT] = "<",
		[DIF_O_LE] = "<=",         [DIF_O_GT] = ">",
		[DIF_O_GE] = ">=",         [DIF_O_EQ] = "==",
		[DIF_O_NE] = "!=",         [DIF_O_AND] = "&",
		[DIF_O_XOR] = "^",         [DIF_O_OR] = "|",
		[DIF_O_LAND] = "&&",       [DIF_O_LXOR] = "^^",
		[DIF_O_LOR] = "||",        [DIF_O_ASGN] = "=",
		[DIF_O_COMMA] = ",",       [DIF_O_INDEX] = "[",
		[DIF_O_DOT] = ".",         [DIF_O_ARROW] = "->",
	};

	return op < OT_ARRAY_SIZE(text) && text[op] ? text[op] : "?";
}
