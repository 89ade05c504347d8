/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The D programs of the live view: see question.h. */
#include "cli/top/question.h"

#include <stdio.h>
#include <string.h>

/* How often an engine's data is read. The program's own tick decides when it prints. */
#define RATE          "250ms"
/* Number of printed rows: the greatest. */
#define PROCESSES_MAX 1000
#define STACKS_MAX    500

bool cli_top_question_same(const struct cli_top_question *a, const struct cli_top_question *b)
{
	return a->subject == b->subject && a->guest == b->guest && a->process == b->process &&
	       a->probes == b->probes && a->period_ms == b->period_ms;
}

static void put_calls(const struct cli_top_question *q, struct ot_buf *out)
{
	ot_buf_printf(out,
		      "syscall:::entry\n{\n\t@calls = count();\n}\n\n"
		      "tick-%ums\n{\n\tprinta(\"calls %%@d\\n\", "
		      "@calls);\n\tprintf(\"end\\n\");\n\tclear(@calls);\n}\n",
		      q->period_ms);
}

/* pid 0 runs on an idle vCPU. */
static void put_processes(const struct cli_top_question *q, struct ot_buf *out)
{
	static const char probes[] = "syscall:::entry\n{\n\t@calls[pid, execname] = count();\n}\n\n"
				     "vminfo:::as_fault\n{\n\t@faults[pid, execname] = count();\n}\n\n"
				     "io:::start\n{\n\t@ios[pid, execname] = count();\n}\n\n";

	ot_buf_printf(out, "profile-%d\n/pid/\n{\n\t@samples[pid, execname] = count();\n}\n\n%s", CLI_TOP_HZ,
		      q->probes ? probes : "");
	ot_buf_printf(
	    out,
	    "tick-%ums\n{\n\ttrunc(@samples, %d);\n\tprinta(\"process %%d %%@d %s %%S\\n\", @samples%s);\n",
	    q->period_ms, PROCESSES_MAX, q->probes ? "%@d %@d %@d" : "- - -",
	    q->probes ? ", @calls, @faults, @ios" : "");
	ot_buf_printf(out, "\tprintf(\"end\\n\");\n\ttrunc(@samples);\n%s}\n",
		      q->probes ? "\ttrunc(@calls);\n\ttrunc(@faults);\n\ttrunc(@ios);\n" : "");
}

/* They accumulate since the program began, because samples of one process are few. */
static void put_stacks(const struct cli_top_question *q, struct ot_buf *out)
{
	ot_buf_printf(
	    out,
	    "profile-%d\n/pid == %u/\n{\n\t@samples[stack(), ustack()] = count();\n}\n\n"
	    "tick-%ums\n{\n\ttrunc(@samples, %d);\n\tprinta(\"stack %%@d%%-2k%%-2k\\n\", @samples);\n"
	    "\tprintf(\"end\\n\");\n}\n",
	    CLI_TOP_HZ, q->process, q->period_ms, STACKS_MAX);
}

void cli_top_program(const struct cli_top_question *q, struct ot_buf *out)
{
	switch (q->subject) {
	case CLI_TOP_ASK_NOTHING:
		return;
	case CLI_TOP_ASK_CALLS:
		put_calls(q, out);
		return;
	case CLI_TOP_ASK_PROCESSES:
		put_processes(q, out);
		return;
	case CLI_TOP_ASK_STACKS:
		put_stacks(q, out);
		return;
	}
}

/* Options before the program's own: data arrives in time, no engine is injected without asking, and a kernel
 * may lack a probe. */
static const char *const with_probes[] = { "-q", "-Z", "-x", "aggrate=" RATE, "-x", "switchrate=" RATE };
static const char *const without[] = {
	"-q", "-x", "noattach", "-x", "aggrate=" RATE, "-x", "switchrate=" RATE
};

void cli_top_command(const struct cli_top_question *q, const char *program, char guest[16],
		     const char *argv[CLI_TOP_WORDS])
{
	const char *const *options = q->probes ? with_probes : without;
	size_t noptions = q->probes ? OT_ARRAY_SIZE(with_probes) : OT_ARRAY_SIZE(without), n = 0;

	snprintf(guest, 16, "%u", q->guest);
	argv[n++] = "outsight";
	argv[n++] = "-g";
	argv[n++] = guest;
	for (size_t i = 0; i < noptions; i++)
		argv[n++] = options[i];
	argv[n++] = "-n";
	argv[n++] = program;
	argv[n] = NULL;
}

void cli_top_script(const struct cli_top_question *q, struct ot_buf *out)
{
	const char *argv[CLI_TOP_WORDS];
	char guest[16];

	cli_top_command(q, "", guest, argv);
	ot_buf_puts(out, "/*\n * ");
	for (size_t i = 0; strcmp(argv[i], "-n"); i++)
		ot_buf_printf(out, "%s ", argv[i]);
	ot_buf_puts(out, "-s FILE\n */\n");
	cli_top_program(q, out);
}
