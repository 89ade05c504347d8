/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of attaching guests. */
#ifndef VP_ATTACH_ATTACH_H
#define VP_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm-probe/planner/planner.h"

#define VP_GUESTS_MAX 32 /* in a session, those that have left it included */

/* May an engine be injected into a VMM that has none? */
enum vp_entry {
	VP_ENTRY_UNNEEDED,  /* no: nothing will be enabled, and guests are only read */
	VP_ENTRY_REFUSED,   /* no: the operator forbids it */
	VP_ENTRY_AS_NEEDED, /* if an enabled probe needs it, or the guest can't be read otherwise */
};

struct vp_attach_opts {
	const char *vmlinux; /* --vmlinux; NULL */
	const char *symbols; /* --symbols; NULL */
	bool no_cache;
	enum vp_entry entry;
	unsigned reply_ms; /* how long an engine's replies are waited for while a guest is attached; 0: half a
			      minute */
	bool from_boot;    /* attach a kernel that is still starting, as soon as it can be traced at all */
	enum vp_trap_wish trap; /* -x trap */
	bool keep_semaphores;   /* -x semaphores=no */
	bool unwinds;           /* make the unwind rules at once; else when a program needs them */
	/* Progress of something that may take over a second; NULL: silent. */
	void (*progress)(void *arg, const char *what);
	/* An engine is about to be injected into guest @p name's VMM; @p why is a clause that follows a
	 * colon. */
	void (*entering)(void *arg, const char *name, uint32_t pid, const char *why);
	void *arg;
};

#endif
