/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiling the texts of a command line, and reporting errors. */
#ifndef CLI_COMPILING_H
#define CLI_COMPILING_H

#include "cli/options.h"
#include "consumer/compile.h"

/** The texts that @p inv names, and their arguments and options; all of it is borrowed from @p inv. */
struct con_texts cli_texts_of(struct cli_invocation *inv);

/** con_compile() of them into @p c, which is to be deinited in any case. CLI_GO_ON, or the exit status: the
 * error has been reported, unless
 * @p silent. */
int cli_compile_asked(struct con_compilation *c, struct cli_invocation *inv, struct vp_session *s,
		      bool silent);

/** Is --dof alone, as it has to be? CLI_GO_ON, or the exit status. @p silent: nothing is reported. */
int cli_check_dof(const struct cli_invocation *inv, bool silent);

/** Report @p err, at which @p c failed, and destroy it. The exit status. */
int cli_complain(const struct con_compilation *c, const struct cli_invocation *inv, struct ot_err *err);

/** Before there is a guest: what asked.h checks, and the errors in the D program that depend on no guest.
 * CLI_GO_ON, or the exit status: the error has been reported. */
int cli_check(struct cli_invocation *inv);

/** -v: the stability report of a unit. */
void cli_report_stability(const struct con_compilation *c, const struct con_compiled *unit,
			  const struct dif_world *world, FILE *fp);

#endif
