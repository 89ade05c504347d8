/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Received records and faults that wait. Engines are switched one after another, so a later one may deliver
 * records from after the time up to which an earlier one is covered.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/session/drain.h"

struct ot_err *vp_pending_keep(struct vp_session *s, const struct vp_pending *what, const uint8_t *data)
{
	uint32_t hi, lo;

	if (!ot_grow(&s->pending.items, &s->pending.cap, s->pending.n + 1, sizeof(*s->pending.items)))
		return ot_err_nomem();
	uint8_t *copy = malloc(what->size);
	if (!copy)
		return ot_err_nomem();
	memcpy(copy, data, what->size);
	s->pending.bytes += what->size;
	memcpy(&hi, copy + 4, sizeof(hi));
	memcpy(&lo, copy + 8, sizeof(lo));
	struct vp_pending *p = &s->pending.items[s->pending.n++];
	*p = *what;
	p->time_ns = (uint64_t)hi << 32 | lo;
	p->order = s->pending.next_order++;
	p->data = copy;
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	const struct vp_pending *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Without -x temporal: each CPU's records together. */
static int by_cpu(const void *a, const void *b)
{
	const struct vp_pending *x = a, *y = b;

	if (x->feed != y->feed)
		return x->feed < y->feed ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static struct ot_err *give_fault(struct vp_session *s, const struct vp_pending *p)
{
	struct vp_fault_record r;

	memcpy(&r, p->data, sizeof(r));
	struct vp_fault_info info = {
		.ecb = p->ecb,
		.cpu = p->cpu,
		.action = r.action,
		.offset = (int32_t)r.offset,
		.fault = (enum dif_fault)r.fault,
		.address = r.address,
	};
	return s->sink.fault(s->sink.arg, &info);
}

static struct ot_err *give(struct vp_session *s, const struct vp_pending *p)
{
	if (p->fault)
		return give_fault(s, p);
	struct vp_record rec = {
		.ecb = p->ecb,
		.cpu = p->cpu,
		.time_ns = p->time_ns,
		.data = p->data,
		.size = p->size,
	};
	return s->sink.record(s->sink.arg, &rec);
}

struct ot_err *vp_pending_give(struct vp_session *s, uint64_t covered)
{
	struct ot_err *err = NULL;
	size_t given = 0;

	if (s->pending.n)
		qsort(s->pending.items, s->pending.n, sizeof(*s->pending.items),
		      s->options->temporal ? by_time : by_cpu);
	while (!err && given < s->pending.n &&
	       (!s->options->temporal || s->pending.items[given].time_ns <= covered)) {
		err = give(s, &s->pending.items[given]);
		s->pending.bytes -= s->pending.items[given].size;
		free(s->pending.items[given++].data);
	}
	s->pending.n -= given;
	if (s->pending.n)
		memmove(s->pending.items, s->pending.items + given, s->pending.n * sizeof(*s->pending.items));
	return err;
}

void vp_pending_free(struct vp_session *s)
{
	for (size_t i = 0; i < s->pending.n; i++)
		free(s->pending.items[i].data);
	free(s->pending.items);
	s->pending.items = NULL;
	s->pending.n = 0;
	s->pending.bytes = 0;
}
