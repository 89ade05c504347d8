/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparing a guest's memory with the guest's own list, and the places in its memory with each other. One
 * round is the guest's list, then a walk of ours; a comparison takes as many rounds as are needed to exclude
 * objects that are just coming or going.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/compare.h"
#include "cli/compiling.h"
#include "cli/signals.h"
#include "cli/trace.h"
#include "consumer/messages.h"
#include "consumer/output/output.h"
#include "consumer/session_log.h"
#include "vmm-probe/session/session.h"

/* A guest whose agent reports nothing for so long is paused, or the agent was unloaded. */
#define PATIENCE_SECONDS 60
/* Between rounds, if there are no passes of the agent; and between comparisons with --watch. */
#define ROUND_NS         (OT_NS_PER_SEC / 5)
#define WATCH_NS         OT_NS_PER_SEC

struct run {
	struct cli_invocation *inv;
	const struct cli_comparison *ask;
	const struct cli_compare_list *list;
	struct vp_session *session;
	struct con_compilation comp;
	struct cli_compare_inside inside;
	struct con_hidden hidden; /* of the present or the last comparison */
	uint32_t ways;
	uint64_t resume_ns; /* no round begins before */
	bool interrupted;
	size_t differences;
	int signal_fd;
};

/* --- the sink --------------------------------------------------------------------------------------- */

static struct ot_err *on_record(void *arg, const struct vp_record *rec)
{
	struct run *r = arg;

	return cli_compare_record(&r->inside, rec);
}

static struct ot_err *on_aggregate(void *arg, const struct vp_aggregate *agg)
{
	(void)arg;
	(void)agg;
	return NULL;
}

static struct ot_err *on_fault(void *arg, const struct vp_fault_info *fault)
{
	(void)arg;
	con_report_fault(fault);
	return NULL;
}

/* A pass that lost events is incomplete; the next one replaces it. */
static struct ot_err *on_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	(void)arg;
	(void)kind;
	(void)cpu;
	(void)count;
	return NULL;
}

static struct ot_err *on_overload(void *arg, const struct vp_overload_info *overload)
{
	(void)arg;
	con_report_overload(overload);
	return NULL;
}

/* --- rounds ------------------------------------------------------------------------------------------- */

static struct ot_err *add_all(struct vp_census *to, const struct vp_census *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct vp_found *f = &from->items[i];

		OT_TRY(vp_census_add(to, f->id, f->since_ns, f->ways, f->name, strlen(f->name)));
	}
	to->ways |= from->ways;
	vp_census_join(to);
	return NULL;
}

static struct ot_err *take_outside(struct run *r, struct vp_census *ret)
{
	return r->list->take ? vp_session_census(r->session, 0, r->list->take, ret)
			     : vp_session_census_of(r->session, 0, r->ask->pid, r->list->take_of, ret);
}

static struct ot_err *end_round(struct run *r, const struct vp_census *inside)
{
	ot_auto(vp_census_deinit) struct vp_census seen = { 0 };

	OT_TRY(take_outside(r, &seen));
	OT_TRY(r->inside.path ? con_inside_join(&r->inside.text, &seen) : add_all(&seen, inside));
	r->ways = seen.ways;
	con_hidden_round(&r->hidden, &seen);
	return NULL;
}

/* A guest that changes too much to be read is read again, if there is time. */
static struct ot_err *try_round(struct run *r, const struct vp_census *inside, bool *ret_round)
{
	struct ot_err *err = end_round(r, inside);

	*ret_round = !err;
	if (!err || ot_err_code(err) != OT_ERR_BUSY || !r->ask->watch)
		return err;
	ot_err_destroy(err);
	return NULL;
}

/* A pass that is complete is a round; without the agent it is time for one now and then. */
static struct ot_err *take_round(struct run *r, bool *ret_round)
{
	ot_auto(vp_census_deinit) struct vp_census inside = { 0 };
	uint64_t now = ot_now_ns();
	bool whole = true;

	*ret_round = false;
	if (r->inside.by_agent)
		OT_TRY(cli_compare_pass(&r->inside, &inside, &whole));
	if (!whole || now < r->resume_ns)
		return NULL;
	if (!r->inside.by_agent)
		r->resume_ns = now + ROUND_NS;
	return try_round(r, &inside, ret_round);
}

