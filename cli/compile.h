/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that an invocation asks to compile, into one program. */
#ifndef CLI_COMPILE_H
#define CLI_COMPILE_H

#include "cli/options.h"
#include "vmm-probe/session/session.h"

/* One -s or -n, compiled. */
struct cli_compiled {
	const char *what;          /* "script" or "description" */
	char *name;                /* for messages: a description is cut where its predicate or body begins */
	uint32_t first, end;       /* its clauses for the first kernel */
	uint64_t matched;          /* probes, in all guests */
	struct dif_attribute used; /* the least of what its clauses use */
};

struct cli_compilation {
	struct dif_compiler *comps[VP_GUESTS_MAX]; /* one for each kernel of the session */
	uint32_t ncomps;
	struct dif_program prog;
	struct cli_compiled *units;
	size_t nunits;
	uint64_t matched; /* of all */
	bool silent;      /* set before: only its outcome counts, nothing is printed */
	/* Set before, by cli_check(): there is no guest yet. An error that a guest might resolve is not
	 * reported and sets unsure. */
	bool early, syntax_only;
	bool unsure;
};

/** Libraries, then programs in order, for each kernel that the session's guests run. CLI_GO_ON, or the exit
 * status: the error has been reported (not if c->silent). @p c is to be deinited in any case. */
int cli_compile(struct cli_compilation *c, struct cli_invocation *inv, struct vp_session *s);
void cli_compilation_deinit(struct cli_compilation *c);

/** Is there anything to trace? CLI_GO_ON, or the exit status: the missing part has been reported. */
int cli_check_asked(const struct cli_invocation *inv);

/** Before there is a guest: that, and errors that no guest can mend, of files, of the language, of the
 * command line. CLI_GO_ON, or the exit status: the error has been reported. */
int cli_check(struct cli_invocation *inv);

/** Is it an error whatever the guest is? Not where a name may be that of one of its types. */
bool cli_is_certain(const struct dif_diag *diag, const struct dif_source *src);

/** -v: the stability report of a unit. */
void cli_report_stability(const struct cli_compilation *c, const struct cli_compiled *unit,
			  const struct dif_world *world, FILE *fp);

#endif
