/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the profile provider's probes. */
#ifndef VP_PROVIDER_PROFILE_NAME_H
#define VP_PROVIDER_PROFILE_NAME_H

#include <stdbool.h>
#include <stdint.h>

/** Take "profile-997", "tick-10s" apart. False: no such probe (bad number or unit, or more often than
 * every 200 µs). */
bool vp_profile_parse(const char *name, bool *ret_tick, uint64_t *ret_ns);

/** @p name begins as a timer's probe does, or nearly so, and is none: what is wrong with it, appended to @p
 * out. */
bool vp_profile_hint(const char *name, struct ot_buf *out);

#endif
