/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -l: the existing probes; --plan: the places of a program's probes; --dump-symbols, --dump-maps. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "cli/compiling.h"
#include "vmm-probe/session/session.h"

/** Every probe, or those that the compiled descriptions match. With -v: the details of each, and the probes
 * that can't be enabled, with the reason. Returns the exit status. */
int cli_list(struct vp_session *s, const struct cli_invocation *inv, const struct con_compilation *c,
	     FILE *fp);

/** --plan: each place that the program would probe, and how. Returns the exit status. */
int cli_plan(struct vp_session *s, const struct cli_invocation *inv, struct con_compilation *c, FILE *fp);

/** -e -v: each probe description of a unit, with the details of the first probe it matches. */
void cli_list_descriptions(struct vp_session *s, const struct con_compilation *c,
			   const struct con_compiled *unit, FILE *fp);

/** Every symbol of the guest, as /proc/kallsyms shows them. */
int cli_dump_symbols(struct vp_session *s, FILE *fp);

/** The mappings of process @p pid of the first guest, as /proc/PID/maps shows them. */
int cli_dump_maps(struct vp_session *s, uint64_t pid, FILE *fp);

#endif
