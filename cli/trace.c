/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a session as the operator sees it. Ending it is the delicate part: whatever happens
 * (exit(), Ctrl-C, a full disk, a dead guest), the session is destroyed on the way out, and with
 * it every trace of it in the guests.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/units.h"
#include "cli/consumer.h"
#include "cli/header.h"
#include "cli/journal.h"
#include "cli/list.h"
#include "cli/messages.h"
#include "cli/process.h"
#include "cli/trace.h"
#include "cli/window.h"

/* How long a guest that was just booted may take until its kernel can be read. */
#define BOOT_SECONDS 120

struct run {
	struct cli_invocation *inv;
	const struct cli_booted *booted;
	struct vp_session *session;
	struct cli_compilation comp;
	struct cli_processes procs;
	struct cli_consumer consumer;
	struct cli_window window; /* of a comparison */
	FILE *out;
	int signal_fd, wake_fd;
	int ttl_fd; /* a timer; -1: -x ttl is not set */
	bool expired;
	unsigned interrupts;
	struct cli_journal journal;
};

/* --- attaching ---------------------------------------------------------------------- */

/* Until the kernel is up, what there is to read is not there or not whole. */
static bool may_come(const struct ot_err *err)
{
	switch (ot_err_code(err)) {
	case OT_ERR_NOT_FOUND:
	case OT_ERR_BAD_DATA:
	case OT_ERR_FAULT:
	case OT_ERR_BUSY:
	case OT_ERR_GUEST_GONE: /* alive() knows better: the firmware changes the machine */
		return true;
	default:
		return false;
	}
}

static struct ot_err *attach_booted(struct run *r)
{
	/* -A: not a moment later than need be */
	struct timespec pause = { .tv_nsec = r->inv->from_boot ? 10000000 : 200000000 };
	time_t deadline = time(NULL) + BOOT_SECONDS;
	struct ot_err *err;

	while ((err = vp_session_attach(r->session, r->booted->socket)) && may_come(err)) {
		if (time(NULL) > deadline || !r->booted->alive(r->booted->arg))
			break;
		ot_err_destroy(err);
		cli_progress(NULL, "waiting for the guest's kernel");
		nanosleep(&pause, NULL);
	}
	return err;
}

static int attach(struct run *r)
{
	struct vp_session_config config = {
		.options = &r->inv->opts,
		.vmlinux = r->inv->vmlinux,
		.symbols = r->inv->symbols,
		.no_cache = r->inv->no_cache,
		.may_look = r->inv->mode == CLI_MODE_TRACE && !r->inv->plan && !r->inv->compile_only,
		.from_boot = r->inv->from_boot,
		.target_pid = r->procs.count ? r->procs.items[0].pid : 0,
		.progress = cli_progress,
	};
	struct ot_err *err = vp_session_create(&config, &r->session);

	if (!err && r->booted)
		err = attach_booted(r);
	else if (!err && !r->inv->guests.count)
		/* a header says nothing of any guest */
		err = vp_session_attach(r->session, r->inv->mode == CLI_MODE_HEADER ? "none" : NULL);
	for (size_t i = 0; !err && !r->booted && i < r->inv->guests.count; i++)
		err = vp_session_attach(r->session, r->inv->guests.items[i]);
	for (uint32_t i = 0; !err && r->inv->compare && (!i || i < vp_session_nguests(r->session)); i++)
		err = vp_session_need_agent(r->session, i, NULL);
	cli_progress(NULL, NULL);
	return err ? cli_fail(err, NULL) : CLI_GO_ON;
}

/* -c and -p are about processes of this host, and so is a session without a guest. */
static int start_processes(struct run *r)
{
	const struct cli_invocation *inv = r->inv;
	struct ot_err *err;

	if (!inv->commands.count && !inv->pids.count)
		return CLI_GO_ON;
	if (inv->guests.count != 1 || strcmp(inv->guests.items[0], "none") != 0) {
		cli_error("-c and -p are for processes of this host: use them with -g none");
		return CLI_EXIT_ERROR;
	}
	err = cli_processes_start(&r->procs, inv);
	return err ? cli_fail(err, NULL) : CLI_GO_ON;
}

/* --- signals ------------------------------------------------------------------------ */

