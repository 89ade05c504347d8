/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's processes, modules, sockets, mounts and libraries, found in several independent kernel structures
 * (ways): an object that was unlinked from one of them is still in the others. Memory is only read, while the
 * guest runs: links are checked in both directions, and a walk that detects a change is repeated. All of it
 * is guest memory, so every walk is bounded.
 */
#ifndef VP_GUEST_CENSUS_H
#define VP_GUEST_CENSUS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "vmm-probe/guest/guest.h"

#define VP_FOUND_NAME  72         /* of a process or module, with its NUL */
#define VP_FOUND_MAX   (1u << 18) /* processes, modules, mounts, in a guest */
#define VP_THREADS_MAX (1u << 20)
#define VP_SOCKETS_MAX (1u << 20) /* that are read, of all network namespaces */

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

/* Ways to a socket. */
enum {
	VP_SOCKET_TABLES = 1, /* the tables in which the kernel looks up a packet's socket */
	VP_SOCKET_FILES = 2,  /* the open files of processes; also a socket that needs none */
};

/* Ways to a mount. */
enum {
	VP_MOUNT_NAMESPACE = 1, /* the list, or tree by number, of the mount namespace */
	VP_MOUNT_TREE = 2,      /* the mounts on mounts, from the root */
};

/* Ways to a library. */
enum {
	VP_LIBRARY_MAPPINGS = 1, /* files that are mapped as code */
};

struct vp_found {
	uint64_t id;       /* the PID of a process; 0: the item is identified by its name */
	uint64_t since_ns; /* start time of the process, by the guest's clock; 0: unknown */
	uint64_t owner; /* the lowest PID that has the socket open, or whose program the file is; 0: none, or
			   unknown */
	uint32_t ways;  /* in which it was found */
	const char *name; /* the guest's bytes, NUL-terminated; the census' */
};

struct vp_census {
	struct vp_found *items; /* owned; sorted by id and name after vp_census_join() */
	size_t count, cap;
	uint32_t ways;         /* all that were walked */
	struct ot_arena names; /* also of items that are no longer there */
};

void vp_census_deinit(struct vp_census *census);

/** Add an item; its name, of which a copy is made, ends at a NUL or after @p len bytes. BAD_DATA: too many
 * items. */
OT_MUST_CHECK struct ot_err *vp_census_add(struct vp_census *census, uint64_t id, uint64_t since_ns,
					   uint32_t way, const void *name, size_t len);

/** Sort, and merge items that were found in several ways. */
void vp_census_join(struct vp_census *census);

/** The guest's processes (not its threads), joined. UNSUPPORTED: its types are unknown. BUSY: each attempt
 * met a change. BAD_DATA: a structure does not end. The caller deinits *ret in any case. */
OT_MUST_CHECK struct ot_err *vp_census_tasks(struct vp_guest *guest, struct vp_census *ret);
/** The same of its modules. */
OT_MUST_CHECK struct ot_err *vp_census_modules(struct vp_guest *guest, struct vp_census *ret);
/** The same of its TCP and UDP sockets, of its first network namespace: those that listen, and those with a
 * connection that a process may use (established, being opened, or closed by the peer). Named as
 * vp_socket_name() does; sockets of one name (SO_REUSEPORT) are one. */
OT_MUST_CHECK struct ot_err *vp_census_sockets(struct vp_guest *guest, struct vp_census *ret);
/** The same of the mounts that its first process sees: "PATH TYPE", as /proc/mounts has them. */
OT_MUST_CHECK struct ot_err *vp_census_mounts(struct vp_guest *guest, struct vp_census *ret);
/** The same of the files that process @p pid has mapped as code: their paths, with " (deleted)" behind one
 * without a name. NOT_FOUND: there is no such process. */
OT_MUST_CHECK struct ot_err *vp_census_libraries(struct vp_guest *guest, uint64_t pid, struct vp_census *ret);

#endif
