/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From RUN to READY. No guest is changed before its program is compiled, allowed and logged. */
#include "fleet/host/clauses.h"
#include "fleet/host/internal.h"
#include "fleet/host/rights.h"

/* --- compiling -------------------------------------------------------------------------------------------- */

/* The error has the text of a local session's message, with the remedy after it. @err is consumed. */
static struct ot_err *explain(const struct fl_worker *w, struct ot_err *err)
{
	const struct con_failure *failure = &w->comp.failure;
	const enum ot_err_code code = ot_err_code(err);
	struct ot_buf text;

	ot_buf_init(&text);
	con_failure_print(failure, err, w->run.opts.errtags, &text);
	if (failure->diag && failure->diag->hint && !w->run.opts.errtags)
		ot_buf_printf(&text, "\n  (%s)", failure->diag->hint);
	struct ot_err *explained = text.failed ? ot_err_nomem() : ot_err_new(code, "%s", ot_buf_str(&text));
	ot_buf_deinit(&text);
	ot_err_destroy(err);
	return explained;
}

static struct ot_err *say_apart(struct fl_worker *w, const struct fl_apart *apart)
{
	struct ot_buf text;

	ot_buf_init(&text);
	fl_apart_print(apart, &text);
	struct ot_err *err = text.len ? fl_send_say(w, true, ot_buf_str(&text)) : NULL;
	ot_buf_deinit(&text);
	return err;
}

/* The program's clauses from number @first on that a host enables, if they are allowed here. */
static struct ot_err *take_clauses(struct fl_worker *w, uint32_t first, uint64_t *ret_operators)
{
	struct fl_apart apart;

	fl_apart_init(&apart);
	struct ot_err *err = fl_clauses_take(&w->comp, w->session, first, &apart, ret_operators);
	if (!err && !first) /* once, not for each kernel that joins */
		err = say_apart(w, &apart);
	fl_apart_deinit(&apart);
	if (!err)
		err = fl_rights_check(w->config->rights, &w->run.texts, &w->comp, first, w->session);
	if (err && ot_err_code(err) == OT_ERR_PERMISSION)
		w->reason = FL_REASON_POLICY;
	return err;
}

static struct ot_err *compile(struct fl_worker *w)
{
	uint64_t operators = 0;
	struct ot_err *err = con_compile(&w->comp, &w->run.texts, w->session);

	if (err)
		return explain(w, err);
	OT_TRY(fl_printed_keys(&w->comp.prog, &w->arena, &w->printed)); /* END still has its printa() */
	OT_TRY(take_clauses(w, 0, &operators));
	w->matched = w->comp.matched > operators ? w->comp.matched - operators : 0;
	fl_rights_limit(w->config->rights, &w->run.opts);
	return NULL;
}

struct ot_err *fl_compile_joining(struct fl_worker *w)
{
	const uint32_t first = w->comp.prog.nclauses;
	uint64_t operators;
	struct ot_err *err = con_compile_joining(&w->comp, &w->run.texts, w->session);

	if (err)
		return ot_err_prefix(explain(w, err), "the program can't be compiled for its kernel");
	fl_rights_limit(w->config->rights, &w->run.opts);
	return take_clauses(w, first, &operators);
}

/* --- enabling --------------------------------------------------------------------------------------------- */

static struct ot_err *enable(struct fl_worker *w)
{
	const struct vp_sink sink = fl_sink_of(w);

	OT_TRY(fl_gather_init(&w->gather, &w->comp.prog, &w->run.opts));
	w->has_gather = true;
	if (w->config->rights)
		w->records.per_s = w->config->rights->bytes_per_s;
	struct ot_err *err = vp_session_enable(w->session, &w->comp.prog, &sink);
	return ot_err_prefix(err, "could not enable tracing");
}

static struct ot_err *send_ready(struct fl_worker *w)
{
	struct fl_ready m = { .matched = w->matched };
	struct ot_buf out;

	for (; m.ntexts < w->comp.nunits && m.ntexts < FL_TEXTS_MAX; m.ntexts++)
		m.by_text[m.ntexts] = w->comp.units[m.ntexts].matched;

	OT_TRY(fl_send_program(w));
	ot_buf_init(&out);
	fl_put_ready(&out, &m);
	struct ot_err *err = fl_send(w, FL_READY, &out);
	ot_buf_deinit(&out);
	return err;
}

struct ot_err *fl_prepare(struct fl_worker *w, const void *data, size_t len)
{
	w->reason = FL_REASON_PROGRAM;
	OT_TRY(fl_run_here_read(&w->run, data, len));
	w->reason = FL_REASON_GUEST;
	OT_TRY(fl_guests_attach(w));
	w->reason = FL_REASON_PROGRAM;
	OT_TRY(compile(w));
	for (uint32_t i = 0; i < vp_session_nguests(w->session); i++)
		OT_TRY(fl_send_joined(w, i));
	fl_log_start(w); /* first: enabling may inject an engine */
	w->reason = FL_REASON_OTHER;
	OT_TRY(enable(w));
	return send_ready(w);
}
