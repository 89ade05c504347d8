/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outsight heatmap: latencies over time, as one HTML file. */
#include <limits.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/picture.h"

#define INTERVAL_DEFAULT "250"
#define INTERVAL_MAX     60000u
/* Nine buckets a decade, from 1 us to 100 s. */
#define BUCKETS          "10, 3, 10, 10"

struct heatmap_request {
	unsigned long interval_ms, pid;
	const char *event;   /* a probe description without its name, which has an entry and a return; NULL:
				block I/O */
	const char *program; /* NULL: one of the verb's */
};

static bool take(void *request, char letter, const char *value)
{
	struct heatmap_request *r = request;

	if (letter == 'i')
		return cli_picture_number(value, INTERVAL_MAX, &r->interval_ms);
	if (letter == 'p')
		return cli_picture_number(value, INT_MAX, &r->pid);
	if (letter == 'n')
		r->program = value;
	else
		r->event = value;
	return true;
}

/* From a request's start to its end, or from a function's entry to its return. */
static void write_program(const void *request, const struct cli_picture *p, struct ot_buf *out)
{
	const struct heatmap_request *r = request;
	const char *guest = p->nguests > 1 ? "guest, " : "";

	if (r->program) {
		ot_buf_puts(out, r->program);
		return;
	}
	if (!r->event) {
		ot_buf_puts(out, "io:::start");
		if (r->pid)
			ot_buf_printf(out, " /pid == %lu/", r->pid);
		ot_buf_printf(out,
			      " { began[%sarg0] = timestamp; } io:::done /began[%sarg0]/ { "
			      "@[%sargs[0]->b_flags & B_READ ? "
			      "\"read\" : \"write\"] = llquantize(timestamp - began[%sarg0], " BUCKETS
			      "); began[%sarg0] = 0; }",
			      guest, guest, guest, guest, guest);
		return;
	}
	ot_buf_printf(out, "%s:entry", r->event);
	if (r->pid)
		ot_buf_printf(out, " /pid == %lu/", r->pid);
	ot_buf_printf(out,
		      " { self->began = timestamp; } %s:return /self->began/ { @[%sprobefunc] = "
		      "llquantize(timestamp - self->began, " BUCKETS "); self->began = 0; }",
		      r->event, guest);
}

static void write_rate(const void *request, struct ot_buf *out)
{
	const struct heatmap_request *r = request;

	ot_buf_printf(out, "%lums", r->interval_ms);
}

static const char *const options[] = { "-g", "-d", "-i", "-e", "-p", "-n", "-o", "--help", NULL };

static const struct cli_picture_verb heatmap = {
	.name = "heatmap",
	.usage = "Usage: outsight heatmap [-g GUEST]... [-d SECONDS] [-i MS] [-e FUNCTION | -n PROGRAM] [-p "
		 "PID] -o FILE\n\n"
		 "Latencies over time, of requests to disks by default.\n\n"
		 "\t-g GUEST     as without a verb; if repeated, each guest has maps of its own\n"
		 "\t-d SECONDS   duration (" CLI_PICTURE_SECONDS "); Ctrl-C ends it earlier\n"
		 "\t-i MS        duration of a column, in milliseconds (" INTERVAL_DEFAULT ")\n"
		 "\t-e FUNCTION  latencies of this: syscall::read, fbt::vfs_read, pid123:libc:malloc\n"
		 "\t-p PID       only this process of the guest\n"
		 "\t-n PROGRAM   a program of your own with quantize(), lquantize() or llquantize()\n"
		 "\t-o FILE      an HTML file, which is replaced at the end\n\n"
		 "The same without a verb: outsight -x oformat=heatmap -x aggrate=250ms -o FILE -n PROGRAM\n",
	.options = options,
	.take = take,
	.program = write_program,
	.rate = write_rate,
};

int cli_cmd_heatmap(int argc, char **argv)
{
	struct heatmap_request r = { 0 };

	cli_picture_number(INTERVAL_DEFAULT, INTERVAL_MAX, &r.interval_ms);
	return cli_picture_run(&heatmap, &r, argc, argv);
}
