/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types by themselves: completing, resolving, printing. */
#include "dif/lang/types/types.h"

#include <string.h>

#define CHAIN_MAX 64

struct ot_err *dif_type_complete(struct dif_type *type)
{
	if (type->complete || !type->source)
		return NULL;
	return type->source->complete(type->source, type);
}

struct dif_type *dif_type_resolve(struct dif_type *type)
{
	for (int i = 0; type && i < CHAIN_MAX; i++) {
		struct ot_err *err = dif_type_complete(type);
		if (err) {
			ot_err_destroy(err);
			return NULL;
		}
		switch (type->kind) {
		case DIF_C_TYPEDEF:
		case DIF_C_CONST:
		case DIF_C_VOLATILE:
		case DIF_C_RESTRICT:
			type = type->ref;
			break;
		default:
			return type;
		}
	}
	return NULL;
}

static void print_base(struct dif_type *type, struct ot_buf *out)
{
	static const char *const tags[] = {
		[DIF_C_STRUCT] = "struct",
		[DIF_C_UNION] = "union",
		[DIF_C_ENUM] = "enum",
		[DIF_C_FORWARD] = "struct",
	};
	const char *tag = type->kind < OT_ARRAY_SIZE(tags) ? tags[type->kind] : NULL;

	if (tag)
		ot_buf_printf(out, type->name && *type->name ? "%s %s" : "%s", tag, type->name);
	else
		ot_buf_puts(out, type->kind == DIF_C_VOID ? "void" : type->name ? type->name : "?");
}

static void print_params(struct dif_type *fn, struct ot_buf *out, int depth);

/* C's inside-out declarators, from the outside: the part left of the name is appended to @left, the part
 * right of it to @right. */
static void print_parts(struct dif_type *type, struct ot_buf *left, struct ot_buf *right, int depth)
{
	if (depth > CHAIN_MAX || !type) {
		ot_buf_puts(left, "...");
		return;
	}
	ot_err_destroy(dif_type_complete(type));
	switch (type->kind) {
	case DIF_C_POINTER: {
		struct dif_type *to = type->ref;
		ot_err_destroy(to ? dif_type_complete(to) : NULL);
		bool parens = to && (to->kind == DIF_C_ARRAY || to->kind == DIF_C_FUNCTION);
		/* after the part to the right of the name: int (*[2])() is an array of pointers */
		ot_buf_puts(right, parens ? ")" : "");
		print_parts(to, left, right, depth + 1);
		if (!left->len || left->data[left->len - 1] != '*')
			ot_buf_putc(left, ' ');
		ot_buf_puts(left, parens ? "(*" : "*");
		break;
	}
	case DIF_C_ARRAY: {
		ot_buf_printf(right, "[%llu]", (unsigned long long)type->nelems);
		print_parts(type->ref, left, right, depth + 1);
		break;
	}
	case DIF_C_FUNCTION:
		print_params(type, right, depth + 1);
		print_parts(type->ref, left, right, depth + 1);
		break;
	case DIF_C_CONST:
	case DIF_C_VOLATILE:
	case DIF_C_RESTRICT: {
		const char *word = type->kind == DIF_C_CONST      ? "const"
				   : type->kind == DIF_C_VOLATILE ? "volatile"
								  : "restrict";
		struct dif_type *of = type->ref;
		bool is_pointer = of && of->kind == DIF_C_POINTER;
		if (!is_pointer)
			ot_buf_printf(left, "%s ", word);
		print_parts(of, left, right, depth + 1);
		if (is_pointer)
			ot_buf_printf(left, "%s", word);
		break;
	}
	default:
		print_base(type, left);
	}
}

/* The two parts, with a blank between them where there is no pointer's star or parenthesis. */
static void print_whole(struct dif_type *type, struct ot_buf *out, int depth)
{
	struct ot_buf left = { 0 }, right = { 0 };

	print_parts(type, &left, &right, depth);
	bool is_pointer = left.len && left.data[left.len - 1] == '*';
	bool blank = right.len && *right.data != ')' && (!is_pointer || *right.data == '(');
	ot_buf_printf(out, "%s%s%s", ot_buf_str(&left), blank ? " " : "", ot_buf_str(&right));
	ot_buf_deinit(&left);
	ot_buf_deinit(&right);
}

static void print_params(struct dif_type *fn, struct ot_buf *out, int depth)
{
	ot_buf_putc(out, '(');
	for (uint32_t i = 0; i < fn->nparams; i++) {
		ot_buf_puts(out, i ? ", " : "");
		print_whole(fn->params[i].type, out, depth + 1);
	}
	if (fn->is_variadic)
		ot_buf_puts(out, fn->nparams ? ", ..." : "...");
	ot_buf_putc(out, ')');
}

void dif_type_print(struct dif_type *type, struct ot_buf *out)
{
	print_whole(type, out, 0);
}
