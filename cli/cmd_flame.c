/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outsight flame: the places where guests spend their time, or that lead to an event, as one HTML file. */
#include <limits.h>

#include "cli/commands.h"
#include "cli/picture.h"

#define RATE_DEFAULT "97"
#define RATE_MAX     4999u

struct flame_request {
	unsigned long rate, pid;
	const char *event; /* a probe description; NULL: samples */
};

static bool take(void *request, char letter, const char *value)
{
	struct flame_request *r = request;

	if (letter == 'F')
		return cli_picture_number(value, RATE_MAX, &r->rate);
	if (letter == 'p')
		return cli_picture_number(value, INT_MAX, &r->pid);
	r->event = value;
	return true;
}

static void write_program(const void *request, const struct cli_picture *p, struct ot_buf *out)
{
	const struct flame_request *r = request;

	if (r->event)
		ot_buf_puts(out, r->event);
	else
		ot_buf_printf(out, "profile-%lu", r->rate);
	if (r->pid)
		ot_buf_printf(out, " /pid == %lu/", r->pid);
	ot_buf_printf(out, " { @[%sexecname, ustack(), stack()] = count(); }",
		      p->nguests > 1 ? "guest, " : "");
}

static const char *const options[] = { "-g", "-d", "-F", "-e", "-p", "-o", "--help", NULL };

static const struct cli_picture_verb flame = {
	.name = "flame",
	.usage =
	    "Usage: outsight flame [-g GUEST]... [-d SECONDS] [-F HZ | -e PROBE] [-p PID] -o FILE\n\n"
	    "\t-g GUEST    as without a verb; if repeated, the guest's name is the outermost frame\n"
	    "\t-d SECONDS  duration (" CLI_PICTURE_SECONDS "); Ctrl-C ends it earlier\n"
	    "\t-F HZ       samples a second of each vCPU (" RATE_DEFAULT ")\n"
	    "\t-e PROBE    stacks at a probe (io:::start) instead of samples\n"
	    "\t-p PID      only this process of the guest\n"
	    "\t-o FILE     an HTML file, which is replaced at the end\n\n"
	    "A program of your own: outsight -x oformat=flame -o FILE -n 'PROBE { @[stack()] = count(); }'\n",
	.options = options,
	.take = take,
	.program = write_program,
};

int cli_cmd_flame(int argc, char **argv)
{
	struct flame_request r = { 0 };

	cli_picture_number(RATE_DEFAULT, RATE_MAX, &r.rate);
	return cli_picture_run(&flame, &r, argc, argv);
}
