/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stability attributes: how much one may rely on a name, a meaning, and where it is the same. */
#ifndef CLI_STABILITY_H
#define CLI_STABILITY_H

#include <stdio.h>

#include "cli/compile.h"

/* Parts of a provider that have attributes of their own. */
enum { CLI_ATTR_PROVIDER, CLI_ATTR_MODULE, CLI_ATTR_FUNCTION, CLI_ATTR_NAME, CLI_ATTR_ARGS, CLI_ATTRIBUTES };

/** A provider's; Private/Private/Unknown where nothing is known. */
void cli_attributes(const struct dif_world *world, const char *provider,
		    struct dif_attribute ret[CLI_ATTRIBUTES]);

/** The least of the first @p n, field by field. */
struct dif_attribute cli_minimum_attribute(const struct dif_attribute *attrs, unsigned n);

void cli_print_attribute(const char *heading, struct dif_attribute attr, FILE *fp);

#endif
