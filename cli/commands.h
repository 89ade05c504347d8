/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs. argv[0] is the verb; the result is the exit status. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include <stddef.h>

typedef int cli_verb(int argc, char **argv);

/** The function of a verb; NULL: there is no such verb. */
cli_verb *cli_verb_find(const char *name);
/** The name of verb @p i, in the order of --help; NULL behind the last. */
const char *cli_verb_name(size_t i);
/** The verb nearest to a mistyped word; NULL: none is near. */
const char *cli_verb_near(const char *word);
/** Report an invalid command line of a verb in one line: @p word, the known option nearest to it, and the
 * verb's --help. @p known, NULL-terminated, are the verb's own options (may be NULL). CON_EXIT_USAGE. */
int cli_verb_misused(const char *verb, const char *const *known, const char *word);

/** outsight run [VM options] -- [dtrace options]: boot a guest, trace it, stop it. */
int cli_cmd_run(int argc, char **argv);

/** outsight guests [-c URI] [--json | --xml DOMAIN]: the guests of this host, and how each can be traced. */
int cli_cmd_guests(int argc, char **argv);

/** outsight attach [--plan] PID|NAME…, outsight detach PID|NAME…|--all: a running QEMU. */
int cli_cmd_attach(int argc, char **argv);
int cli_cmd_detach(int argc, char **argv);

/** outsight doctor: what can be traced on this host. 0: guests can be traced here. */
int cli_cmd_doctor(int argc, char **argv);

/** outsight flame [-g GUEST]... [-d SECONDS] [-F HZ | -e PROBE] [-p PID] -o FILE: stacks as a flame graph. */
int cli_cmd_flame(int argc, char **argv);

/** outsight heatmap [-g GUEST]... [-d SECONDS] [-i MS] [-e FUNCTION | -n PROGRAM] [-p PID] -o FILE: latency
 * over time. */
int cli_cmd_heatmap(int argc, char **argv);

/** outsight top [-b] [-d SECONDS] [-g PATTERN]... [-n TIMES] [-o COLUMN] [-x]: what the host's guests do. */
int cli_cmd_top(int argc, char **argv);

/** outsight compare [dtrace options]: a program's results from outside and from inside, side by side. */
int cli_cmd_compare(int argc, char **argv);

/** outsight tool NAME [dtrace options] [args]: run a script of the toolkit; --list, --show: read them. */
int cli_cmd_tool(int argc, char **argv);

/** outsight examples [WORD]...: command lines by the question that they answer. */
int cli_cmd_examples(int argc, char **argv);

/** outsight serve [options of outsight-serve]: guests of this host for other machines. */
int cli_cmd_serve(int argc, char **argv);

/** The dtrace command line, without a verb: argv[0] is the program. */
int cli_cmd_dtrace(int argc, char **argv);

#endif
