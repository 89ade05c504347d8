/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Putting the KVM engine's library into a VMM that runs, and taking it out of use again. In the operator's
 * process; one thread.
 *
 *   target.c   what process it is, and whether it is one that we know how to enter
 *   remote.c   symbols of what it has mapped
 *   frame.c    a call in its main thread, as a signal would make it
 *   attach.c   all of it together, and the library's side by its control socket (hook/control.h)
 *
 * Who dies when: until the one register write the target has only bytes below its stack pointer changed;
 * after it, the thread makes its call and goes on by itself. The tracer's death resumes it either way.
 */
#ifndef VP_INJECT_INJECT_H
#define VP_INJECT_INJECT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"

struct vp_inject_result {
	bool already; /* it was attached */
	bool loaded;  /* the library was loaded now; else it was there, dormant */
	uint32_t nvcpus, nram;
	uint64_t ram_bytes;
	uint64_t held_ns;  /* how long the vCPUs were kept out of the guest */
	uint64_t stop_ns;  /* the main thread stopped by ptrace */
	uint64_t total_ns; /* all of it */
};

/**
 * Attach. Repeating it is harmless.
 *
 * @param library the file of the library, as this process sees it
 * @return PERMISSION, UNSUPPORTED (a process that we do not know how to enter, or a guest that can't be
 * traced: the message says which), BUSY (try again: somebody traces it, it is stopped, its guest migrates).
 *         After an error the target runs as before; the library may be in it, dormant.
 */
OT_MUST_CHECK struct ot_err *vp_inject_attach(pid_t pid, const char *library, struct vp_inject_result *ret);

/** Would attaching be refused? All that can be told without touching anything; the same errors. */
OT_MUST_CHECK struct ot_err *vp_inject_check(pid_t pid, const char *library);

/** NULL: no library of ours is in process @p pid, or each that is there is dormant, and stays so as long as
 * the caller has the claim on it (vp_vmm_claim()). BUSY: one has or may make an engine; the message names the
 * way out. PERMISSION. */
OT_MUST_CHECK struct ot_err *vp_inject_idle(pid_t pid);

/* How often a guest began anew, and went on from a state that was saved, as the library in its VMM has seen.
 */
struct vp_inject_states {
	uint32_t resets, loads;
};

/** False: that can't be had. */
bool vp_inject_states_read(pid_t pid, struct vp_inject_states *ret);

/** What attaching would do, in lines, nothing being touched. The same errors. */
OT_MUST_CHECK struct ot_err *vp_inject_plan(pid_t pid, const char *library, FILE *out);

/** Every trap out, the redirection undone. NOT_FOUND: nothing of ours is in it. */
OT_MUST_CHECK struct ot_err *vp_inject_detach(pid_t pid);

/** Processes that have the library: at most @p max. Returns how many. */
size_t vp_inject_list(pid_t *ret, size_t max);

#endif
