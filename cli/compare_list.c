/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparing the processes or modules in a guest's memory with those in the guest's own /proc. The guest's
 * agent reports the latter as events (agent_abi.h, "Walks"), so a D program collects them. One round is a
 * pass of the agent, then a walk of ours.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/compare.h"
#include "cli/compile.h"
#include "cli/messages.h"
#include "cli/output/output.h"
#include "cli/session_log.h"
#include "cli/signals.h"
#include "vmm-probe/session/session.h"

/* A guest whose agent reports nothing for so long is paused, or the agent was unloaded. */
#define PATIENCE_SECONDS 60
#define WORDS            5u

const struct cli_compare_list cli_compare_tasks = {
	.kind = &cli_hidden_tasks,
	.take = vp_census_tasks,
	.pass = GA_PASS_TASKS,
	.tracepoint = "outsight_task",
	.log = "comparing processes",
};

const struct cli_compare_list cli_compare_modules = {
	.kind = &cli_hidden_modules,
	.take = vp_census_modules,
	.pass = GA_PASS_MODULES,
	.tracepoint = "outsight_module",
	.log = "comparing modules",
};

struct run {
	struct cli_invocation *inv;
	const struct cli_compare_list *list;
	struct vp_session *session;
	struct cli_compilation comp;
	struct vp_agent_pass pass;
	struct cli_hidden hidden;
	uint32_t ways;
	int signal_fd;
};

/* --- the sink --------------------------------------------------------------------------------------- */

static struct ot_err *on_record(void *arg, const struct vp_record *rec)
{
	struct run *r = arg;
	const struct dif_clause_layout *l = rec->ecb->layout;
	uint64_t words[WORDS] = { 0 };

	for (uint32_t i = 0; i < l->nrecs && i < WORDS; i++) {
		if (l->recs[i].size != sizeof(words[i]) || l->recs[i].offset > rec->size ||
		    rec->size - l->recs[i].offset < sizeof(words[i]))
			return NULL;
		memcpy(&words[i], rec->data + l->recs[i].offset, sizeof(words[i]));
	}
	return vp_agent_pass_add(&r->pass, strcmp(rec->ecb->probe->name, r->list->tracepoint) != 0, words);
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
	cli_report_fault(fault);
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
	cli_report_overload(overload);
	return NULL;
}

/* --- rounds ------------------------------------------------------------------------------------------- */

static struct ot_err *add_all(struct vp_census *to, const struct vp_census *from)
{
	if (!ot_grow(&to->items, &to->cap, to->count + from->count + 1, sizeof(*to->items)))
		return ot_err_nomem();
	if (from->count)
		memcpy(to->items + to->count, from->items, from->count * sizeof(*to->items));
	to->count += from->count;
	to->ways |= from->ways;
	return NULL;
}

static struct ot_err *end_round(struct run *r, const struct vp_census *inside)
{
	ot_auto(vp_census_deinit) struct vp_census seen = { 0 };

	OT_TRY(vp_session_census(r->session, 0, r->list->take, &seen));
	OT_TRY(add_all(&seen, inside));
	vp_census_join(&seen);
	r->ways = seen.ways;
	cli_hidden_round(&r->hidden, &seen);
	return NULL;
}

/* A pass that is complete is a round. */
static struct ot_err *take_pass(struct run *r, bool *ret_round)
{
	ot_auto(vp_census_deinit) struct vp_census inside = { 0 };
	uint64_t error = 0;

	OT_TRY(vp_agent_pass_take(&r->pass, CLI_HIDDEN_INSIDE, &inside, ret_round, &error));
	if (!*ret_round)
		return NULL;
	if (error)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the guest's kernel can't read its own /proc: %s",
				  error < 4096 ? strerror((int)error) : "unknown error");
	return end_round(r, &inside);
}

static struct ot_err *go_rounds(struct run *r)
{
	enum vp_session_state state = VP_SESSION_ACTIVE;
	time_t last = time(NULL);

