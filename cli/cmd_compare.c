/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparing the external view of a guest with the guest's own reports. With a D program: each probe that the
 * guest's agent also provides fires in both views, aggregations are separate for each view, and at the end
 * each is one table. Processes and modules: both views list them (compare_list.c).
 */
#include <string.h>

#include "base/near.h"
#include "cli/commands.h"
#include "cli/compare.h"
#include "cli/messages.h"
#include "cli/output/output.h"
#include "cli/trace.h"

struct ours {
	const struct cli_compare_list *list; /* NULL: a D program */
	bool both;
	const struct cli_output_ops *output; /* NULL: text */
};

static const char *const own_options[] = { "--tasks", "--modules", "--json", NULL };

/* Remove our own options from the command line; the rest is dtrace's. Returns its new length. */
static int take_ours(int argc, char **argv, struct ours *ours)
{
	int n = 1;

	for (int i = 1; i < argc; i++) {
		const struct cli_output_ops *output = cli_output_find(argv[i]);
		const struct cli_compare_list *list = NULL;

		if (!strcmp(argv[i], "--tasks"))
			list = &cli_compare_tasks;
		else if (!strcmp(argv[i], "--modules"))
			list = &cli_compare_modules;
		if (list) {
			ours->both |= ours->list && ours->list != list;
			ours->list = list;
		} else if (output) {
			ours->output = output;
		} else {
			argv[n++] = argv[i];
		}
	}
	argv[n] = NULL;
	return n;
}

/* dtrace's parser handles the other words; misspellings of our own options are found here. */
static const char *mistyped(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		struct ot_near near;
		if (strncmp(argv[i], "--", 2) != 0)
			continue;
		ot_near_init(&near, argv[i]);
		for (const char *const *o = own_options; *o; o++)
			ot_near_offer(&near, *o);
		if (ot_near_best(&near))
			return argv[i];
	}
	return NULL;
}

static int usage(bool asked)
{
	fputs("Usage: outsight compare [-g guest] [--json] --tasks|--modules\n"
	      "       outsight compare [-g guest] [--json] [dtrace options] -n program\n\n"
	      "\tcompare the external view of a guest with the guest's own reports\n",
	      asked ? stdout : stderr);
	return asked ? CLI_EXIT_OK : CLI_EXIT_USAGE;
}

/* Options that don't apply to a list. */
static bool asks_for_more(const struct cli_invocation *inv)
{
	return inv->mode != CLI_MODE_TRACE || inv->nprograms || inv->args.count > 1 ||
	       inv->guests.count > 1 || inv->commands.count || inv->pids.count || inv->out || inv->save_dof ||
	       inv->load_dof || inv->compile_only || inv->plan || inv->from_boot;
}

static int compare_programs(struct cli_invocation *inv)
{
	struct ot_err *err = dif_options_set(&inv->opts, "view", "both", DIF_OPT_COMMAND_LINE);

	inv->compare = true;
	return err ? cli_fail(err, NULL) : cli_trace(inv, NULL);
}

int cli_cmd_compare(int argc, char **argv)
{
	struct ours ours = { 0 };
	struct cli_invocation inv;
	int status;

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return usage(true);
	argc = take_ours(argc, argv, &ours);
	const char *wrong = mistyped(argc, argv);
	if (wrong)
		return cli_verb_misused("compare", own_options, wrong);
	if (ours.both || (argc == 1 && !ours.list))
		return usage(false);
	if (argc == 1) { /* dtrace's parser wants at least one */
		char *alone[] = { argv[0], (char *)"-q", NULL };

		status = cli_options_parse(&inv, 2, alone);
	} else {
		status = cli_options_parse(&inv, argc, argv);
	}
	inv.output = ours.output ? ours.output : &cli_output_text;
	if (status == CLI_GO_ON && ours.list)
		status = asks_for_more(&inv) ? usage(false) : cli_compare_list(&inv, ours.list);
	else if (status == CLI_GO_ON)
		status = compare_programs(&inv);
	cli_options_deinit(&inv);
	return status;
}
