/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much more memory a process may take: what its memory cgroups leave it. */
#ifndef VP_MACHINES_MEMORY_ROOM_H
#define VP_MACHINES_MEMORY_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct vp_memory_room {
	uint64_t limit; /* bytes, of the cgroup that leaves it least */
	uint64_t
	    room; /* bytes that are left of those, what the kernel can take back from its caches included */
	char group[256]; /* that cgroup's folder, cut where it is longer */
};

/** Looks at the cgroup of @p pid and all around it, of version 2 and version 1. @p root is put in front of
 * /proc and of where cgroups are mounted ("": this host's). False: nothing limits it, or nothing can be known
 * of that; then *ret is not set. Any thread. */
bool vp_memory_room(const char *root, pid_t pid, struct vp_memory_room *ret);

/** Bytes that this host can give without taking them from a process, as its kernel guesses; 0: not known. @p
 * root as above. */
uint64_t vp_memory_available(const char *root);

#endif
