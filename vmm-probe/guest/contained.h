/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a guest in a child without rights (confined/confined.h), which is how a session reads one: the
 * child parses the guest's bytes, this process checks the answer as it would check a guest's bytes, and takes
 * it over. docs/design/010-containment.md lists the readings that are made like this, and those that are not.
 *
 * The child reads the guest's memory by the descriptors of its RAM, which it can't write, and memory without
 * one (a gdb stub) by requests to this process. Errors are those of the reading in this process, and of the
 * child's end: BAD_DATA (it crashed, made a forbidden call, or gave an invalid answer) and LIMIT, one line
 * each. If the child fails, a guest that is open stays as it was.
 */
#ifndef VP_GUEST_CONTAINED_H
#define VP_GUEST_CONTAINED_H

#include "vmm-probe/confined/confined.h"
#include "vmm-probe/guest/guest.h"

/** As vp_guest_open(), but the symbols are never cached: an answer about one guest is not used for another
 * guest. */
OT_MUST_CHECK struct ot_err *vp_contained_open(const struct vp_guest_opts *opts, struct vp_guest **ret);

/** As vp_guest_modules_update(). */
OT_MUST_CHECK struct ot_err *vp_contained_modules_update(struct vp_guest *guest);

/** The table of unwind rules, as vp_orc_table() makes it; *ret is the caller's to free. */
OT_MUST_CHECK struct ot_err *vp_contained_orc_table(struct vp_guest *guest, struct vp_confined_result *ret);

#endif
