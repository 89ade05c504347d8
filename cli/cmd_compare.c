/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One D program on both views at once: each probe that a guest's agent has too fires for both, and
 * aggregations are kept apart by which of them fired. At the end each is one table.
 */
#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/trace.h"

int cli_cmd_compare(int argc, char **argv)
{
	struct cli_invocation inv;
	int status = cli_options_parse(&inv, argc, argv);

	if (status == CLI_GO_ON) {
		struct ot_err *err = dif_options_set(&inv.opts, "view", "both", DIF_OPT_COMMAND_LINE);

		inv.compare = true;
		status = err ? cli_fail(err, NULL) : cli_trace(&inv, NULL);
	}
	cli_options_deinit(&inv);
	return status;
}
