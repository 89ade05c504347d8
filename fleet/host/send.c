/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides what is sent to the operator, and when. Definitions precede references: PROGRAM, ENABLED and NAMES
 * go first. Up to FLIGHT bytes of records may be unacknowledged; aggregations are sent only when nothing is.
 */
#include <string.h>

#include "base/clock.h"
#include "fleet/host/internal.h"

#define FLIGHT  (1u << 20)
#define AT_ONCE (4u << 20) /* bytes of aggregations until the link must be free again */

struct ot_err *fl_send(struct fl_worker *w, enum fl_kind kind, struct ot_buf *out)
{
	if (out->failed)
		return ot_err_nomem();
	struct ot_err *err = w->broken ? NULL : fl_link_send(w->link, kind, out->data, out->len);

	ot_buf_clear(out);
	if (!err || ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_LIMIT)
		return err;
	w->broken = w->stopped = true;
	ot_err_destroy(err);
	return NULL;
}

struct ot_err *fl_send_say(struct fl_worker *w, bool missing, const char *text)
{
	const struct fl_say m = { missing, text };
	struct ot_buf out;

	ot_buf_init(&out);
	fl_put_say(&out, &m);
	struct ot_err *err = fl_send(w, FL_SAY, &out);
	ot_buf_deinit(&out);
	return err;
}

struct ot_err *fl_send_refused(struct fl_worker *w, enum fl_reason reason, const char *text)
{
	const struct fl_refused m = { reason, text };
	struct ot_buf out;

	ot_buf_init(&out);
	fl_put_refused(&out, &m);
	struct ot_err *err = fl_send(w, FL_REFUSED, &out);
	ot_buf_deinit(&out);
	return err;
}

struct ot_err *fl_send_program(struct fl_worker *w)
{
	const struct dif_layout_opts *o = vp_session_layout_opts(w->session);
	struct ot_buf dof, out;

	ot_buf_init(&dof);
	ot_buf_init(&out);
	struct ot_err *err = dif_dof_write(&w->comp.prog, &dof);
	if (!err) {
		const struct fl_program m = {
			.dof = { (const uint8_t *)dof.data, (uint32_t)dof.len },
			.strsize = o->strsize,
			.stackframes = o->stackframes,
			.ustackframes = o->ustackframes,
			.jstackframes = o->jstackframes,
			.jstackstrsize = o->jstackstrsize,
		};
		fl_put_program(&out, &m);
		err = fl_send(w, FL_PROGRAM, &out);
	}
	ot_buf_deinit(&out);
	ot_buf_deinit(&dof);
	if (!err)
		w->nclauses = w->comp.prog.nclauses;
	return err;
}

/* --- guests ----------------------------------------------------------------------------------------------- */

static struct ot_err *send_guest(struct fl_worker *w, const struct fl_guest *m)
{
	struct ot_buf out;

	ot_buf_init(&out);
	fl_put_guest(&out, m);
	struct ot_err *err = fl_send(w, FL_GUEST, &out);
	ot_buf_deinit(&out);
	return err;
}

static struct ot_err *send_joined(struct fl_worker *w, uint32_t guest)
{
	const struct fl_guest m = {
		.guest = guest,
		.name = vp_session_guest_name(w->session, guest),
		.joined = true,
		.text = "",
		.time = ot_now_ns(),
		.uuid = w->uuids[guest],
	};

	return send_guest(w, &m);
}

/* Its first data may arrive while its engine is waited for, before the session reports that it has joined. */
struct ot_err *fl_send_joined(struct fl_worker *w, uint32_t guest)
{
	if (guest >= VP_GUESTS_MAX || w->told[guest])
		return NULL;
	w->told[guest] = true;
	if (guest >= w->identified)
		fl_guests_identify(w);
	return send_joined(w, guest);
}

struct ot_err *fl_send_arrived(struct fl_worker *w)
{
	for (uint32_t i = 0; w->arrives && i < vp_session_nguests(w->session); i++)
		OT_TRY(send_joined(w, i));
	return NULL;
}

struct ot_err *fl_send_left(struct fl_worker *w, const struct vp_guest_news *news)
{
	const struct fl_guest m = {
		.guest = news->guest,
		.name = news->name ? news->name : "",
		.how = (uint32_t)news->how,
		.text = news->text ? news->text : "",
		.time = ot_now_ns(),
		.uuid = news->guest < VP_GUESTS_MAX ? w->uuids[news->guest] : "",
	};

	return send_guest(w, &m);
}

/* --- lists ------------------------------------------------------------------------------------------------ */

static struct ot_err *send_list(struct fl_worker *w, enum fl_kind kind, struct ot_buf *list)
{
	return list->len || list->failed ? fl_send(w, kind, list) : NULL;
}

/* Send the definitions that the following data refers to. */
static struct ot_err *send_meanings(struct fl_worker *w)
{
	OT_TRY(send_list(w, FL_ENABLED, &w->out.enabled));
	OT_TRY(send_list(w, FL_NAMES, &w->names.fresh));
	if (w->out.said_overflow || !fl_names_overflowed(&w->names))
		return NULL;
	w->out.said_overflow = true;
	return fl_send_say(
	    w, true, "there are too many names in its stacks and symbols: further ones are " FL_NAMES_OTHER);
}

static struct ot_err *send_batch(void *arg, const struct ot_buf *batch)
{
	struct fl_worker *w = arg;
	struct ot_buf *out = &w->scratch;

	ot_buf_clear(out);
	ot_buf_append(out, batch->data, batch->len);
	return fl_send(w, FL_AGGREGATES, out);
}

static struct ot_err *send_aggregates(struct fl_worker *w, bool all)
{
	const uint64_t now = ot_now_ns(), rate = w->run.opts.aggrate_ns;

	if (!w->has_gather || !w->gather.nkeys || fl_link_pending(w->link) ||
	    (!all && now - w->out.aggregated_ns < rate))
		return NULL;
	w->out.aggregated_ns = now;
	OT_TRY(send_meanings(w));
	return fl_gather_take(&w->gather, AT_ONCE, send_batch, w);
}

static struct ot_err *send_records(struct fl_worker *w)
{
	struct ot_buf *out = &w->scratch;
	struct fl_clock clock;

	while (w->records.first && fl_link_pending(w->link) < FLIGHT) {
		OT_TRY(send_meanings(w));
		fl_clock_now(&clock);
		ot_buf_clear(out);
		fl_put_clock(out, &clock);
		fl_records_take(&w->records, out);
		OT_TRY(fl_send(w, FL_RECORDS, out));
	}
	return NULL;
}

static struct ot_err *send_events(struct fl_worker *w)
{
	struct ot_buf *out = &w->scratch;

	if (fl_link_pending(w->link) >= FLIGHT)
		return NULL;
	OT_TRY(send_meanings(w));
	w->out.nfaults = 0;
	OT_TRY(send_list(w, FL_FAULTS, &w->out.faults));
	ot_buf_clear(out);
	fl_losses_take(&w->out.losses, out);
	return send_list(w, FL_DROPS, out);
}

struct ot_err *fl_send_waiting(struct fl_worker *w, bool all, bool *ret_more)
{
	*ret_more = false;
	if (w->broken)
		return NULL;
	OT_TRY(send_aggregates(w, all)); /* first: they wait until all is acknowledged */
	OT_TRY(send_records(w));
	OT_TRY(send_events(w));
	*ret_more =
	    (w->has_gather && w->gather.nkeys) || w->records.first || w->out.faults.len || w->out.losses.n;
	return NULL;
}
