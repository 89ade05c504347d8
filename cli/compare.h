/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several views of a guest can list: its processes, modules, sockets, mounts, libraries. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "cli/options.h"
#include "consumer/compile.h"
#include "consumer/hidden.h"
#include "consumer/inside.h"
#include "vmm-probe/guest/agent_pass.h"

/* A list that both views have. */
struct cli_compare_list {
	const char *option; /* "--tasks" */
	const struct con_hidden_kind *kind;
	/* From outside; of one process, if it is that one's list. */
	struct ot_err *(*take)(struct vp_guest *guest, struct vp_census *ret);
	struct ot_err *(*take_of)(struct vp_guest *guest, uint64_t pid, struct vp_census *ret);
	/* From inside, by the guest's agent; NULL: it does not list them. */
	const char *tracepoint;
	enum ga_pass pass;
	const char *log; /* what the system's log calls it */
};

/** The lists, in the order of the manual; ends with one whose option is NULL. */
extern const struct cli_compare_list cli_compare_lists[];

/* What the command line asks for. */
struct cli_comparison {
	const struct cli_compare_list *list; /* NULL: what the text lists */
	uint64_t pid;                        /* of --libraries */
	const char *inside;                  /* --inside: a file's path, "-"; NULL: none */
	bool watch;
};

enum { CLI_EXIT_TROUBLE = 2 }; /* as diff(1): 1: the views differ */

/** outsight compare with a list: the exit status. @p inv has no program; one is put into it. */
int cli_compare_list(struct cli_invocation *inv, const struct cli_comparison *ask);

/* --- the guest's own view ------------------------------------------------------------------------------- */

/* By a text, or by the agent, or there is none. Begins as zeros. */
struct cli_compare_inside {
	const char *path; /* NULL: no text */
	struct con_inside text;
	bool by_agent;
	const char *tracepoint;
	struct vp_agent_pass pass;
};

/** What messages call the text at @p path. */
const char *cli_compare_text_name(const char *path);
/** Read the text at @p path, or read it again: a text on stdin is there once. @p in is to be deinited in any
 * case. */
OT_MUST_CHECK struct ot_err *cli_compare_read_text(struct cli_compare_inside *in, const char *path);
/** Have the agent list @p list. */
void cli_compare_by_agent(struct cli_compare_inside *in, const struct cli_compare_list *list);
void cli_compare_inside_deinit(struct cli_compare_inside *in);

/** The D program of the session, which may be made in @p buf. */
const char *cli_compare_program(const struct cli_compare_inside *in, char *buf, size_t size);
/** A record of that program. */
OT_MUST_CHECK struct ot_err *cli_compare_record(struct cli_compare_inside *in, const struct vp_record *rec);
/** Can a round end now? Of the agent's view that is a pass that has come whole, which is moved to *ret, to be
 * deinited by the caller. */
OT_MUST_CHECK struct ot_err *cli_compare_pass(struct cli_compare_inside *in, struct vp_census *ret,
					      bool *ret_whole);

#endif
