/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `outsight attach` and `outsight detach`: injecting the engine into a running QEMU, and disabling it. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/hints.h"
#include "consumer/journal.h"
#include "consumer/messages.h"
#include "vmm-probe/hosts/engine_files.h"
#include "vmm-probe/hosts/enter.h"

#define PROCESSES_MAX 256

static int usage(FILE *fp)
{
	fputs("Usage: outsight attach [--plan] PID|NAME…\n"
	      "       outsight detach PID|NAME… | --all\n\n"
	      "\tattach   make the guest of a running QEMU traceable, without a restart\n"
	      "\t--plan   print the steps without performing them\n"
	      "\tdetach   remove every trap from the guest, restore QEMU's own functions\n"
	      "\t--all    detach from every attached QEMU\n",
	      fp);
	return fp == stdout ? CON_EXIT_OK : CON_EXIT_USAGE;
}

static void report(const char *spec, const struct vp_inject_result *r)
{
	if (r->already) {
		printf("%s: attached already\n", spec);
		return;
	}
	printf("%s: attached in %.0f ms: %u vCPU%s, %llu MiB of memory; vCPUs held for %.2f ms", spec,
	       (double)r->total_ns / 1e6, r->nvcpus, r->nvcpus == 1 ? "" : "s",
	       (unsigned long long)r->ram_bytes >> 20, (double)r->held_ns / 1e6);
	if (r->loaded)
		printf(", main thread stopped for %.2f ms", (double)r->stop_ns / 1e6);
	putchar('\n');
}

static struct ot_err *plan(const char *spec)
{
	char library[PATH_MAX];
	pid_t pid;

	OT_TRY(vp_enter_find(spec, &pid));
	OT_TRY(vp_hook_file(library, sizeof(library)));
	return vp_inject_plan(pid, library, stdout);
}

static struct ot_err *attach(const char *spec)
{
	struct vp_inject_result result;

	con_journal_note_one("attaching", spec);
	OT_TRY(vp_enter(spec, &result));
	report(spec, &result);
	return NULL;
}

static struct ot_err *detach(const char *spec)
{
	pid_t pid;

	con_journal_note_one("detaching", spec);
	OT_TRY(vp_enter_find(spec, &pid));
	OT_TRY(vp_inject_detach(pid));
	printf("%s: detached\n", spec);
	return NULL;
}

/* Try all; fail if one fails. */
static int each(char **specs, int n, struct ot_err *(*act)(const char *spec))
{
	int status = CON_EXIT_OK;

	for (int i = 0; i < n; i++) {
		struct ot_err *err = act(specs[i]);
		if (err)
			status = cli_fail_guest(NULL, err, specs[i]);
	}
	return status;
}

static bool asks_for_help(int argc, char **argv)
{
	return argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
}

/* Remove the verb's one option from argv. Returns the new argc; -1: there is another option, which has been
 * reported. */
static int take_option(const char *option, int argc, char **argv, bool *ret)
{
	const char *const known[] = { option, "--help", NULL };
	int n = 1;

	*ret = false;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], option)) {
			*ret = true;
		} else if (*argv[i] == '-') {
			cli_verb_misused(argv[0], known, argv[i]);
			return -1;
		} else {
			argv[n++] = argv[i];
		}
	}
	return n;
}

int cli_cmd_attach(int argc, char **argv)
{
	bool planned;

	if (asks_for_help(argc, argv))
		return usage(stdout);
	int n = take_option("--plan", argc, argv, &planned);
	if (n < 0)
		return CON_EXIT_USAGE;
	return n > 1 ? each(argv + 1, n - 1, planned ? plan : attach) : usage(stderr);
}

static int detach_all(void)
{
	pid_t pids[PROCESSES_MAX];
	size_t n = vp_inject_list(pids, PROCESSES_MAX);
	char specs[PROCESSES_MAX][16], *list[PROCESSES_MAX];

	for (size_t i = 0; i < n; i++) {
		snprintf(specs[i], sizeof(specs[i]), "%d", (int)pids[i]);
		list[i] = specs[i];
	}
	return each(list, (int)n, detach);
}

int cli_cmd_detach(int argc, char **argv)
{
	bool all;

	if (asks_for_help(argc, argv))
		return usage(stdout);
	int n = take_option("--all", argc, argv, &all);
	if (n < 0)
		return CON_EXIT_USAGE;
	if (all && n > 1) {
		con_error("detach: --all includes every guest: omit %s", argv[1]);
		return CON_EXIT_USAGE;
	}
	if (all)
		return detach_all();
	return n > 1 ? each(argv + 1, n - 1, detach) : usage(stderr);
}
