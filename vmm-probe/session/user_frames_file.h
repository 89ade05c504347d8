/* SPDX-License-Identifier: GPL-2.0-or-later */
/* user_frames.c's data of a file: the place of its rules in FRAMES, and its runtime. */
#ifndef VP_SESSION_USER_FRAMES_FILE_H
#define VP_SESSION_USER_FRAMES_FILE_H

#include "vmm-probe/session/user_frames.h"
#include "vmm-probe/session/user_runtime.h"

struct vp_file;

/* Rows that were sent, or are in the message that is being made. */
struct vp_frames_rows {
	uint64_t base; /* as linked, for their offsets */
	uint32_t sent, first_row, nrows;
};

/* None if the file can't be read, or has no .eh_frame. */
struct vp_frames_file {
	struct vp_frames_rows rows;
	struct vp_frames_rows saved[VP_BEAM_REGISTERS]; /* vp_beam.saved */
	uint32_t tries;
	bool done;  /* no more is read of it */
	char *note; /* the missing data, until it is reported. NULL: none, or it was */
	struct vp_runtime_file runtime;
};

/** The data of @p file, which is @p o; it is read if it was not yet. @p wanted: the operator's copies of it.
 * Borrowed. LIMIT, NO_MEMORY: as vp_frames_make(). */
OT_MUST_CHECK struct ot_err *vp_frames_file(struct vp_frames_making *making, const struct vp_file *file,
					    const struct vp_user_wanted *wanted, struct vp_user_object *o,
					    struct vp_frames_file **ret);

/** The part of a process from @p start to @p end, where the file is mapped at @p bias, with these rows. */
static inline struct vp_frames_map vp_frames_map(uint64_t start, uint64_t end, uint64_t bias,
						 const struct vp_frames_rows *rows)
{
	return (struct vp_frames_map){ start,       end, bias + rows->base, rows->sent, rows->first_row,
				       rows->nrows, 0 };
}

#endif