/* From here on the signals that end a session are read, not taken. */
static struct ot_err *watch_signals(struct run *r)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error like others */
	r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	r->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->signal_fd < 0 || r->wake_fd < 0)
		return ot_err_os(errno, "signalfd");
	struct epoll_event ev = { .events = EPOLLIN };
	if (epoll_ctl(r->wake_fd, EPOLL_CTL_ADD, r->signal_fd, &ev) < 0)
		return ot_err_os(errno, "epoll");
	for (size_t i = 0; i < r->procs.count; i++)
		if (epoll_ctl(r->wake_fd, EPOLL_CTL_ADD, r->procs.items[i].fd, &ev) < 0)
			return ot_err_os(errno, "epoll");
	return NULL;
}

/* -x ttl, from when tracing starts. */
static struct ot_err *start_ttl(struct run *r)
{
	uint64_t ns = r->inv->opts.ttl_ns;
	const struct itimerspec at = { .it_value = ot_timespec(ns) };
	struct epoll_event ev = { .events = EPOLLIN };

	if (!ns)
		return NULL;
	/* the time that a suspended host sleeps counts: the limit is an operator's */
	r->ttl_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->ttl_fd < 0 || timerfd_settime(r->ttl_fd, 0, &at, NULL) < 0 ||
	    epoll_ctl(r->wake_fd, EPOLL_CTL_ADD, r->ttl_fd, &ev) < 0)
		return ot_err_os(errno, "-x ttl");
	return NULL;
}

static void read_ttl(struct run *r)
{
	uint64_t times;

	if (r->ttl_fd >= 0 && read(r->ttl_fd, &times, sizeof(times)) == sizeof(times))
		r->expired = true;
}

static void read_signals(struct run *r)
{
	struct signalfd_siginfo info;

	while (read(r->signal_fd, &info, sizeof(info)) == sizeof(info))
		r->interrupts++;
}

/* A second signal: the user does not want to wait for the rest. */
static bool is_impatient(void *arg)
{
	struct run *r = arg;

	read_signals(r);
	return r->interrupts > 1;
}

/* --- symbols for the printer ---------------------------------------------------------- */

static void kernel_symbol(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf,
			  size_t size)
{
	const struct run *r = arg;

	if (r->inv->opts.noresolve)
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	else
		vp_session_symbol(r->session, guest, addr, form, buf, size);
}

static void user_symbol(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, enum vp_symbol_form form,
			char *buf, size_t size)
{
	const struct run *r = arg;

	if (r->inv->opts.noresolve)
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	else
		vp_session_user_symbol(r->session, guest, pid, addr, form, buf, size);
}

/* --- tracing ---------------------------------------------------------------------------- */

/* Options that enabling may have lowered, and what they were. */
struct sizes {
	uint64_t buf, agg, spec, dynvar, clean_ns;
};

static struct sizes sizes_of(const struct dif_options *o)
{
	return (struct sizes){ o->bufsize, o->aggsize, o->specsize, o->dynvarsize, o->cleanrate_ns };
}

static void report_lowered(const char *what, uint64_t was, uint64_t is)
{
	static const char units[] = " kmgtpe";
	unsigned unit = 0;

	if (!is || is + sizeof(uint64_t) >= was)
		return;
	while (unit + 1 < sizeof(units) - 1 && is >> (10 * (unit + 1)))
		unit++;
	if (unit && !(is & ((1ull << (10 * unit)) - 1)))
		cli_error("%s lowered to %llu%c", what, (unsigned long long)is >> (10 * unit), units[unit]);
	else
		cli_error("%s lowered to %llu bytes", what, (unsigned long long)is);
}

static void report_rate(const char *what, uint64_t was_ns, uint64_t is_ns)
{
	const char *how = is_ns > was_ns ? "reduced" : "increased";

	if (is_ns == was_ns || !is_ns)
		return;
	if (is_ns <= OT_NS_PER_SEC)
		cli_error("%s %s to %llu hz", what, how, (unsigned long long)(OT_NS_PER_SEC / is_ns));
	else
		cli_error("%s %s to once every %llu seconds", what, how,
			  (unsigned long long)(is_ns / OT_NS_PER_SEC));
}

/* By the names that their engines have. A session that touches no guest is nobody's business. */
static void start_journal(struct run *r)
{
	struct cli_strings names = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < vp_session_nguests(r->session); i++)
		ok = cli_strings_add(&names, vp_session_guest_name(r->session, i));
	if (ok && names.count)
		cli_journal_start(&r->journal, r->inv, &names, r->comp.matched);
	free(names.items);
}

