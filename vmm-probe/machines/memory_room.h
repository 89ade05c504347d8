/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory that a process may still allocate, by the limits of its memory cgroups. */
#ifndef VP_MACHINES_MEMORY_ROOM_H
#define VP_MACHINES_MEMORY_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct vp_memory_room {
	uint64_t limit;  /* bytes; of the cgroup with the least room */
	uint64_t room;   /* bytes below the limit, including page cache that the kernel can reclaim */
	char group[256]; /* that cgroup's folder, truncated */
};

/** Check the cgroup of @p pid and all its ancestors, version 2 and version 1. @p root is the prefix of /proc
 * and of the cgroups' mount points ("": this host's). False: there is no limit, or none is known; *ret is not
 * set. Any thread. */
bool vp_memory_room(const char *root, pid_t pid, struct vp_memory_room *ret);

/** MemAvailable of this host in bytes; 0: unknown. @p root as above. */
uint64_t vp_memory_available(const char *root);

#endif
