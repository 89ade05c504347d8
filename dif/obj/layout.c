/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computing the layout of records and aggregation tuples. */
#include "dif/obj/layout.h"

#define RECORD_MAX (1u << 30)

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/* The largest power of two, at most 8, that divides @p size. */
static uint32_t natural_align(uint32_t size)
{
	uint32_t align = size & -size;

	return !align || align > 8 ? 8 : align;
}

static uint64_t value_size(const struct dif_rtype *type, const struct dif_layout_opts *opts)
{
	return type->kind == DIF_TYPE_STRING && !type->size ? opts->strsize : type->size;
}

static uint64_t ustack_size(const struct dif_action *action, const struct dif_layout_opts *opts)
{
	bool jstack = action->kind == DIF_ACT_jstack;
	uint64_t frames = action->arg & 0xffffffff, strsize = action->arg >> 32;

	if (!frames)
		frames = jstack ? opts->jstackframes : opts->ustackframes;
	if (!strsize && jstack)
		strsize = opts->jstackstrsize;
	return align_up((frames + 1) * 8 + strsize, 8);
}

/* In 64 bits, so that a forged frame count can't wrap. */
static uint64_t record_size(const struct dif_action *action, const struct dif_layout_opts *opts)
{
	if (DIF_ACT_IS_AGG(action->kind) || action->is_increment)
		return 0;
	switch (action->kind) {
	case DIF_ACT_difexpr:
	case DIF_ACT_tracemem:
	case DIF_ACT_tracemem_dynsize:
	case DIF_ACT_printm:
	case DIF_ACT_print:
		return action->object ? value_size(&action->object->ret, opts) : 0;
	case DIF_ACT_printf:
	case DIF_ACT_printa:
	case DIF_ACT_system:
	case DIF_ACT_freopen:
	case DIF_ACT_libact:
		return action->object ? value_size(&action->object->ret, opts) : 8;
	case DIF_ACT_exit:
		return 4;
	case DIF_ACT_stack:
		return (action->arg ? action->arg & 0xffffffff : opts->stackframes) * 8ull;
	case DIF_ACT_ustack:
	case DIF_ACT_jstack:
		return ustack_size(action, opts);
	case DIF_ACT_sym:
	case DIF_ACT_mod:
		return 8;
	case DIF_ACT_usym:
	case DIF_ACT_umod:
	case DIF_ACT_uaddr:
		return 16;
	case DIF_ACT_none:
	case DIF_ACT_stop:
	case DIF_ACT_raise:
	case DIF_ACT_breakpoint:
	case DIF_ACT_panic:
	case DIF_ACT_chill:
	case DIF_ACT_speculate:
	case DIF_ACT_commit:
	case DIF_ACT_discard:
		return 0;
	}
	return 0;
}

uint32_t dif_action_record_size(const struct dif_action *action, const struct dif_layout_opts *opts)
{
	uint64_t size = record_size(action, opts);

	return size > RECORD_MAX ? UINT32_MAX : (uint32_t)size;
}

/* --- aggregations -------------------------------------------------------------- */

/* The tuple of the aggregating action @p index: the key actions directly before it. */
static struct ot_err *agg_layout(const struct dif_clause *clause, uint32_t index,
				 const struct dif_layout_opts *opts, struct ot_arena *arena,
				 struct dif_agg_layout *ret)
{
	const struct dif_action *agg = &clause->actions[index];
	uint32_t npre = agg->ntuple ? agg->ntuple - 1 : 0;
	uint64_t at = 4; /* after the u32 aggid */

	if (npre > index)
		return ot_err_new(OT_ERR_BAD_DATA, "aggregation has more keys than actions before it");
	*ret = (struct dif_agg_layout){ .action = index, .increment_action = -1 };
	ret->keys = ot_arena_alloc(arena, (npre + 1) * sizeof(*ret->keys));
	if (!ret->keys)
		return ot_err_nomem();
	for (uint32_t i = index - npre; i < index; i++) {
		if (clause->actions[i].is_increment) {
			ret->increment_action = (int32_t)i;
			continue;
		}
		uint64_t size = record_size(&clause->actions[i], opts);
		if (size > RECORD_MAX)
			return ot_err_new(OT_ERR_LIMIT, "aggregation key of more than 1 GiB");
		uint32_t align = natural_align((uint32_t)size);
		at = align_up(at, align);
		ret->keys[ret->nkeys++] = (struct dif_rec){ i, (uint32_t)at, (uint32_t)size, align };
		ret->shape = (ret->shape ^ (uint32_t)size) * 0x9e3779b1u;
		at += size;
		if (at > RECORD_MAX)
			return ot_err_new(OT_ERR_LIMIT, "aggregation tuple of more than 1 GiB");
	}
	ret->tuple_size = (uint32_t)at;
	ret->data_offset = (uint32_t)align_up(at, 8);
	ret->nwords = dif_agg_words((enum dif_agg_kind)agg->kind, agg->arg);
	if (!ret->nwords)
		return ot_err_new(OT_ERR_BAD_DATA, "%s() with impossible parameters %#llx",
				  dif_action_name(agg->kind), (unsigned long long)agg->arg);
	return NULL;
}

static struct ot_err *add_record(struct dif_clause_layout *l, uint32_t index, uint64_t size, uint64_t *at)
{
	uint32_t align = natural_align((uint32_t)size);

	if (size > RECORD_MAX || *at + size + 8 > RECORD_MAX)
		return ot_err_new(OT_ERR_LIMIT, "record of more than 1 GiB");
	*at = align_up(*at, align);
	if (align > l->align)
		l->align = align;
	l->recs[l->nrecs++] = (struct dif_rec){ index, (uint32_t)*at, (uint32_t)size, align };
	*at += size;
	return NULL;
}

/* A speculate() that is alone speculates the default action. */
static bool is_default(const struct dif_clause *clause)
{
	return !clause->nactions || (clause->nactions == 1 && clause->actions[0].kind == DIF_ACT_speculate);
}

struct ot_err *dif_clause_layout(const struct dif_clause *clause, const struct dif_layout_opts *opts,
				 struct ot_arena *arena, struct dif_clause_layout *ret)
{
	struct dif_clause_layout l = { .align = 4, .is_default = is_default(clause) };
	uint64_t at = DIF_RECORD_HEADER;

	l.recs = ot_arena_alloc(arena, (clause->nactions + 1) * sizeof(*l.recs));
	l.aggs = ot_arena_alloc(arena, (clause->nactions + 1) * sizeof(*l.aggs));
	if (!l.recs || !l.aggs)
		return ot_err_nomem();
	for (uint32_t i = 0; i < clause->nactions; i++) {
		const struct dif_action *a = &clause->actions[i];
		if (DIF_ACT_IS_AGG(a->kind)) {
			OT_TRY(agg_layout(clause, i, opts, arena, &l.aggs[l.naggs]));
			l.naggs++;
			continue;
		}
		l.speculates |= a->kind == DIF_ACT_speculate;
		l.commits |= a->kind == DIF_ACT_commit;
		uint64_t size = a->is_key ? 0 : record_size(a, opts);
		if (size)
			OT_TRY(add_record(&l, i, size, &at));
	}
	if (l.nrecs || l.is_default)
		l.size = (uint32_t)align_up(at, 4);
	*ret = l;
	return NULL;
}
