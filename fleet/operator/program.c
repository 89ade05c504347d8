/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host's program and its enabled probes, which define its data. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "dif/obj/verify.h"
#include "fleet/operator/internal.h"

/* Memory of a parsed program, as a multiple of its DOF; and of a probe besides its texts. */
#define PROGRAM_COST 8
#define PROBE_COST   (sizeof(struct vp_enabled) + sizeof(struct vp_probe) + 192)

void fl_program_destroy(struct fl_program_there *p)
{
	if (!p)
		return;
	dif_program_deinit(&p->prog);
	ot_arena_deinit(&p->arena);
	free(p);
}

/* --- PROGRAM -------------------------------------------------------------------------------------------- */

static struct ot_err *check_sizes(const struct dif_layout_opts *o)
{
	if (o->strsize > FL_MESSAGE_MAX || o->stackframes > DIF_FRAMES_MAX ||
	    o->ustackframes > DIF_FRAMES_MAX || o->jstackframes > DIF_FRAMES_MAX ||
	    o->jstackstrsize > FL_MESSAGE_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "impossible sizes of strings and stacks");
	return NULL;
}

/* The number of frames in a process's stack comes from the action alone: this side's option may differ. */
static void fix_stacks(struct fl_program_there *p)
{
	for (uint32_t i = 0; i < p->prog.nclauses; i++) {
		for (uint32_t k = 0; k < p->prog.clauses[i].nactions; k++) {
			struct dif_action *a = &p->prog.clauses[i].actions[k];
			bool jstack = a->kind == DIF_ACT_jstack;

			if ((jstack || a->kind == DIF_ACT_ustack) && !(a->arg & 0xffffffff))
				a->arg |= jstack ? p->opts.jstackframes : p->opts.ustackframes;
		}
	}
}

static struct ot_err *read_program(struct fl_program_there *p, const struct fl_program *m)
{
	p->opts = (struct dif_layout_opts){ m->strsize, m->stackframes, m->ustackframes, m->jstackframes,
					    m->jstackstrsize };
	OT_TRY(check_sizes(&p->opts));
	OT_TRY(dif_dof_read(m->dof.data, m->dof.len, &p->prog));
	OT_TRY(dif_program_verify(&p->prog));
	fix_stacks(p);
	p->layouts = ot_arena_alloc(&p->arena, (p->prog.nclauses + 1) * sizeof(*p->layouts));
	return p->layouts ? NULL : ot_err_nomem();
}

struct ot_err *fl_host_take_program(struct fl_host *h, const void *data, size_t len)
{
	struct fl_program_there *p;
	struct fl_program m;
	struct ot_arena arena;

	if (h->nprograms == (h->merger ? FL_MERGED_MAX : FL_PROGRAMS_MAX))
		return ot_err_new(OT_ERR_BAD_DATA, "more programs than guests");
	if (!ot_grow(&h->programs, &h->programs_cap, h->nprograms + 1, sizeof(struct fl_program_there *)))
		return ot_err_nomem();
	p = calloc(1, sizeof(*p));
	if (!p)
		return ot_err_nomem();
	ot_arena_init(&p->arena);
	dif_program_init(&p->prog);
	ot_arena_init(&arena);
	struct ot_err *err = fl_get_program(data, len, &arena, &m);
	if (!err)
		err = fl_room_take(h, sizeof(*p) + PROGRAM_COST * (uint64_t)m.dof.len);
	if (!err)
		err = read_program(p, &m);
	ot_arena_deinit(&arena);
	if (!err && h->fleet->prog)
		err = fl_program_bind(p, h->fleet->prog);
	if (err) {
		fl_program_destroy(p);
		return err;
	}
	h->programs[h->nprograms++] = p;
	return NULL;
}

/* --- the operator's numbers ----------------------------------------------------------------------------- */

static const struct dif_aggvar *find_agg(const struct dif_program *prog, const char *name)
{
	for (uint32_t i = 0; i < prog->naggs; i++)
		if (prog->aggs[i].name && !strcmp(prog->aggs[i].name, name))
			return &prog->aggs[i];
	return NULL;
}

static struct ot_err *number_of(const struct dif_program *prog, const struct dif_aggvar *there, uint32_t *ret)
{
	const struct dif_aggvar *here = find_agg(prog, there->name);

	if (!here)
		return ot_err_new(OT_ERR_BAD_DATA, "@%s is not an aggregation here", there->name);
	if (here->kind != there->kind || here->arg != there->arg || here->nkeys != there->nkeys)
		return ot_err_new(OT_ERR_BAD_DATA,
				  "@%s is %s() with %u keys there, and %s() with %u keys here, or has other "
				  "parameters",
				  there->name, dif_action_name(there->kind), there->nkeys,
				  dif_action_name(here->kind), here->nkeys);
	*ret = here->id;
	return NULL;
}

