/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The toolkit: D scripts that answer operators' questions, run by name. A script is a file NAME.d whose first
 * comment is its header; the header's first line names the question.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/installed.h"
#include "base/io.h"
#include "base/near.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "consumer/messages.h"

#define TOOL_MAX (1u << 20)

/* --- the folder --------------------------------------------------------------------------------------- */

static int is_tool(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 2 && entry->d_name[0] != '.' && !strcmp(entry->d_name + n - 2, ".d");
}

/* Names without ".d", sorted, in *ret: free each, and the array. */
static struct ot_err *list_tools(const char *dir, struct dirent ***ret, int *ret_count)
{
	int n = scandir(dir, ret, is_tool, alphasort);

	if (n < 0)
		return ot_err_os(errno, "the folder of tools %s", dir);
	for (int i = 0; i < n; i++)
		(*ret)[i]->d_name[strlen((*ret)[i]->d_name) - 2] = '\0';
	*ret_count = n;
	return NULL;
}

static void free_tools(struct dirent **tools, int count)
{
	for (int i = 0; i < count; i++)
		free(tools[i]);
	free(tools);
}

/* The path of the tool @name, or an error with the nearest name. */
static struct ot_err *find_tool(const char *dir, const char *name, char *path, size_t size)
{
	struct dirent **tools;
	struct ot_near near;
	bool found = false;
	int count, n;

	OT_TRY(list_tools(dir, &tools, &count));
	ot_near_init(&near, name);
	for (int i = 0; i < count; i++) {
		found |= !strcmp(tools[i]->d_name, name);
		ot_near_offer(&near, tools[i]->d_name);
	}
	const char *best = ot_near_best(&near);
	struct ot_err *err =
	    found ? NULL
		  : ot_err_new(OT_ERR_NOT_FOUND, "there is no tool %s%s%s; `outsight tool --list` lists them",
			       name, best ? ", did you mean " : "", best ? best : "");
	free_tools(tools, count);
	if (err)
		return err;
	n = snprintf(path, size, "%s/%s.d", dir, name);
	return n > 0 && (size_t)n < size ? NULL
					 : ot_err_new(OT_ERR_LIMIT, "the path of %s is too long", name);
}

/* --- a script's header -------------------------------------------------------------------------------- */

/* The lines of the first comment that begins with "/" "*" alone on its line; each has " *" in front.
 * NULL: there is none. */
static const char *header_of(const char *text)
{
	const char *at = strstr(text, "\n/*\n");

	return at ? at + 4 : NULL;
}

/* The text of a header's line, without " * "; @len without the newline. */
static const char *header_line(const char *line, size_t *len)
{
	const char *text = line + strspn(line, " ");

	text += *text == '*';
	text += *text == ' ';
	*len = strcspn(text, "\n");
	return text;
}

static void print_header(const char *text)
{
	const char *line = header_of(text);
	size_t len;

	for (; line && strncmp(line, " */", 3) != 0; line = strchr(line, '\n'), line += !!line) {
		const char *words = header_line(line, &len);
		printf("%.*s\n", (int)len, words);
	}
}

/* "NAME: what it answers" of a header's first line, in two columns. */
static void print_line(const char *name, const char *text)
{
	const char *line = header_of(text), *words = NULL;
	size_t len = 0;

	if (line)
		words = header_line(line, &len);
	const char *colon = words ? memchr(words, ':', len) : NULL;
	if (colon) {
		len -= (size_t)(colon + 1 - words);
		words = colon + 1 + (colon[1] == ' ');
		len -= colon[1] == ' ';
	}
	printf("%-14s %.*s\n", name, (int)len, words ? words : "");
}

static struct ot_err *read_tool(const char *dir, const char *name, char **ret_text)
{
	char path[PATH_MAX];
	size_t len;

	OT_TRY(find_tool(dir, name, path, sizeof(path)));
	return ot_read_file(path, TOOL_MAX, ret_text, &len);
}

/* --- what the verb has to do -------------------------------------------------------------------------- */

static struct ot_err *print_list(const char *dir)
{
	struct dirent **tools;
	struct ot_err *err = NULL;
	int count;

	OT_TRY(list_tools(dir, &tools, &count));
	for (int i = 0; i < count && !err; i++) {
		ot_auto_free char *text = NULL;
		err = read_tool(dir, tools[i]->d_name, &text);
		if (!err)
			print_line(tools[i]->d_name, text);
	}
	free_tools(tools, count);
	return err;
}

static struct ot_err *show(const char *dir, const char *name, bool all)
{
	ot_auto_free char *text = NULL;

	OT_TRY(read_tool(dir, name, &text));
	if (all)
		fputs(text, stdout);
	else
		print_header(text);
	return NULL;
}

static int finish(struct ot_err *err)
{
	return err ? con_fail(err, "tool") : CON_EXIT_OK;
}

/* As `outsight -s PATH` with the words after the tool's name. */
static int run(const char *dir, int argc, char **argv)
{
	char path[PATH_MAX];
	struct ot_err *err = find_tool(dir, argv[0], path, sizeof(path));

	if (err)
		return finish(err);
	ot_auto_free char **words = calloc((size_t)argc + 3, sizeof(*words));
	if (!words)
		return finish(ot_err_nomem());
	words[0] = (char *)"outsight";
	words[1] = (char *)"-s";
	words[2] = path;
	for (int i = 1; i < argc; i++)
		words[i + 2] = argv[i];
	return cli_cmd_dtrace(argc + 2, words);
}

static int usage(void)
{
	fputs("Usage: outsight tool --list\n"
	      "       outsight tool NAME [-g GUEST] [options of outsight] [args]\n"
	      "       outsight tool NAME --help\n"
	      "       outsight tool --show NAME\n\n"
	      "\t--list   a line for each tool: its name, and the question it answers\n"
	      "\t--help   after NAME: the tool's arguments, an example, and the events that it misses\n"
	      "\t--show   print the tool, a D script\n\n"
	      "A tool runs until Ctrl-C, which prints its aggregations, or for the time that its arguments "
	      "set.\n"
	      "-o FILE appends the output to a file; -x ttl=1m ends the tool after a minute.\n",
	      stdout);
	return CON_EXIT_OK;
}

/* The requested action, from the words after "tool". */
static int tool(const char *dir, int argc, char **argv)
{
	static const char *const options[] = { "--list", "--show", "--help", NULL };
	bool is_show = !strcmp(argv[0], "--show");

	if (!strcmp(argv[0], "--list") && argc == 1)
		return finish(print_list(dir));
	if (!strcmp(argv[0], "--list") || (is_show && argc > 2))
		return cli_verb_misused("tool", NULL, argv[is_show ? 2 : 1]);
	if (is_show && argc == 2)
		return finish(show(dir, argv[1], true));
	if (*argv[0] == '-')
		return cli_verb_misused("tool", options, argv[0]);
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "--help"))
			return finish(show(dir, argv[0], false));
	return run(dir, argc, argv);
}

int cli_cmd_tool(int argc, char **argv)
{
	char dir[PATH_MAX];

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return usage();
	if (argc < 2) {
		con_error("tool: a name is required; `outsight tool --list` lists them");
		return CON_EXIT_USAGE;
	}
	if (!ot_installed_tools(dir, sizeof(dir))) {
		con_error("tool: the scripts are not installed: share/outsight/tools is missing");
		return CON_EXIT_ERROR;
	}
	return tool(dir, argc - 1, argv + 1);
}
