/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes over the command line, as in dtrace(1): modes first, then options and programs in the order given.
 * Later steps (processes, compiling, tracing) are trace.c's.
 */
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/near.h"
#include "cli/options.h"
#include "consumer/messages.h"
#include "consumer/output/output.h"

/* "-": words that are no options come in order, as option 1. */
static const char letters[] = "-3:6:aAb:Bc:CD:ef:FGg:hHi:I:lL:m:n:o:p:P:qs:SU:vVwW:x:X:Z";

enum long_option {
	OPT_HELP = 256,
	OPT_VERSION,
	OPT_VMLINUX,
	OPT_SYMBOLS,
	OPT_SYSROOT,
	OPT_NO_CACHE,
	OPT_DUMP_SYMBOLS,
	OPT_DUMP_MAPS,
	OPT_SAVE_DOF,
	OPT_DOF,
	OPT_PLAN,
	OPT_LIBXO,
	OPT_JSON,
};

static const struct option longs[] = {
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "vmlinux", required_argument, NULL, OPT_VMLINUX },
	{ "symbols", required_argument, NULL, OPT_SYMBOLS },
	{ "sysroot", required_argument, NULL, OPT_SYSROOT },
	{ "no-cache", no_argument, NULL, OPT_NO_CACHE },
	{ "dump-symbols", no_argument, NULL, OPT_DUMP_SYMBOLS },
	{ "dump-maps", required_argument, NULL, OPT_DUMP_MAPS },
	{ "save-dof", required_argument, NULL, OPT_SAVE_DOF },
	{ "plan", no_argument, NULL, OPT_PLAN },
	{ "dof", required_argument, NULL, OPT_DOF },
	{ "libxo", required_argument, NULL, OPT_LIBXO },
	{ "json", no_argument, NULL, OPT_JSON },
	{ NULL, 0, NULL, 0 },
};

void cli_options_deinit(struct cli_invocation *inv)
{
	free(inv->programs);
	free(inv->args.items);
	free(inv->guests.items);
	free(inv->cpp.items);
	free(inv->libdirs.items);
	free(inv->commands.items);
	free(inv->pids.items);
	free(inv->env.items);
	dif_options_deinit(&inv->opts);
	ot_arena_deinit(&inv->arena);
}

static int no_memory(void)
{
	return con_fail(ot_err_nomem(), NULL);
}

/* The error has been reported. */
static int usage_error(void)
{
	fputs("Try `outsight --help`.\n", stderr);
	return CON_EXIT_USAGE;
}

/* getopt has reported the option that it rejected. */
static int bad_option(char *const *argv)
{
	const char *word = argv[optind - 1];
	struct ot_near near;

	if (optopt || strncmp(word, "--", 2) != 0)
		return usage_error();
	ot_auto_free char *name = strndup(word + 2, strcspn(word + 2, "="));
	if (!name)
		return no_memory();
	ot_near_init(&near, name);
	for (const struct option *o = longs; o->name; o++)
		ot_near_offer(&near, o->name);
	if (ot_near_best(&near))
		fprintf(stderr, "Did you mean --%s? ", ot_near_best(&near));
	return usage_error();
}

/* --- pass 1: modes and words ---------------------------------------------------------- */

static int unsupported(int letter)
{
	switch (letter) {
	case 'B':
		con_error("-B: the buffered-output demonstration is not part of Outsight");
		break;
	case 'G':
		con_error(
		    "-G: Outsight makes no object files: nothing in a guest would register the probes in "
		    "them");
		break;
	}
	return CON_EXIT_ERROR;
}

static int check_model(int letter, const char *arg)
{
	if (strcmp(arg, letter == '3' ? "2" : "4") != 0) {
		fprintf(stderr, "dtrace: illegal option -- %c%s\n", letter, arg);
		return usage_error();
	}
	if (letter == '3') {
		con_error("-32: guests are 64-bit, so are programs");
		return CON_EXIT_ERROR;
	}
	return CLI_GO_ON;
}

struct modes {
	unsigned chosen; /* of -A -G -h -l -V */
	int unsupported; /* the first unsupported option, 0: none */
	bool help, version, d_version;
};

static int sysroot_is(struct cli_invocation *inv, const char *directory)
{
	struct stat st;

	inv->sysroot = directory;
	if (!stat(directory, &st) && S_ISDIR(st.st_mode))
		return CLI_GO_ON;
	con_error("--sysroot %s: it is not a directory", directory);
	return CON_EXIT_USAGE;
}

