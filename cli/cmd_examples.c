/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outsight examples: questions, and the command line that answers each, from examples.list. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/commands.h"
#include "cli/examples.h"
#include "consumer/messages.h"

static int usage(void)
{
	fputs("Usage: outsight examples [WORD...]\n\n"
	      "\tquestions, and the command line that answers each: all, or those that contain each WORD\n\n"
	      "The guest in them is web01; `outsight guests` lists those of this host.\n",
	      stdout);
	return CON_EXIT_OK;
}

/* Case is ignored. */
static bool has_words(const char *paragraph, int nwords, char **words)
{
	for (int i = 0; i < nwords; i++)
		if (!strcasestr(paragraph, words[i]))
			return false;
	return true;
}

/* Print the paragraphs that contain the words; returns their number, -1: no memory. */
static int print_those_with(int nwords, char **words)
{
	int found = 0;

	for (const char *at = cli_examples, *end; *at; at = end + strspn(end, "\n")) {
		end = strstr(at, "\n\n");
		end = end ? end : at + strlen(at);
		ot_auto_free char *paragraph = strndup(at, (size_t)(end - at));
		if (!paragraph)
			return -1;
		if (*paragraph == '#' || !has_words(paragraph, nwords, words))
			continue;
		printf("%s%s", found++ ? "\n" : "", paragraph);
		if (paragraph[strlen(paragraph) - 1] != '\n')
			putchar('\n');
	}
	return found;
}

int cli_cmd_examples(int argc, char **argv)
{
	static const char *const options[] = { "--help", NULL };

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return usage();
	for (int i = 1; i < argc; i++)
		if (*argv[i] == '-')
			return cli_verb_misused("examples", options, argv[i]);
	int found = print_those_with(argc - 1, argv + 1);
	if (found < 0)
		return con_fail(ot_err_nomem(), "examples");
	if (!found) {
		con_error("examples: none has %s; `outsight examples` prints all of them",
			  argc > 2 ? "all of these words" : argv[1]);
		return CON_EXIT_ERROR;
	}
	return CON_EXIT_OK;
}
