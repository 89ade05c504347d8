/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -x tree: a clause's tree as text. */
#include "dif/lang/syntax/tree.h"

#include <ctype.h>

#include "dif/lang/syntax/unit.h"

#define INDENT 3u

static const char *kind_text(enum dif_node_kind kind)
{
	static const char *const text[] = {
		[DIF_N_INT] = "INT",       [DIF_N_STRING] = "STRING",
		[DIF_N_IDENT] = "IDENT",   [DIF_N_VAR] = "VARIABLE",
		[DIF_N_SYM] = "SYM",       [DIF_N_AGG] = "AGGREGATE",
		[DIF_N_OP1] = "OP1",       [DIF_N_OP2] = "OP2",
		[DIF_N_OP3] = "OP3",       [DIF_N_FUNC] = "FUNC",
		[DIF_N_TYPE] = "TYPE",     [DIF_N_CAST] = "CAST",
		[DIF_N_MEMBER] = "MEMBER", [DIF_N_XLATE] = "XLATE",
		[DIF_N_PLACE] = "PLACE",   [DIF_N_OFFSETOF] = "OFFSETOF",
		[DIF_N_HAS] = "HAS",       [DIF_N_EXPR] = "D EXPRESSION",
		[DIF_N_IF] = "IF",
	};

	return text[kind];
}

static void print_string(struct ot_buf *out, const char *s, size_t len)
{
	ot_buf_printf(out, " \"");
	for (size_t i = 0; i < len; i++)
		if (isprint((unsigned char)s[i]) && s[i] != '"' && s[i] != '\\')
			ot_buf_putc(out, s[i]);
		else
			ot_buf_printf(out, "\\%03o", (unsigned char)s[i]);
	ot_buf_putc(out, '"');
}

static const char *scope_text(enum dif_name_scope scope)
{
	return scope == DIF_NAME_SELF ? "self->" : scope == DIF_NAME_THIS ? "this->" : "";
}

static void print_line(struct ot_buf *out, const struct dif_node *n, unsigned depth)
{
	ot_buf_printf(out, "%*s%s", (int)(depth * INDENT), "", kind_text(n->kind));
	if (n->op != DIF_O_NONE)
		ot_buf_printf(out, " %s%s", n->arith != DIF_O_NONE ? dif_oper_text(n->arith) : "",
			      dif_oper_text(n->op));
	if (n->kind == DIF_N_INT)
		ot_buf_printf(out, " 0x%llx", (unsigned long long)n->value);
	else if (n->kind == DIF_N_STRING)
		print_string(out, n->name, n->len);
	else if (n->name)
		ot_buf_printf(out, " %s%s%s", n->kind == DIF_N_AGG ? "@" : "", scope_text(n->scope), n->name);
	if (n->type) {
		ot_buf_printf(out, " (type=<");
		dif_type_print(n->type, out);
		ot_buf_printf(out, ">)");
	}
	ot_buf_putc(out, '\n');
}

static void print_list(struct ot_buf *out, const struct dif_node *list, unsigned depth);

/* The parser bounds the depth. */
static void print_node(struct ot_buf *out, const struct dif_node *n, unsigned depth)
{
	print_line(out, n, depth);
	if (n->left)
		print_node(out, n->left, depth + 1);
	if (n->right)
		print_node(out, n->right, depth + 1);
	print_list(out, n->args, depth + 1);
	print_list(out, n->third, depth + 1);
}

static void print_list(struct ot_buf *out, const struct dif_node *list, unsigned depth)
{
	for (; list; list = list->next)
		print_node(out, list, depth);
}

void dif_tree_note(struct dif_compiler *c, enum dif_tree_pass pass, const struct dif_node *predicate,
		   const struct dif_node *body)
{
	if (!(c->opts->tree & (uint64_t)pass) || c->unit->is_library)
		return;
	ot_buf_printf(&c->out.tree, "Parse tree of a clause, %s:\n",
		      pass == DIF_TREE_PARSED     ? "as parsed"
		      : pass == DIF_TREE_EXPANDED ? "cut at its ifs"
						  : "checked");
	if (predicate) {
		ot_buf_printf(&c->out.tree, "%*sPREDICATE\n", (int)INDENT, "");
		print_node(&c->out.tree, predicate, 2);
	}
	print_list(&c->out.tree, body, 1);
}
