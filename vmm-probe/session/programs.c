/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of probes that are defined over others: their sites' programs, for the batch, and the clauses that
 * keep values for them, for the session's program.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/session/batch.h"
#include "vmm-probe/session/internal.h"

/* --- site programs ------------------------------------------------------------------------- */

static struct ot_err *add_program(struct vp_feed *feed, uint32_t *number)
{
	struct vp_batch_programs *p = &feed->batch_programs;
	const struct dif_clause *program;

	if (!*number)
		return NULL;
	uintptr_t known = (uintptr_t)ot_map_get(&p->index, number, sizeof(*number));
	if (!known) {
		program = vp_probes_program(feed->link->probes, *number);
		if (!program)
			return ot_err_new(OT_ERR_INTERNAL, "there is no site program %u", *number);
		if (!ot_grow(&p->list, &p->cap, p->n + 1, sizeof(*p->list)))
			return ot_err_nomem();
		p->list[p->n++] = *program;
		known = p->n;
		if (!ot_map_put(&p->index, number, sizeof(*number), (void *)known))
			return ot_err_nomem();
	}
	*number = (uint32_t)known;
	return NULL;
}

struct ot_err *vp_batch_add_programs(struct vp_feed *feed, struct vp_batch_site *sites, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		OT_TRY(add_program(feed, &sites[i].raw));
		OT_TRY(add_program(feed, &sites[i].program));
	}
	return NULL;
}

struct ot_err *vp_batch_write_programs(struct vp_feed *feed)
{
	struct vp_batch_programs *p = &feed->batch_programs;
	struct dif_program prog = { .clauses = p->list, .nclauses = (uint32_t)p->n };

	ot_buf_clear(&p->dof);
	return p->n ? dif_dof_write(&prog, &p->dof) : NULL;
}

void vp_batch_programs_clear(struct vp_batch_programs *programs)
{
	free(programs->list);
	ot_map_deinit(&programs->index);
	ot_buf_deinit(&programs->dof);
	*programs = (struct vp_batch_programs){ 0 };
}

/* --- clauses ---------------------------------------------------------------------------------- */

/* A list of clauses that grows. */
struct list {
	struct dif_clause *items;
	size_t n, cap;
};

struct gathering {
	struct vp_session *s;
	uint32_t guest;
	struct ot_map seen; /* struct vp_support, by address */
	struct list before, after;
	struct ot_err *err;
};

/* With several guests, each has clauses of its own, because its kernel may differ. */
static struct ot_err *append(const struct gathering *g, struct list *list, const struct dif_clause *clauses,
			     uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!ot_grow(&list->items, &list->cap, list->n + 1, sizeof(*list->items)))
			return ot_err_nomem();
		list->items[list->n] = clauses[i];
		list->items[list->n].kernel = g->s->kernels.of[g->guest];
		list->items[list->n].guest = g->guest + 1;
		list->items[list->n].after = list == &g->after;
		list->n++;
	}
	return NULL;
}

static struct ot_err *add_support(struct gathering *g, const struct vp_probe *probe)
{
	const struct vp_support *support = vp_probes_support(g->s->links.items[g->guest]->probes, probe);

	if (!support || ot_map_get(&g->seen, &support, sizeof(support)))
		return NULL;
	if (!ot_map_put(&g->seen, &support, sizeof(support), g))
		return ot_err_nomem();
	OT_TRY(append(g, &g->before, support->before, support->nbefore));
	return append(g, &g->after, support->after, support->nafter);
}

static bool see_probe(void *arg, const struct vp_probe *probe)
{
	struct gathering *g = arg;

	g->err = add_support(g, probe);
	return !g->err;
}

static struct ot_err *gather(struct gathering *g, const struct dif_program *prog)
{
	for (uint32_t i = 0; i < prog->nclauses; i++) {
		uint64_t count;

		if (!vp_clause_wants_guest(g->s, &prog->clauses[i], g->guest))
			continue;
		OT_TRY(vp_probes_match(g->s->links.items[g->guest]->probes, &prog->clauses[i].probe, false,
				       see_probe, g, &count));
		if (g->err)
			return g->err;
	}
	return NULL;
}

static struct ot_err *extend(struct dif_program *prog, const struct gathering *g)
{
	size_t n = prog->nclauses + g->before.n + g->after.n;
	struct dif_clause *all = ot_arena_alloc(&prog->arena, (n + 1) * sizeof(*all));

	if (!all)
		return ot_err_nomem();
	if (n > DIF_CLAUSES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u clauses", DIF_CLAUSES_MAX);
	memcpy(all, prog->clauses, prog->nclauses * sizeof(*all));
	if (g->before.n)
		memcpy(all + prog->nclauses, g->before.items, g->before.n * sizeof(*all));
	if (g->after.n)
		memcpy(all + prog->nclauses + g->before.n, g->after.items, g->after.n * sizeof(*all));
	prog->clauses = all;
	prog->nclauses = (uint32_t)n;
	return NULL;
}

/* For guests @from to @end - 1. */
static struct ot_err *add_of(struct vp_session *s, struct dif_program *prog, uint32_t from, uint32_t end)
{
	struct gathering g = { .s = s };
	struct ot_err *err = NULL;

	ot_map_init(&g.seen);
	for (g.guest = from; !err && g.guest < end; g.guest++)
		err = gather(&g, prog);
	if (!err && (g.before.n || g.after.n))
		err = extend(prog, &g);
	ot_map_deinit(&g.seen);
	free(g.before.items);
	free(g.after.items);
	return err;
}

struct ot_err *vp_support_add(struct vp_session *s, struct dif_program *prog)
{
	return add_of(s, prog, 0, s->links.n);
}

struct ot_err *vp_support_add_of(struct vp_session *s, struct dif_program *prog, uint32_t guest)
{
	return add_of(s, prog, guest, guest + 1);
}
