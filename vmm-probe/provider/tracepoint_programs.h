/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites of tracepoints as the engine gets them: the text, and a site program with the condition and
 * arguments. */
#ifndef VP_PROVIDER_TRACEPOINT_PROGRAMS_H
#define VP_PROVIDER_TRACEPOINT_PROGRAMS_H

#include "vmm-probe/provider/tracepoint_sites.h"

/** Add the site program of @p site, with words 0 to @p nargs - 1: a word that is not known is 0. *ret is its
 * number. UNSUPPORTED: its condition can't be made a program. */
OT_MUST_CHECK struct ot_err *vp_event_program(struct vp_probes *probes, const struct vp_event_site *site,
					      unsigned nargs, uint32_t *ret);

/** Fill the engine's record of @p site from the guest's text as it is now: the nop, or the jump if the
 * tracepoint is enabled. BAD_DATA: the text has changed to something else. */
OT_MUST_CHECK struct ot_err *vp_event_batch_site(struct vp_probes *probes, const struct vp_event_site *site,
						 uint32_t program, struct vp_batch_site *ret);

#endif
