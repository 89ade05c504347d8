/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The next process of a guest that begins to run a program, found by polling all processes.
 * Nothing of the guest is changed for it.
 */
#ifndef VP_GUEST_PROCESS_EXECS_H
#define VP_GUEST_PROCESS_EXECS_H

#include "vmm-probe/guest/process/processes.h"

struct vp_execs;

/** Wait for a process of that @p name (copied): D's execname, or the last part of its program's path; with a
 * slash, the whole path. @p guest is borrowed. UNSUPPORTED: vp_processes_open(), or the guest's types do not
 * distinguish exec() from fork(). */
OT_MUST_CHECK struct ot_err *vp_execs_open(struct vp_guest *guest, const char *name, struct vp_execs **ret);
/** NULL is fine. */
void vp_execs_close(struct vp_execs *execs);

/** Read all processes, within the budget that the caller has put into force. Those of the first poll do not
 * count, nor do their children, unless they call exec() later. *ret_found: *ret is the process, and its
 * loader has probably finished: its mappings have not changed for some 20 ms. LIMIT: the budget. FAULT, BUSY:
 * the processes can't be read now. */
OT_MUST_CHECK struct ot_err *vp_execs_poll(struct vp_execs *execs, struct vp_guest_process *ret,
					   bool *ret_found);

#endif
