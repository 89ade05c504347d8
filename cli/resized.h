/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes and rates that enabling a program has changed, because not all that was requested is available; and
 * what memory it takes. */
#ifndef CLI_RESIZED_H
#define CLI_RESIZED_H

#include "dif/lang/core/options.h"
#include "vmm-probe/session/session.h"

struct cli_sizes {
	uint64_t buf, agg, spec, dynvar, clean_ns;
};

struct cli_sizes cli_sizes_of(const struct dif_options *opts);
/** Say what is not what it @p was. */
void cli_sizes_report(const struct dif_options *opts, const struct cli_sizes *was);

/** Say what @p session, once enabled, takes of the memory of VMMs that have a limit; with @p all of the
 * others too. */
void cli_memory_report(const struct dif_options *opts, const struct vp_session *session, bool all);

#endif
