/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs by name, and the messages for a mistyped verb or option. */
#include <string.h>

#include "base/near.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "consumer/messages.h"

static cli_verb help;

static const struct {
	const char *name;
	cli_verb *run;
} verbs[] = {
	{ "run", cli_cmd_run },
	{ "guests", cli_cmd_guests },
	{ "attach", cli_cmd_attach },
	{ "detach", cli_cmd_detach },
	{ "doctor", cli_cmd_doctor },
	{ "compare", cli_cmd_compare },
	{ "tool", cli_cmd_tool },
	{ "flame", cli_cmd_flame },
	{ "heatmap", cli_cmd_heatmap },
	{ "top", cli_cmd_top },
	{ "examples", cli_cmd_examples },
	{ "serve", cli_cmd_serve },
	{ "help", help },
};

cli_verb *cli_verb_find(const char *name)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(verbs); i++)
		if (!strcmp(name, verbs[i].name))
			return verbs[i].run;
	return NULL;
}

const char *cli_verb_name(size_t i)
{
	return i < OT_ARRAY_SIZE(verbs) ? verbs[i].name : NULL;
}

const char *cli_verb_near(const char *word)
{
	struct ot_near near;

	ot_near_init(&near, word);
	for (size_t i = 0; i < OT_ARRAY_SIZE(verbs); i++)
		ot_near_offer(&near, verbs[i].name);
	return ot_near_best(&near);
}

int cli_verb_misused(const char *verb, const char *const *known, const char *word)
{
	struct ot_near near;

	if (*word != '-') {
		con_error("%s: unexpected argument \"%s\"; see `outsight %s --help`", verb, word, verb);
		return CON_EXIT_USAGE;
	}
	ot_near_init(&near, word);
	for (; known && *known; known++) {
		if (!strcmp(*known, word)) {
			con_error("%s: %s needs a value; see `outsight %s --help`", verb, word, verb);
			return CON_EXIT_USAGE;
		}
		ot_near_offer(&near, *known);
	}
	const char *best = ot_near_best(&near);
	con_error("%s: there is no option %s%s%s; see `outsight %s --help`", verb, word,
		  best ? ", did you mean " : "", best ? best : "", verb);
	return CON_EXIT_USAGE;
}

static int help(int argc, char **argv)
{
	char *asked[] = { argc > 1 ? argv[1] : NULL, (char *)"--help", NULL };
	cli_verb *verb = argc > 1 ? cli_verb_find(argv[1]) : NULL;

	if (argc <= 1 || verb == help || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		cli_help();
		return CON_EXIT_OK;
	}
	if (verb)
		return verb(2, asked);
	const char *near = cli_verb_near(argv[1]);
	con_error("help: there is no verb %s%s%s; see `outsight --help`", argv[1],
		  near ? ", did you mean " : "", near ? near : "");
	return CON_EXIT_USAGE;
}
