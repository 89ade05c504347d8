/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What FRAMES carries: rules by which an engine walks the stacks of processes, made from the .eh_frame of the
 * files that they have mapped as code. A file that several of them have is there once.
 */
#ifndef VP_SESSION_USER_FRAMES_H
#define VP_SESSION_USER_FRAMES_H

#include "base/buf.h"
#include "base/map.h"
#include "vmm-probe/engine/wire/user_frames.h"
#include "vmm-probe/provider/pid_process.h"
#include "vmm-probe/session/internal.h"

/* A message that is being made. */
struct vp_frames_making {
	struct vp_pid_processes *all; /* borrowed */
	const char *sysroot;          /* --sysroot; NULL: none */
	struct ot_buf processes, maps, rows;
	struct ot_map files; /* by struct vp_file_id: struct vp_frames_file of the arena */
	struct ot_arena arena;
	/* Called once for each file that lacks rules; NULL: not reported. */
	void (*say)(void *arg, const char *text);
	void *say_arg;
};

/** Begin one; vp_frames_deinit() ends it in any case. */
void vp_frames_init(struct vp_frames_making *making, struct vp_pid_processes *all, const char *sysroot,
		    void (*say)(void *arg, const char *text), void *say_arg);
void vp_frames_deinit(struct vp_frames_making *making);

/** Add a process, within the budget that the caller has put into force. A file that can't be read, or has no
 * .eh_frame, has no rules. LIMIT: the budget, or there would be more than VP_FRAMES_SIZE_MAX; what was added
 * before is whole. */
OT_MUST_CHECK struct ot_err *vp_frames_add(struct vp_frames_making *making, struct vp_pid_process *process);

/** The message, appended to @p out; nothing if no process has rules. */
OT_MUST_CHECK struct ot_err *vp_frames_assemble(const struct vp_frames_making *making, struct ot_buf *out);

/** Send the engine of a feed the rules of the processes that its batch has probes in, and of $target's, once.
 * Only if the program asks for user stacks. What is refused is said, and ends nothing. */
OT_MUST_CHECK struct ot_err *vp_frames_send(struct vp_session *s, struct vp_feed *feed);

#endif
