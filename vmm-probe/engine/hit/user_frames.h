/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules for walking the stacks of processes (engine/wire/user_frames.h), for look-ups at a hit. Hit path. */
#ifndef VP_ENGINE_HIT_USER_FRAMES_H
#define VP_ENGINE_HIT_USER_FRAMES_H

#include "vmm-probe/engine/hit/hit_session.h"
#include "vmm-probe/engine/wire/user_frames.h"

#define VP_FRAMES_SLOTS 4096u /* a power of two */
#define VP_FRAMES_TRIES 8u    /* slots in which a process may be, from that of its page table's address on */

/* The contents of one FRAMES. The arrays are its sender's memory, which may change at any time. */
struct vp_frames_sent {
	const struct vp_frames_process *processes;
	const struct vp_runtime *runtimes;
	const struct vp_frames_map *maps;
	const struct vp_frame_row *rows;
	uint32_t nprocesses, nruntimes, nmaps, nrows;
};

/* The contents of all FRAMES; they stay as long as the session. A used slot is never empty again, but another
 * process may take it. */
struct vp_user_frames {
	uint64_t slots[VP_FRAMES_SLOTS]; /* vp_frames_slot(); 0: empty */
	const struct vp_frames_sent *sent[VP_FRAMES_SENT_MAX];
	uint32_t nsent; /* increased when the new one is in sent[] */
};

/* A slot's content: a page table (bits 12 to 51 of its address), and the process's place. */
#define VP_FRAMES_PROCESS_BITS 10
#define VP_FRAMES_SENT_BITS    12
#define VP_FRAMES_ROOT_SHIFT   24
_Static_assert(VP_FRAMES_PROCESSES_MAX == 1 << VP_FRAMES_PROCESS_BITS, "a process's number");
_Static_assert(VP_FRAMES_SENT_MAX == 1 << VP_FRAMES_SENT_BITS, "a message's number");

static inline uint64_t vp_frames_slot(uint64_t root, uint32_t sent, uint32_t process)
{
	return root >> 12 << VP_FRAMES_ROOT_SHIFT | (uint64_t)sent << VP_FRAMES_PROCESS_BITS | process;
}

/* The first of the slots in which a process with that page table may be. */
static inline uint32_t vp_frames_home(uint64_t root)
{
	return (uint32_t)((root >> 12) * 0x9e3779b97f4a7c15u >> 40) % VP_FRAMES_SLOTS;
}

/* Those of one process. */
struct vp_process_frames {
	const struct vp_frames_sent *in;
	uint32_t first_map, nmaps;
	const struct vp_runtime *runtime; /* NULL: none */
};

/** Find those of the vCPU's process. False: there are none. */
bool vp_frames_of_process(struct vp_vcpu_session *v, struct vp_process_frames *ret);

/** The row for @p pc. False: it is in none of the parts that have rules; VP_FRAME_NONE: that part has none
 * for it. */
bool vp_frames_row(const struct vp_vcpu_session *v, const struct vp_process_frames *frames, uint64_t pc,
		   struct vp_frame_row *ret);

/** The row for @p pc of one part, which the caller has copied. The same holds of it. */
bool vp_frames_row_of(const struct vp_vcpu_session *v, const struct vp_frames_map *map, uint64_t pc,
		      struct vp_frame_row *ret);

#endif
