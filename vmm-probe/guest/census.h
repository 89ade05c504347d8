/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's processes and modules, found in several independent kernel structures (ways): a process or module
 * that was unlinked from one of them is still in the others. Memory is only read, while the guest runs: links
 * are checked in both directions, and a walk that detects a change is repeated. All of it is guest memory, so
 * every walk is bounded.
 */
#ifndef VP_GUEST_CENSUS_H
#define VP_GUEST_CENSUS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/guest.h"

#define VP_FOUND_NAME  72
#define VP_FOUND_MAX   (1u << 18) /* processes, or modules, in a guest */
#define VP_THREADS_MAX (1u << 20)

/* Ways to a process. */
enum {
	VP_TASK_LIST = 1, /* the list of tasks, from init_task */
	VP_TASK_PIDS = 2, /* the allocated PIDs: init_pid_ns.idr */
	VP_TASK_TREE = 4, /* the tree of children, from init_task */
};

/* Ways to a module. */
enum {
	VP_MODULE_LIST = 1,      /* the list `modules` */
	VP_MODULE_SYSFS = 2,     /* the directories of /sys/module: module_kset */
	VP_MODULE_ADDRESSES = 4, /* the tree for the lookup of addresses: mod_tree */
};

struct vp_found {
	uint64_t id;              /* the PID of a process; 0: a module, identified by its name */
	uint64_t since_ns;        /* start time of the process, by the guest's clock; 0: unknown */
	uint32_t ways;            /* in which it was found */
	char name[VP_FOUND_NAME]; /* the guest's bytes, NUL-terminated */
};

struct vp_census {
	struct vp_found *items; /* owned; sorted by id and name after vp_census_join() */
	size_t count, cap;
	uint32_t ways; /* all that were walked */
};

void vp_census_deinit(struct vp_census *census);

/** Add an item; its name ends at a NUL or after @p len bytes. BAD_DATA: too many items. */
OT_MUST_CHECK struct ot_err *vp_census_add(struct vp_census *census, uint64_t id, uint64_t since_ns,
					   uint32_t way, const void *name, size_t len);

/** Sort, and merge items that were found in several ways. */
void vp_census_join(struct vp_census *census);

/** The guest's processes (not its threads), joined. UNSUPPORTED: its types are unknown. BUSY: each attempt
 * met a change. BAD_DATA: a structure does not end. The caller deinits *ret in any case. */
OT_MUST_CHECK struct ot_err *vp_census_tasks(struct vp_guest *guest, struct vp_census *ret);
/** The same of its modules. */
OT_MUST_CHECK struct ot_err *vp_census_modules(struct vp_guest *guest, struct vp_census *ret);

#endif