static int dump_maps_of(struct cli_invocation *inv, const char *pid)
{
	char *end;

	inv->maps_pid = strtoull(pid, &end, 10);
	if (*pid < '1' || *pid > '9' || *end || inv->maps_pid > INT32_MAX) {
		con_error("--dump-maps %s: it takes the PID of a process in the guest", pid);
		return CON_EXIT_USAGE;
	}
	return CLI_GO_ON;
}

static int first_pass_option(struct cli_invocation *inv, struct modes *m, int c)
{
	switch (c) {
	case 1:
		return con_strings_add(&inv->args, optarg) ? CLI_GO_ON : no_memory();
	case '3':
	case '6':
		return check_model(c, optarg);
	case 'A':
		inv->from_boot = true;
		m->chosen++;
		break;
	case 'h':
		inv->mode = CLI_MODE_HEADER;
		m->chosen++;
		break;
	case 'G':
		m->chosen++;
		m->unsupported = m->unsupported ? m->unsupported : c;
		break;
	case 'B':
		m->unsupported = m->unsupported ? m->unsupported : c;
		break;
	case 'e':
		inv->compile_only = true;
		break;
	case 'l':
		inv->mode = CLI_MODE_LIST;
		m->chosen++;
		break;
	case 'V':
		m->d_version = true;
		m->chosen++;
		break;
	case OPT_HELP:
		m->help = true;
		break;
	case OPT_VERSION:
		m->version = true;
		break;
	case OPT_PLAN:
		inv->plan = true;
		break;
	case OPT_DUMP_SYMBOLS:
		inv->mode = CLI_MODE_DUMP_SYMBOLS;
		break;
	case OPT_DUMP_MAPS:
		inv->mode = CLI_MODE_DUMP_MAPS;
		return dump_maps_of(inv, optarg);
	}
	return CLI_GO_ON;
}

static int first_pass(struct cli_invocation *inv, int argc, char **argv)
{
	struct modes m = { 0 };
	int c, status;

	optind = 0; /* glibc: restart */
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1)
		if ((status = c == '?' ? bad_option(argv) : first_pass_option(inv, &m, c)) != CLI_GO_ON)
			return status;
	while (optind < argc) /* behind -- */
		if (!con_strings_add(&inv->args, argv[optind++]))
			return no_memory();
	if (m.help || m.version) {
		if (m.help)
			cli_help();
		else
			cli_version();
		return CON_EXIT_OK;
	}
	if (m.chosen > 1) {
		fputs("dtrace: only one of the [-AGhlV] options can be specified at a time\n", stderr);
		return CON_EXIT_USAGE;
	}
	if (m.unsupported)
		return unsupported(m.unsupported);
	if (m.d_version) {
		puts("dtrace: Sun D 1.13");
		return CON_EXIT_OK;
	}
	return CLI_GO_ON;
}

/* --- pass 2: options and programs ---------------------------------------------------------- */

/* Outputs are the command's, so their words are checked here, with dtrace's message. */
static struct ot_err *set_oformat(struct cli_invocation *inv, const char *value, struct ot_buf *hint)
{
	if (value && con_output_by_format(value))
		return dif_options_set(&inv->opts, "oformat", value, DIF_OPT_COMMAND_LINE);
	ot_buf_puts(hint, "oformat takes one of ");
	con_output_formats(hint);
	return ot_err_new(OT_ERR_SYNTAX, "Invalid value for specified option");
}

static int set_option(struct cli_invocation *inv, const char *name, const char *value, const char *letter,
		      const char *shown)
{
	ot_auto(ot_buf_deinit) struct ot_buf hint = { 0 };
	bool is_oformat = !strcmp(name, "oformat");
	struct ot_err *err = is_oformat ? set_oformat(inv, value, &hint)
					: dif_options_set(&inv->opts, name, value, DIF_OPT_COMMAND_LINE);

	if (!err)
		return CLI_GO_ON;
	bool helps = is_oformat || dif_options_hint(name, err, &hint);
	int status = con_fail(err, "failed to set %s%s%s", letter, shown ? " " : "", shown ? shown : "");
	if (helps)
		con_hint(&inv->opts, "%s", ot_buf_str(&hint));
	return status;
}

