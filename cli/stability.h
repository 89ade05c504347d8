/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stability attributes: how much one may rely on a name, a meaning, and where it is the same. */
#ifndef CLI_STABILITY_H
#define CLI_STABILITY_H

#include <stdio.h>

#include "cli/compiling.h"

/** A provider's; Private/Private/Unknown if it is unknown. */
void cli_attributes(const struct dif_world *world, const char *provider,
		    struct dif_attribute ret[DIF_ATTR_PARTS]);

/** The stability of a description of a probe by all of its names; empty parts do not count. */
struct dif_attribute cli_probe_attribute(const struct dif_attribute attrs[DIF_ATTR_PARTS], const char *module,
					 const char *function, const char *name);

void cli_print_attribute(const char *heading, struct dif_attribute attr, FILE *fp);

#endif
