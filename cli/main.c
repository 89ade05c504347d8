/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outsight: a verb, or dtrace's command line. */
#include <locale.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/complete.h"
#include "cli/trace.h"
#include "consumer/messages.h"
#include "consumer/terminal.h"

int cli_cmd_dtrace(int argc, char **argv)
{
	struct cli_invocation inv;
	int status = cli_options_parse(&inv, argc, argv);

	if (status == CLI_GO_ON)
		status = cli_trace(&inv, NULL);
	cli_options_deinit(&inv);
	return status;
}

/* With a program, a word in front is its $1, even if it resembles a verb. */
static const char *mistyped_verb(int argc, char **argv)
{
	if (argc < 2 || *argv[1] == '-' || cli_options_have_program(argc, argv))
		return NULL;
	return cli_verb_near(argv[1]);
}

static int run(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--complete"))
		return cli_complete(argc - 2, argv + 2);
	cli_verb *verb = argc > 1 ? cli_verb_find(argv[1]) : NULL;
	if (verb)
		return verb(argc - 1, argv + 1);
	const char *meant = mistyped_verb(argc, argv);
	if (meant) {
		con_error("there is no verb %s: did you mean `outsight %s`? See `outsight --help`", argv[1],
			  meant);
		return CON_EXIT_USAGE;
	}
	return cli_cmd_dtrace(argc, argv);
}

/* A verb's output may still be in stdio's buffer; if it can't be written, the verb has failed. */
int main(int argc, char **argv)
{
	con_terminal_guard_all();
	setlocale(LC_NUMERIC, ""); /* the separator of thousands of %' */
	int status = run(argc, argv);

	return status == CON_EXIT_OK ? con_finish_output(stdout, "<stdout>") : status;
}
