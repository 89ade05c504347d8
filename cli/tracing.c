/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running a session: enable, trace, print, end. The invariant: on every path (exit(), Ctrl-C, a full disk, a
 * dead guest) the session is destroyed, which removes all of its changes to the guests.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/hints.h"
#include "cli/resized.h"
#include "cli/trace.h"
#include "cli/tracing.h"
#include "consumer/joining.h"
#include "consumer/messages.h"
#include "consumer/session_log.h"

/* --- tracing ---------------------------------------------------------------------------- */

/* A session without a guest is not logged. */
static void start_journal(struct cli_run *r)
{
	const struct con_texts texts = cli_texts_of(r->inv);
	struct con_strings names = { 0 };

	if (con_session_names(r->session, &names) && names.count)
		con_journal_start(&r->journal, &texts, &names, r->comp.matched);
	free(names.items);
}

/* Under quiet too: it concerns others. */
static void report_cost(struct cli_run *r, uint32_t guest)
{
	struct ot_buf text;

	ot_buf_init(&text);
	vp_session_cost(r->session, guest, &text);
	if (text.len)
		con_error("%s", ot_buf_str(&text));
	ot_buf_deinit(&text);
}

/* Missing data is reported under quiet, too. */
static void say_note(void *arg, bool missing, const char *text)
{
	const struct cli_run *r = arg;

	if (missing)
		con_error("%s", text);
	else
		con_notice(&r->inv->opts, "%s", text);
}

/* Report how a guest without an engine in its VMM is traced. */
static void report_source(struct cli_run *r, uint32_t guest)
{
	vp_session_notes(r->session, guest, say_note, r);
}

/* Under quiet too: such a guest produces no data. */
static void report_paused(struct cli_run *r, uint32_t guest)
{
	uint32_t pid;

	if (vp_session_paused(r->session, guest, &pid))
		con_error("guest %s (PID %u) is paused: `cont` in QEMU's monitor lets it run",
			  vp_session_guest_name(r->session, guest), pid);
}

static void report_each(struct cli_run *r, void (*report)(struct cli_run *r, uint32_t guest))
{
	for (uint32_t i = 0; i < vp_session_nguests(r->session); i++)
		report(r, i);
}

void cli_run_report_guest(struct cli_run *r, uint32_t guest)
{
	report_source(r, guest);
	report_paused(r, guest);
	report_cost(r, guest);
}

static int enable(struct cli_run *r)
{
	struct dif_options *opts = &r->inv->opts;
	struct cli_sizes was = cli_sizes_of(opts);
	struct vp_sink sink;
	struct ot_err *err;

	if (opts->grabanon) {
		/* none is ever left behind: see -A */
		con_error("could not enable tracing: No anonymous tracing state");
		return CON_EXIT_ERROR;
	}
	err = con_consumer_init(&r->consumer, opts, &r->comp.prog, r->output, r->out);
	if (err)
		return con_fail(err, NULL);
	r->consumer.file = r->file.beside ? &r->file : NULL;
	r->consumer.compare = r->inv->compare;
	con_consumer_names(&r->consumer, r->session);
	if (r->procs.count)
		r->consumer.out->printer.target_pid = (uint64_t)r->procs.items[0].pid;
	if (r->inv->out)
		r->consumer.out_name = r->inv->out;
	r->consumer.impatient = cli_run_is_impatient;
	r->consumer.impatient_arg = r;
	sink = con_consumer_sink(&r->consumer);
	err = cli_run_watch(r);
	if (!err)
		err = cli_fleet_bind(r, &sink);
	if (!err)
		start_journal(r); /* first: enabling may inject an engine */
	if (!err)
		err = vp_session_enable(r->session, &r->comp.prog, &sink);
	if (!err && r->inv->compare)
		err = con_window_begin(&r->window, r->session);
	if (!err)
		err = cli_run_start_ttl(r);
	if (!err)
		err = vp_session_start(r->session);
	if (!err)
		err = con_joining_start(r->joining);
	if (!err)
		err = cli_fleet_start(r);
	if (!err && r->output->started)
		r->output->started(r->consumer.out, &r->comp.prog);
	con_progress(NULL, NULL);
	if (err)
		return cli_fail_with_cure(opts, err, "could not enable tracing");
	con_session_take_records(r->session, 0);
	report_each(r, report_source);
	report_each(r, report_paused);
	cli_sizes_report(opts, &was);
	cli_memory_report(opts, r->session, r->inv->verbose);
	const char *trap = ot_map_gets(&opts->set, "trap");
	if (trap && !strcmp(trap, "hw")) /* under quiet too: it concerns others */
		con_error("-x trap=hw: the guest's own debug registers don't work during the session");
	report_each(r, report_cost);
	if (opts->destructive)
		con_notice(opts, "allowing destructive actions");
	return CLI_GO_ON;
}

static void report_expired(const struct cli_run *r)
{
	if (r->expired)
		con_error("the session's time limit has passed: -x ttl=%s",
			  (const char *)ot_map_gets(&r->inv->opts.set, "ttl"));
}

