/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How guests are to be attached, as whoever opens a session says. */
#ifndef VP_ATTACH_ATTACH_H
#define VP_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm-probe/planner/planner.h"

/* May an engine be put into the VMM of a guest that has none? */
enum vp_entry {
	VP_ENTRY_UNNEEDED,  /* nothing will be enabled: guests are read, from beside */
	VP_ENTRY_REFUSED,   /* the operator does not want it */
	VP_ENTRY_AS_NEEDED, /* where an enabled probe needs one, or the guest can't be read otherwise */
};

struct vp_attach_opts {
	const char *vmlinux; /* --vmlinux; NULL */
	const char *symbols; /* --symbols; NULL */
	bool no_cache;
	enum vp_entry entry;
	bool from_boot; /* attach a kernel that is still starting, as soon as it can be traced at all */
	enum vp_trap_wish trap; /* -x trap */
	/* Progress of something that may take over a second; NULL: silent. */
	void (*progress)(void *arg, const char *what);
	/* An engine is about to be put into guest @p name's VMM; @p why is a clause to follow a colon. */
	void (*entering)(void *arg, const char *name, uint32_t pid, const char *why);
	void *arg;
};

#endif
