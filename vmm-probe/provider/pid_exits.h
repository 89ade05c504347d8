/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ways out of a process's function: each return, each jump that leaves it, and those of code elsewhere
 * that belongs to it, such as parts that the compiler has moved away as unlikely.
 *
 * A jump whose target is computed may stay in the function (a switch) or leave it (a call at its end through
 * a pointer). Its site has a program that compares the target, so that it fires only where it leaves.
 */
#ifndef VP_PROVIDER_PID_EXITS_H
#define VP_PROVIDER_PID_EXITS_H

#include "vmm-probe/provider/pid_code.h"

struct vp_probes;

struct vp_pid_exits {
	struct vp_batch_site *list; /* the caller's to free() */
	uint32_t count;             /* 0: it never returns */
	bool has_programs;          /* some sites have `raw`, and all `args`: the probe is of VP_ARGS_SITE */
};

/** Find them. UNSUPPORTED: it is not known where all of them are, and so how often the function is left; the
 * message says why. */
OT_MUST_CHECK struct ot_err *vp_pid_exits_find(struct vp_probes *probes, struct vp_pid_code *code,
					       const struct vp_elf_symbol *function,
					       struct vp_pid_exits *ret);

#endif