/* Under quiet too: it concerns others. */
static void report_gdb_cost(const struct run *r)
{
	uint64_t request_ns, hit_ns;

	for (uint32_t i = 0; i < vp_session_nguests(r->session); i++)
		if (vp_session_gdb_cost(r->session, i, &request_ns, &hit_ns))
			cli_error("guest %s is traced through its gdb stub: all of it stands still at each "
				  "hit, for about "
				  "%.1f ms here (a request takes %llu us)",
				  vp_session_guest_name(r->session, i), (double)hit_ns / 1e6,
				  (unsigned long long)(request_ns / 1000));
}

static int enable(struct run *r)
{
	struct dif_options *opts = &r->inv->opts;
	struct sizes was = sizes_of(opts), is;
	struct vp_sink sink;
	struct ot_err *err;

	if (opts->grabanon) {
		/* none is ever left behind: see -A */
		cli_error("could not enable tracing: No anonymous tracing state");
		return CLI_EXIT_ERROR;
	}
	err = cli_consumer_init(&r->consumer, opts, &r->comp.prog, r->out);
	if (err)
		return cli_fail(err, NULL);
	r->consumer.compare = r->inv->compare;
	r->consumer.json = r->inv->json;
	r->consumer.printer.symbols = (struct cli_symbols){ r, kernel_symbol, user_symbol };
	if (r->procs.count)
		r->consumer.printer.target_pid = (uint64_t)r->procs.items[0].pid;
	if (r->inv->out)
		r->consumer.out_name = r->inv->out;
	r->consumer.impatient = is_impatient;
	r->consumer.impatient_arg = r;
	sink = cli_consumer_sink(&r->consumer);
	err = watch_signals(r);
	if (!err)
		err = vp_session_enable(r->session, &r->comp.prog, &sink);
	if (!err && r->inv->compare)
		err = cli_window_begin(&r->window, r->session);
	if (!err)
		err = start_ttl(r);
	if (!err)
		start_journal(r);
	if (!err)
		err = vp_session_start(r->session);
	cli_progress(NULL, NULL);
	if (err)
		return cli_fail(err, "could not enable tracing");
	is = sizes_of(opts);
	if (!opts->quietresize) {
		report_lowered("buffer size", was.buf, is.buf);
		report_lowered("aggregation size", was.agg, is.agg);
		report_lowered("speculation size", was.spec, is.spec);
		report_lowered("dynamic variable size", was.dynvar, is.dynvar);
	}
	report_rate("cleaning rate", was.clean_ns, is.clean_ns);
	const char *trap = ot_map_gets(&opts->set, "trap");
	if (trap && !strcmp(trap, "hw")) /* under quiet too: it concerns others */
		cli_error("-x trap=hw: the guest's own debug registers do not work meanwhile");
	report_gdb_cost(r);
	if (opts->destructive)
		cli_notice(opts, "allowing destructive actions");
	return CLI_GO_ON;
}

/* An error on the way: of the output (it says what), or of the session. */
static int abort_processing(struct run *r, struct ot_err *err)
{
	return ferror(r->out) ? cli_fail(err, NULL) : cli_fail(err, "processing aborted");
}

/* Until something ends it. NULL also when the user does: r->interrupts says so. */
static struct ot_err *trace_loop(struct run *r, enum vp_session_state *state)
{
	do {
		OT_TRY(vp_session_poll(r->session, r->wake_fd, state));
		OT_TRY(cli_consumer_flush(&r->consumer));
		cli_processes_check(&r->procs, &r->inv->opts);
		read_signals(r);
		read_ttl(r);
	} while (*state == VP_SESSION_ACTIVE && !r->interrupts && !r->expired &&
		 (!r->procs.count || r->procs.live));
	return NULL;
}

/* What a comparison says besides: of machines, all of it. */
static struct ot_err *print_views(struct run *r)
{
	struct cli_consumer *c = &r->consumer;

	if (!c->json)
		return cli_window_print(&r->window, r->session, r->out);
	fputs("{\"aggregations\": ", r->out);
	OT_TRY(cli_json_comparison(&c->printer, &r->comp.prog, &c->aggs, &c->inside));
	fputs(", \"guests\": ", r->out);
	OT_TRY(cli_window_json(&r->window, r->session, r->out));
	fputs("}\n", r->out);
	return NULL;
}

/* Stop, print the rest. Impatient users get neither. */
static struct ot_err *finish(struct run *r)
{
	struct ot_err *err;