static int add_program(struct cli_invocation *inv, bool is_script, enum dif_spec spec, const char *arg)
{
	if (!ot_grow(&inv->programs, &inv->programs_cap, inv->nprograms + 1, sizeof(*inv->programs)))
		return no_memory();
	inv->programs[inv->nprograms++] = (struct con_program){ is_script, spec, arg };
	return CLI_GO_ON;
}

/* An argument of cpp: @flag and @value in one word. */
static int add_cpp(struct cli_invocation *inv, const char *flag, const char *value)
{
	char *s = ot_arena_printf(&inv->arena, "%s%s", flag, value);

	return s && con_strings_add(&inv->cpp, s) ? CLI_GO_ON : no_memory();
}

static int add(struct con_strings *list, const char *s)
{
	return con_strings_add(list, s) ? CLI_GO_ON : no_memory();
}

/* -X: a, c, s and t are dtrace's; GNU cpp's closest. */
static int set_conformance(struct cli_invocation *inv, const char *mode)
{
	static const struct {
		const char *mode, *flag;
	} modes[] = {
		{ "a", "-std=gnu99" }, { "c", "-std=c99" }, { "s", "-traditional-cpp" }, { "t", "-std=gnu89" }
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(modes); i++)
		if (!strcmp(mode, modes[i].mode))
			return add_cpp(inv, modes[i].flag, "");
	con_error("failed to set -X %s: Invalid value for specified option", mode);
	return CON_EXIT_ERROR;
}

/* cppargs: several arguments in one, separated by blanks. */
static int add_cpp_words(struct cli_invocation *inv, const char *words)
{
	static const char blanks[] = " \t";

	for (words += strspn(words, blanks); *words; words += strspn(words, blanks)) {
		size_t len = strcspn(words, blanks);
		char *word = ot_arena_printf(&inv->arena, "%.*s", (int)len, words);
		if (!word || !con_strings_add(&inv->cpp, word))
			return no_memory();
		words += len;
	}
	return CLI_GO_ON;
}

/* Some options are lists that the driver keeps. */
static int keep_listed(struct cli_invocation *inv, const char *name, const char *value)
{
	if (!strcmp(name, "define"))
		return add_cpp(inv, "-D", value);
	if (!strcmp(name, "undef"))
		return add_cpp(inv, "-U", value);
	if (!strcmp(name, "incdir"))
		return add_cpp(inv, "-I", value);
	if (!strcmp(name, "cppargs"))
		return add_cpp_words(inv, value);
	if (!strcmp(name, "libdir"))
		return add(&inv->libdirs, value);
	if (!strcmp(name, "stdc"))
		return set_conformance(inv, value);
	if (!strcmp(name, "setenv") || !strcmp(name, "unsetenv"))
		return add(&inv->env, value);
	return CLI_GO_ON;
}

static int set_x(struct cli_invocation *inv, const char *arg)
{
	char *name = ot_arena_strdup(&inv->arena, arg);
	char *value;
	int status;

	if (!name)
		return no_memory();
	value = strchr(name, '=');
	if (value)
		*value++ = '\0';
	status = set_option(inv, name, value, "-x", name);
	return status == CLI_GO_ON && value ? keep_listed(inv, name, value) : status;
}

