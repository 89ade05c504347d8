/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Giving up rights: each for the calling process, for good. */
#ifndef VP_CONFINED_RIGHTS_H
#define VP_CONFINED_RIGHTS_H

#include "vmm-probe/confined/confined.h"

/** Close every descriptor but those of @p job and @p out. */
OT_MUST_CHECK struct ot_err *vp_rights_close(const struct vp_confined_job *job, int out);

/** Unmap all memory that other processes may share; *ret_left is what remains, bytes. */
OT_MUST_CHECK struct ot_err *vp_rights_unmap(uint64_t *ret_left);

/** Set the limits; @p mapped is what is mapped already, bytes. */
OT_MUST_CHECK struct ot_err *vp_rights_limit(const struct vp_confined_limits *limits, uint64_t mapped);

/** Drop all capabilities, and allow only the system calls that confined.h describes. */
OT_MUST_CHECK struct ot_err *vp_rights_filter(void);

#endif
