/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The VMM of an engine, as the engine reports it: RAM, possible and present changes of guest text, the
 * guest's end. */
#ifndef VP_ENGINE_WIRE_VMM_H
#define VP_ENGINE_WIRE_VMM_H

#include <stddef.h>
#include <stdint.h>

/* Guest RAM for the operator's process to read. */
struct vp_ram_range {
	uint64_t gpa;
	uint64_t size;
	uint64_t host;    /* address in the VMM's process */
	uint64_t offset;  /* in the memfd, if there is one */
	int32_t fd_index; /* index of the message's descriptor; -1: anonymous, read by /proc/PID/mem */
	uint32_t pad;
};

/** In the VMM's process: where @p gpa is, or NULL; @p ret_len gets the bytes from there to the end. */
static inline void *vp_ram_at(const struct vp_ram_range *ram, uint32_t nram, uint64_t gpa, uint64_t *ret_len)
{
	for (uint32_t i = 0; i < nram; i++)
		if (gpa >= ram[i].gpa && gpa - ram[i].gpa < ram[i].size) {
			*ret_len = ram[i].size - (gpa - ram[i].gpa);
			return (void *)(uintptr_t)(ram[i].host + (gpa - ram[i].gpa));
		}
	return NULL;
}

/* The capabilities of a backend that changes guest text; the operator's process requests nothing else. */
enum {
	VP_TRAPS_TEXT = 1,  /* it does change guest text: sites must fit, and sentinels are needed */
	VP_TRAPS_INT3 = 2,  /* a trap of one byte */
	VP_TRAPS_STEP = 4,  /* VP_SITE_STEP */
	VP_TRAPS_HW = 8,    /* VP_SITE_HW, VP_HW_SITES of them */
	VP_TRAPS_USER = 16, /* sites in processes, each VP_SITE_HW: together with the kernel's, VP_HW_SITES
			     * addresses */
	VP_TRAPS_HW_MISSES = 32, /* VP_SITE_HW misses a hit if an interrupt comes just before it */
};
#define VP_HW_SITES 4

/* A change of guest text that is in place now. */
struct vp_patch {
	uint64_t gva;
	uint8_t len; /* at most 15 */
	uint8_t there[15], was[15];
	uint8_t pad;
};

/* Effects of the guest's patching of its own text on the traps, since the backend was created. */
struct vp_patching {
	uint64_t windows; /* times that all traps were removed from the guest */
	uint64_t out_ns;  /* … and the total time of that, until now */
	uint64_t lost;    /* times that a site was lost, temporarily or permanently: the guest has changed its
			     bytes */
};

/* A VMM's statistics of each vCPU. */
#define VP_VM_STATS_MAX 128u
#define VP_VM_STAT_NAME 48u

/* How a guest ended, by its VMM's knowledge. */
enum vp_guest_end {
	VP_GUEST_RUNS,
	VP_GUEST_POWERED_OFF,
	VP_GUEST_RESET, /* requested, or done: the traced kernel has ended */
	VP_GUEST_TRIPLE_FAULT,
	VP_GUEST_STOPPED,     /* its VMM ends, not because of the guest */
	VP_GUEST_FAILED,      /* its VMM can't run it any more */
	VP_GUEST_UNREACHABLE, /* it is traced from another process, which has lost the connection */
	/* It keeps running, and the engine in its VMM is removed. */
	VP_GUEST_DETACHED, /* by request */
	VP_GUEST_SAVED,    /* its memory is about to be migrated or saved */
	VP_GUEST_CHANGED,  /* its memory or vCPUs change; possible before a reset too */
	VP_GUEST_LOADED,   /* it continues from a saved state */
	VP_GUEST_HUNG_UP,  /* for an unknown reason */
	VP_GUEST_ENDS,     /* number of values */
};

#endif
