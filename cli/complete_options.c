/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options for shells' completion, from the text of --help and from the table of -x: complete.h. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/complete.h"
#include "cli/options.h"
#include "consumer/output/output.h"

/* --- of a verb, or of dtrace's command line ------------------------------------------------------------- */

/* The length of the option that begins at @s: "-v", "--json", "-kernel"; 0: none. */
static size_t option_at(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
	size_t len = *s == '-' ? strspn(s, letters) : 0;

	return len > 1 && s[len - 1] != '-' ? len : 0;
}

/* Options of a line up to @end. If one "-" has several letters, as in "[-aACe]", each is described below. */
static void offer_of_line(struct cli_completion *c, const char *line, const char *end, const char *not_in)
{
	for (const char *at = line; at < end; at++) {
		size_t len = at == line || strchr(" \t[|(", at[-1]) ? option_at(at) : 0;
		ot_auto_free char *option = len ? strndup(at, len) : NULL;
		if (option && !(not_in && strstr(not_in, option)))
			cli_complete_offer(c, at, len);
	}
}

/* "\t-c, --connect URI  what it is": the options and their values end at two blanks. */
static const char *end_of_options(const char *line, const char *end)
{
	const char *blanks = memmem(line, (size_t)(end - line), "  ", 2);

	return blanks ? blanks : end;
}

/* The synopsis of another verb in the same --help, as of detach in attach's. */
static void collect_others(const char *help, const char *verb, struct ot_buf *out)
{
	for (const char *line = help, *end; *line; line = end + (*end == '\n')) {
		end = strchrnul(line, '\n');
		const char *call = memmem(line, (size_t)(end - line), "outsight ", 9);
		bool is_call = call && (!strncmp(line, "Usage:", 6) || !strncmp(line, "       outsight", 15));
		if (is_call && (strncmp(call + 9, verb, strlen(verb)) != 0 || call[9 + strlen(verb)] != ' '))
			ot_buf_append(out, line, (size_t)(end - line));
	}
}

/* The options of one --help: in its synopsis, and in lines that begin with an option. */
static void offer_of_help(struct cli_completion *c, const char *help, const char *verb)
{
	ot_auto(ot_buf_deinit) struct ot_buf others = { 0 };

	if (verb)
		collect_others(help, verb, &others);
	for (const char *line = help, *end; *line; line = end + (*end == '\n')) {
		end = strchrnul(line, '\n');
		const char *text = line + strspn(line, " \t");
		bool is_call = verb && (!strncmp(line, "Usage:", 6) || !strncmp(line, "       outsight", 15));
		if (is_call)
			offer_of_line(c, line, end, ot_buf_str(&others));
		else if (option_at(text) && text > line)
			offer_of_line(c, text, end_of_options(text, end), ot_buf_str(&others));
	}
}

void cli_complete_options(struct cli_completion *c, const char *verb)
{
	const char *argv[] = { "outsight", verb ? verb : "--help", verb ? "--help" : NULL, NULL };
	ot_auto(ot_buf_deinit) struct ot_buf help = { 0 };

	if (cli_complete_ask(argv, &help))
		offer_of_help(c, ot_buf_str(&help), verb);
}

/* --- -x and --libxo ----------------------------------------------------------------------------------- */

/* "a|b|c", each after @before. */
static void offer_words(struct cli_completion *c, const char *before, const char *words)
{
	for (size_t n; *words; words += n + (words[n] == '|')) {
		n = strcspn(words, "|");
		const char *text = ot_arena_printf(&c->arena, "%s%.*s", before, (int)n, words);
		if (text)
			cli_complete_offer(c, text, strlen(text));
	}
}

void cli_complete_formats(struct cli_completion *c)
{
	ot_auto(ot_buf_deinit) struct ot_buf words = { 0 };

	con_output_formats(&words);
	offer_words(c, "", ot_buf_str(&words));
}

/* The valid words of option @name are in the message about a wrong one; other values have no list. */
static void offer_values(struct cli_completion *c, const char *name)
{
	ot_auto(ot_buf_deinit) struct ot_buf words = { 0 };
	ot_auto(dif_options_deinit) struct dif_options opts;
	const char *before = ot_arena_printf(&c->arena, "%s=", name);

	dif_options_init(&opts);
	struct ot_err *err = dif_options_set(&opts, name, "?", DIF_OPT_COMMAND_LINE);
	if (!strcmp(name, "oformat"))
		con_output_formats(&words);
	else if (err)
		dif_options_hint(name, err, &words);
	ot_err_destroy(err);
	const char *list = strrchr(ot_buf_str(&words), ' ');
	list = list ? list + 1 : ot_buf_str(&words);
	if (before && strchr(list, '|'))
		offer_words(c, before, list);
}

void cli_complete_x(struct cli_completion *c)
{
	const char *equals = strchr(c->word, '='), *name;

	if (equals) {
		name = ot_arena_strndup(&c->arena, c->word, (size_t)(equals - c->word));
		if (name)
			offer_values(c, name);
		return;
	}
	for (size_t i = 0; (name = dif_options_name(i)); i++)
		cli_complete_offer(c, name, strlen(name));
}
