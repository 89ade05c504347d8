/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors: the first of a compilation is kept, with its place and at most one hint. */
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
	c->diag.failed = true;
	c->diag.no_memory = true;
}

void dif_raise(struct dif_compiler *c, enum dif_errtag tag, uint32_t line, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (c->diag.failed)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->diag.failed = true;
	c->diag.first = (struct dif_diag){
		.tag = dif_errtag_name(tag),
		.file = c->diag.file,
		.line = line ? line : c->diag.line,
		.column = line ? 0 : c->diag.column,
		.region = c->diag.check_depth ? c->diag.region : NULL,
		.message = ot_arena_strdup(&c->arena, text),
	};
	if (!c->diag.first.message)
		dif_raise_memory(c);
}

void dif_hint(struct dif_compiler *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (c->diag.first.hint)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->diag.first.hint = ot_arena_strdup(&c->arena, text);
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