	if (r->interrupts)
		putc('\n', r->out);
	err = vp_session_stop(r->session);
	if (err && r->interrupts > 1) {
		ot_err_destroy(err);
		err = NULL;
	}
	if (!err)
		err = cli_consumer_flush(&r->consumer);
	if (err)
		return err;
	putc('\n', r->out);
	read_signals(r);
	if (r->interrupts < 2)
		OT_TRY(cli_consumer_finish(&r->consumer));
	if (r->inv->compare)
		OT_TRY(print_views(r));
	return cli_consumer_flush(&r->consumer);
}

/* As with a process that dtrace grabbed: one that ended by itself is no error, one that was killed is. */
static bool ended_well(const struct run *r)
{
	switch (vp_session_guest_end(r->session)) {
	case VP_GUEST_POWERED_OFF:
	case VP_GUEST_RESET:
		return true;
	case VP_GUEST_TRIPLE_FAULT:
	case VP_GUEST_FAILED:
		return false;
	default:
		return r->booted != NULL; /* a guest that was booted for this may well end by itself */
	}
}

static int trace(struct run *r)
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
	cli_report_patching(windows, out_ns);
	if (r->expired)
		cli_error("the session's time is over: -x ttl=%s",
			  (const char *)ot_map_gets(&r->inv->opts.set, "ttl"));
	gone = vp_session_gone_reason(r->session);
	if (gone) {
		cli_error("%s", gone);
		if (!ended_well(r))
			return CLI_EXIT_ERROR;
	}
	return vp_session_exit_status(r->session) & 0xff;
}

/* --- what the command line asks for ------------------------------------------------------ */

static int open_output(struct run *r)
{
	r->out = stdout;
	if (!r->inv->out)
		return CLI_GO_ON;
	r->out = fopen(r->inv->out, "ae");
	if (r->out)
		return CLI_GO_ON;
	return cli_fail(ot_err_os(errno, "failed to open output file '%s'", r->inv->out), NULL);
}

static int save_program(const struct run *r)
{
	struct ot_buf dof;
	struct ot_err *err;

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
	return err ? cli_fail(err, NULL) : CLI_GO_ON;
}

/* What is said of each program before tracing: how many probes it matched, -v's report. */
static void report_programs(struct run *r)
{
	for (size_t i = 0; i < r->comp.nunits; i++) {
		const struct cli_compiled *unit = &r->comp.units[i];
		if (!r->inv->compile_only)
			cli_notice(&r->inv->opts, "%s '%s' matched %llu probe%s", unit->what, unit->name,
				   (unsigned long long)unit->matched, unit->matched == 1 ? "" : "s");
		if (!r->inv->verbose)
			continue;
		cli_report_stability(&r->comp, unit, vp_session_world(r->session), r->out);
		if (r->inv->compile_only)
			cli_list_descriptions(r->session, &r->comp, unit, r->out);
		else
			putc('\n', r->out);
	}
}

/* -h */
static int make_header(struct run *r)
{
	ot_auto_free char *name = cli_header_name(r->inv);
	FILE *fp;

	if (!name)
		return CLI_EXIT_ERROR;
	fp = fopen(name, "we");
	if (!fp)
		return cli_fail(ot_err_os(errno, "failed to open header file '%s'", name), NULL);
	cli_header_write(r->comp.comp, name, fp);
	errno = 0;
	if (ferror(fp) | fclose(fp))
		return cli_fail(ot_err_os(errno ? errno : EIO, "failed to create header file %s", name),
				NULL);
	return CLI_EXIT_OK;
}

static bool any_beside(const struct run *r)
{
	struct vp_beside_info info;

	for (uint32_t i = 0; i < vp_session_nguests(r->session); i++)
		if (vp_session_beside(r->session, i, &info))
			return true;
	return false;
}

/* A guest that is looked at from beside its VMM: does that do for the program? It is compiled to find out,
 * and if so again, silently the first time; a program with errors thus never puts anything anywhere. */
static int enter_guests(struct run *r)
{
	char why[256];

	if (!any_beside(r))
		return CLI_GO_ON;
	r->comp.silent = true;
	int status = cli_compile(&r->comp, r->inv, vp_session_world(r->session));
	bool enough = status != CLI_GO_ON || vp_session_suffices(r->session, &r->comp.prog, why, sizeof(why));
	cli_compilation_deinit(&r->comp);
	r->comp = (struct cli_compilation){ 0 };
	if (enough)
		return CLI_GO_ON;
	cli_notice(&r->inv->opts,
		   "%s: the engine goes into the VMM, as looking from beside does not do for it", why);
	struct ot_err *err = vp_session_enter(r->session);
	cli_progress(NULL, NULL);
	return err ? cli_fail(err, "%s can't be had, only dtrace:::, profile:::, tick and vm:::stat probes",
			      why)
		   : CLI_GO_ON;
}

