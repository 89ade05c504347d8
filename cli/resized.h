/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes and rates that enabling a program has changed, because the requested ones are not available; and the
 * memory that it takes. */
#ifndef CLI_RESIZED_H
#define CLI_RESIZED_H

#include "dif/lang/core/options.h"
#include "vmm-probe/session/session.h"

struct cli_sizes {
	uint64_t buf, agg, spec, dynvar, clean_ns;
};

struct cli_sizes cli_sizes_of(const struct dif_options *opts);
/** Report the differences from @p was. */
void cli_sizes_report(const struct dif_options *opts, const struct cli_sizes *was);

/** Report how much memory @p session, once enabled, takes of VMMs that have a limit; with @p all, of all
 * VMMs. */
void cli_memory_report(const struct dif_options *opts, const struct vp_session *session, bool all);

#endif
