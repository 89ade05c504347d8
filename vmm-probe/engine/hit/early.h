/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Semaphores that are raised in a process which the operator's process has not read yet. A stand-in knows
 * where in its file the semaphore is. The kernel reports each mapping that a process makes or changes
 * (VP_SENTINEL_MAPS), so that a page of semaphores is met twice:
 *
 *   mapped, without a private page yet ── noted ── at a later report, the page is private: raised
 *
 * In between the kernel's exec(), or the program's loader, has zeroed the rest of that page. It is raised on
 * the process's own vCPU. Another one that takes the page away must first have this one drop its translation,
 * which it does not before it has left the probe.
 *
 * Each is recorded before it is raised, and what is recorded the service thread takes over
 * (service/early.c). Any vCPU; a note belongs to the one that runs the process.
 */
#ifndef VP_ENGINE_HIT_EARLY_H
#define VP_ENGINE_HIT_EARLY_H

#include "vmm-probe/engine/hit/hit_session.h"

#define VP_EARLY_PAGES   256u /* that are mapped, and not private yet */
#define VP_EARLY_RECORDS 2048u

/* A page of semaphores in a process. */
struct vp_early_page {
	uint64_t owner; /* the process's struct mm_struct; 0: the note is free; CHANGING */
	uint64_t since_ns;
	uint64_t gva;
	uint64_t file, at; /* its struct address_space; the page's offset in the file */
	uint32_t pid;
};

struct vp_early_record {
	struct vp_batch_process process; /* without its root */
	uint64_t gva;
	uint64_t exe;      /* exec()'s struct file (service/family.h) */
	uint64_t file, at; /* the semaphore's offset in its file */
	uint64_t ready;    /* its number, from 1, when it is complete */
};

struct vp_early {
	struct vp_early_page pages[VP_EARLY_PAGES];
	uint64_t turn;         /* which note is given up if none is free */
	uint64_t full;         /* the service thread can take no more: nothing is raised */
	uint64_t given, taken; /* records: number n is at n % VP_EARLY_RECORDS */
	struct vp_early_record records[VP_EARLY_RECORDS];
};

/** A vCPU is at a VP_SENTINEL_MAPS: its process has made or changed the mapping @p vma, a struct
 * vm_area_struct. Within a firing of @p v, whose session has the site's plan @p plan. */
void vp_early_mapped(struct vp_vcpu_session *v, const struct vp_plan *plan, uint64_t vma);

#endif
