/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -x waitfor, -W: waiting for the process that is $target, and compiling the program for it. */
#include <poll.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/units.h"
#include "cli/signals.h"
#include "cli/tracing.h"
#include "consumer/messages.h"
#include "consumer/session_log.h"

#define MATCH_NS OT_NS_PER_SEC /* time for the process to map the files of the program's descriptions */
#define AGAIN_MS 20

static const char *awaited(const struct cli_run *r)
{
	return ot_map_gets(&r->inv->opts.set, "waitfor");
}

static int check(const struct cli_run *r)
{
	if (r->inv->pids.count || r->inv->commands.count) {
		con_error("-x waitfor and -%c both select $target: use one of them",
			  r->inv->pids.count ? 'p' : 'c');
		return CON_EXIT_USAGE;
	}
	return cli_check(r->inv); /* errors in the text are reported before the wait */
}

/* Under quiet, too, because the operator waits. */
static void say_waiting(void *arg)
{
	const struct cli_run *r = arg;
	const char *guest = vp_session_guest_name(r->session, 0);

	con_error("waiting for a process %s in %s, Ctrl-C ends it", awaited(r), guest);
	con_session_note(r->session, "waiting for a process");
}

int cli_run_wait_for(struct cli_run *r)
{
	ot_auto_close int signals = -1;
	int64_t pid = 0;
	int status;

	if (!awaited(r))
		return CLI_GO_ON;
	status = check(r);
	if (status != CLI_GO_ON)
		return status;
	struct ot_err *err = cli_signals_open(0, &signals);
	if (!err)
		err = vp_session_wait_for(r->session, awaited(r), signals, say_waiting, r, &pid);
	if (err)
		return con_fail(err, NULL);
	if (!pid) {
		con_error("no process %s has begun", awaited(r));
		return CON_EXIT_ERROR;
	}
	ot_signals_unblock();
	r->target = (pid_t)pid;
	con_notice(&r->inv->opts, "%s is process %d", awaited(r), (int)pid);
	return CLI_GO_ON;
}

/* The process may still be loading the library of a description: errors are reported only after it had time
 * for that. */
int cli_run_compile(struct cli_run *r)
{
	uint64_t until = ot_now_ns() + MATCH_NS;
	bool waited = awaited(r) != NULL;
	int status;

	do {
		bool silent = waited && ot_now_ns() < until;
		status = cli_compile_asked(&r->comp, r->inv, r->session, silent);
		if (status == CLI_GO_ON || !silent)
			break;
		con_compilation_deinit(&r->comp);
		poll(NULL, 0, AGAIN_MS);
		struct ot_err *err = vp_session_read_target(r->session);
		if (err)
			return con_fail(err, NULL);
	} while (true);
	return status;
}
