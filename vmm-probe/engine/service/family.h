/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A family: the processes that one exec() has become by fork(). Each has the program's memory, or its own
 * copy of pages that were written since. They are identified by the file that exec() opened, because every
 * exec() has its own struct file and a fork another reference to the same (dup_mm_exe_file(), kernel/fork.c),
 * and by the start of their stack (mm_struct.start_stack, which is random and is copied).
 *
 * All of this reads the guest's lists as they are at one instant: only while no vCPU executes
 * (vp_backend_ops.exclusive). Guest memory is hostile: every walk has a bound, and the worst result is a
 * wrong address within the guest's own RAM.
 */
#ifndef VP_ENGINE_SERVICE_FAMILY_H
#define VP_ENGINE_SERVICE_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm-probe/engine/wire/batch.h"

struct vp_engine;

/* The offsets for reading the guest's kernel, from a session's facts. */
struct vp_reach {
	const struct vp_engine *engine;
	uint64_t root;
	uint32_t levels;
	uint32_t task_tgid, task_start_time, task_mm;
	struct vp_family_facts at;
};

struct vp_family {
	uint64_t file, stack; /* file 0: none */
};

struct vp_member {
	uint64_t mm;   /* address of its struct mm_struct */
	uint64_t root; /* guest physical address of its top page table */
};

#define VP_FAMILY_MAX 4096u /* members: a server has hundreds */

/** The family of @p process; false: it has ended, or has become another program. */
bool vp_family_find(const struct vp_reach *r, const struct vp_batch_process *process, struct vp_family *ret);

/** The family whose exec() has opened @p file; false: none has. */
bool vp_family_of(const struct vp_reach *r, uint64_t file, struct vp_family *ret);

/** The files that exec() has opened for the programs that run now, in any order, some of them several times.
 * Returns how many; above @p max: there are more than @p ret has room for. */
uint32_t vp_family_files(const struct vp_reach *r, uint64_t *ret, uint32_t max);

/** Its members, each memory once. Returns how many; above VP_FAMILY_MAX: there are more than @p ret has room
 * for. */
uint32_t vp_family_members(const struct vp_reach *r, const struct vp_family *family,
			   struct vp_member ret[VP_FAMILY_MAX]);

enum vp_private_page {
	VP_PAGE_PRIVATE, /* of this process, or of several by a fork: no file's */
	VP_PAGE_AWAY,    /* in swap, or about to be moved */
	VP_PAGE_NONE,    /* a file's, or nothing is mapped */
};

/** The page of @p gva in a member's memory. PRIVATE: *ret is the host address of @p gva, for 2 bytes at least
 * if that is even. */
enum vp_private_page vp_member_page(const struct vp_reach *r, const struct vp_member *m, uint64_t gva,
				    uint8_t **ret);

#endif
