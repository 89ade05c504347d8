/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outsight: a verb, or dtrace's command line. */
#include <locale.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/trace.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "run", cli_cmd_run },
	{ "guests", cli_cmd_guests },
	{ "attach", cli_cmd_attach },
	{ "detach", cli_cmd_detach },
	{ "doctor", cli_cmd_doctor },
	{ "compare", cli_cmd_compare },
};

static int run_dtrace(int argc, char **argv)
{
	struct cli_invocation inv;
	int status = cli_options_parse(&inv, argc, argv);

	if (status == CLI_GO_ON)
		status = cli_trace(&inv, NULL);
	cli_options_deinit(&inv);
	return status;
}

int main(int argc, char **argv)
{
	setlocale(LC_NUMERIC, ""); /* what %' separates thousands with */
	for (size_t i = 0; argc > 1 && i < OT_ARRAY_SIZE(verbs); i++)
		if (!strcmp(argv[1], verbs[i].name))
			return verbs[i].run(argc - 1, argv + 1);
	return run_dtrace(argc, argv);
}
