/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One guest's types, symbols and probes for the D compiler. */
#ifndef VP_PROVIDER_WORLD_H
#define VP_PROVIDER_WORLD_H

#include "vmm-probe/provider/provider.h"

struct vp_symtab;

/** `name or module`name in @p tab, with its type in @p types (may be NULL). False: there is no such symbol.
 */
bool vp_world_symbol(const struct vp_symtab *tab, struct vp_types *types, const char *module,
		     const char *name, struct dif_symbol *ret);

/** The world of @p probes' guest alone, for texts of our own. */
void vp_world_of_probes(struct vp_probes *probes, struct dif_world *ret);

#endif
