/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outsight flame: where guests spend their time, or what leads to an event, as one HTML file. A session with
 * a program of the verb's own and -x oformat=flame. The file is replaced when the session has ended well.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/replaced.h"

#define RATE_DEFAULT    "97"
#define SECONDS_DEFAULT "10"
#define SECONDS_MAX     86400u
#define RATE_MAX        4999u

struct flame_request {
	const char **guests; /* as many as words, at most */
	unsigned nguests;
	unsigned long seconds, rate, pid;
	const char *event; /* a probe description; NULL: samples */
	const char *out;
};

static int usage(void)
{
	fputs(
	    "Usage: outsight flame [-g GUEST]... [-d SECONDS] [-F HZ | -e PROBE] [-p PID] -o FILE\n\n"
	    "\t-g GUEST    as without a verb; may be repeated: a guest's name is the outermost frame then\n"
	    "\t-d SECONDS  for how long (" SECONDS_DEFAULT "); Ctrl-C ends it earlier\n"
	    "\t-F HZ       samples of each vCPU in a second (" RATE_DEFAULT ")\n"
	    "\t-e PROBE    the stacks at a probe (io:::start), not samples\n"
	    "\t-p PID      of this process of the guest only\n"
	    "\t-o FILE     an HTML file, which is replaced at the end\n\n"
	    "A program of your own: outsight -x oformat=flame -o FILE -n 'PROBE { @[stack()] = count(); }'\n",
	    stdout);
	return CLI_EXIT_OK;
}

static bool parse_number(const char *text, unsigned long max, unsigned long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *ret && *ret <= max;
}

/* One option with its value; false: the value is none. */
static bool take(struct flame_request *r, char letter, const char *value)
{
	switch (letter) {
	case 'g':
		r->guests[r->nguests++] = value;
		return true;
	case 'd':
		return parse_number(value, SECONDS_MAX, &r->seconds);
	case 'F':
		return parse_number(value, RATE_MAX, &r->rate);
	case 'p':
		return parse_number(value, INT_MAX, &r->pid);
	case 'e':
		r->event = value;
		return true;
	default:
		r->out = value;
		return true;
	}
}

static int parse(int argc, char **argv, struct flame_request *r)
{
	static const char *const options[] = { "-g", "-d", "-F", "-e", "-p", "-o", "--help", NULL };

	for (int i = 1; i < argc; i += 2) {
		const char *word = argv[i];
		bool is_ours = word[0] == '-' && word[1] && !word[2] && strchr("gdFepo", word[1]);

		if (!is_ours || i + 1 == argc)
			return cli_verb_misused("flame", options, word);
		if (!take(r, word[1], argv[i + 1])) {
			cli_error("flame: %s: %s is no number that it takes; see `outsight flame --help`",
				  word, argv[i + 1]);
			return CLI_EXIT_USAGE;
		}
	}
	if (!r->out) {
		cli_error("flame: where to? -o FILE names the HTML file");
		return CLI_EXIT_USAGE;
	}
	return CLI_GO_ON;
}

static void write_program(const struct flame_request *r, struct ot_buf *out)
{
	if (r->event)
		ot_buf_puts(out, r->event);
	else
		ot_buf_printf(out, "profile-%lu", r->rate);
	if (r->pid)
		ot_buf_printf(out, " /pid == %lu/", r->pid);
	ot_buf_printf(out, " { @[%sexecname, ustack(), stack()] = count(); } tick-%lus { exit(0); }",
		      r->nguests > 1 ? "guest, " : "", r->seconds);
}

/* As `outsight [-g GUEST]... -q -x oformat=flame -o PATH -n PROGRAM`. */
static int trace(const struct flame_request *r, const char *path, const char *program)
{
	const char *tail[] = { "-q", "-x", "oformat=flame", "-o", path, "-n", program };
	const size_t ntail = OT_ARRAY_SIZE(tail);
	ot_auto_free char **words = calloc(1 + 2 * (size_t)r->nguests + ntail + 1, sizeof(*words));
	int n = 0;

	if (!words)
		return cli_fail(ot_err_nomem(), "flame");
	words[n++] = (char *)"outsight";
	for (unsigned i = 0; i < r->nguests; i++) {
		words[n++] = (char *)"-g";
		words[n++] = (char *)(uintptr_t)r->guests[i];
	}
	for (size_t i = 0; i < ntail; i++)
		words[n++] = (char *)(uintptr_t)tail[i];
	return cli_cmd_dtrace(n, words);
}

static struct ot_err *make_file(struct cli_replaced *f, const char *path)
{
	FILE *fp;

	OT_TRY(cli_replaced_begin(f, path, &fp));
	fclose(fp);
	return NULL;
}

static int flame(const struct flame_request *r)
{
	ot_auto(ot_buf_deinit) struct ot_buf program = { 0 };
	ot_auto(cli_replaced_deinit) struct cli_replaced file = { 0 };

	write_program(r, &program);
	if (program.failed)
		return cli_fail(ot_err_nomem(), "flame");
	struct ot_err *err = make_file(&file, r->out);
	if (err)
		return cli_fail(err, "flame");
	int status = trace(r, file.beside, ot_buf_str(&program));
	err = status == CLI_EXIT_OK ? cli_replaced_put(&file, NULL, false) : NULL;
	return err ? cli_fail(err, "flame") : status;
}

int cli_cmd_flame(int argc, char **argv)
{
	struct flame_request r = { 0 };

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return usage();
	parse_number(RATE_DEFAULT, RATE_MAX, &r.rate);
	parse_number(SECONDS_DEFAULT, SECONDS_MAX, &r.seconds);
	ot_auto_free const char **guests = calloc((size_t)argc, sizeof(*guests));
	if (!guests)
		return cli_fail(ot_err_nomem(), "flame");
	r.guests = guests;
	int status = parse(argc, argv, &r);
	return status == CLI_GO_ON ? flame(&r) : status;
}
