/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules by which an engine walks the stacks of its guest's processes (engine/wire/user_frames.h), made from
 * the .eh_frame of the files that they have mapped as code; and the layouts of their runtimes' frames. The
 * processes are those that the session has read for their probes, $target, all those that exist at the start
 * if any process may be met, and each one whose stack arrives. A file's rules are made once.
 */
#ifndef VP_SESSION_USER_FRAMES_H
#define VP_SESSION_USER_FRAMES_H

#include "base/buf.h"
#include "base/map.h"
#include "vmm-probe/engine/wire/user_frames.h"
#include "vmm-probe/session/user_symbols.h"

struct vp_feed;
struct vp_session;

/* The rules that an engine has been sent, and those to be sent. Zeros are an empty one. */
struct vp_frames_known {
	bool asked;              /* the program has user stacks, and the engine takes rules */
	bool texts;              /* … with room for interpreted frames */
	bool over;               /* the engine takes no more, which was reported */
	bool made;               /* the maps were initialised */
	struct ot_map files;     /* by struct vp_file_id: where the rules of it are, of the arena */
	struct ot_map processes; /* by PID: what is known of it, of the arena */
	struct ot_arena arena;
	uint64_t *wanted; /* PIDs of which rules are to be sent */
	size_t nwanted, cap;
	uint32_t nsent;
	uint32_t unsaid;  /* files that lack rules, which was not reported yet */
	uint64_t bytes;   /* of rows that were sent */
	uint64_t next_ns; /* when vp_frames_poll() checks again */
};

void vp_frames_deinit(struct vp_frames_known *known);

/* One message. */
struct vp_frames_making {
	struct vp_frames_known *known; /* borrowed */
	struct vp_user_symbols *us;    /* borrowed: its processes and files */
	struct ot_buf processes, runtimes, maps, rows;
};

/** Note that a stack of process @p pid has arrived, or is expected. Without memory it is not noted. */
void vp_frames_want(struct vp_frames_known *known, struct vp_user_symbols *us, uint64_t pid);

/** Note that a frame of process @p pid at @p addr has arrived: if its file lacks rules, that is reported
 * once. */
void vp_frames_met(struct vp_frames_known *known, struct vp_user_symbols *us, uint64_t pid, uint64_t addr);

/** Once a second: request the young processes that have mapped something since they were sent. */
void vp_frames_poll(struct vp_frames_known *known, struct vp_user_symbols *us);

/** Add the requested processes, as many as the budget of the caller suffices for; the others remain
 * requested. *ret_more: there are such. LIMIT: there would be more than VP_FRAMES_SIZE_MAX; the processes
 * added before are complete. NO_MEMORY, GUEST_GONE. */
OT_MUST_CHECK struct ot_err *vp_frames_make(struct vp_frames_making *making);
void vp_frames_making_deinit(struct vp_frames_making *making);

/** Before a feed's batch, or a later one, is sent: send the engine the rules of the processes that the batch
 * has probes in, and at first of all processes that its probes may meet. A refusal is reported, and ends
 * nothing.
 */
OT_MUST_CHECK struct ot_err *vp_frames_send_batch(struct vp_session *s, const struct vp_feed *batch);
/** The same of the processes whose stacks have arrived. */
OT_MUST_CHECK struct ot_err *vp_frames_send_wanted(struct vp_session *s);

#endif
