/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control lines: #pragma D …, #line, #error, and the ones that only cpp understands. */
#ifndef DIF_LANG_SYNTAX_PRAGMA_H
#define DIF_LANG_SYNTAX_PRAGMA_H

#include <stdbool.h>
#include <stddef.h>

struct dif_compiler;

/** Act on one line, @p text begins behind the #; false after an error. */
bool dif_control_line(struct dif_compiler *c, const char *text, size_t len);

/** A global name or a translator came to be: what pragmas said of it before applies. */
struct dif_ident;
void dif_pragma_apply(struct dif_compiler *c, struct dif_ident *id);
void dif_pragma_apply_translator(struct dif_compiler *c);
/** The same for a provider that was declared. */
bool dif_pragma_apply_provider(struct dif_compiler *c, const char *name);

/** `#pragma D attributes @p attr …` and `binding` of the name in @p p, which is copied: applied now, or kept.
 */
struct dif_pending_pragma;
bool dif_pragma_modify(struct dif_compiler *c, const struct dif_pending_pragma *p);

/** The program ends: pragmas that nothing used are errors. */
bool dif_pragma_end(struct dif_compiler *c);

#endif