static struct ot_err *no_answer(const struct run *r)
{
	return ot_err_new(OT_ERR_BUSY,
			  "the guest's agent has not reported its %s for %d s: is the guest paused, or the "
			  "agent unloaded?",
			  r->list->kind->many, PATIENCE_SECONDS);
}

/* A comparison, unless the user ends it. */
static struct ot_err *go_rounds(struct run *r)
{
	enum vp_session_state state = VP_SESSION_ACTIVE;
	time_t last = time(NULL);

	con_hidden_deinit(&r->hidden);
	r->hidden = (struct con_hidden){ 0 };
	if (r->inside.path)
		OT_TRY(cli_compare_read_text(&r->inside, r->inside.path));
	while (!con_hidden_done(&r->hidden)) {
		bool round;

		OT_TRY(vp_session_poll(r->session, r->signal_fd, &state));
		r->interrupted = cli_signals_take(r->signal_fd);
		if (r->interrupted)
			return r->ask->watch ? NULL : ot_err_new(OT_ERR_BUSY, "interrupted");
		if (state != VP_SESSION_ACTIVE)
			return ot_err_new(OT_ERR_GUEST_GONE, "%s",
					  vp_session_gone_reason(r->session) ?: "the guest has ended");
		OT_TRY(take_round(r, &round));
		if (round)
			last = time(NULL);
		else if (time(NULL) - last > PATIENCE_SECONDS)
			return no_answer(r);
	}
	return NULL;
}

/* --- results ------------------------------------------------------------------------------------------ */

static struct ot_err *show(const struct run *r, const struct con_hidden *h)
{
	struct con_output *out = NULL;

	OT_TRY(con_output_create(r->inv->output, &r->inv->opts, stdout, &out));
	struct ot_err *err = out->ops->hidden(out, r->list->kind, h, r->ways);

	con_output_destroy(out);
	if (!err && fflush(stdout) == EOF)
		err = ot_err_os(errno, "failed to write to <stdout>");
	return err;
}

/* The differences in @now that are not in @before. */
static struct ot_err *show_beyond(const struct run *r, const struct con_hidden *now,
				  const struct con_hidden *before, enum con_hidden_change change)
{
	ot_auto(con_hidden_deinit) struct con_hidden news = { 0 };
	struct timespec wall;

	OT_TRY(con_hidden_beyond(now, before, &news));
	clock_gettime(CLOCK_REALTIME, &wall);
	news.change = change;
	news.time_ns = (uint64_t)wall.tv_sec * OT_NS_PER_SEC + (uint64_t)wall.tv_nsec;
	return news.differing.count ? show(r, &news) : NULL;
}

/* Repeat until the user ends it. */
static struct ot_err *watch(struct run *r)
{
	ot_auto(con_hidden_deinit) struct con_hidden before = { 0 };

	for (bool first = true;; first = false) {
		OT_TRY(go_rounds(r));
		if (r->interrupted)
			return NULL;
		if (first) {
			OT_TRY(show(r, &r->hidden));
		} else {
			OT_TRY(show_beyond(r, &before, &r->hidden, CON_HIDDEN_GONE));
			OT_TRY(show_beyond(r, &r->hidden, &before, CON_HIDDEN_NEW));
		}
		con_hidden_deinit(&before);
		before = r->hidden;
		r->differences = before.differing.count;
		r->hidden = (struct con_hidden){ 0 };
		r->resume_ns = ot_now_ns() + WATCH_NS;
	}
}

/* --- the session ---------------------------------------------------------------------------------------- */

/* The agent emits five passes a second; dtrace's switchrate of 1 Hz would delay them. */
static struct ot_err *set_rate(struct dif_options *opts)
{
	if (ot_map_gets(&opts->set, "switchrate"))
		return NULL;
	return dif_options_set(opts, "switchrate", "20hz", DIF_OPT_COMMAND_LINE);
}

static int add_program(struct run *r)
{
	struct cli_invocation *inv = r->inv;
	char text[256];
	char *kept = ot_arena_strdup(&inv->arena, cli_compare_program(&r->inside, text, sizeof(text)));

	if (!kept || !ot_grow(&inv->programs, &inv->programs_cap, 1, sizeof(*inv->programs)))
		return con_fail(ot_err_nomem(), NULL);
	inv->programs[0] = (struct con_program){ false, DIF_SPEC_NAME, kept };
	inv->nprograms = 1;
	return CLI_GO_ON;
}