	while (!cli_hidden_done(&r->hidden)) {
		bool round;

		OT_TRY(vp_session_poll(r->session, r->signal_fd, &state));
		if (cli_signals_take(r->signal_fd))
			return ot_err_new(OT_ERR_BUSY, "interrupted");
		if (state != VP_SESSION_ACTIVE)
			return ot_err_new(OT_ERR_GUEST_GONE, "%s",
					  vp_session_gone_reason(r->session) ?: "the guest has ended");
		OT_TRY(take_pass(r, &round));
		if (round)
			last = time(NULL);
		else if (time(NULL) - last > PATIENCE_SECONDS)
			return ot_err_new(OT_ERR_BUSY,
					  "the guest's agent has not reported its %s for %d s: is the guest "
					  "paused, or the agent unloaded?",
					  r->list->kind->many, PATIENCE_SECONDS);
	}
	return NULL;
}

/* --- the session ---------------------------------------------------------------------------------------- */

/* The agent emits five passes a second; dtrace's switchrate of 1 Hz would delay them. */
static struct ot_err *set_rate(struct dif_options *opts)
{
	if (ot_map_gets(&opts->set, "switchrate"))
		return NULL;
	return dif_options_set(opts, "switchrate", "20hz", DIF_OPT_COMMAND_LINE);
}

/* The tracepoints have no types, so the words are taken as they are. */
static int add_program(struct run *r)
{
	struct cli_invocation *inv = r->inv;
	char text[256];
	char *kept;

	snprintf(text, sizeof(text),
		 "sdt:::%s, sdt:::outsight_pass "
		 "{ trace(arg0); trace(arg1); trace(arg2); trace(arg3); trace(arg4); }",
		 r->list->tracepoint);
	kept = ot_arena_strdup(&inv->arena, text);
	if (!kept || !ot_grow(&inv->programs, &inv->programs_cap, 1, sizeof(*inv->programs)))
		return cli_fail(ot_err_nomem(), NULL);
	inv->programs[0] = (struct cli_program){ false, DIF_SPEC_NAME, kept };
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
			.progress = cli_progress,
			.entering = cli_session_entering,
		},
	};

	OT_TRY(set_rate(&r->inv->opts));
	OT_TRY(vp_session_create(&config, &r->session));
	OT_TRY(vp_session_attach(r->session, r->inv->guests.count ? r->inv->guests.items[0] : NULL));
	cli_session_note(r->session, r->list->log);
	return vp_session_need_agent(r->session, 0, r->list->tracepoint);
}

static struct ot_err *compare(struct run *r)
{
	const struct vp_sink sink = { r, on_record, on_aggregate, on_fault, on_drop, on_overload };

	OT_TRY(cli_signals_open(0, &r->signal_fd));
	OT_TRY(vp_session_enable(r->session, &r->comp.prog, &sink));
	OT_TRY(vp_session_start(r->session));
	OT_TRY(go_rounds(r));
	return vp_session_stop(r->session);
}

static struct ot_err *show(const struct run *r)
{
	struct cli_output *out = NULL;

	OT_TRY(cli_output_create(r->inv->output, &r->inv->opts, stdout, &out));
	struct ot_err *err = out->ops->hidden(out, r->list->kind, &r->hidden, r->ways);

	cli_output_destroy(out);
	if (!err && fflush(stdout) == EOF)
		err = ot_err_os(errno, "failed to write to <stdout>");
	return err;
}

static int run_list(struct run *r)
{
	struct ot_err *err = attach(r);

	cli_progress(NULL, NULL);
	if (!err && (add_program(r) != CLI_GO_ON || cli_compile(&r->comp, r->inv, r->session) != CLI_GO_ON))
		return CLI_EXIT_TROUBLE;
	if (!err)
		err = compare(r);
	cli_progress(NULL, NULL);
	if (!err)
		err = show(r);
	if (err) {
		cli_fail(err, NULL);
		return CLI_EXIT_TROUBLE;
	}
	return r->hidden.differing.count ? CLI_EXIT_ERROR : CLI_EXIT_OK;
}

int cli_compare_list(struct cli_invocation *inv, const struct cli_compare_list *list)
{
	struct run r = { .inv = inv, .list = list, .signal_fd = -1 };
	int status;

	vp_agent_pass_init(&r.pass, list->pass);
	status = run_list(&r);
	vp_session_destroy(r.session); /* it borrows the program */
	cli_compilation_deinit(&r.comp);
	vp_agent_pass_deinit(&r.pass);
	cli_hidden_deinit(&r.hidden);
	if (r.signal_fd >= 0)
		close(r.signal_fd);
	return status;
}
