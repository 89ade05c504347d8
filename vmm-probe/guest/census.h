/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's processes and modules as its memory has them, found by several ways that do not depend on one
 * another: what was taken out of one of the kernel's structures is still in the others. Reading only, while
 * the guest runs: links are checked both ways, and a walk that met a change begins anew. All of it is
 * guest memory, so every walk has an end of our own.
 */
#ifndef VP_GUEST_CENSUS_H
#define VP_GUEST_CENSUS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/guest.h"

#define VP_FOUND_NAME  72
#define VP_FOUND_MAX   (1u << 18) /* things that a guest may have of a kind */
#define VP_THREADS_MAX (1u << 20)

/* Ways to a process. */
enum {
	VP_TASK_LIST = 1, /* the list of tasks, from init_task */
	VP_TASK_PIDS = 2, /* the numbers that are taken: init_pid_ns.idr */
	VP_TASK_TREE = 4, /* children of children of init_task */
};

/* Ways to a module. */
enum {
	VP_MODULE_LIST = 1,      /* the list `modules` */
	VP_MODULE_SYSFS = 2,     /* what sysfs shows: module_kset */
	VP_MODULE_ADDRESSES = 4, /* the tree by which the kernel tells whose an address is: mod_tree */
};

struct vp_found {
	uint64_t id;              /* a process's number; 0: told apart by name */
	uint64_t since_ns;        /* when the process began, by the guest's clock; 0: not known */
	uint32_t ways;            /* by which it was found */
	char name[VP_FOUND_NAME]; /* the guest's bytes, NUL-terminated */
};

struct vp_census {
	struct vp_found *items; /* owned; after vp_census_join() by id and name */
	size_t count, cap;
	uint32_t ways; /* that this kernel has */
};

void vp_census_deinit(struct vp_census *census);

/** Note one more; a name of at most @p len bytes is cut at its NUL. LIMIT: too many. */
OT_MUST_CHECK struct ot_err *vp_census_add(struct vp_census *census, uint64_t id, uint64_t since_ns,
					   uint32_t way, const void *name, size_t len);

/** What was found by several ways becomes one, in order. */
void vp_census_join(struct vp_census *census);

/** The guest's processes (not its threads), joined. UNSUPPORTED: its types are not known. BUSY: it changes
 * all the time. BAD_DATA: what is there has no end. *ret is to be deinited in any case. */
OT_MUST_CHECK struct ot_err *vp_census_tasks(struct vp_guest *guest, struct vp_census *ret);
/** The same of its modules. */
OT_MUST_CHECK struct ot_err *vp_census_modules(struct vp_guest *guest, struct vp_census *ret);

#endif