static struct ot_err *attach(struct run *r)
{
	struct vp_session_config config = {
		.options = &r->inv->opts,
		.attach = {
			.vmlinux = r->inv->vmlinux,
			.symbols = r->inv->symbols,
			.no_cache = r->inv->no_cache,
			.entry = r->inv->opts.noattach ? VP_ENTRY_REFUSED : VP_ENTRY_AS_NEEDED,
			.progress = con_progress,
			.entering = cli_entering,
		},
	};

	OT_TRY(set_rate(&r->inv->opts));
	OT_TRY(vp_session_create(&config, &r->session));
	OT_TRY(vp_session_attach(r->session, r->inv->guests.count ? r->inv->guests.items[0] : NULL));
	con_session_note(r->session, r->list->log);
	if (r->inside.path || !r->list->tracepoint)
		return NULL;
	cli_compare_by_agent(&r->inside, r->list);
	return vp_session_need_agent(r->session, 0, r->list->tracepoint);
}

static struct ot_err *compare(struct run *r)
{
	const struct vp_sink sink = { r, on_record, on_aggregate, on_fault, on_drop, on_overload };

	OT_TRY(cli_signals_open(0, &r->signal_fd));
	OT_TRY(vp_session_enable(r->session, &r->comp.prog, &sink));
	OT_TRY(vp_session_start(r->session));
	con_progress(NULL, NULL);
	OT_TRY(r->ask->watch ? watch(r) : go_rounds(r));
	OT_TRY(vp_session_stop(r->session));
	if (r->ask->watch)
		return NULL;
	r->differences = r->hidden.differing.count;
	return show(r, &r->hidden);
}

static const struct cli_compare_list *list_of(const struct con_hidden_kind *kind)
{
	const struct cli_compare_list *list = cli_compare_lists;

	while (list->option && list->kind != kind)
		list++;
	return list;
}

/* The requested list, or the text's. */
static struct ot_err *choose(struct run *r)
{
	const struct con_hidden_kind *kind = r->inside.path ? r->inside.text.kind : NULL;

	r->list = r->ask->list ? r->ask->list : list_of(kind);
	if (kind && r->list->kind != kind)
		return ot_err_new(OT_ERR_BAD_DATA, "%s lists %s, and %s compares %s",
				  cli_compare_text_name(r->inside.path), kind->many, r->list->option,
				  r->list->kind->many);
	if (r->list->take_of && !kind)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "libraries are compared with a text: --inside FILE, of ldd or of /proc/PID/maps");
	if (r->list->take_of && !r->ask->pid)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "%s lists libraries: --libraries PID selects the process",
				  cli_compare_text_name(r->inside.path));
	return NULL;
}

static int run_list(struct run *r)
{
	struct ot_err *err = r->ask->inside ? cli_compare_read_text(&r->inside, r->ask->inside) : NULL;

	if (!err)
		err = choose(r);
	if (!err)
		err = attach(r);
	con_progress(NULL, NULL);
	if (!err && (add_program(r) != CLI_GO_ON ||
		     cli_compile_asked(&r->comp, r->inv, r->session, false) != CLI_GO_ON))
		return CLI_EXIT_TROUBLE;
	if (!err)
		err = compare(r);
	con_progress(NULL, NULL);
	if (err) {
		con_fail(err, NULL);
		return CLI_EXIT_TROUBLE;
	}
	return r->differences ? CON_EXIT_ERROR : CON_EXIT_OK;
}

int cli_compare_list(struct cli_invocation *inv, const struct cli_comparison *ask)
{
	struct run r = { .inv = inv, .ask = ask, .signal_fd = -1 };
	int status = run_list(&r);

	vp_session_destroy(r.session); /* it borrows the program */
	con_compilation_deinit(&r.comp);
	cli_compare_inside_deinit(&r.inside);
	con_hidden_deinit(&r.hidden);
	if (r.signal_fd >= 0)
		close(r.signal_fd);
	return status;
}
