/* SPDX-License-Identifier: GPL-2.0-or-later */
/* #pragma D attributes and binding: what they say of names, which may be defined before or after them. */
#ifndef DIF_LANG_TYPES_PENDING_H
#define DIF_LANG_TYPES_PENDING_H

#include <stdbool.h>

struct dif_compiler;
struct dif_ident;
struct dif_pending_pragma;

/** A global name or a translator came to be: what pragmas said of it before applies. */
void dif_pragma_apply(struct dif_compiler *c, struct dif_ident *id);
void dif_pragma_apply_translator(struct dif_compiler *c);
/** The same for a provider that was declared. */
bool dif_pragma_apply_provider(struct dif_compiler *c, const char *name);

/** Apply what @p p says of a name, or keep a copy until the name is defined. */
bool dif_pragma_modify(struct dif_compiler *c, const struct dif_pending_pragma *p);

/** The program ends: pragmas that nothing used are errors. */
bool dif_pragma_end(struct dif_compiler *c);

#endif
