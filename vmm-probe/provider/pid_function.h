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

/* The provider's data of a probe (vp_probe.own). The registry's memory. */
struct vp_pid_own {
	struct vp_batch_process process; /* pid 0: its sites are … */
	uint64_t file;                   /* … in this file (vp_batch_probe.file), … */
	const char *path;                /* … which has this path; NULL: they are in a process */
	bool of_program;                 /* its module is a.out too */
	uint32_t nsites;
	struct vp_batch_site *sites;
};

/* The probes of a description, while they are made. */
struct vp_pid_making {
	struct vp_probes *probes;
	const struct vp_provider *of; /* their process */
	const struct dif_probedesc *desc;
	bool has_offset; /* its name is this one: */
	uint64_t offset;
	struct vp_pid_processes *processes;
	struct vp_pid_process *process;
	struct vp_pid_code code;   /* of the object that is read */
	struct vp_pid_piece piece; /* its function */
	const char *provider;      /* their names … */
	const char *module, *path; /* … and the object; the registry's copies. path NULL: not needed */
	uint32_t nth;              /* the object's number, or with code.of_file the file's */
	uint64_t last;             /* address of the last function made */
	uint32_t made;             /* probes that match the description, made now or earlier */
	struct ot_err *why; /* the reason why the first instruction that it names does not exist; owned */
};

/** Is it a pattern, or empty? */
bool vp_pid_is_pattern(const char *field);

/** Check a description's function and name: UNSUPPORTED, SYNTAX, with D's tag. Sets has_offset. */
OT_MUST_CHECK struct ot_err *vp_pid_check_fields(struct vp_pid_making *m);

/** Make the probes of @p object of m->process that match the description; m->provider and m->nth are set.
 * LIMIT: the budget, or too many probes. */
OT_MUST_CHECK struct ot_err *vp_pid_object_make(struct vp_pid_making *m, struct vp_pid_object *object);

/** The reason why an object has no probes: not all of its names are in the guest's memory. NULL: they are. */
OT_MUST_CHECK struct ot_err *vp_pid_explain_none(const struct vp_pid_object *object);

/* The callbacks that such a provider has in common with the others (struct vp_provider). */
bool vp_pid_is_module(const struct vp_probe *probe, const char *pattern);
OT_MUST_CHECK struct ot_err *vp_pid_sites(struct vp_probes *probes, const struct vp_probe *probe,
					  struct vp_batch_site **ret, uint32_t *ret_count);
void vp_pid_fill(const struct vp_probe *probe, struct vp_batch_probe *bp);

/** Make the probes of @p sym that match the description; none, if it does not match this symbol. LIMIT: the
 * budget, or too many probes. */
OT_MUST_CHECK struct ot_err *vp_pid_function_make(struct vp_pid_making *m, const struct vp_elf_symbol *sym);

#endif
