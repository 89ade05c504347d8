/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outsight top: the activity of this host's guests, live. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/top/run.h"
#include "consumer/messages.h"

#define PERIOD_DEFAULT_MS 2000u
#define PERIOD_LEAST      0.5
#define PERIOD_MOST       3600.0

static int usage(void)
{
	fputs(
	    "Usage: outsight top [-b] [-d SECONDS] [-g PATTERN]... [-n TIMES] [-o COLUMN] [-x]\n\n"
	    "The activity of this host's guests: CPU, stolen time, exits, page faults, disks. Enter shows a\n"
	    "guest's processes, their functions and stacks. Nothing is injected into a VMM without asking\n"
	    "you; h shows all keys.\n\n"
	    "\t-b          print lines, for scripts\n"
	    "\t-d SECONDS  duration of a period (2)\n"
	    "\t-g PATTERN  only these guests: a name, a pattern or a VMM's PID; may be repeated\n"
	    "\t-n TIMES    end after so many periods\n"
	    "\t-o COLUMN   sort by the column with this title\n"
	    "\t-x          exits by kind\n",
	    stdout);
	return CON_EXIT_OK;
}

static bool parse_period(const char *text, unsigned *ret_ms)
{
	char *end;
	double seconds = strtod(text, &end);

	if (*text < '0' || *text > '9' || *end || !isfinite(seconds) || seconds < PERIOD_LEAST ||
	    seconds > PERIOD_MOST)
		return false;
	*ret_ms = (unsigned)(seconds * 1000);
	return true;
}

static bool parse_times(const char *text, unsigned long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *ret;
}

/* An option with a value; false: that is not valid. */
static bool take(struct cli_top_options *o, char letter, const char *value)
{
	switch (letter) {
	case 'd':
		return parse_period(value, &o->period_ms);
	case 'n':
		return parse_times(value, &o->times);
	case 'o':
		o->column = value;
		return true;
	default:
		o->patterns[o->npatterns++] = value;
		return true;
	}
}

static int parse(int argc, char **argv, struct cli_top_options *o, bool *ret_batch)
{
	static const char *const options[] = { "-b", "-d", "-g", "-n", "-o", "-x", "--help", NULL };

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		bool is_letter = word[0] == '-' && word[1] && !word[2];

		if (is_letter && (word[1] == 'b' || word[1] == 'x')) {
			*ret_batch |= word[1] == 'b';
			o->exits |= word[1] == 'x';
		} else if (!is_letter || !strchr("dgno", word[1]) || i + 1 == argc) {
			return cli_verb_misused("top", options, word);
		} else if (!take(o, word[1], argv[++i])) {
			con_error("top: %s: %s is not a number that it accepts; see `outsight top --help`",
				  word, argv[i]);
			return CON_EXIT_USAGE;
		}
	}
	return CLI_GO_ON;
}

int cli_cmd_top(int argc, char **argv)
{
	struct cli_top_options o = { .period_ms = PERIOD_DEFAULT_MS };
	bool batch = false;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return usage();
	ot_auto_free const char **patterns = calloc((size_t)argc, sizeof(*patterns));
	if (!patterns)
		return con_fail(ot_err_nomem(), "top");
	o.patterns = patterns;
	int status = parse(argc, argv, &o, &batch);
	if (status != CLI_GO_ON)
		return status;
	setlocale(LC_CTYPE, ""); /* which characters the terminal shows */
	return batch ? cli_top_batch(&o) : cli_top_run(&o);
}
