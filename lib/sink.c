/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between session and consumer: a record is delivered only while dtrace_work() runs, others wait;
 * aggregations are merged at arrival. */
#include <stdlib.h>
#include <string.h>

#include "lib/handle.h"

static struct ot_err *keep(dtrace_hdl_t *h, const struct vp_record *r)
{
	struct lib_kept *kept = malloc(sizeof(*kept) + r->size);

	if (!kept)
		return ot_err_nomem();
	memcpy(kept->data, r->data, r->size);
	kept->next = NULL;
	kept->record = *r;
	kept->record.data = kept->data;
	*h->kept_end = kept;
	h->kept_end = &kept->next;
	return NULL;
}

static struct vp_sink consumer_of(dtrace_hdl_t *h)
{
	return con_consumer_sink(&h->consumer);
}

static struct ot_err *on_record(void *arg, const struct vp_record *r)
{
	dtrace_hdl_t *h = arg;

	if (!h->work.runs)
		return keep(h, r);
	const struct vp_sink sink = consumer_of(h);
	return sink.record(sink.arg, r);
}

/* Its description is made while the meaning of its EPID is available. */
static struct ot_err *on_aggregate(void *arg, const struct vp_aggregate *agg)
{
	dtrace_hdl_t *h = arg;
	const struct vp_sink sink = consumer_of(h);
	struct lib_enabled *e;

	OT_TRY(lib_enabled_of(h, agg->ecb, &e));
	return sink.aggregate(sink.arg, agg);
}

static struct ot_err *on_fault(void *arg, const struct vp_fault_info *fault)
{
	const struct vp_sink sink = consumer_of(arg);

	return sink.fault(sink.arg, fault);
}

static struct ot_err *on_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	const struct vp_sink sink = consumer_of(arg);

	return sink.drop(sink.arg, kind, cpu, count);
}

static struct ot_err *on_overload(void *arg, const struct vp_overload_info *overload)
{
	const struct vp_sink sink = consumer_of(arg);

	return sink.overload(sink.arg, overload);
}

static void on_say(void *arg, const char *text)
{
	lib_report(arg, text);
}

/* Actions that could not be carried out. */
static void say(void *arg, const char *text, const char *hint)
{
	struct ot_buf whole;

	ot_buf_init(&whole);
	ot_buf_puts(&whole, text);
	if (hint)
		ot_buf_printf(&whole, " (%s)", hint);
	lib_report(arg, ot_buf_str(&whole));
	ot_buf_deinit(&whole);
}

struct ot_err *lib_consumer_begin(dtrace_hdl_t *h, struct vp_sink *ret)
{
	h->text_stream = open_memstream(&h->text, &h->text_len);
	if (!h->text_stream)
		return ot_err_nomem();
	h->has_consumer = true;
	OT_TRY(con_consumer_init(&h->consumer, &h->opts, &h->comp.prog, &lib_output, h->text_stream));
	lib_output_init(h->consumer.out, h);
	con_consumer_names(&h->consumer, h->session);
	h->consumer.out->printer.asks_names = false; /* a name server may not answer, and the caller waits */
	h->consumer.out_name = "the output";
	h->consumer.watcher = &lib_watcher;
	h->consumer.watcher_arg = h;
	h->consumer.say = say;
	h->consumer.say_arg = h;
	*ret = (struct vp_sink){ h, on_record, on_aggregate, on_fault, on_drop, on_overload, on_say };
	return NULL;
}

void lib_consumer_end(dtrace_hdl_t *h)
{
	while (h->kept) {
		struct lib_kept *next = h->kept->next;
		free(h->kept);
		h->kept = next;
	}
	h->kept_end = &h->kept;
	if (h->has_consumer)
		con_consumer_deinit(&h->consumer);
	h->has_consumer = false;
	if (h->text_stream)
		fclose(h->text_stream);
	h->text_stream = NULL;
	free(h->text);
	h->text = NULL;
}

/* A delivered one is removed, also if a callback ended the walk at it. */
struct ot_err *lib_give_kept(dtrace_hdl_t *h)
{
	const struct vp_sink sink = consumer_of(h);
	struct ot_err *err = NULL;

	while (h->kept && !err) {
		struct lib_kept *kept = h->kept;
		h->kept = kept->next;
		if (!h->kept)
			h->kept_end = &h->kept;
		err = sink.record(sink.arg, &kept->record);
		free(kept);
	}
	return err;
}