/* An error during tracing: of the output (no context is added), or of the session. A reader that closed the
 * output is no error; nor is one that did not read, if the operator would not wait. */
static int abort_processing(struct cli_run *r, struct ot_err *err)
{
	if (con_terminal_gave_up())
		report_expired(r);
	if (con_is_unread(r->out) || con_terminal_gave_up()) {
		ot_err_destroy(err);
		return CON_EXIT_ERROR;
	}
	return ferror(r->out) ? con_fail(err, NULL) : con_fail(err, "processing aborted");
}

/* Trace until the session ends. NULL also if the user ended it: r->interrupts is set then. */
static struct ot_err *trace_loop(struct cli_run *r, enum vp_session_state *state)
{
	do {
		cli_run_read_signals(r); /* a signal may have arrived during BEGIN */
		if (r->interrupts)
			break;
		OT_TRY(vp_session_poll(r->session, r->wake_fd, state));
		OT_TRY(cli_fleet_take(r));
		OT_TRY(con_consumer_flush(&r->consumer));
		if (*state == VP_SESSION_ACTIVE)
			con_joining_take(r->joining);
		cli_processes_check(&r->procs, &r->inv->opts);
		cli_run_read_signals(r);
		cli_run_read_ttl(r);
		if (!r->interrupts && con_is_unread(r->out)) /* a terminal's hang-up is also a SIGHUP */
			return ot_err_os(EPIPE, "failed to write to %s", r->consumer.out_name);
		if (vp_session_target_ended(r->session)) {
			con_notice(&r->inv->opts, "pid %d has exited", (int)r->target);
			break;
		}
	} while (*state == VP_SESSION_ACTIVE && !r->interrupts && !r->expired && !r->fleet_over &&
		 (!r->procs.count || r->procs.live));
	return NULL;
}

/* The tables are printed even if the window could not be read. */
static struct ot_err *show_comparison(struct cli_run *r)
{
	struct ot_err *unread = con_window_end(&r->window, r->session);
	struct ot_err *err = con_consumer_compare(&r->consumer, &r->window, r->interrupts < 2);

	if (!err)
		return unread;
	ot_err_destroy(unread);
	return err;
}

/* Stop, print the rest. After a second interrupt neither is printed. */
static struct ot_err *finish(struct cli_run *r)
{
	struct con_output *out = r->consumer.out;
	struct ot_err *err;

	con_joining_stop(r->joining);
	if (r->interrupts && out->ops->interrupted)
		out->ops->interrupted(out);
	err = cli_fleet_stop(r); /* END is this host's, and sees their data */
	if (!err)
		err = vp_session_stop(r->session);
	if (err && r->interrupts > 1) {
		ot_err_destroy(err);
		err = NULL;
	}
	if (!err)
		err = con_consumer_flush(&r->consumer);
	if (err)
		return err;
	if (out->ops->stopped)
		out->ops->stopped(out);
	cli_run_read_signals(r);
	if (r->inv->compare)
		OT_TRY(show_comparison(r));
	else if (r->interrupts < 2)
		OT_TRY(con_consumer_finish(&r->consumer));
	if (out->ops->end)
		OT_TRY(out->ops->end(out));
	OT_TRY(con_consumer_flush(&r->consumer));
	return out->ops->file == CON_FILE_REPLACED ? con_replaced_put(&r->file, r->out, false) : NULL;
}

/* As with a process that dtrace grabbed: an end by itself is not an error, a kill is. One of several guests
 * is enough, because not everything requested was traced. */
static bool all_ended_well(const struct cli_run *r)
{
	enum vp_guest_end how;

	if (!vp_session_guest_end(r->session, &how))
		return true;
	switch (how) {
	case VP_GUEST_POWERED_OFF:
	case VP_GUEST_RESET:
		return true;
	case VP_GUEST_TRIPLE_FAULT:
	case VP_GUEST_FAILED:
		return false;
	default:
		return r->booted != NULL; /* a guest that was booted for this session may end by itself */
	}
}

static int trace(struct cli_run *r)
{
	enum vp_session_state state = VP_SESSION_ACTIVE;
	uint64_t windows, out_ns;
	struct ot_err *err;
	const char *gone;

	cli_processes_release(&r->procs);
	err = trace_loop(r, &state);
	if (err && r->interrupts < 2)
		return abort_processing(r, err);
	ot_err_destroy(err);
	err = finish(r);
	if (err)
		return abort_processing(r, err);
	vp_session_patching(r->session, &windows, &out_ns);
	con_report_patching(windows, out_ns);
	report_expired(r);
	gone = vp_session_gone_reason(r->session);
	if (gone)
		con_error("%s", gone);
	if (!cli_fleet_report(r) || !all_ended_well(r))
		return CON_EXIT_ERROR;
	int status = vp_session_exit_status(r->session) & 0xff;
	return status ? status : r->fleet_status;
}

int cli_run_trace(struct cli_run *r)
{
	int status = enable(r);

	if (status == CLI_GO_ON)
		status = trace(r);
	con_journal_end(&r->journal, status);
	return status;
}
