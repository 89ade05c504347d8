/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: dtrace(1)'s options and ours, in the order and with the meaning dtrace gives them. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdio.h>

#include "consumer/texts.h"
#include "dif/lang/compile.h"

enum cli_mode { CLI_MODE_TRACE, CLI_MODE_LIST, CLI_MODE_HEADER, CLI_MODE_DUMP_SYMBOLS, CLI_MODE_DUMP_MAPS };

struct con_output_ops;

/* A command line, taken apart. One struct with many fields: most are an option's value. */
struct cli_invocation {
	enum cli_mode mode;
	struct dif_options opts;
	struct con_program *programs;
	size_t nprograms, programs_cap;
	struct con_strings args;     /* $0, $1 …; NULL behind the last */
	struct con_strings guests;   /* -g; none: the only one running */
	struct con_strings cpp;      /* -D, -U, -I, -H and -X as cpp takes them, in order */
	struct con_strings libdirs;  /* -L */
	struct con_strings commands; /* -c */
	struct con_strings pids;     /* -p */
	struct con_strings env;      /* for -c: NAME=VALUE sets, NAME unsets, in order */
	struct ot_arena arena;       /* texts made here */
	const char *out;             /* -o */
	const char *vmlinux, *symbols, *sysroot;
	uint64_t maps_pid;    /* --dump-maps */
	const char *save_dof; /* --save-dof */
	const char *load_dof; /* --dof */
	bool no_cache;
	bool compile_only;                   /* -e */
	bool plan;                           /* --plan */
	bool from_boot;                      /* -A */
	bool verbose;                        /* -v */
	bool compare;                        /* the two views side by side */
	const struct con_output_ops *output; /* NULL: by -x oformat */
};

#define CLI_GO_ON (-1)

/** Parse argv. CLI_GO_ON, or the status to exit with at once (errors have been reported; usage, --help,
 * --version and -V are handled here). @p inv is to be deinited in any case. */
int cli_options_parse(struct cli_invocation *inv, int argc, char **argv);
void cli_options_deinit(struct cli_invocation *inv);

/** Are these arguments (argv[0] is ignored) a command line of dtrace's, with a program or a mode such as -l?
 * Words after a "--" don't count. Prints nothing and changes nothing. */
bool cli_options_have_program(int argc, char **argv);

/* usage.c */
/** The synopsis of outsight and of each of its verbs. */
void cli_synopsis(FILE *fp);
/** The synopsis and all options, on stdout. */
void cli_help(void);
void cli_version(void);

#endif