/* DTRACE_OPT_BUFSIZE=8m is -x bufsize=8m, before the command line's own; an empty value is ignored. */
static int set_from_environment(struct cli_invocation *inv)
{
	static const char prefix[] = "DTRACE_OPT_";
	int status = CLI_GO_ON;

	for (char **e = environ; *e && status == CLI_GO_ON; e++) {
		if (strncmp(*e, prefix, sizeof(prefix) - 1) != 0)
			continue;
		char *name = ot_arena_strdup(&inv->arena, *e + sizeof(prefix) - 1);
		char *value = name ? strchr(name, '=') : NULL;
		if (!value)
			return no_memory();
		*value++ = '\0';
		for (char *c = name; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		status = set_option(inv, name, *value ? value : NULL, "option from the environment", name);
		if (status == CLI_GO_ON && *value)
			status = keep_listed(inv, name, value);
	}
	return status;
}

static int program_option(struct cli_invocation *inv, int c)
{
	switch (c) {
	case 'f':
		return add_program(inv, false, DIF_SPEC_FUNCTION, optarg);
	case 'm':
		return add_program(inv, false, DIF_SPEC_MODULE, optarg);
	case 'i': /* a number is an id in any specifier */
	case 'n':
		return add_program(inv, false, DIF_SPEC_NAME, optarg);
	case 'P':
		return add_program(inv, false, DIF_SPEC_PROVIDER, optarg);
	case 's':
		return add_program(inv, true, DIF_SPEC_NAME, optarg);
	case 'c':
		return add(&inv->commands, optarg);
	case 'p':
		return add(&inv->pids, optarg);
	case 'g':
		return add(&inv->guests, optarg);
	case 'L':
		return add(&inv->libdirs, optarg);
	case 'D':
		return add_cpp(inv, "-D", optarg);
	case 'I':
		return add_cpp(inv, "-I", optarg);
	case 'U':
		return add_cpp(inv, "-U", optarg);
	case 'H':
		return add_cpp(inv, "-H", "");
	case 'X':
		return set_conformance(inv, optarg);
	}
	return CLI_GO_ON;
}

static int second_pass_option(struct cli_invocation *inv, int c)
{
	switch (c) {
	case 'a':
		return set_option(inv, "grabanon", NULL, "-a", NULL);
	case 'b':
		return set_option(inv, "bufsize", optarg, "-b", optarg);
	case 'C':
		return set_option(inv, "cpp", NULL, "-C", NULL);
	case 'F':
		return set_option(inv, "flowindent", NULL, "-F", NULL);
	case 'q':
		return set_option(inv, "quiet", NULL, "-q", NULL);
	case 'S':
		return set_option(inv, "verbose", NULL, "-S", NULL);
	case 'w':
		return set_option(inv, "destructive", NULL, "-w", NULL);
	case 'W':
		return set_option(inv, "waitfor", optarg, "-W", optarg);
	case 'Z':
		return set_option(inv, "zdefs", NULL, "-Z", NULL);
	case 'x':
		return set_x(inv, optarg);
	case 'o':
		inv->out = optarg;
		break;
	case 'v':
		inv->verbose = true;
		break;
	case OPT_LIBXO:
		return set_option(inv, "oformat", optarg, "--libxo", optarg);
	case OPT_JSON:
		return set_option(inv, "oformat", "jsonl", "--json", NULL);
	case OPT_VMLINUX:
		inv->vmlinux = optarg;
		break;
	case OPT_SYMBOLS:
		inv->symbols = optarg;
		break;
	case OPT_SYSROOT:
		return sysroot_is(inv, optarg);
	case OPT_NO_CACHE:
		inv->no_cache = true;
		break;
	case OPT_SAVE_DOF:
		inv->save_dof = optarg;
		break;
	case OPT_DOF:
		inv->load_dof = optarg;
		break;
	default:
		return program_option(inv, c);
	}
	return CLI_GO_ON;
}

int cli_options_parse(struct cli_invocation *inv, int argc, char **argv)
{
	int c, status;

	*inv = (struct cli_invocation){ .mode = CLI_MODE_TRACE };
	dif_options_init(&inv->opts);
	ot_arena_init(&inv->arena);
	if (argc <= 1) {
		cli_synopsis(stderr);
		return usage_error();
	}
	if (!con_strings_add(&inv->args, argv[0]))
		return no_memory();
	argv[0] = (char *)"dtrace"; /* for getopt's own messages */
	status = first_pass(inv, argc, argv);
	argv[0] = (char *)inv->args.items[0];
	if (status != CLI_GO_ON)
		return status;
	/* probes that are only listed or declared need not exist */
	if (inv->mode == CLI_MODE_LIST || inv->mode == CLI_MODE_HEADER)
		inv->opts.zdefs = true;
	if ((status = set_from_environment(inv)) != CLI_GO_ON)
		return status;
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1)
		if ((status = second_pass_option(inv, c)) != CLI_GO_ON)
			return status;
	return CLI_GO_ON;
}

bool cli_options_have_program(int argc, char **argv)
{
	bool found = false;
	int c;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1 && c != '?')
		found |= strchr("nsPmfileVAG", c) || c == OPT_DOF || c == OPT_DUMP_SYMBOLS ||
			 c == OPT_DUMP_MAPS || c == OPT_VERSION;
	opterr = 1;
	return found && c != '?'; /* dtrace has no such option, so this is not its command line */
}
