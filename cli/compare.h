/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists that several views of a guest have: its processes, modules, sockets, mounts, libraries. */
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
	/* From outside; of one process, if the list is a process's. */
	struct ot_err *(*take)(struct vp_guest *guest, struct vp_census *ret);
	struct ot_err *(*take_of)(struct vp_guest *guest, uint64_t pid, struct vp_census *ret);
	/* From inside, by the guest's agent; NULL: it does not list them. */
	const char *tracepoint;
	enum ga_pass pass;
	const char *log; /* its name in the system's log */
};

/** The lists, in the order of the manual; ends with one whose option is NULL. */
extern const struct cli_compare_list cli_compare_lists[];

/* The command line's request. */
struct cli_comparison {
	const struct cli_compare_list *list; /* NULL: the kind of the text */
	uint64_t pid;                        /* of --libraries */
	const char *inside;                  /* --inside: a file's path, "-"; NULL: none */
	bool watch;
};

enum { CLI_EXIT_TROUBLE = 2 }; /* as diff(1): 1: the views differ */

/** outsight compare with a list: the exit status. @p inv has no program; one is put into it. */
int cli_compare_list(struct cli_invocation *inv, const struct cli_comparison *ask);

/* --- the guest's own view ------------------------------------------------------------------------------- */

/* From a text, from the agent, or none. Begins as zeros. */
struct cli_compare_inside {
	const char *path; /* NULL: no text */
	struct con_inside text;
	bool by_agent;
	const char *tracepoint;
	struct vp_agent_pass pass;
};

/** The name of the text at @p path in messages. */
const char *cli_compare_text_name(const char *path);
/** Read the text at @p path, or read it again; a text on stdin can be read once only. @p in is to be deinited
 * in any case. */
OT_MUST_CHECK struct ot_err *cli_compare_read_text(struct cli_compare_inside *in, const char *path);
/** Have the agent list @p list. */
void cli_compare_by_agent(struct cli_compare_inside *in, const struct cli_compare_list *list);
void cli_compare_inside_deinit(struct cli_compare_inside *in);

/** The D program of the session, which may be made in @p buf. */
const char *cli_compare_program(const struct cli_compare_inside *in, char *buf, size_t size);
/** A record of that program. */
OT_MUST_CHECK struct ot_err *cli_compare_record(struct cli_compare_inside *in, const struct vp_record *rec);
/** Can a round end now? For the agent's view that needs a complete pass, which is moved to *ret, to be
 * deinited by the caller. */
OT_MUST_CHECK struct ot_err *cli_compare_pass(struct cli_compare_inside *in, struct vp_census *ret,
					      bool *ret_whole);

#endif
