/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes and rates that enabling a program has changed, as not all that was asked for could be had. */
#ifndef CLI_RESIZED_H
#define CLI_RESIZED_H

#include "dif/lang/options.h"

struct cli_sizes {
	uint64_t buf, agg, spec, dynvar, clean_ns;
};

struct cli_sizes cli_sizes_of(const struct dif_options *opts);
/** Say what is not what it @p was. */
void cli_sizes_report(const struct dif_options *opts, const struct cli_sizes *was);

#endif
