/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts of the frames whose names are not read at the hit: the engine leaves a note (engine/wire/notes.h),
 * and the text is read from the process when the record arrives, and kept, like names of functions. A process
 * that ends before that leaves a number.
 */
#ifndef VP_SESSION_USER_NOTES_H
#define VP_SESSION_USER_NOTES_H

#include "base/map.h"
#include "vmm-probe/guest/process/processes.h"
#include "vmm-probe/session/user_hotspot.h"

struct vp_user_symbols;

/* Of a guest. A zeroed one is empty. */
struct vp_user_notes {
	bool made;              /* the maps were initialised */
	struct ot_map programs; /* by PID: its runtime; of the arena */
	struct ot_map texts;    /* by process, place and note; of the arena */
	struct ot_arena arena;
	size_t size; /* bytes of the texts */
	bool full;   /* there is no room for more, which was reported */
};

void vp_user_notes_deinit(struct vp_user_notes *notes);

/** Note that a process has HotSpot. Only memory can be missing. */
OT_MUST_CHECK struct ot_err *vp_user_notes_hotspot(struct vp_user_notes *notes,
						   const struct vp_guest_process *process,
						   const struct vp_hotspot_layout *layout);

/** A frame of process @p pid with a note has arrived: read its text, while the process is there. Without
 * memory or within no budget it will have none. */
void vp_user_notes_see(struct vp_user_symbols *us, uint64_t pid, uint64_t pc, const char *note);

/** The text: a line for each function at that place, the innermost one first. NULL: none. Borrowed. */
const char *vp_user_notes_text(const struct vp_user_notes *notes, uint64_t pid, uint64_t pc,
			       const char *note);

#endif
