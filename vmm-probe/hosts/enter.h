/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Injecting an engine into a VMM that runs without one. */
#ifndef VP_HOSTS_ENTER_H
#define VP_HOSTS_ENTER_H

#include "vmm-probe/inject/inject.h"

/* The most of the VMM's memory that the library, its thread and its engine take, without sessions. */
#define VP_ENTER_BYTES (4ull << 20)

/** The VMM's process of @p spec (a PID, a guest's or a domain's name). NOT_FOUND: there is none; BUSY: a
 * domain that does not run. */
OT_MUST_CHECK struct ot_err *vp_enter_find(const char *spec, pid_t *ret);

/** Would injecting an engine into process @p pid be refused? Makes all checks that do not change it.
 */
OT_MUST_CHECK struct ot_err *vp_enter_check(pid_t pid);

/** Attach to the VMM of @p spec (a PID or a guest's name). NOT_FOUND: there is none. */
OT_MUST_CHECK struct ot_err *vp_enter(const char *spec, struct vp_inject_result *ret);

#endif
