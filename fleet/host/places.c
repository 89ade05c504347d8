/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the places of addresses that are printed as names in the records of a clause. */
#include "fleet/host/places.h"

#include "consumer/output/print.h"
#include "dif/obj/format.h"

/* --- conversions and what they take ------------------------------------------------------------------------ */

/* A format's arguments in order, one call for each; @conv 0: a width or a precision. */
typedef void each_arg(void *arg, unsigned number, char conv);

static struct ot_err *walk_format(const char *text, struct ot_arena *arena, each_arg *each, void *arg)
{
	struct dif_format format = { 0 };
	struct ot_err *err = text ? dif_format_parse(text, arena, &format) : NULL;
	unsigned n = 0;

	if (err && ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	ot_err_destroy(err);
	for (uint32_t i = 0; !err && i < format.nconvs; i++) {
		const struct dif_conv *conv = &format.convs[i];

		if (conv->flags & DIF_CONV_STAR_WIDTH)
			each(arg, n++, '\0');
		if (conv->flags & DIF_CONV_STAR_PREC)
			each(arg, n++, '\0');
		if (conv->conv && conv->conv != '%' && !(conv->flags & DIF_CONV_AGG))
			each(arg, n++, conv->conv);
	}
	return NULL;
}

/* --- keys ------------------------------------------------------------------------------------------------- */

struct keys_printed {
	uint64_t as_name, otherwise;
};

static void see_key(void *arg, unsigned number, char conv)
{
	struct keys_printed *k = arg;
	uint64_t bit = number < 64 ? 1ull << number : 0;

	if (conv == 'a' || conv == 'A')
		k->as_name |= bit;
	else
		k->otherwise |= bit;
}

/* The printa() that begins at action @first; several aggregations in one statement have the same keys. */
static struct ot_err *see_printa(const struct dif_clause *clause, uint32_t first, struct ot_arena *arena,
				 struct fl_printed_keys *ret)
{
	const struct dif_action *a = &clause->actions[first];
	struct keys_printed k = { .otherwise = a->format ? 0 : UINT64_MAX };

	OT_TRY(walk_format(a->format, arena, see_key, &k));
	for (uint32_t i = first; i < clause->nactions; i++) {
		const struct dif_action *b = &clause->actions[i];

		if (b->kind != DIF_ACT_printa || (i > first && (!a->uarg || b->uarg != a->uarg)))
			break;
		if (!b->aggid || b->aggid > ret->naggs)
			continue;
		ret->as_name[b->aggid - 1] |= k.as_name;
		ret->otherwise[b->aggid - 1] |= k.otherwise;
	}
	return NULL;
}

static bool continues(const struct dif_clause *clause, uint32_t i)
{
	const struct dif_action *a = &clause->actions[i];

	return i && a->uarg && a[-1].kind == a->kind && a[-1].uarg == a->uarg;
}

struct ot_err *fl_printed_keys(const struct dif_program *prog, struct ot_arena *arena,
			       struct fl_printed_keys *ret)
{
	ret->naggs = prog->naggs;
	ret->as_name = ot_arena_alloc(arena, (prog->naggs + 1) * sizeof(uint64_t));
	ret->otherwise = ot_arena_alloc(arena, (prog->naggs + 1) * sizeof(uint64_t));
	if (!ret->as_name || !ret->otherwise)
		return ot_err_nomem();
	for (uint32_t i = 0; i < prog->nclauses; i++) {
		const struct dif_clause *clause = &prog->clauses[i];

		for (uint32_t k = 0; k < clause->nactions; k++)
			if (clause->actions[k].kind == DIF_ACT_printa && !continues(clause, k))
				OT_TRY(see_printa(clause, k, arena, ret));
	}
	return NULL;
}

static bool is_printed_by_name(const struct fl_printed_keys *printed, uint32_t aggid, uint32_t key)
{
	if (!aggid || aggid > printed->naggs || key >= 64)
		return false;
	return (printed->as_name[aggid - 1] & ~printed->otherwise[aggid - 1]) >> key & 1;
}

/* It must have room for a name's number. */
static bool is_integer(const struct dif_action *a, uint32_t size)
{
	return a->object && a->object->ret.kind != DIF_TYPE_STRING && (size == 4 || size == 8);
}

struct ot_err *fl_places_of_keys(const struct dif_clause *clause, const struct dif_agg_layout *layout,
				 const struct fl_printed_keys *printed, struct ot_arena *arena,
				 struct fl_places *ret)
{
	const uint32_t aggid = clause->actions[layout->action].aggid;

