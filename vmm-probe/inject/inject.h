/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Injecting the KVM engine's library into a running VMM, and deactivating it again. In the operator's
 * process; one thread.
 *
 *   target.c   checks: is the process a VMM that can be entered?
 *   remote.c   symbols of the files that it has mapped
 *   frame.c    a call in its main thread, through a signal frame
 *   attach.c   the whole, and requests to the library through its control socket (hook/control.h)
 *
 * The injector may die at any point. Before its single register write only bytes below the target's stack
 * pointer have changed; after it, the thread makes the call and continues by itself. In either case the
 * kernel resumes the thread when the tracer dies.
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
	bool already; /* it was attached before */
	bool loaded;  /* the library was loaded now; false: it was there, dormant */
	uint32_t nvcpus, nram;
	uint64_t ram_bytes;
	uint64_t held_ns;  /* the longest time for which a vCPU was kept out of the guest */
	uint64_t stop_ns;  /* time for which ptrace stopped the main thread */
	uint64_t total_ns; /* of the whole */
};

/**
 * Attach. If it is attached already, nothing changes.
 *
 * @param library path of the library in this process's view of the file system
 * @return PERMISSION; UNSUPPORTED: the process can't be entered, or its guest can't be traced; BUSY:
 * temporary (the process is traced or stopped, its guest is being migrated). After an error the target runs
 * as before; the library may be in it, dormant.
 */
OT_MUST_CHECK struct ot_err *vp_inject_attach(pid_t pid, const char *library, struct vp_inject_result *ret);

/** Would attaching be refused? All checks that are possible without touching the process; the same errors. */
OT_MUST_CHECK struct ot_err *vp_inject_check(pid_t pid, const char *library);

/** Check that process @p pid contains no library of ours, or only dormant ones, which stay dormant as long as
 * the caller holds the claim on it (vp_vmm_claim()). BUSY: one has an engine or may create one; the message
 * has the remedy. PERMISSION. */
OT_MUST_CHECK struct ot_err *vp_inject_idle(pid_t pid);

/* Resets of a guest, loads of a saved state, and other changes of its memory or vCPUs, counted by the library
 * in its VMM, each when the guest runs again. */
struct vp_inject_states {
	uint32_t resets, loads, changes;
};

/** False: the counts can't be read. */
bool vp_inject_states_read(pid_t pid, struct vp_inject_states *ret);

/** Print the steps of attaching, without touching the process. The same errors. */
OT_MUST_CHECK struct ot_err *vp_inject_plan(pid_t pid, const char *library, FILE *out);

/** Remove every trap and undo the redirection. NOT_FOUND: the process contains no library of ours. */
OT_MUST_CHECK struct ot_err *vp_inject_detach(pid_t pid);

/** The processes that have mapped the library, at most @p max. Returns their number. */
size_t vp_inject_list(pid_t *ret, size_t max);

#endif
