/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page of a session, by a verb: see picture.h. The session is that of dtrace's command line, with the
 * verb's program and -x oformat. */
#include "cli/picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "consumer/messages.h"
#include "consumer/replaced.h"

#define SECONDS_MAX 86400u

bool cli_picture_number(const char *text, unsigned long max, unsigned long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *ret && *ret <= max;
}

/* --- options --------------------------------------------------------------------------------------------- */

/* One option with its value; false: the value is invalid. */
static bool take(const struct cli_picture_verb *verb, void *request, struct cli_picture *p, char letter,
		 const char *value)
{
	switch (letter) {
	case 'g':
		p->guests[p->nguests++] = value;
		return true;
	case 'd':
		return cli_picture_number(value, SECONDS_MAX, &p->seconds);
	case 'o':
		p->out = value;
		return true;
	default:
		return verb->take(request, letter, value);
	}
}

static bool is_option(const struct cli_picture_verb *verb, const char *word)
{
	for (const char *const *option = verb->options; *option; option++)
		if (!strcmp(*option, word))
			return word[1] != '-';
	return false;
}

static int parse(const struct cli_picture_verb *verb, void *request, struct cli_picture *p, int argc,
		 char **argv)
{
	for (int i = 1; i < argc; i += 2) {
		if (!is_option(verb, argv[i]) || i + 1 == argc)
			return cli_verb_misused(verb->name, verb->options, argv[i]);
		if (!take(verb, request, p, argv[i][1], argv[i + 1])) {
			con_error("%s: %s: %s is not a number that it accepts; see `outsight %s --help`",
				  verb->name, argv[i], argv[i + 1], verb->name);
			return CON_EXIT_USAGE;
		}
	}
	if (!p->out) {
		con_error("%s: -o FILE is required: it names the HTML file", verb->name);
		return CON_EXIT_USAGE;
	}
	return CLI_GO_ON;
}

/* --- the session ----------------------------------------------------------------------------------------- */

/* As `outsight [-g GUEST]... -q -x oformat=NAME [-x aggrate=RATE] -o PATH -n PROGRAM`. @setting: that of
 * aggrate, or "". */
static int trace(const struct cli_picture_verb *verb, const struct cli_picture *p, const char *setting,
		 const char *path, const char *program)
{
	char format[64];
	const char *tail[] = { "-q", "-x", format, "-o", path, "-n", program, "-x", setting };
	size_t ntail = OT_ARRAY_SIZE(tail) - (*setting ? 0 : 2);
	ot_auto_free char **words = calloc(1 + 2 * (size_t)p->nguests + ntail + 1, sizeof(*words));
	int n = 0;

	if (!words)
		return con_fail(ot_err_nomem(), "%s", verb->name);
	snprintf(format, sizeof(format), "oformat=%s", verb->name);
	words[n++] = (char *)"outsight";
	for (unsigned i = 0; i < p->nguests; i++) {
		words[n++] = (char *)"-g";
		words[n++] = (char *)(uintptr_t)p->guests[i];
	}
	for (size_t i = 0; i < ntail; i++)
		words[n++] = (char *)(uintptr_t)tail[i];
	return cli_cmd_dtrace(n, words);
}

static struct ot_err *make_file(struct con_replaced *f, const char *path)
{
	FILE *fp;

	OT_TRY(con_replaced_begin(f, path, &fp));
	fclose(fp);
	return NULL;
}

static int make(const struct cli_picture_verb *verb, const void *request, const struct cli_picture *p)
{
	ot_auto(ot_buf_deinit) struct ot_buf program = { 0 }, setting = { 0 };
	ot_auto(con_replaced_deinit) struct con_replaced file = { 0 };

	verb->program(request, p, &program);
	ot_buf_printf(&program, " tick-%lus { exit(0); }", p->seconds);
	if (verb->rate) {
		ot_buf_puts(&setting, "aggrate=");
		verb->rate(request, &setting);
	}
	if (program.failed || setting.failed)
		return con_fail(ot_err_nomem(), "%s", verb->name);
	struct ot_err *err = make_file(&file, p->out);
	if (err)
		return con_fail(err, "%s", verb->name);
	int status = trace(verb, p, ot_buf_str(&setting), file.beside, ot_buf_str(&program));
	err = status == CON_EXIT_OK ? con_replaced_put(&file, NULL, false) : NULL;
	return err ? con_fail(err, "%s", verb->name) : status;
}

int cli_picture_run(const struct cli_picture_verb *verb, void *request, int argc, char **argv)
{
	struct cli_picture p = { 0 };

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(verb->usage, stdout);
		return CON_EXIT_OK;
	}
	cli_picture_number(CLI_PICTURE_SECONDS, SECONDS_MAX, &p.seconds);
	ot_auto_free const char **guests = calloc((size_t)argc, sizeof(*guests));
	if (!guests)
		return con_fail(ot_err_nomem(), "%s", verb->name);
	p.guests = guests;
	int status = parse(verb, request, &p, argc, argv);
	return status == CLI_GO_ON ? make(verb, request, &p) : status;
}
