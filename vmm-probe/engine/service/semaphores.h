/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Semaphores of static probes (<sys/sdt.h>): 16-bit numbers in a program's memory. While one is 0 the program
 * skips its probe. They are the only thing that an engine writes into a guest whose text it leaves alone.
 * Each write is recorded here before it is made, and undone by the engine itself: when the session that
 * requested it ends, for whatever reason, and when the engine ends. Engine and guest are one process and end
 * together.
 *
 * For each process that requests it a semaphore is incremented, and later decremented, in each private page
 * of the program's family (family.h). A fork shares the page, so that it is raised for all of them or for
 * none, and each later copy of it is a raised one. Never in a page of a file. Never below 0: a vCPU may have
 * been about to copy the page when it was raised.
 *
 * In a process that was not read yet, a hit has raised it (early.h), while a session's site in the file
 * stands in for those of processes.
 *
 * Service thread.
 */
#ifndef VP_ENGINE_SERVICE_SEMAPHORES_H
#define VP_ENGINE_SERVICE_SEMAPHORES_H

#include "vmm-probe/engine/service/family.h"

struct vp_engine_session;

struct vp_semaphore {
	struct vp_batch_process process;
	uint64_t gva;
	uint64_t only; /* not 0: in the memory (struct mm_struct) of that member alone, whose page was not in
			  memory when the others were lowered */
	struct vp_reach reach;
	struct vp_family family; /* once it is raised */
	uint64_t file, at;       /* of one that a hit has raised (early.h): the file, and its offset there */
	bool wanted;             /* by a site of a planned session */
	bool raised;
	bool gone; /* requested, but its process no longer exists */
};

struct vp_semaphores {
	struct vp_semaphore *list; /* owned; in order of process and address */
	uint32_t n;
	struct vp_member *members; /* owned; room for VP_FAMILY_MAX, for a change */
	uint64_t next_ns,
	    pause_ns; /* when what is pending is tried again, and how long after the last time */
};

/** Raise the semaphores that the sites of the planned sessions request, and lower the rest. Changes that are
 * impossible now (the page is not in memory, the vCPUs could not be stopped) are pending. */
void vp_semaphores_update(struct vp_engine *engine);

/** The constants for reading the guest of a session. */
struct vp_reach vp_semaphores_reach(const struct vp_engine_session *es);

/** Is something pending? Then vp_semaphores_retry() is to be called once a second. */
bool vp_semaphores_are_pending(const struct vp_engine *engine);
void vp_semaphores_retry(struct vp_engine *engine, uint64_t now_ns);

/** The guest's kernel has ended, and with it all of its processes: forget all semaphores. Not if the guest
 * continues without the engine. */
void vp_semaphores_forget(struct vp_engine *engine);

#endif
