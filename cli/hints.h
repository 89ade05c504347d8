/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hints for mistyped command lines: lines after an error, see con_hint(). */
#ifndef CLI_HINTS_H
#define CLI_HINTS_H

#include "cli/compiling.h"
#include "cli/options.h"
#include "vmm-probe/session/session.h"

/** Report unused words of the command line: there is no program, or the program ignores them. A program
 * without -n, a script without -s and a mistyped verb are recognised. Silent without words. */
void cli_hint_words(const struct cli_invocation *inv);

/** As con_fail(), then a remedy, for errors in dtrace's own words. */
int cli_fail_with_cure(const struct dif_options *opts, struct ot_err *err, const char *context);

/** As con_fail(), then the existing guest that is nearest to @p spec, if @p err is that there is no guest @p
 * spec. @p opts may be NULL. */
int cli_fail_guest(const struct dif_options *opts, struct ot_err *err, const char *spec);

/** A clause names a function of which this kernel only has the compiler's copies: one line names the copy
 * that is probed. */
void cli_note_copies(struct vp_session *s, const struct dif_options *opts, const struct con_compilation *c,
		     const struct con_compiled *unit);

#endif
