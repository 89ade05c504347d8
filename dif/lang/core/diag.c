/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dif/lang/core/diag.h"

#include <stdarg.h>
#include <stdio.h>

#include "dif/lang/core/compiler.h"

const char *dif_errtag_name(enum dif_errtag tag)
{
	static const char *const names[] = {
#define X(t) [DIF_D_##t] = "D_" #t,
		DIF_ERRTAGS(X)
#undef X
	};

	return tag < DIF_D_COUNT ? names[tag] : NULL;
}

void dif_raise_memory(struct dif_compiler *c)
{
	c->failed = true;
	c->no_memory = true;
}

void dif_raise(struct dif_compiler *c, enum dif_errtag tag, uint32_t line, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (c->failed)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->failed = true;
	c->diag = (struct dif_diag){
		.tag = dif_errtag_name(tag),
		.file = c->lex.file,
		.line = line ? line : c->tok.line,
		.column = line ? 0 : c->tok.column,
		.region = c->cook_depth ? c->region : NULL,
		.message = ot_arena_strdup(&c->arena, text),
	};
	if (!c->diag.message)
		dif_raise_memory(c);
}

void dif_hint(struct dif_compiler *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (c->diag.hint)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->diag.hint = ot_arena_strdup(&c->arena, text);
}

void dif_diag_print(const struct dif_diag *diag, bool errtags, struct ot_buf *out)
{
	if (errtags && diag->tag)
		ot_buf_printf(out, "[%s] ", diag->tag);
	if (diag->file)
		ot_buf_printf(out, "\"%s\", ", diag->file);
	if (diag->line)
		ot_buf_printf(out, "line %u: ", diag->line);
	else if (diag->region)
		ot_buf_printf(out, "in %s: ", diag->region);
	ot_buf_puts(out, diag->message);
}

void *dif_alloc(struct dif_compiler *c, struct ot_arena *arena, size_t size)
{
	void *p = ot_arena_alloc(arena, size);

	return p ? p : dif_fail_memory(c);
}

const char *dif_strdup(struct dif_compiler *c, struct ot_arena *arena, const char *s)
{
	const char *p = ot_arena_strdup(arena, s);

	return p ? p : dif_fail_memory(c);
}

const char *dif_strndup(struct dif_compiler *c, struct ot_arena *arena, const char *s, size_t len)
{
	const char *p = ot_arena_strndup(arena, s, len);

	return p ? p : dif_fail_memory(c);
}

bool dif_nest(struct dif_compiler *c)
{
	if (++c->nesting <= DIF_NEST_MAX)
		return true;
	dif_fail(c, DIF_D_SYNTAX, 0, "program is nested too deep");
	return false;
}
