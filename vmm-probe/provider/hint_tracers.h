/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes in the form in which other tracers name them, and words for the two names of D's functions. */
#ifndef VP_PROVIDER_HINT_TRACERS_H
#define VP_PROVIDER_HINT_TRACERS_H

#include "base/buf.h"
#include "dif/lang/compile.h"

/** Translate @p desc, which matches nothing, from bpftrace's form (kprobe:vfs_read,
 * tracepoint:sched:sched_switch), or with another word for entry or return. False: it has no such form. *ret
 * borrows its strings from @p desc and from constants. */
bool vp_probe_of_tracer(const struct dif_probedesc *desc, struct dif_probedesc *ret);

/** Print the suggestion for an interval or a profile in bpftrace's form: interval:s:5, profile:hz:99. */
bool vp_timer_of_tracer(const struct dif_probedesc *desc, struct ot_buf *out);

#endif
