/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparing the external view of a guest with the guest's own reports. With a D program: each probe that the
 * guest's agent also provides fires in both views, aggregations are separate for each view, and at the end
 * each is one table. What both views list, such as processes: compare_list.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "cli/commands.h"
#include "cli/compare.h"
#include "cli/trace.h"
#include "consumer/messages.h"
#include "consumer/output/output.h"

struct ours {
	struct cli_comparison ask;
	bool wrong;                          /* two lists, or a missing or invalid value */
	const struct con_output_ops *output; /* NULL: text */
};

static const char *const own_options[] = { "--tasks",  "--modules", "--sockets", "--mounts", "--libraries",
					   "--inside", "--watch",   "--json",    NULL };

static const struct cli_compare_list *find_list(const char *option)
{
	for (const struct cli_compare_list *list = cli_compare_lists; list->option; list++)
		if (!strcmp(list->option, option))
			return list;
	return NULL;
}

static bool read_pid(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return *text >= '1' && *text <= '9' && !*end && !errno;
}

/* Take the option at argv[i], if it is ours. Returns its number of words; 0: it is not ours. */
static int take_one(char **argv, int i, struct ours *ours)
{
	const struct con_output_ops *output = con_output_find(argv[i]);
	const struct cli_compare_list *list = find_list(argv[i]);
	bool inside = !strcmp(argv[i], "--inside"), has_value = inside || (list && list->take_of);

	if (output)
		ours->output = output;
	else if (!strcmp(argv[i], "--watch"))
		ours->ask.watch = true;
	else if (!list && !inside)
		return 0;
	if (has_value && !argv[i + 1]) {
		ours->wrong = true;
		return 1;
	}
	if (inside)
		ours->ask.inside = argv[i + 1];
	if (list) {
		ours->wrong |= ours->ask.list && ours->ask.list != list;
		ours->wrong |= list->take_of && !read_pid(argv[i + 1], &ours->ask.pid);
		ours->ask.list = list;
	}
	return has_value ? 2 : 1;
}

/* Remove our own options from the command line; the rest is dtrace's. Returns its new length. */
static int take_ours(int argc, char **argv, struct ours *ours)
{
	int n = 1;

	for (int i = 1, words; i < argc; i += words ? words : 1) {
		words = take_one(argv, i, ours);
		if (!words)
			argv[n++] = argv[i];
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
	fputs("Usage: outsight compare [-g guest] [--json] [--watch] [--inside FILE]\n"
	      "                        --tasks|--modules|--sockets|--mounts|--libraries PID\n"
	      "       outsight compare [-g guest] [--json] [dtrace options] -n program\n\n"
	      "\tcompare the external view of a guest with the guest's own reports\n\n"
	      "\t--tasks          its processes\n"
	      "\t--modules        its modules\n"
	      "\t--sockets        its TCP and UDP sockets\n"
	      "\t--mounts         its mounts\n"
	      "\t--libraries PID  the files that process PID has mapped as code\n"
	      "\t--inside FILE    the guest's own view: its output of ps -e, lsmod, ss -tuan or ldd, or its\n"
	      "\t                 /proc/net/tcp, /proc/mounts, /proc/PID/maps; \"-\" is stdin\n"
	      "\t--watch          repeat until Ctrl-C, and print new and removed differences\n"
	      "\t--json           one JSON object a line; for a program one object\n",
	      asked ? stdout : stderr);
	return asked ? CON_EXIT_OK : CON_EXIT_USAGE;
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
	return err ? con_fail(err, NULL) : cli_trace(inv, NULL);
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
	bool lists = ours.ask.list || ours.ask.inside;

	if (ours.wrong || (!lists && (argc == 1 || ours.ask.watch)))
		return usage(false);
	if (argc == 1) { /* dtrace's parser wants at least one */
		char *alone[] = { argv[0], (char *)"-q", NULL };

		status = cli_options_parse(&inv, 2, alone);
	} else {
		status = cli_options_parse(&inv, argc, argv);
	}
	inv.output = ours.output ? ours.output : &con_output_text;
	if (status == CLI_GO_ON && lists)
		status = asks_for_more(&inv) ? usage(false) : cli_compare_list(&inv, &ours.ask);
	else if (status == CLI_GO_ON)
		status = compare_programs(&inv);
	cli_options_deinit(&inv);
	return status;
}
