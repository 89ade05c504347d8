/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runtime of a process, of those whose frames are known: by the exports of the files that it has mapped.
 */
#ifndef VP_SESSION_USER_RUNTIME_H
#define VP_SESSION_USER_RUNTIME_H

#include "vmm-probe/session/user_beam.h"
#include "vmm-probe/session/user_hotspot.h"
#include "vmm-probe/session/user_object.h"
#include "vmm-probe/session/user_python.h"
#include "vmm-probe/session/user_symbols.h"

/* The runtime of a file. Zeros are no runtime. */
struct vp_runtime_file {
	struct vp_python_file python;
	struct vp_hotspot_file hotspot;
	struct vp_beam_file beam;
	bool reported; /* reported that its programs are not shown */
};

enum vp_runtime_found {
	VP_RUNTIME_FOUND,
	VP_RUNTIME_ABSENT, /* the file is no runtime, or an unknown one, which was reported */
	VP_RUNTIME_EARLY,  /* it is just starting */
	VP_RUNTIME_LATER,  /* the round's budget does not suffice */
};

/** Search a file for a runtime; @p wanted: the operator's copies of it. @p texts: the program has room for
 * interpreted frames; else only the data for walking stacks is searched for. Only memory can be missing. */
OT_MUST_CHECK struct ot_err *vp_runtime_file_read(struct vp_elf *elf, const struct vp_user_wanted *wanted,
						  bool texts, struct vp_runtime_file *ret);

/** The runtime of a process that has mapped the file @p o, which is @p file, at @p bias. *ret is set with
 * FOUND, except for the part that FRAMES have of a file (vp_beam.saved). Only memory can be missing. */
OT_MUST_CHECK struct ot_err *vp_runtime_find(struct vp_user_symbols *us, const struct vp_maps *maps,
					     struct vp_user_object *o, const struct vp_user_wanted *wanted,
					     struct vp_runtime_file *file, uint64_t bias,
					     struct vp_runtime *ret, enum vp_runtime_found *ret_found);

#endif
