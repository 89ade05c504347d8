/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of guests' names. */
#ifndef CLI_GUEST_PATTERNS_H
#define CLI_GUEST_PATTERNS_H

#include "vmm-probe/session/session.h"

/** Does -g's argument mean guests by a pattern, or all? */
bool cli_is_guest_pattern(const char *spec);

/** Attach every running guest that @p pattern means and that is not attached yet: of several owners those of
 * the highest rank (enum vp_rank). One that can't be attached is reported and left out. NOT_FOUND: there is
 * none. */
OT_MUST_CHECK struct ot_err *cli_attach_guests(struct vp_session *s, const char *pattern);

#endif