/* How a guest is traced that had no engine in it. */
static void report_beside(const struct run *r)
{
	struct vp_beside_info info;

	for (uint32_t i = 0; i < vp_session_nguests(r->session); i++) {
		bool beside = vp_session_beside(r->session, i, &info);
		const char *fell_back = vp_session_fell_back(r->session, i);
		if (fell_back)
			cli_notice(
			    &r->inv->opts,
			    beside
				? "%s: no engine can go into its VMM: %s"
				: "%s: the engine went into its VMM, as looking from beside did not do: %s",
			    vp_session_guest_name(r->session, i), fell_back);
		if (!beside)
			continue;
		cli_notice(
		    &r->inv->opts,
		    "%s: looked at from beside its VMM (PID %u): samples by the VMM's own kick, nothing is "
		    "put into it",
		    info.name, info.pid);
		if (info.unread) /* under quiet too: names are missing */
			cli_error("%s: no kernel was found, so nothing has a name: %s", info.name,
				  info.unread);
	}
}

static int run_programs(struct run *r)
{
	int status = enter_guests(r);

	if (status != CLI_GO_ON)
		return status;
	status = cli_compile(&r->comp, r->inv, vp_session_world(r->session));
	if (status == CLI_GO_ON && r->inv->mode == CLI_MODE_HEADER)
		return make_header(r);
	if (status != CLI_GO_ON || (status = open_output(r)) != CLI_GO_ON)
		return status;
	if (r->inv->mode == CLI_MODE_LIST)
		return cli_list(r->session, r->inv, &r->comp, r->out);
	if (r->inv->save_dof && (status = save_program(r)) != CLI_GO_ON)
		return status;
	report_beside(r);
	report_programs(r);
	if (r->inv->compile_only)
		return fflush(r->out) == EOF ? CLI_EXIT_ERROR : CLI_EXIT_OK;
	if (!r->comp.matched && !r->inv->opts.zdefs && !r->inv->opts.grabanon) {
		cli_error("no probes matched");
		return CLI_EXIT_ERROR;
	}
	if (r->inv->plan)
		return cli_plan(r->session, r->inv, &r->comp, r->out);
	status = enable(r);
	if (status == CLI_GO_ON)
		status = trace(r);
	cli_journal_end(&r->journal, status);
	return status;
}

static int run_mode(struct run *r)
{
	int status = attach(r);

	if (status != CLI_GO_ON)
		return status;
	if (r->inv->mode == CLI_MODE_DUMP_SYMBOLS) {
		status = open_output(r);
		return status == CLI_GO_ON ? cli_dump_symbols(r->session, r->out) : status;
	}
	status = run_programs(r);
	/* the session borrows the program: first the one, then the other */
	vp_session_destroy(r->session);
	r->session = NULL;
	cli_window_deinit(&r->window);
	cli_consumer_deinit(&r->consumer);
	cli_compilation_deinit(&r->comp);
	return status;
}

int cli_trace(struct cli_invocation *inv, const struct cli_booted *booted)
{
	struct run r = { .inv = inv, .booted = booted, .signal_fd = -1, .wake_fd = -1, .ttl_fd = -1 };
	int status;

	if (inv->mode == CLI_MODE_TRACE && !inv->nprograms && !inv->load_dof && !inv->compile_only &&
	    !inv->opts.grabanon && !inv->opts.zdefs) {
		cli_error("no probes specified");
		return CLI_EXIT_ERROR;
	}
	if (inv->from_boot && !booted) {
		cli_error("-A: an engine keeps nothing for a consumer that is yet to come: `outsight run … "
			  "-- -A …` "
			  "traces a guest from its boot");
		return CLI_EXIT_ERROR;
	}
	r.consumer.saved_fd = -1;
	status = start_processes(&r);
	if (status == CLI_GO_ON)
		status = run_mode(&r);
	vp_session_destroy(r.session);
	cli_processes_deinit(&r.procs);
	if (r.signal_fd >= 0)
		close(r.signal_fd);
	if (r.wake_fd >= 0)
		close(r.wake_fd);
	if (r.ttl_fd >= 0)
		close(r.ttl_fd);
	if (r.out && r.out != stdout)
		fclose(r.out);
	return status;
}