	*ret = (struct fl_places){ ot_arena_alloc(arena, (layout->nkeys + 1) * sizeof(*ret->items)), 0 };
	if (!ret->items)
		return ot_err_nomem();
	for (uint32_t i = 0; i < layout->nkeys; i++) {
		const struct dif_rec *rec = &layout->keys[i];
		const struct dif_action *a = &clause->actions[rec->action];

		if (con_is_named(a->kind))
			ret->items[ret->n++] = (struct fl_place){ FL_PLACE_DATUM, a, rec->offset, rec->size };
		else if (is_integer(a, rec->size) && is_printed_by_name(printed, aggid, i))
			ret->items[ret->n++] =
			    (struct fl_place){ FL_PLACE_KERNEL, a, rec->offset, rec->size };
	}
	return NULL;
}

/* --- records ---------------------------------------------------------------------------------------------- */

/* The arguments of a printf() in a record: its data from number `first` on, `n` of them. */
struct printed {
	const struct dif_clause *clause;
	const struct dif_rec *args;
	uint32_t n;
	struct fl_places *places;
};

static void see_arg(void *arg, unsigned number, char conv)
{
	struct printed *p = arg;

	if (number >= p->n || (conv != 'a' && conv != 'A'))
		return;
	const struct dif_rec *rec = &p->args[number];
	const struct dif_action *a = &p->clause->actions[rec->action];

	if (!con_is_named(a->kind) && is_integer(a, rec->size))
		p->places->items[p->places->n++] =
		    (struct fl_place){ conv == 'A' ? FL_PLACE_USER : FL_PLACE_KERNEL, a, rec->offset,
				       rec->size };
}

/* Data of one statement have one uarg. */
static uint32_t run_length(const struct dif_clause *clause, const struct dif_rec *recs, uint32_t n)
{
	const uint64_t uarg = clause->actions[recs->action].uarg;
	uint32_t len = 1;

	while (uarg && len < n && clause->actions[recs[len].action].uarg == uarg)
		len++;
	return len;
}

/* As in the consumer: a printf() without an object of its own precedes its arguments. */
static struct ot_err *see_printf(const struct dif_clause *clause, const struct dif_rec *recs, uint32_t n,
				 struct ot_arena *arena, struct fl_places *ret)
{
	const struct dif_action *first = &clause->actions[recs->action];
	const bool alone = !first->object;
	struct printed p = { clause, recs + alone, n - alone, ret };

	return walk_format(first->format, arena, see_arg, &p);
}

struct ot_err *fl_places_of_record(const struct dif_clause *clause, const struct dif_clause_layout *layout,
				   struct ot_arena *arena, struct fl_places *ret)
{
	*ret = (struct fl_places){ ot_arena_alloc(arena, (layout->nrecs + 1) * sizeof(*ret->items)), 0 };
	if (!ret->items)
		return ot_err_nomem();
	for (uint32_t i = 0, len; i < layout->nrecs; i += len) {
		const struct dif_rec *recs = &layout->recs[i];

		len = run_length(clause, recs, layout->nrecs - i);
		for (uint32_t k = 0; k < len; k++) {
			const struct dif_action *a = &clause->actions[recs[k].action];

			if (con_is_named(a->kind))
				ret->items[ret->n++] =
				    (struct fl_place){ FL_PLACE_DATUM, a, recs[k].offset, recs[k].size };
		}
		if (clause->actions[recs->action].kind == DIF_ACT_printf)
			OT_TRY(see_printf(clause, recs, len, arena, ret));
	}
	return NULL;
}
