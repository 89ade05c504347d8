/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out a command line: attach guests, compile programs; then list, save, plan or trace
 * (tracing.c). */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/header.h"
#include "cli/hints.h"
#include "cli/list.h"
#include "cli/trace.h"
#include "cli/tracing.h"
#include "consumer/guest_patterns.h"
#include "consumer/joining.h"
#include "consumer/messages.h"
#include "consumer/session_log.h"
#include "consumer/terminal.h"
#include "fleet/operator/fleet.h"
#include "vmm-probe/guest/census.h"

/* --- checks that need no guest ----------------------------------------------------------- */

static struct ot_err *check_readable(const char *path)
{
	return access(path, R_OK) ? ot_err_os(errno, "failed to open %s", path) : NULL;
}

/* The file is made when there is something to write. */
static struct ot_err *check_writable(const char *path)
{
	ot_auto_free char *dir = strdup(path);
	ot_auto_close int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);

	if (!dir)
		return ot_err_nomem();
	if (fd >= 0 || errno == ENXIO) /* a FIFO without a reader */
		return NULL;
	if (errno == ENOENT && !access(dirname(dir), W_OK | X_OK))
		return NULL;
	return ot_err_os(errno, "failed to open output file '%s'", path);
}

int cli_check_files(const struct cli_invocation *inv)
{
	struct ot_err *err = inv->load_dof ? check_readable(inv->load_dof) : NULL;

	for (size_t i = 0; !err && i < inv->nprograms; i++)
		if (inv->programs[i].is_script)
			err = check_readable(inv->programs[i].arg);
	if (!err && inv->out && inv->mode != CLI_MODE_HEADER)
		err = check_writable(inv->out);
	return err ? con_fail(err, NULL) : CLI_GO_ON;
}

/* --- attaching ---------------------------------------------------------------------- */

/* Only probes that will be enabled may need an engine to be injected. */
static enum vp_entry entry(const struct cli_invocation *inv)
{
	if (inv->mode != CLI_MODE_TRACE || inv->plan || inv->compile_only)
		return VP_ENTRY_UNNEEDED;
	return inv->opts.noattach ? VP_ENTRY_REFUSED : VP_ENTRY_AS_NEEDED;
}

/* -p's process must be there when tracing begins, as a mistyped number would never match. */
static struct ot_err *find_target(const struct cli_run *r)
{
	struct vp_census census = { 0 };
	bool found = false;

	if (vp_session_nguests(r->session) != 1)
		return ot_err_new(OT_ERR_NOT_FOUND, "-p %d: %s", (int)r->target,
				  vp_session_nguests(r->session)
				      ? "more than one guest is traced: name one by -g"
				      : "no guest is traced: for a process of this "
					"host, use -g none");
	struct ot_err *err = vp_session_census(r->session, 0, vp_census_tasks, &census);
	for (size_t i = 0; !err && i < census.count && !found; i++)
		found = census.items[i].id == (uint64_t)r->target;
	vp_census_deinit(&census);
	if (err || found)
		return err ? err : vp_session_watch_target(r->session, 0);
	return ot_err_new(OT_ERR_NOT_FOUND, "guest %s has no process %d (for one of this host, use -g none)",
			  vp_session_guest_name(r->session, 0), (int)r->target);
}

void cli_entering(void *arg, const char *guest, uint32_t pid, const char *why)
{
	(void)arg;
	con_journal_note_one("injecting", guest);
	con_report_entering(guest, pid, why);
}

static int attach(struct cli_run *r)
{
	struct vp_session_config config = {
		.options = &r->inv->opts,
		.target_pid = r->target,
		.sysroot = r->inv->sysroot,
		.has_others = cli_fleet_is_asked(r->inv),
		.attach = {
			.vmlinux = r->inv->vmlinux,
			.symbols = r->inv->symbols,
			.no_cache = r->inv->no_cache,
			.entry = entry(r->inv),
			.from_boot = r->inv->from_boot,
			.progress = con_progress,
			.entering = cli_entering,
		},
	};
	struct ot_err *err = vp_session_create(&config, &r->session);

	if (!err && r->booted)
		err = cli_run_attach_booted(r);
	else if (!err && !r->inv->guests.count)
		/* a header is independent of guests */
		err = vp_session_attach(r->session, r->inv->mode == CLI_MODE_HEADER ? "none" : NULL);
	const char *guest = NULL;
	size_t nlocal = 0;
	for (size_t i = 0; !err && !r->booted && i < r->inv->guests.count; i++) {
		if (cli_fleet_means(r->inv, r->inv->guests.items[i]))
			continue;
		nlocal++;
		guest = r->inv->guests.items[i];
		err = con_is_guest_pattern(guest) ? cli_run_attach_pattern(r, guest)
						  : vp_session_attach(r->session, guest);
	}
	if (err && guest && !con_is_guest_pattern(guest))
		return cli_fail_guest(&r->inv->opts, err, guest);
	if (!err && !nlocal && config.has_others) /* BEGIN, END and ticks are this host's nevertheless */
		err = vp_session_attach(r->session, "none");
	for (uint32_t i = 0; !err && r->inv->compare && (!i || i < vp_session_nguests(r->session)); i++)
		err = vp_session_need_agent(r->session, i, NULL);
	if (!err && r->target && !r->procs.count)
		err = find_target(r);
	if (!err && r->inv->mode == CLI_MODE_TRACE)
		err = cli_run_await(r);
	con_progress(NULL, NULL);
	return err ? con_fail(err, NULL) : CLI_GO_ON;
}

/* With -g none, -c and -p are about processes of this host; else -p names one of the guest's. */
static int start_processes(struct cli_run *r)
{
	const struct cli_invocation *inv = r->inv;
	bool host = inv->guests.count == 1 && !strcmp(inv->guests.items[0], "none");
	struct ot_err *err;

	if (!inv->commands.count && !inv->pids.count)
		return CLI_GO_ON;
	if (!host && inv->commands.count) {
		con_error("-c starts a command on this host: use it with -g none; -x waitfor=NAME takes the "
			  "guest's next process of that name");
		return CON_EXIT_ERROR;
	}
	if (!host && (inv->pids.count > 1 || inv->guests.count > 1)) {
		con_error("-p names one process of one guest: use one -p and one -g");
		return CON_EXIT_ERROR;
	}
	err = host ? cli_processes_start(&r->procs, inv) : cli_process_number(inv->pids.items[0], &r->target);
	if (host && !err)
		r->target = r->procs.items[0].pid;
	return err ? con_fail(err, NULL) : CLI_GO_ON;
}

/* --- modes ------------------------------------------------------------------------------- */

/* The form of the data. Only of a trace: a list or a plan is text. */
static void choose_output(struct cli_run *r)
{
	const struct cli_invocation *inv = r->inv;
	bool traces = inv->mode == CLI_MODE_TRACE && !inv->plan && !inv->compile_only;

	r->output = inv->output ? inv->output : con_output_of(&inv->opts, inv->compare ? NULL : inv->out);
	if (!traces)
		r->output = &con_output_text;
}

/* -o's file, if its readers are to see it whole only. */
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
		con_error("oformat=%s is nothing for a terminal: -o FILE names a file", r->output->format);
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
		status = attach(r);
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
		status = start_processes(&r);
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
