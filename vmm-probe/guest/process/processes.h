/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's processes, read from outside while the guest runs: each one's mappings, the files behind them and
 * those files' pages. Nothing is stopped, so a structure may change under the reader: data is checked against
 * its invariants (docs/design/011-user-space.md), and a walk that meets a change is repeated. All of it is
 * guest memory, and programs choose much of it: every walk has a bound of its own, besides the budget that
 * the caller puts into force.
 *
 * Used by one thread at a time, as the struct vp_guest is.
 */
#ifndef VP_GUEST_PROCESS_PROCESSES_H
#define VP_GUEST_PROCESS_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/addr.h"

struct vp_guest;
struct vp_processes;

#define VP_PROCESS_NAME 64

/** Address of the first struct page, where the kernel has a table of them by physical address; 0: unknown. */
uint64_t vp_guest_vmemmap(struct vp_guest *guest);

/** @p guest is borrowed. UNSUPPORTED: its types do not describe processes; the message names the member that
 * is missing. */
OT_MUST_CHECK struct ot_err *vp_processes_open(struct vp_guest *guest, struct vp_processes **ret);
/** NULL is fine. */
void vp_processes_close(struct vp_processes *ps);

/** For a walk over many processes, which map the same files: while @p keep, the path of a file is read once
 * for each name that it is mapped by, although it may be renamed or deleted meanwhile; the kernel's page
 * table is read again only where a read has failed or met a change, as its own objects stay where they are
 * mapped; and numbers of processes are found 64 at a time. Either call forgets what was kept. */
void vp_processes_keep(struct vp_processes *ps, bool keep);

struct vp_guest_process {
	uint64_t pid;      /* in the guest's first PID namespace */
	uint64_t since_ns; /* its start, by the guest's clock: a PID that is used again has another one */
	uint64_t task;     /* address of its first thread's struct task_struct */
	uint64_t mm;       /* address of its struct mm_struct; 0: it has no memory of its own (any more) */
	bool is_over;      /* its threads have ended; its parent may not have asked for its status yet */
	char name[VP_PROCESS_NAME]; /* the guest's bytes, NUL-terminated */
};

/** The process @p pid as it is now. NOT_FOUND: there is none. BUSY: each attempt met a change. */
OT_MUST_CHECK struct ot_err *vp_guest_process_find(struct vp_processes *ps, uint64_t pid,
						   struct vp_guest_process *ret);

/** The process with the smallest number above @p pid; *ret_more false: there is none. One that begins or ends
 * meanwhile may be among them or not. BUSY: each attempt met a change, with ret->pid the number at which it
 * did. BAD_DATA: so did those at several numbers before, which changes alone don't explain. LIMIT: the
 * caller's budget. */
OT_MUST_CHECK struct ot_err *vp_guest_process_next(struct vp_processes *ps, uint64_t pid,
						   struct vp_guest_process *ret, bool *ret_more);

/** Is it still the same process with the same memory: has it neither ended nor called exec()? */
bool vp_guest_process_is(struct vp_processes *ps, const struct vp_guest_process *process);

/** The guest physical address of the top table of its page table. NOT_FOUND: it has no memory of its own. */
OT_MUST_CHECK struct ot_err *vp_guest_process_root(struct vp_processes *ps,
						   const struct vp_guest_process *process, uint64_t *ret);

/** Read @p len bytes of its memory at @p gva, where they are present. FAULT: they are not. */
OT_MUST_CHECK struct ot_err *vp_guest_process_read(struct vp_processes *ps,
						   const struct vp_guest_process *process, struct vp_gva gva,
						   void *dst, size_t len);

#endif
