/* SPDX-License-Identifier: GPL-2.0-or-later */
/* #pragma D attributes and binding: their names may be defined before or after them. */
#ifndef DIF_LANG_TYPES_PENDING_H
#define DIF_LANG_TYPES_PENDING_H

#include "dif/lang/types/ident.h"

/* A #pragma D attributes or binding that waits until its name is defined. */
struct dif_pending_pragma {
	const char *pragma; /* "attributes" or "binding" */
	const char *name;
	bool is_provider; /* name is a provider's, of which attr is for `part` */
	enum dif_attr_part part;
	struct dif_attribute attr;
	uint32_t version;
	uint32_t line;
	struct dif_pending_pragma *next, *last; /* for the same name; last: in the first one */
};

/** A global name or a translator was declared: apply earlier pragmas about it. */
void dif_pragma_apply(struct dif_compiler *c, struct dif_ident *id);
void dif_pragma_apply_translator(struct dif_compiler *c);
/** The same for a provider that was declared. */
bool dif_pragma_apply_provider(struct dif_compiler *c, const char *name);

/** Apply @p p to its name, or keep a copy until the name is defined. */
bool dif_pragma_modify(struct dif_compiler *c, const struct dif_pending_pragma *p);

/** The program ends: pragmas that nothing used are errors. */
bool dif_pragma_end(struct dif_compiler *c);

#endif
