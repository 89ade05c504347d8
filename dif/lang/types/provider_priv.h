/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Providers as dif/lang has them; provider.h is what others see. */
#ifndef DIF_LANG_TYPES_PROVIDER_PRIV_H
#define DIF_LANG_TYPES_PROVIDER_PRIV_H

#include "dif/lang/types/ident.h"

/* Types of an argument list: `struct s *, int`. */
struct dif_prototype {
	uint32_t n;
	struct dif_type **types;
};

struct dif_provider_probe {
	struct dif_prototype input, output; /* output is the input where none was given */
	bool has_output;
};

/* A provider that was declared, or that a pragma names. */
struct dif_provider {
	const char *name;
	bool is_declared;
	struct ot_map probes; /* struct dif_provider_probe, by name */
	bool has_attr[DIF_ATTR_PARTS];
	struct dif_attribute attrs[DIF_ATTR_PARTS];
};

/** By name; NULL when there is none (find), when memory ran out (get). */
struct dif_provider *dif_provider_find(const struct dif_compiler *c, const char *name);
struct dif_provider *dif_provider_get(struct dif_compiler *c, const char *name);
/** Has the world probes of this provider? */
bool dif_provider_is_real(struct dif_compiler *c, const char *name);

#endif
