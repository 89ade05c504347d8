/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up aggregations of several hosts. Each host lays out its clauses by its own kernel and options, so
 * keys are matched by their types. Matching keys have one pattern, the first clause that had it, and the
 * operator reads all of them by that pattern.
 *
 * Keys with addresses of a process belong to one guest: nothing is added up, and they are passed on as their
 * host's.
 */
#include <stdlib.h>
#include <string.h>

#include "fleet/merge/internal.h"

#define REMEMBERED (1u << 20) /* addresses of all hosts' keys */

struct ot_err *fl_fold_init(struct fl_merge *m)
{
	struct fl_fold *fold = &m->fold;
	struct con_symbols symbols = { 0 };

	OT_TRY(fl_gather_init(&fold->gather, &m->prog, &m->opts));
	fl_fleet_names(m->fleet, &symbols);
	fl_names_init(&fold->names, &symbols, &m->opts);
	fold->names.joint = true;
	fold->names.remembered = REMEMBERED;
	ot_map_init(&fold->layouts);
	ot_map_init(&fold->patterns);
	ot_arena_init(&fold->arena);
	ot_buf_init(&fold->tuple);
	ot_buf_init(&fold->likeness);
	fold->next_epid = 1;
	m->has_fold = true;
	return NULL;
}

void fl_fold_deinit(struct fl_fold *fold)
{
	fl_gather_deinit(&fold->gather);
	fl_names_deinit(&fold->names);
	free(fold->losses.items);
	ot_map_deinit(&fold->layouts);
	ot_map_deinit(&fold->patterns);
	ot_arena_deinit(&fold->arena);
	ot_buf_deinit(&fold->tuple);
	ot_buf_deinit(&fold->likeness);
}

/* --- which keys are alike --------------------------------------------------------------------------------- */

static void put_number(struct ot_buf *out, uint64_t n)
{
	ot_buf_append(out, &n, sizeof(n));
}

/* Everything that the operator needs to print a key. */
static void put_key(struct ot_buf *out, const struct dif_rec *rec, const struct dif_action *a)
{
	put_number(out, rec->offset);
	put_number(out, rec->size);
	put_number(out, a->kind);
	put_number(out, a->arg);
	put_number(out, a->object != NULL);
	if (a->object) {
		put_number(out, a->object->ret.kind);
		put_number(out, a->object->ret.ckind);
		put_number(out, a->object->ret.flags);
		put_number(out, a->object->ret.size);
	}
	ot_buf_puts(out, a->format ? a->format : "");
	ot_buf_putc(out, '\0');
}

static void put_likeness(struct ot_buf *out, const struct dif_clause *clause,
			 const struct dif_agg_layout *layout)
{
	ot_buf_clear(out);
	put_number(out, clause->actions[layout->action].aggid);
	put_number(out, layout->tuple_size);
	put_number(out, layout->nwords);
	put_number(out, layout->nkeys);
	for (uint32_t i = 0; i < layout->nkeys; i++)
		put_key(out, &layout->keys[i], &clause->actions[layout->keys[i].action]);
}

/* The host of the clause, its program, and the clause's number there. */
struct whose {
	struct fl_host *host;
	uint32_t program, clause;
};

static bool find_program(struct fl_merge *m, const struct vp_enabled *ecb, struct whose *ret)
{
	if (!fl_guest_of(m->fleet, ecb->guest, &ret->host))
		return false;
	for (ret->program = ret->host->nprograms; ret->program--;) {
		const struct dif_program *prog = &ret->host->programs[ret->program]->prog;

		if (ecb->clause >= prog->clauses && ecb->clause < prog->clauses + prog->nclauses) {
			ret->clause = (uint32_t)(ecb->clause - prog->clauses);
			return true;
		}
	}
	return false;
}

static struct fl_kept *kept_of(struct fl_merge *m, const struct whose *w)
{
	return m->by_host[w->host->index]->programs[w->program];
}

static struct ot_err *new_pattern(struct fl_merge *m, const struct whose *w, const struct vp_enabled *ecb,
				  const struct dif_agg_layout *layout, const struct fl_pattern **ret)
{
	struct fl_fold *fold = &m->fold;
	struct fl_pattern *pattern;
	uint32_t epid;

	*ret = NULL;
	OT_TRY(fl_sums_epid(m, w->host, w->host->programs[w->program], kept_of(m, w), w->clause, &epid));
	if (!epid)
		return NULL;
	pattern = ot_arena_new(&fold->arena, struct fl_pattern);
	if (!pattern || !ot_map_put(&fold->patterns, fold->likeness.data, fold->likeness.len, pattern))
		return ot_err_nomem();
	*pattern = (struct fl_pattern){ *ecb, layout, &ecb->clause->actions[layout->action] };
	pattern->ecb.epid = epid;
	*ret = pattern;
	return NULL;
}

