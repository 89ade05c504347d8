/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guests of a run, and the process that -c or -p makes its $target. */
#include <string.h>

#include "cli/hints.h"
#include "cli/trace.h"
#include "cli/tracing.h"
#include "consumer/guest_patterns.h"
#include "consumer/messages.h"
#include "consumer/session_log.h"
#include "consumer/terminal.h"
#include "vmm-probe/guest/census.h"

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

int cli_run_attach(struct cli_run *r)
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

int cli_run_start_processes(struct cli_run *r)
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
