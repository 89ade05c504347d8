/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the profile provider's probes. */
#ifndef VP_PROVIDER_PROFILE_NAME_H
#define VP_PROVIDER_PROFILE_NAME_H

#include <stdbool.h>
#include <stdint.h>

/** Parse "profile-997", "tick-10s". False: no such probe (invalid number or unit, or an interval under
 * 200 µs). */
bool vp_profile_parse(const char *name, bool *ret_tick, uint64_t *ret_ns);

/** If @p name resembles a timer's probe but is invalid, append the reason to @p out and return true. */
bool vp_profile_hint(const char *name, struct ot_buf *out);

#endif