static struct ot_err *find_pattern(struct fl_merge *m, const struct whose *w, const struct vp_enabled *ecb,
				   const struct dif_agg_layout *layout, const struct fl_pattern **ret)
{
	struct ot_buf *likeness = &m->fold.likeness;

	put_likeness(likeness, ecb->clause, layout);
	if (likeness->failed)
		return ot_err_nomem();
	*ret = ot_map_get(&m->fold.patterns, likeness->data, likeness->len);
	return *ret ? NULL : new_pattern(m, w, ecb, layout, ret);
}

/* The keys that have numbers of names, as determined by the host from its whole program. */
static struct ot_err *find_places(struct fl_merge *m, const struct whose *w, const struct vp_enabled *ecb,
				  const struct dif_agg_layout *layout, struct fl_places *ret)
{
	struct fl_kept *kept = kept_of(m, w);

	if (!kept->printed.as_name) {
		struct dif_program prog = w->host->programs[w->program]->prog;

		prog.naggs = m->fold.gather.aggs.nvars; /* its clauses have the operator's numbers */
		OT_TRY(fl_printed_keys(&prog, &m->fold.arena, &kept->printed));
	}
	return fl_places_of_keys(ecb->clause, layout, &kept->printed, &m->fold.arena, ret);
}

struct ot_err *fl_fold_of(struct fl_merge *m, const struct vp_enabled *ecb,
			  const struct dif_agg_layout *layout, const struct fl_folded **ret)
{
	struct fl_fold *fold = &m->fold;
	struct fl_folded *folded = ot_map_get(&fold->layouts, &layout, sizeof(layout));
	struct whose w;

	*ret = folded;
	if (folded)
		return NULL;
	folded = ot_arena_new(&fold->arena, struct fl_folded);
	if (!folded)
		return ot_err_nomem();
	if (!con_agg_names_process(ecb->clause, layout) && find_program(m, ecb, &w)) {
		OT_TRY(find_places(m, &w, ecb, layout, &folded->places));
		OT_TRY(find_pattern(m, &w, ecb, layout, &folded->pattern));
	}
	if (!ot_map_put(&fold->layouts, &layout, sizeof(layout), folded))
		return ot_err_nomem();
	*ret = folded;
	return NULL;
}

/* --- the sink --------------------------------------------------------------------------------------------- */

/* The tuple with the merger's numbers for names. */
static struct ot_err *number_names(struct fl_merge *m, const struct vp_aggregate *delta,
				   const struct fl_folded *folded, const uint8_t **ret)
{
	struct ot_buf *tuple = &m->fold.tuple;

	*ret = delta->tuple;
	if (!folded->places.n)
		return NULL;
	ot_buf_clear(tuple);
	ot_buf_append(tuple, delta->tuple, delta->layout->tuple_size);
	if (tuple->failed)
		return ot_err_nomem();
	*ret = (const uint8_t *)tuple->data;
	OT_TRY(fl_names_replace(&m->fold.names, delta->ecb->guest, &folded->places, true,
				(uint8_t *)tuple->data));
	return fl_sums_names(m, FL_BATCH);
}

static struct ot_err *on_aggregate(void *arg, const struct vp_aggregate *delta)
{
	struct fl_merge *m = arg;
	struct vp_aggregate like = *delta;
	const struct fl_folded *folded;
	bool taken;

	OT_TRY(fl_fold_of(m, delta->ecb, delta->layout, &folded));
	if (!folded->pattern) {
		m->fold.alone = true; /* relay.c passes it on */
		return NULL;
	}
	like.ecb = &folded->pattern->ecb;
	like.layout = folded->pattern->layout;
	like.action = folded->pattern->action;
	like.account = NULL; /* the gather has a bound for all hosts */
	OT_TRY(number_names(m, delta, folded, &like.tuple));
	OT_TRY(fl_gather_add(&m->fold.gather, &like, &taken));
	return taken ? NULL : fl_losses_add(&m->fold.losses, VP_DROP_AGGREGATION, 0, 1);
}

/* Data of one host only is passed on unchanged. */

static struct ot_err *on_record(void *arg, const struct vp_record *r)
{
	(void)arg;
	(void)r;
	return NULL;
}

static struct ot_err *on_fault(void *arg, const struct vp_fault_info *fault)
{
	(void)arg;
	(void)fault;
	return NULL;
}

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
	(void)overload;
	return NULL;
}

struct vp_sink fl_fold_sink(struct fl_merge *m)
{
	return (struct vp_sink){ m, on_record, on_aggregate, on_fault, on_drop, on_overload, NULL, NULL };
}
