/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out a command line: attach guests (attaching.c), compile programs (waitfor.c); then list, save,
 * plan or trace (tracing.c). */
#include "cli/trace.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/asked.h"
#include "cli/header.h"
#include "cli/hints.h"
#include "cli/list.h"
#include "cli/tracing.h"
#include "consumer/joining.h"
#include "consumer/messages.h"
#include "consumer/session_log.h"
#include "fleet/operator/fleet.h"

/* The form of the data, of a trace only: a list or a plan is text. */
static void choose_output(struct cli_run *r)
{
	const struct cli_invocation *inv = r->inv;
	bool traces = inv->mode == CLI_MODE_TRACE && !inv->plan && !inv->compile_only;

	r->output = inv->output ? inv->output : con_output_of(&inv->opts, inv->compare ? NULL : inv->out);
	if (!traces)
		r->output = &con_output_text;
}

/* -o's file, if its readers must always get a complete one. */
static int open_replaced(struct cli_run *r)
{
	struct ot_err *err = con_replaced_begin(&r->file, r->inv->out, &r->out);

	return err ? con_fail(err, "failed to open output file '%s'", r->inv->out) : CLI_GO_ON;
}

static int open_output(struct cli_run *r)
{
	r->out = stdout;
	choose_output(r);
	if (!r->inv->out && r->output->binary && isatty(con_terminal_fileno(stdout))) {
		con_error("oformat=%s can't be written to a terminal: -o FILE names a file",
			  r->output->format);
		return CON_EXIT_USAGE;
	}
	if (!r->inv->out)
		return CLI_GO_ON;
	if (r->output->file != CON_FILE_APPENDED && !r->inv->compare && con_replaced_can(r->inv->out))
		return open_replaced(r);
	FILE *fp = fopen(r->inv->out, "ae");
	if (!fp)
		return con_fail(ot_err_os(errno, "failed to open output file '%s'", r->inv->out), NULL);
	r->out = con_terminal_guard(fp);
	if (r->out)
		return CLI_GO_ON;
	fclose(fp);
	return con_fail(ot_err_nomem(), NULL);
}

static int save_program(const struct cli_run *r)
{
	struct ot_buf dof;
	struct ot_err *err;

	if (r->comp.ncomps > 1)
		return con_fail(ot_err_new(OT_ERR_UNSUPPORTED,
					   "a program that is saved is for one kernel, and the guests "
					   "run several: save it with one guest (-g)"),
				NULL);
	ot_buf_init(&dof);
	err = dif_dof_write(&r->comp.prog, &dof);
	if (!err) {
		FILE *fp = fopen(r->inv->save_dof, "we");
		if (!fp || fwrite(dof.data, 1, dof.len, fp) != dof.len || fflush(fp) == EOF)
			err = ot_err_os(errno, "failed to write to %s", r->inv->save_dof);
		if (fp)
			fclose(fp);
	}
	ot_buf_deinit(&dof);
	return err ? con_fail(err, NULL) : CLI_GO_ON;
}

/* Messages for each program before tracing: how many probes it matched, -v's report. */
static void report_programs(struct cli_run *r)
{
	for (size_t i = 0; i < r->comp.nunits; i++) {
		const struct con_compiled *unit = &r->comp.units[i];
		cli_note_copies(r->session, &r->inv->opts, &r->comp, unit);
		uint64_t matched = unit->matched + cli_fleet_matched_by(r, i);
		if (!r->inv->compile_only)
			con_notice(&r->inv->opts, "%s '%s' matched %llu probe%s", unit->what, unit->name,
				   (unsigned long long)matched, matched == 1 ? "" : "s");
		if (!r->inv->verbose)
			continue;
		FILE *fp = r->output == &con_output_text ? r->out : stderr;
		cli_report_stability(&r->comp, unit, vp_session_world(r->session, 0), fp);
		if (r->inv->compile_only)
			cli_list_descriptions(r->session, &r->comp, unit, fp);
		else
			putc('\n', fp);
	}
}

