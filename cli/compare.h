/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What both of a guest's views can list: its processes, its modules. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "cli/hidden.h"
#include "cli/options.h"
#include "vmm-probe/guest/agent_pass.h"

/* A list that both views have. */
struct cli_compare_list {
	const struct cli_hidden_kind *kind;
	struct ot_err *(*take)(struct vp_guest *guest, struct vp_census *ret); /* from outside */
	enum ga_pass pass;                                                     /* from inside */
	const char *tracepoint;
	const char *log; /* what the system's log calls it */
};

extern const struct cli_compare_list cli_compare_tasks, cli_compare_modules;

enum { CLI_EXIT_TROUBLE = 2 }; /* as diff(1): 1: the views differ */

/** outsight compare --tasks and --modules: the exit status. @p inv has no program; one is put into it. */
int cli_compare_list(struct cli_invocation *inv, const struct cli_compare_list *list);

#endif