struct ot_err *fl_program_bind(struct fl_program_there *p, const struct dif_program *prog)
{
	ot_auto_free uint32_t *numbers = calloc(p->prog.naggs + 1, sizeof(*numbers));

	if (!numbers)
		return ot_err_nomem();
	if (p->is_bound)
		return NULL;
	for (uint32_t i = 0; i < p->prog.naggs; i++)
		OT_TRY(number_of(prog, &p->prog.aggs[i], &numbers[i]));
	for (uint32_t i = 0; i < p->prog.nclauses; i++) {
		for (uint32_t k = 0; k < p->prog.clauses[i].nactions; k++) {
			struct dif_action *a = &p->prog.clauses[i].actions[k];
			a->aggid = a->aggid && a->aggid <= p->prog.naggs ? numbers[a->aggid - 1] : 0;
		}
	}
	p->is_bound = true;
	return NULL;
}

/* --- ENABLED -------------------------------------------------------------------------------------------- */

struct ot_err *fl_host_lay_out(struct fl_host *h, struct fl_program_there *p, uint32_t clause)
{
	struct dif_clause_layout *l;

	if (p->layouts[clause])
		return NULL;
	OT_TRY(fl_trust_clause(h->fleet->may_act, &p->prog, &p->prog.clauses[clause]));
	l = ot_arena_new(&p->arena, struct dif_clause_layout);
	if (!l)
		return ot_err_nomem();
	OT_TRY(dif_clause_layout(&p->prog.clauses[clause], &p->opts, &p->arena, l));
	if (l->size > FL_MESSAGE_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "a record of %u bytes", l->size);
	p->layouts[clause] = l;
	return NULL;
}

/* A guest's name, which is printed in lines. */
static const char *name_of(struct fl_host *h, const char *text)
{
	char *copy = ot_arena_strdup(&h->arena, text);

	if (copy)
		ot_utf8_tame_string(copy);
	return copy;
}

static struct vp_probe *probe_of(struct fl_host *h, const struct fl_enabled *e)
{
	struct vp_probe *probe = ot_arena_new(&h->arena, struct vp_probe);

	if (!probe)
		return NULL;
	*probe = (struct vp_probe){
		.id = e->probe,
		.kind = VP_PROBE_SITE,
		.provider = name_of(h, e->provider),
		.module = name_of(h, e->module),
		.function = name_of(h, e->function),
		.name = name_of(h, e->name),
	};
	return probe->provider && probe->module && probe->function && probe->name ? probe : NULL;
}

static struct ot_err *enable(struct fl_host *h, const struct fl_enabled *e)
{
	struct fl_program_there *p = h->nprograms ? h->programs[h->nprograms - 1] : NULL;

	if (!p || e->clause >= p->prog.nclauses || e->guest >= VP_GUESTS_MAX || !h->there[e->guest].name)
		return ot_err_new(OT_ERR_BAD_DATA, "a probe of no clause, or of no guest");
	if (ot_map_get(&h->enabled, &e->epid, sizeof(e->epid)) || h->enabled.count == FL_ENABLED_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "two probes with EPID %u, or too many", e->epid);
	OT_TRY(fl_room_take(h, PROBE_COST + strlen(e->provider) + strlen(e->module) + strlen(e->function) +
				   strlen(e->name)));
	OT_TRY(fl_host_lay_out(h, p, e->clause));
	struct vp_enabled *enabled = ot_arena_new(&h->arena, struct vp_enabled);
	struct vp_probe *probe = probe_of(h, e);
	if (!enabled || !probe)
		return ot_err_nomem();
	*enabled = (struct vp_enabled){
		.epid = h->fleet->next_epid++,
		.clause_index = e->clause,
		.guest = FL_GUEST_BASE + h->index * VP_GUESTS_MAX + e->guest,
		.clause = &p->prog.clauses[e->clause],
		.layout = p->layouts[e->clause],
		.probe = probe,
	};
	return ot_map_put(&h->enabled, &e->epid, sizeof(e->epid), enabled) ? NULL : ot_err_nomem();
}

struct ot_err *fl_host_take_enabled(struct fl_host *h, const void *data, size_t len)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct ot_err *err = NULL;
	struct fl_enabled e;
	struct ot_arena arena;

	ot_arena_init(&arena);
	while (!err && fl_next_enabled(&r, &arena, &e))
		err = enable(h, &e);
	ot_arena_deinit(&arena);
	return err ? err : fl_reader_end(&r, FL_ENABLED);
}
