/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of probes on Solaris, FreeBSD and macOS, in scripts that were written there. */
#ifndef VP_PROVIDER_HINT_SYSTEMS_H
#define VP_PROVIDER_HINT_SYSTEMS_H

#include "dif/lang/compile.h"

/** Translate @p desc from another system's names to Linux's: a call, a function, a static probe, or a probe
 * of a provider that all systems have, without the function in which theirs fires. False: it has no such
 * name. *ret borrows its strings from @p desc and from constants. */
bool vp_probe_of_linux(const struct dif_probedesc *desc, struct dif_probedesc *ret);

/** Translate it to Linux's name of the same event: a call with the same parameters, or the same result where
 * @p desc has only returns; a counter; a probe that fires in one function there. False: there is no such
 * event.
 */
bool vp_probe_same_of_linux(const struct dif_probedesc *desc, struct dif_probedesc *ret);

#endif
