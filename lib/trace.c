/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracing: dtrace_go(3), and the handlers of its events. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "consumer/session_log.h"
#include "lib/handle.h"

/* A session without a guest is not logged. */
static void start_journal(dtrace_hdl_t *h)
{
	const struct con_texts texts = lib_texts(h);
	struct con_strings names = { 0 };

	if (con_session_names(h->session, &names) && names.count)
		con_journal_start(&h->journal, &texts, &names, h->comp.matched);
	free(names.items);
}

static struct ot_err *go(dtrace_hdl_t *h)
{
	const struct con_texts texts = lib_texts(h);
	struct vp_sink sink;

	OT_TRY(lib_attach(h));
	if (!h->nprogs) /* an empty program needs its compilers too */
		OT_TRY(con_compile_more(&h->comp, &texts, h->session));
	lib_keep_executed(h, 0);
	h->state = LIB_STOPPED; /* after an error only closing is left */
	OT_TRY(lib_consumer_begin(h, &sink));
	start_journal(h); /* first: enabling may inject an engine */
	OT_TRY(vp_session_enable(h->session, &h->comp.prog, &sink));
	OT_TRY(vp_session_start(h->session));
	OT_TRY(con_joining_start(h->joining));
	h->state = LIB_TRACING;
	con_session_take_records(h->session, 0);
	for (uint32_t i = 0; i < vp_session_nguests(h->session); i++)
		vp_session_notes(h->session, i, lib_report_note, h);
	return NULL;
}

int dtrace_go(dtrace_hdl_t *h)
{
	if (lib_check_idle(h))
		return -1;
	if (h->state != LIB_IDLE)
		return lib_fail(h, OUTSIGHT_E_ACTIVE);
	lib_begin(h);
	int result = lib_result(h, go(h));
	lib_end(h);
	return result;
}

/* The remaining data of the session is delivered, or kept, meanwhile. */
static struct ot_err *stop(dtrace_hdl_t *h)
{
	if (h->state != LIB_TRACING)
		return NULL;
	h->state = LIB_STOPPED;
	con_joining_stop(h->joining);
	OT_TRY(vp_session_stop(h->session));
	const char *gone = vp_session_gone_reason(h->session);
	if (gone)
		lib_report(h, gone);
	return NULL;
}

int dtrace_stop(dtrace_hdl_t *h)
{
	if (lib_check_going(h))
		return -1;
	lib_begin(h);
	int result = lib_result(h, stop(h));
	lib_end(h);
	return result ? result : lib_take_error(h);
}

static void drain_wake(dtrace_hdl_t *h)
{
	uint64_t times;

	(void)!read(h->wake_fd, &times, sizeof(times));
}

void dtrace_sleep(dtrace_hdl_t *h)
{
	if (h->busy || h->state != LIB_TRACING)
		return;
	/* the next dtrace_work() returns the error */
	struct ot_err *err = vp_session_sleep(h->session, h->wake_fd);
	if (err)
		lib_keep_error(h, OUTSIGHT_E_GUEST, ot_err_message(err));
	ot_err_destroy(err);
	drain_wake(h);
}

void outsight_wake(dtrace_hdl_t *h)
{
	const uint64_t one = 1;
	int before = errno; /* a signal's handler must not change it */

	(void)!write(h->wake_fd, &one, sizeof(one));
	errno = before;
}

static struct ot_err *work(dtrace_hdl_t *h)
{
	enum vp_session_state state = VP_SESSION_ACTIVE;

	OT_TRY(lib_give_kept(h));
	if (h->state == LIB_TRACING) {
		OT_TRY(vp_session_take(h->session, &state));
		h->exited = state == VP_SESSION_EXITED;
		if (state != VP_SESSION_ACTIVE)
			OT_TRY(stop(h));
		else
			con_joining_take(h->joining);
	}
	return con_consumer_flush(&h->consumer);
}

dtrace_workstatus_t dtrace_work(dtrace_hdl_t *h, FILE *fp, dtrace_consume_probe_f *probe,
				dtrace_consume_rec_f *rec, void *arg)
{
	if (lib_check_going(h))
		return DTRACE_WORKSTATUS_ERROR;
	if (!h->has_consumer)
		return lib_fail_text(h, EINVAL, "dtrace_go() has failed"), DTRACE_WORKSTATUS_ERROR;
	h->work = (struct lib_work){ .runs = true, .fp = fp, .probe = probe, .rec = rec, .arg = arg };
	lib_begin(h);
	int result = lib_result(h, work(h));
	lib_end(h);
	h->work.runs = false;
	h->current.is_set = false;
	if (result || lib_take_error(h))
		return DTRACE_WORKSTATUS_ERROR;
	return h->state == LIB_STOPPED && !h->kept ? DTRACE_WORKSTATUS_DONE : DTRACE_WORKSTATUS_OKAY;
}

int dtrace_status(dtrace_hdl_t *h)
{
	if (h->state == LIB_IDLE)
		return DTRACE_STATUS_NONE;
	if (h->state == LIB_TRACING)
		return DTRACE_STATUS_OKAY;
	return h->exited ? DTRACE_STATUS_EXITED : DTRACE_STATUS_STOPPED;
}

int outsight_exit_status(dtrace_hdl_t *h)
{
	return h->session ? vp_session_exit_status(h->session) : 0;
}
