/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A heap of records by time. */
#include "fleet/operator/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

void fl_order_init(struct fl_order *o, const struct vp_sink *sink)
{
	*o = (struct fl_order){ .sink = *sink, .limit = FL_ORDER_BYTES };
}

void fl_order_deinit(struct fl_order *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->items[i]);
	free(o->items);
	*o = (struct fl_order){ 0 };
}

static bool is_before(const struct fl_waiting *a, const struct fl_waiting *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

static void rise(struct fl_order *o, size_t i)
{
	struct fl_waiting *w = o->items[i];

	for (; i && is_before(w, o->items[(i - 1) / 2]); i = (i - 1) / 2)
		o->items[i] = o->items[(i - 1) / 2];
	o->items[i] = w;
}

static void sink_down(struct fl_order *o, size_t i)
{
	struct fl_waiting *w = o->items[i];

	for (size_t child; (child = 2 * i + 1) < o->n; i = child) {
		if (child + 1 < o->n && is_before(o->items[child + 1], o->items[child]))
			child++;
		if (!is_before(o->items[child], w))
			break;
		o->items[i] = o->items[child];
	}
	o->items[i] = w;
}

static size_t bytes_of(const struct fl_waiting *w)
{
	return sizeof(*w) + w->size;
}

/* The oldest goes on. */
static struct ot_err *pass_first(struct fl_order *o)
{
	struct fl_waiting *w = o->items[0];
	const struct vp_record r = { w->ecb, w->cpu, w->time_ns, w->data, w->size };

	o->items[0] = o->items[--o->n];
	if (o->n)
		sink_down(o, 0);
	o->bytes -= bytes_of(w);
	struct ot_err *err = o->sink.record(o->sink.arg, &r);
	free(w);
	return err;
}

struct ot_err *fl_order_put(struct fl_order *o, const struct vp_record *r, uint64_t now_ns)
{
	struct fl_waiting *w;

	if (!o->waits)
		return o->sink.record(o->sink.arg, r);
	while (o->n && o->bytes + sizeof(*w) + r->size > o->limit)
		OT_TRY(pass_first(o));
	w = malloc(sizeof(*w) + r->size);
	if (!w || !ot_grow(&o->items, &o->cap, o->n + 1, sizeof(struct fl_waiting *))) {
		free(w);
		return ot_err_nomem();
	}
	*w = (struct fl_waiting){ r->time_ns, now_ns, o->number++, r->ecb, r->cpu, r->size };
	memcpy(w->data, r->data, r->size);
	o->items[o->n++] = w;
	o->bytes += bytes_of(w);
	rise(o, o->n - 1);
	return NULL;
}

struct ot_err *fl_order_release(struct fl_order *o, uint64_t upto_ns, uint64_t now_ns)
{
	while (o->n && (o->items[0]->time_ns <= upto_ns || o->items[0]->arrived_ns + FL_ORDER_NS <= now_ns))
		OT_TRY(pass_first(o));
	return NULL;
}

uint64_t fl_order_due_ns(const struct fl_order *o)
{
	return o->n ? o->items[0]->arrived_ns + FL_ORDER_NS : UINT64_MAX;
}
