/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print(): the layout of a type as text. The grammar stands in dif/obj/program.h. */
#include "dif/lang/actions/clause.h"

#include <string.h>

#define LAYOUT_MAX  (1u << 20)
#define NESTING_MAX 32

static void layout(struct dif_compiler *c, struct dif_type *type, struct ot_buf *out, int depth);

/* Skip the parameters that begin at @at, with their closing parenthesis. */
static size_t skip_params(const struct ot_buf *name, size_t at)
{
	unsigned open = 0;

	for (; at < name->len; at++) {
		if (name->data[at] == '(')
			open++;
		else if (name->data[at] == ')' && !--open)
			break;
	}
	return at;
}

/* Is there a struct, union or enum without a tag at @at of a name? What follows it is its end, or is of
 * a declarator. Returns the length of the word. */
static size_t untagged(const char *name, size_t at)
{
	static const char *const words[] = { "struct", "union", "enum" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(words) && (!at || name[at - 1] == ' '); i++) {
		size_t n = strlen(words[i]);
		const char *after = name + at + n;
		if (!strncmp(name + at, words[i], n) &&
		    (!*after || (*after == ' ' && after[1] && strchr("[*(", after[1]))))
			return n;
	}
	return 0;
}

/* The name in printed data: a function without its parameters, "int (*)()"; a blank in place of a missing
 * struct tag. */
static void typename_of(struct dif_type *type, struct ot_buf *out)
{
	struct ot_buf name = { 0 };
	size_t word;

	dif_type_print(type, &name);
	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i];
		if ((word = untagged(name.data, i))) {
			ot_buf_printf(out, "%.*s ", (int)word, name.data + i);
			i += word - 1;
			continue;
		}
		ot_buf_putc(out, c == ':' || c == '\n' ? ' ' : c);
		if (c == '(' && i + 1 < name.len && name.data[i + 1] != '*') {
			i = skip_params(&name, i);
			ot_buf_putc(out, ')');
		}
	}
	ot_buf_deinit(&name);
}

/* A character is a signed one: uint8_t and unsigned char are numbers. Some producers of type data
 * do not mark char as signed. */
static bool shows_as_char(const struct dif_type *t)
{
	return t->is_char && t->size == 1 && (t->is_signed || !strcmp(t->name, "char"));
}

static void enum_layout(struct dif_type *t, struct ot_buf *out)
{
	ot_buf_printf(out, "e%llu%c{", (unsigned long long)t->size, t->is_signed ? 's' : 'u');
	for (uint32_t i = 0; i < t->nenumerators; i++)
		ot_buf_printf(out, "%s=%lld,", t->enumerators[i].name, (long long)t->enumerators[i].value);
	ot_buf_putc(out, '}');
}

static void sou_layout(struct dif_compiler *c, struct dif_type *t, struct ot_buf *out, int depth)
{
	ot_buf_printf(out, "%c%llu{", t->kind == DIF_C_STRUCT ? 'S' : 'U', (unsigned long long)t->size);
	for (uint32_t i = 0; i < t->nmembers; i++) {
		struct dif_member *m = &t->members[i];
		ot_buf_printf(out, "%llu", (unsigned long long)m->bit_offset);
		if (m->bit_size)
			ot_buf_printf(out, ".%u", m->bit_size);
		ot_buf_printf(out, ":%s:", m->name ? m->name : "");
		typename_of(m->type, out);
		ot_buf_putc(out, ':');
		layout(c, m->type, out, depth + 1);
		ot_buf_putc(out, ';');
	}
	ot_buf_putc(out, '}');
}

static void layout(struct dif_compiler *c, struct dif_type *type, struct ot_buf *out, int depth)
{
	struct dif_type *t = dif_base(c, type);
	unsigned long long size = dif_sizeof(c, t);

	if (depth > NESTING_MAX || out->len > LAYOUT_MAX) {
		ot_buf_putc(out, 'v');
		return;
	}
	switch (t->kind) {
	case DIF_C_INT:
		ot_buf_printf(out, "i%llu%c%s", size, t->is_signed ? 's' : 'u',
			      t->is_bool         ? "b"
			      : shows_as_char(t) ? "c"
						 : "");
		break;
	case DIF_C_ENUM:
		enum_layout(t, out);
		break;
	case DIF_C_FLOAT:
		ot_buf_printf(out, "f%llu", size);
		break;
	case DIF_C_POINTER:
		ot_buf_putc(out, dif_base(c, t->ref)->kind == DIF_C_FUNCTION ? 'q' : 'p');
		break;
	case DIF_C_FUNCTION:
		ot_buf_putc(out, 'q');
		break;
	case DIF_C_SYMADDR:
		ot_buf_putc(out, 'p');
		break;
	case DIF_C_STRING:
		ot_buf_printf(out, "t%llu", size);
		break;
	case DIF_C_ARRAY:
		ot_buf_printf(out, "a%llu:", (unsigned long long)t->nelems);
		typename_of(t->ref, out);
		ot_buf_putc(out, ':');
		layout(c, t->ref, out, depth + 1);
		break;
	case DIF_C_STRUCT:
	case DIF_C_UNION:
		sou_layout(c, t, out, depth);
		break;
	default:
		ot_buf_putc(out, 'v');
	}
}

const char *dif_print_layout(struct dif_compiler *c, struct dif_type *type)
{
	struct ot_buf out = { 0 };

	typename_of(type, &out);
	ot_buf_putc(&out, '\n');
	layout(c, type, &out, 0);
	const char *s =
	    out.failed ? dif_fail_memory(c) : dif_strdup(c, &c->out.prog->arena, ot_buf_str(&out));
	ot_buf_deinit(&out);
	return s;
}
