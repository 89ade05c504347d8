/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records in dtrace_work(): each is passed to the caller's functions, and the output's text to the caller's
 * stream or handler. */
#include <errno.h>
#include <string.h>

#include "lib/handle.h"

/* What a callback returned. THIS and NEXT decide *ret_shown. */
static struct ot_err *judge(dtrace_hdl_t *h, int said, bool *ret_shown)
{
	switch (said) {
	case DTRACE_CONSUME_THIS:
		*ret_shown = true;
		return NULL;
	case DTRACE_CONSUME_NEXT:
		*ret_shown = false;
		return NULL;
	case DTRACE_CONSUME_ABORT:
	case DTRACE_CONSUME_ERROR:
		return lib_err(h, OUTSIGHT_E_ABORTED);
	default:
		return lib_err(h, OUTSIGHT_E_CALLBACK);
	}
}

/* The record, aligned, and each text in it with a NUL in its field, as in DTrace. */
static struct ot_err *copy(dtrace_hdl_t *h, const struct vp_record *r)
{
	const struct dif_clause_layout *l = r->ecb->layout;

	OT_TRY(lib_scratch(h, r->size));
	uint8_t *to = (uint8_t *)h->scratch;
	memcpy(to, r->data, r->size);
	for (uint32_t i = 0; i < l->nrecs; i++) {
		const struct dif_rec *rec = &l->recs[i];
		if (rec->size && rec->offset + rec->size <= r->size &&
		    lib_is_text(&r->ecb->clause->actions[rec->action]))
			to[rec->offset + rec->size - 1] = '\0';
	}
	return NULL;
}

static struct ot_err *on_record(void *arg, const struct vp_record *r, bool *ret_shown)
{
	dtrace_hdl_t *h = arg;
	struct lib_enabled *e;

	OT_TRY(lib_enabled_of(h, r->ecb, &e));
	OT_TRY(copy(h, r));
	h->current = (struct lib_current){
		.time_ns = r->time_ns, .guest = r->ecb->guest, .is_set = true, .enabled = e
	};
	h->work.datum = NULL;
	h->work.data.dtpda_data = (caddr_t)h->scratch;
	h->work.data.dtpda_handle = h;
	h->work.data.dtpda_edesc = e->desc;
	h->work.data.dtpda_pdesc = &e->probe;
	h->work.data.dtpda_cpu = (processorid_t)r->cpu;
	h->work.data.dtpda_flow = DTRACEFLOW_NONE;
	*ret_shown = true;
	return h->work.probe ? judge(h, h->work.probe(&h->work.data, h->work.arg), ret_shown) : NULL;
}

/* Data arrive in order, so it is this one or a later one. */
static const dtrace_recdesc_t *description_of(dtrace_hdl_t *h, const struct con_datum *d)
{
	const struct lib_enabled *e = h->current.enabled;
	uint32_t action = (uint32_t)(d->action - e->clause->actions);
	const dtrace_recdesc_t *from = e->desc->dtepd_rec;
	uint32_t i = h->work.datum ? (uint32_t)(h->work.datum - from) : 0;

	while (i < e->layout->nrecs && e->layout->recs[i].action != action)
		i++;
	return i < e->layout->nrecs ? &from[i] : NULL;
}

static struct ot_err *on_datum(void *arg, const struct vp_record *r, const struct con_datum *d,
			       bool *ret_shown)
{
	dtrace_hdl_t *h = arg;

	(void)r;
	h->work.datum = description_of(h, d);
	*ret_shown = true;
	if (!h->work.rec || !h->work.datum)
		return NULL;
	h->work.data.dtpda_data = (caddr_t)h->scratch + h->work.datum->dtrd_offset;
	return judge(h, h->work.rec(&h->work.data, h->work.datum, h->work.arg), ret_shown);
}

static struct ot_err *on_written(void *arg, const struct vp_record *r, const struct con_datum *d)
{
	dtrace_hdl_t *h = arg;

	(void)r;
	(void)d;
	return lib_write(h, h->work.fp, &h->work.data, h->work.datum);
}

/* As for a datum, with none. */
static struct ot_err *on_record_end(void *arg, const struct vp_record *r)
{
	dtrace_hdl_t *h = arg;
	bool shown;

	(void)r;
	if (!h->work.rec)
		return NULL;
	h->work.data.dtpda_data = (caddr_t)h->scratch;
	return judge(h, h->work.rec(&h->work.data, NULL, h->work.arg), &shown);
}

const struct con_watcher lib_watcher = { on_record, on_datum, on_written, on_record_end };

static struct ot_err *write_stream(const char *text, size_t len, FILE *fp)
{
	errno = 0;
	if (fwrite(text, 1, len, fp) == len)
		return NULL;
	return ot_err_os(errno ? errno : EIO, "failed to write the output");
}

struct ot_err *lib_write(dtrace_hdl_t *h, FILE *fp, dtrace_probedata_t *probe, const dtrace_recdesc_t *rec)
{
	if (fflush(h->text_stream) == EOF)
		return ot_err_nomem();
	size_t len = h->text_len;
	if (!len)
		return NULL;
	rewind(h->text_stream); /* the next text overwrites it */
	h->text[len] = '\0';
	if (fp)
		return write_stream(h->text, len, fp);
	if (!h->handlers.buffered)
		return lib_err(h, OUTSIGHT_E_NO_BUFFERED);
	const dtrace_bufdata_t data = {
		.dtbda_handle = h, .dtbda_buffered = h->text, .dtbda_probe = probe, .dtbda_recdesc = rec
	};
	if (h->handlers.buffered(&data, h->handlers.buffered_arg) == DTRACE_HANDLE_ABORT)
		return lib_err(h, OUTSIGHT_E_ABORTED);
	return NULL;
}
