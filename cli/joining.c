/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests that join a session (consumer/joining.h) as a command line has them: their rights, and the
 * messages. */
#include "consumer/joining.h"
#include "cli/compiling.h"
#include "cli/tracing.h"
#include "consumer/messages.h"

static void say(void *arg, const char *text)
{
	(void)arg;
	con_error("%s", text);
}

/* Errors in the text are reported as at the beginning. */
static struct ot_err *compile(void *arg)
{
	struct cli_run *r = arg;
	const struct con_texts texts = cli_texts_of(r->inv);
	struct ot_err *err = con_compile_joining(&r->comp, &texts, r->session);

	if (!err)
		return NULL;
	cli_complain(&r->comp, r->inv, err);
	return ot_err_new(OT_ERR_UNSUPPORTED, "the program can't be compiled for its kernel");
}

static void joined(void *arg, uint32_t guest, const char *name)
{
	struct cli_run *r = arg;

	con_notice(&r->inv->opts, "guest %s: joined", name);
	cli_run_report_guest(r, guest);
}

struct ot_err *cli_run_attach_pattern(struct cli_run *r, const char *pattern)
{
	const struct con_joining_config config = {
		.session = r->session,
		.comp = &r->comp,
		.compile = compile,
		.joined = joined,
		.say = say,
		.arg = r,
	};

	if (!r->joining)
		OT_TRY(con_joining_create(&config, &r->joining));
	return con_joining_attach(r->joining, pattern);
}

struct ot_err *cli_run_await(struct cli_run *r)
{
	/* a comparison is of the guests that are there, and a process of one guest */
	if (!r->joining || r->inv->compare || r->target || ot_map_gets(&r->inv->opts.set, "waitfor"))
		return NULL;
	return con_joining_await(r->joining);
}
