/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A queue of records, in batches of one message each. */
#include "fleet/host/records.h"

#include <stdlib.h>

#define SECOND_NS 1000000000ull

struct fl_records_batch {
	struct fl_records_batch *next;
	struct ot_buf buf;
};

void fl_records_init(struct fl_records *r)
{
	*r = (struct fl_records){ .limit = UINT64_MAX };
}

static void free_first(struct fl_records *r)
{
	struct fl_records_batch *b = r->first;

	r->bytes -= b->buf.len;
	r->first = b->next;
	if (!r->first)
		r->last = NULL;
	ot_buf_deinit(&b->buf);
	free(b);
}

void fl_records_deinit(struct fl_records *r)
{
	while (r->first)
		free_first(r);
}

/* The allowance of at most one second accumulates. */
static bool is_allowed(struct fl_records *r, uint64_t size, uint64_t now_ns)
{
	if (!r->per_s)
		return true;
	const uint64_t passed = now_ns - r->since_ns;
	const uint64_t earned =
	    passed >= SECOND_NS ? r->per_s : (uint64_t)((unsigned __int128)r->per_s * passed / SECOND_NS);

	if (earned) {
		r->allowed = earned < r->per_s - r->allowed ? r->allowed + earned : r->per_s;
		r->since_ns = now_ns;
	}
	if (size > r->allowed)
		return false;
	r->allowed -= size;
	return true;
}

static struct fl_records_batch *batch_for(struct fl_records *r)
{
	if (r->last && r->last->buf.len < FL_BATCH)
		return r->last;
	struct fl_records_batch *b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	ot_buf_init(&b->buf);
	if (r->last)
		r->last->next = b;
	else
		r->first = b;
	r->last = b;
	return b;
}

struct ot_err *fl_records_put(struct fl_records *r, const struct fl_record *record, uint64_t now_ns,
			      bool *ret_taken)
{
	const uint64_t size = record->data.len + 20ull; /* with their headers */

	/* a batch must fit into a message, even with the record that fills it */
	*ret_taken = size <= FL_MESSAGE_MAX / 2 && size <= r->limit - r->bytes && r->bytes <= r->limit &&
		     is_allowed(r, size, now_ns);
	if (!*ret_taken)
		return NULL;
	struct fl_records_batch *b = batch_for(r);
	if (!b)
		return ot_err_nomem();
	const size_t before = b->buf.len;
	fl_put_record(&b->buf, record);
	if (b->buf.failed)
		return ot_err_nomem();
	r->bytes += b->buf.len - before;
	return NULL;
}

bool fl_records_take(struct fl_records *r, struct ot_buf *out)
{
	if (!r->first)
		return false;
	ot_buf_append(out, r->first->buf.data, r->first->buf.len);
	free_first(r);
	return true;
}

struct ot_err *fl_losses_add(struct fl_losses *l, uint32_t kind, uint32_t cpu, uint64_t count)
{
	for (size_t i = l->n; i-- > 0;) /* mostly the same one as before */
		if (l->items[i].kind == kind && l->items[i].cpu == cpu) {
			l->items[i].count += count;
			return NULL;
		}
	if (!ot_grow(&l->items, &l->cap, l->n + 1, sizeof(*l->items)))
		return ot_err_nomem();
	l->items[l->n++] = (struct fl_drop){ kind, cpu, count };
	return NULL;
}

void fl_losses_take(struct fl_losses *l, struct ot_buf *out)
{
	for (size_t i = 0; i < l->n; i++)
		fl_put_drop(out, &l->items[i]);
	l->n = 0;
}
