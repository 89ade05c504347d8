/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an engine tells of the VMM that it is in: RAM, what may be done to guest text and was, how the guest
 * ended. */
#ifndef VP_ENGINE_WIRE_VMM_H
#define VP_ENGINE_WIRE_VMM_H

#include <stdint.h>

/* Guest RAM for the operator's process to read. */
struct vp_ram_range {
	uint64_t gpa;
	uint64_t size;
	uint64_t host;    /* address in the VMM's process */
	uint64_t offset;  /* in the memfd, when there is one */
	int32_t fd_index; /* which of the descriptors sent along; -1: anonymous, read by /proc/PID/mem */
	uint32_t pad;
};

/* What a backend that changes guest text can do; what it can't, the operator's process does not ask for. */
enum {
	VP_TRAPS_TEXT = 1, /* it does change guest text: sites must fit, and sentinels are needed */
	VP_TRAPS_INT3 = 2, /* a trap of one byte */
	VP_TRAPS_STEP = 4, /* VP_SITE_STEP */
	VP_TRAPS_HW = 8,   /* VP_SITE_HW, VP_HW_SITES of them */
};
#define VP_HW_SITES 4

/* Something that stands in guest text now instead of the guest's own. */
struct vp_patch {
	uint64_t gva;
	uint8_t len; /* at most 15 */
	uint8_t there[15], was[15];
	uint8_t pad;
};

/* What the guest's patching of its own text did to the traps, since the backend was made. */
struct vp_patching {
	uint64_t windows; /* times that all traps were out of the guest */
	uint64_t out_ns;  /* … and for how long in all, until now */
	uint64_t
	    lost; /* times that a site was lost, for a while or for good: the guest's bytes there are new */
};

/* Statistics that a VMM has of each vCPU. */
#define VP_VM_STATS_MAX 128u
#define VP_VM_STAT_NAME 48u

/* How a guest ended, as its VMM knows it. */
enum vp_guest_end {
	VP_GUEST_RUNS,
	VP_GUEST_POWERED_OFF,
	VP_GUEST_RESET, /* asked for, or done: the kernel that was traced is no more */
	VP_GUEST_TRIPLE_FAULT,
	VP_GUEST_STOPPED,     /* its VMM ends, the guest had no part in it */
	VP_GUEST_FAILED,      /* its VMM can't run it any more */
	VP_GUEST_UNREACHABLE, /* it is traced from another process, which has lost it */
	/* It runs on, and the engine in its VMM is unmade. */
	VP_GUEST_DETACHED, /* as was asked for */
	VP_GUEST_SAVED,    /* its memory is about to be migrated or saved */
	VP_GUEST_CHANGED,  /* it gets other memory or vCPUs; before a reset that may happen too */
	VP_GUEST_LOADED,   /* it goes on from a state that was saved */
	VP_GUEST_HUNG_UP,  /* not known why */
	VP_GUEST_ENDS,     /* how many there are */
};

#endif