/* -h */
static int make_header(struct cli_run *r)
{
	ot_auto_free char *name = cli_header_name(r->inv);
	FILE *fp;

	if (!name)
		return CON_EXIT_ERROR;
	fp = fopen(name, "we");
	if (!fp)
		return con_fail(ot_err_os(errno, "failed to open header file '%s'", name), NULL);
	cli_header_write(r->comp.comps[0], name, fp);
	errno = 0;
	if (ferror(fp) | fclose(fp))
		return con_fail(ot_err_os(errno ? errno : EIO, "failed to create header file %s", name),
				NULL);
	return CON_EXIT_OK;
}

static int run_programs(struct cli_run *r)
{
	int status = r->inv->mode == CLI_MODE_HEADER ? CLI_GO_ON : cli_run_wait_for(r);
	if (status == CLI_GO_ON)
		status = cli_fleet_prepare(r);
	if (status == CLI_GO_ON)
		status = cli_run_compile(r);
	if (status == CLI_GO_ON && r->inv->mode == CLI_MODE_HEADER)
		return make_header(r);
	if (status != CLI_GO_ON || (status = open_output(r)) != CLI_GO_ON)
		return status;
	if (r->inv->mode == CLI_MODE_LIST)
		return cli_list(r->session, r->inv, &r->comp, r->out);
	if (r->inv->save_dof && (status = save_program(r)) != CLI_GO_ON)
		return status;
	report_programs(r);
	if (r->inv->compile_only)
		return fflush(r->out) == EOF ? CON_EXIT_ERROR : CON_EXIT_OK;
	if (!r->comp.matched && !cli_fleet_matched(r) && !r->inv->opts.zdefs && !r->inv->opts.grabanon) {
		con_error("no probes matched");
		return CON_EXIT_ERROR;
	}
	if (r->inv->plan)
		return cli_plan(r->session, r->inv, &r->comp, r->out);
	return cli_run_trace(r);
}

static int dump(struct cli_run *r)
{
	bool maps = r->inv->mode == CLI_MODE_DUMP_MAPS;
	int status = open_output(r);

	con_session_note(r->session, maps ? "reading a process's mappings" : "reading symbols");
	if (status != CLI_GO_ON)
		return status;
	return maps ? cli_dump_maps(r->session, r->inv->maps_pid, r->out)
		    : cli_dump_symbols(r->session, r->out);
}

static int run_mode(struct cli_run *r)
{
	int status = cli_fleet_open(r);

	if (status == CLI_GO_ON)
		status = cli_run_attach(r);
	if (status != CLI_GO_ON)
		return status;
	if (r->inv->mode == CLI_MODE_DUMP_SYMBOLS || r->inv->mode == CLI_MODE_DUMP_MAPS)
		return dump(r);
	status = run_programs(r);
	/* the session borrows the program: first the one, then the other */
	vp_session_destroy(r->session);
	r->session = NULL;
	con_window_deinit(&r->window);
	con_consumer_deinit(&r->consumer);
	con_compilation_deinit(&r->comp);
	return status;
}

int cli_trace(struct cli_invocation *inv, const struct cli_booted *booted)
{
	struct cli_run r = { .inv = inv, .booted = booted, .signal_fd = -1, .wake_fd = -1, .ttl_fd = -1 };
	int status;

	status = cli_check_asked(inv);
	if (status != CLI_GO_ON)
		return status;
	if (inv->from_boot && !booted) {
		con_error("-A: an engine keeps no data for a later consumer: `outsight run … "
			  "-- -A …` "
			  "traces a guest from its boot");
		return CON_EXIT_ERROR;
	}
	r.consumer.saved_fd = -1;
	status = cli_check_files(inv);
	if (status == CLI_GO_ON)
		status = cli_fleet_check(inv);
	if (status == CLI_GO_ON)
		status = cli_run_start_processes(&r);
	if (status == CLI_GO_ON)
		status = run_mode(&r);
	vp_session_destroy(r.session);
	con_joining_destroy(r.joining);
	fl_fleet_destroy(r.fleet);
	cli_processes_deinit(&r.procs);
	cli_run_unwatch(&r);
	if (r.out && r.out != stdout)
		fclose(r.out);
	con_replaced_deinit(&r.file);
	return status;
}
