/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of a process's function: entry, return, and one for each instruction that a description names.
 *
 * A probe whose place is not known, or is hidden by a breakpoint of the guest's own, is refused with the
 * reason. An instruction that is named alone and does not exist is an error, as in DTrace.
 */
#ifndef VP_PROVIDER_PID_FUNCTION_H
#define VP_PROVIDER_PID_FUNCTION_H

#include "vmm-probe/provider/pid_code.h"
#include "vmm-probe/provider/provider.h"

/* What is remembered of a probe (vp_probe.own). The registry's memory. */
struct vp_pid_own {
	struct vp_batch_process process;
	bool of_program; /* its module is a.out too */
	uint32_t nsites;
	struct vp_batch_site *sites;
};

/* The probes that a description asks for, while they are made. */
struct vp_pid_making {
	struct vp_probes *probes;
	const struct dif_probedesc *desc;
	bool has_offset; /* its name is this one: */
	uint64_t offset;
	struct vp_pid_processes *processes;
	struct vp_pid_process *process;
	struct vp_pid_code code;   /* of the object that is read */
	struct vp_pid_piece piece; /* its function */
	const char *module;        /* the registry's copy of the object's name */
	uint64_t last;             /* address of the last function made */
	uint32_t made;             /* probes that the description means, made now or earlier */
	struct ot_err *why;        /* why the first instruction that it names does not exist; owned */
};

/** Is it a pattern, or empty? */
bool vp_pid_is_pattern(const char *field);

/** Make the probes of @p sym that the description asks for; none, if it does not mean this symbol. LIMIT: the
 * budget, or too many probes. */
OT_MUST_CHECK struct ot_err *vp_pid_function_make(struct vp_pid_making *m, const struct vp_elf_symbol *sym);

#endif
