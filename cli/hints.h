/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an operator may have meant who typed something else: lines behind an error, see cli_hint(). */
#ifndef CLI_HINTS_H
#define CLI_HINTS_H

#include "cli/compile.h"
#include "cli/options.h"
#include "vmm-probe/session/session.h"

/** Words of the command line were of no use: there is no program, or it does not use them. A program without
 * -n, a script without -s and a mistyped verb are recognised. Silent without words. */
void cli_hint_words(const struct cli_invocation *inv);

/** As cli_fail(), and behind it what helps against an error whose text is dtrace's own. */
int cli_fail_with_cure(const struct dif_options *opts, struct ot_err *err, const char *context);

/** As cli_fail(), and behind it the guest that was meant, if @p err is that there is none such as @p spec. @p
 * opts may be NULL. */
int cli_fail_guest(const struct dif_options *opts, struct ot_err *err, const char *spec);

/** A clause names a function of which this kernel only has the compiler's copies: one line says which is
 * probed for it. */
void cli_note_copies(struct vp_session *s, const struct dif_options *opts, const struct cli_compilation *c,
		     const struct cli_compiled *unit);

#endif
