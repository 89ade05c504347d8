/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a simulated host counts and records. */
#include <string.h>

#include "dif/vm/agg.h"
#include "tests/fleet/simulated.h"

/* How often the probe fires for key k in seconds first to last. */
static uint64_t fired(const struct sim_host *host, uint64_t k, uint32_t first, uint32_t last)
{
	uint64_t n = 0;

	for (uint64_t s = first; s <= last; s++)
		n += 1 + (7ull * host->number + 13 * k + 3 * s) % 10;
	return n;
}

/* --- deltas ------------------------------------------------------------------------------------------- */

/* The value k, n times. */
static void count(const struct dif_action *a, uint64_t k, uint64_t n, uint64_t *words)
{
	const enum dif_agg_kind kind = (enum dif_agg_kind)a->kind;

	switch (kind) {
	case DIF_AGG_count:
		words[0] += n;
		break;
	case DIF_AGG_sum:
		words[0] += n * k;
		break;
	case DIF_AGG_quantize:
	case DIF_AGG_lquantize:
	case DIF_AGG_llquantize:
		dif_agg_update(kind, a->arg, words, k, n);
		break;
	default:
		for (uint64_t i = 0; i < n; i++)
			dif_agg_update(kind, a->arg, words, k, 1);
	}
}

static bool is_varying(const struct dif_clause *clause, const struct dif_agg_layout *l)
{
	for (uint32_t i = 0; i < l->nkeys; i++)
		if (sim_is_varying(&clause->actions[l->keys[i].action]))
			return true;
	return false;
}

/* What of a tuple is the host's own. */
static void put_own(struct sim_session *s, const struct dif_clause *clause, const struct dif_agg_layout *l,
		    uint64_t k)
{
	for (uint32_t i = 0; i < l->nkeys; i++) {
		const struct dif_action *a = &clause->actions[l->keys[i].action];

		if (sim_is_hosts(a))
			sim_put_datum(a, s->host, k, (uint8_t *)s->scratch.data + l->keys[i].offset,
				      l->keys[i].size);
	}
}

static struct ot_err *send_list(struct sim_session *s, enum fl_kind kind)
{
	struct ot_err *err =
	    s->out.failed ? ot_err_nomem() : fl_link_send(s->link, kind, s->out.data, s->out.len);

	ot_buf_clear(&s->out);
	return err;
}

static struct ot_err *put_row(struct sim_session *s, uint32_t epid, const struct dif_clause *clause,
			      const struct dif_agg_layout *l, uint64_t k, const uint8_t *tuple)
{
	ot_buf_clear(&s->scratch);
	ot_buf_append(&s->scratch, tuple, l->tuple_size);
	if (s->scratch.failed)
		return ot_err_nomem();
	put_own(s, clause, l, k);
	fl_put_aggregate(
	    &s->out, &(struct fl_aggregate){ .epid = epid + (s->host->mischief == SIM_EPID ? 1000000 : 0),
					     .action = l->action,
					     .tuple = { (const uint8_t *)s->scratch.data,
							l->tuple_size - (s->host->mischief == SIM_TUPLE) },
					     .words = { (const uint8_t *)s->words, l->nwords * 8 } });
	s->counts->elements++;
	return s->out.len >= FL_BATCH ? send_list(s, FL_AGGREGATES) : NULL;
}

static struct ot_err *send_agg(struct sim_session *s, uint32_t epid, const struct dif_clause *clause,
			       const struct dif_agg_layout *l, const uint8_t *tuples, uint32_t upto)
{
	const struct dif_action *a = &clause->actions[l->action];
	const enum dif_agg_kind kind = (enum dif_agg_kind)a->kind;
	const bool varying = is_varying(clause, l);

	if (!ot_grow(&s->words, &s->words_cap, l->nwords, sizeof(*s->words)))
		return ot_err_nomem();
	for (uint32_t k = 0; k < s->options->keys; k++) {
		if (varying || !k)
			dif_agg_init(kind, a->arg, s->words);
		count(a, k, fired(s->host, k, s->ticks + 1, upto), s->words);
		if (varying || k == s->options->keys - 1)
			OT_TRY(put_row(s, epid, clause, l, k, tuples + (size_t)k * l->tuple_size));
	}
	return NULL;
}

static struct ot_err *send_deltas(struct sim_session *s, uint32_t upto)
{
	for (uint32_t i = 0; i < s->program->nenabled; i++) {
		const struct sim_enabled *e = &s->program->enabled[i];

		for (uint32_t k = 0; k < e->layout.naggs; k++)
			OT_TRY(send_agg(s, i + 1, &s->program->prog.clauses[e->clause], &e->layout.aggs[k],
					e->tuples[k], upto));
	}
	return s->out.len ? send_list(s, FL_AGGREGATES) : NULL;
}

/* --- records ------------------------------------------------------------------------------------------ */

static void put_record(struct sim_session *s, uint32_t epid, const struct sim_enabled *e, uint64_t time)
{
	const struct dif_clause *clause = &s->program->prog.clauses[e->clause];
	const uint64_t k = s->nrecords++ % s->options->keys;
	const uint32_t header[] = { epid, (uint32_t)(time >> 32), (uint32_t)time };

	ot_buf_clear(&s->scratch);
	ot_buf_append(&s->scratch, header, sizeof(header));
	ot_buf_zero(&s->scratch, e->layout.size - sizeof(header));
	for (uint32_t i = 0; i < e->layout.nrecs && !s->scratch.failed; i++) {
		const struct dif_rec *rec = &e->layout.recs[i];

		sim_put_datum(&clause->actions[rec->action], s->host, k,
			      (uint8_t *)s->scratch.data + rec->offset, rec->size);
	}
	fl_put_record(&s->out, &(struct fl_record){
				   epid, 0, time, { (const uint8_t *)s->scratch.data, e->layout.size } });
	s->counts->records++;
}

static struct ot_err *send_records(struct sim_session *s, uint32_t upto)
{
	struct fl_clock clock;
	size_t before;

	fl_clock_now(&clock);
	fl_put_clock(&s->out, &clock);
	before = s->out.len;
	for (uint32_t tick = s->ticks; tick < upto; tick++)
		for (uint32_t i = 0; i < s->program->nenabled; i++)
			for (uint32_t n = 0; s->program->enabled[i].layout.size && n < s->options->records;
			     n++)
				put_record(s, i + 1, &s->program->enabled[i], clock.record);
	if (s->out.len == before) {
		ot_buf_clear(&s->out);
		return NULL;
	}
	return send_list(s, FL_RECORDS);
}

struct ot_err *sim_send_data(struct sim_session *s, uint32_t upto)
{
	OT_TRY(send_deltas(s, upto));
	OT_TRY(send_records(s, upto));
	s->ticks = upto;
	return NULL;
}
