/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "vmm-probe/session/session.h"

static void print_json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < ' ')
			printf("\\u%04x", (unsigned)*s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void print_json(const struct vp_guest_info *guests, size_t count)
{
	putchar('[');
	for (size_t i = 0; i < count; i++) {
		const struct vp_guest_info *g = &guests[i];
		printf("%s\n  {\"name\": ", i ? "," : "");
		print_json_string(g->name);
		printf(", \"pid\": %u, \"vcpus\": %u, \"backend\": ", g->pid, g->nvcpus);
		print_json_string(g->backend);
		printf(", \"kernel\": ");
		print_json_string(g->release);
		printf(", \"sessions\": %u, \"held_ms\": %.3f, \"socket\": ", g->nsessions,
		       (double)g->held_ns / 1e6);
		print_json_string(g->socket);
		putchar('}');
	}
	printf("%s]\n", count ? "\n" : "");
}

static void print_table(const struct vp_guest_info *guests, size_t count)
{
	printf("%-20s %8s %5s %-7s %8s %-24s %s\n", "NAME", "PID", "VCPUS", "BACKEND", "SESSIONS", "KERNEL",
	       "SOCKET");
	for (size_t i = 0; i < count; i++)
		printf("%-20s %8u %5u %-7s %8u %-24s %s\n", guests[i].name, guests[i].pid, guests[i].nvcpus,
		       guests[i].backend, guests[i].nsessions, *guests[i].release ? guests[i].release : "-",
		       guests[i].socket);
}

int cli_cmd_guests(int argc, char **argv)
{
	ot_auto_free struct vp_guest_info *guests = NULL;
	bool json = argc == 2 && !strcmp(argv[1], "--json");
	bool help = argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
	struct ot_err *err;
	size_t count = 0;

	if (argc > 1 && !json) {
		fputs("Usage: outsight guests [--json]\n\n"
		      "\tthe guests of this host that can be traced, as a table or as JSON\n",
		      help ? stdout : stderr);
		return help ? CLI_EXIT_OK : CLI_EXIT_USAGE;
	}
	err = vp_guests_list(&guests, &count);
	if (err)
		return cli_fail(err, NULL);
	if (json)
		print_json(guests, count);
	else
		print_table(guests, count);
	return fflush(stdout) == EOF ? cli_fail(ot_err_new(OT_ERR_OS, "failed to write to <stdout>"), NULL)
				     : CLI_EXIT_OK;
}
