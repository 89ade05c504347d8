/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Giving up rights: each for the calling process, permanently. */
#ifndef VP_CONFINED_RIGHTS_H
#define VP_CONFINED_RIGHTS_H

#include "vmm-probe/confined/child.h"

/** Close every descriptor but those of @p job and @p ends. */
OT_MUST_CHECK struct ot_err *vp_rights_close(const struct vp_confined_job *job,
					     const struct vp_confined_ends *ends);

/** Root's user and groups become nobody's, whose files are nobody's; another user's stay. */
OT_MUST_CHECK struct ot_err *vp_rights_user(void);

/** Unmap all memory that other processes may share, except the mapping at @p kept; *ret_left is the rest in
 * bytes. */
OT_MUST_CHECK struct ot_err *vp_rights_unmap(const void *kept, uint64_t *ret_left);

/** Set the limits; @p mapped is the size of existing mappings, bytes. */
OT_MUST_CHECK struct ot_err *vp_rights_limit(const struct vp_confined_limits *limits, uint64_t mapped);

/** Drop all capabilities, and allow only the system calls that confined.h describes: of all descriptors only
 * @p out can be written. */
OT_MUST_CHECK struct ot_err *vp_rights_filter(int out);

#endif
