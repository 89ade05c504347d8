/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verifying a whole program: the rules beyond a single object.
 *
 *   31  the numbers of clauses, actions and aggregations are limited
 *   32  a probe description's fields are shorter than the published buffers
 *   33  an action's kind exists
 *   34  an action has an object if and only if it evaluates one
 *   35  an action's object returns by value or by reference, as the action requires
 *   36  all objects agree about each variable's kind and type (a size of 0 matches any)
 *   37  printf-like actions of one statement are consecutive, with a format on the first
 *   38  numbers of stack frames are limited
 *   39  an aggregating action names an aggregation of the program, with its function and parameters
 *   40  its keys are the key actions directly before it, as many as the aggregation has; there are no
 *       other keys
 *   41  lquantize and llquantize have valid parameters
 *   42  no aggregation after speculate or commit
 *   43  nothing recorded before speculate, only one speculate
 *   44  one commit, nothing recorded before or after it, no speculate after it
 *   45  aggregations have names, and are numbered from 1 in order
 */
#include <string.h>

#include "base/map.h"
#include "dif/obj/layout.h"
#include "dif/obj/verify.h"

#define GUEST_MAX 64u
#define PROV_MAX  64u
#define MOD_MAX   64u
#define FUNC_MAX  192u
#define NAME_MAX_ 64u

struct check {
	const struct dif_program *prog;
	struct ot_map vars; /* (scope, id) to struct dif_var * */
	struct ot_map seen; /* objects verified already, by address */
	uint32_t clause;
};

static struct ot_err *bad(unsigned rule, const struct check *c, const char *fmt, ...) OT_PRINTF(3, 4);
static struct ot_err *bad(unsigned rule, const struct check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct ot_err *err = ot_err_vnew(OT_ERR_BAD_DATA, fmt, ap);
	va_end(ap);
	return ot_err_prefix(err, "rule %u in clause %u", rule, c->clause);
}

static struct ot_err *check_probe(const struct check *c, const struct dif_probedesc *d)
{
	if ((d->guest && strlen(d->guest) >= GUEST_MAX) || strlen(d->provider) >= PROV_MAX ||
	    strlen(d->module) >= MOD_MAX || strlen(d->function) >= FUNC_MAX || strlen(d->name) >= NAME_MAX_)
		return bad(32, c, "probe description with a field that is too long");
	return NULL;
}

/* Verify an object, once, and check that it agrees with the others about variables. */
static struct ot_err *check_object(struct check *c, struct dif_object *obj)
{
	if (ot_map_get(&c->seen, &obj, sizeof(obj)))
		return NULL;
	OT_TRY(ot_err_prefix(dif_verify(obj), "clause %u", c->clause));
	if (!ot_map_put(&c->seen, &obj, sizeof(obj), obj))
		return ot_err_nomem();
	for (uint32_t i = 0; i < obj->var_len; i++) {
		struct dif_var *v = &obj->vars[i];
		uint32_t key[2] = { v->scope, v->id };
		struct dif_var *first = ot_map_get(&c->vars, key, sizeof(key));

		if (!first) {
			if (!ot_map_put(&c->vars, key, sizeof(key), v))
				return ot_err_nomem();
			continue;
		}
		if (first->kind != v->kind || first->type.kind != v->type.kind ||
		    first->type.flags != v->type.flags ||
		    (first->type.size && v->type.size && first->type.size != v->type.size))
			return bad(36, c, "variable %#x (%s) differs from its earlier declaration", v->id,
				   obj->strs + v->name);
		if (!first->type.size && !ot_map_put(&c->vars, key, sizeof(key), v))
			return ot_err_nomem();
	}
	return NULL;
}

/* --- one action ---------------------------------------------------------------------- */

enum need { NEEDS_NONE, NEEDS_ANY, NEEDS_VALUE, NEEDS_REF, MAY_HAVE };

static enum need action_needs(const struct dif_action *a)
{
	switch ((unsigned)a->kind) {
	case DIF_ACT_difexpr:
	case DIF_ACT_print:
	case DIF_ACT_printm:
		return NEEDS_ANY;
	case DIF_ACT_tracemem:
		return NEEDS_REF;
	case DIF_ACT_printf:
	case DIF_ACT_printa:
	case DIF_ACT_system:
	case DIF_ACT_freopen:
	case DIF_ACT_libact:
		return MAY_HAVE;
	case DIF_ACT_none:
	case DIF_ACT_stop:
	case DIF_ACT_breakpoint:
	case DIF_ACT_panic:
	case DIF_ACT_stack:
	case DIF_ACT_ustack:
	case DIF_ACT_jstack:
	case DIF_AGG_count:
		return NEEDS_NONE;
	}
	return NEEDS_VALUE;
}

static bool is_data(const struct dif_action *a)
{
	static const struct dif_layout_opts any = { 256, 20, 20, 50, 512 };

	return !a->is_key && dif_action_record_size(a, &any);
}

static struct ot_err *check_action_object(struct check *c, const struct dif_action *a)
{
	const char *name = dif_action_name(a->kind);
	enum need need = action_needs(a);

	if (!a->object) {
		if (need == NEEDS_NONE || need == MAY_HAVE)
			return NULL;
		return bad(34, c, "%s without an expression", name);
	}
	if (need == NEEDS_NONE)
		return bad(34, c, "%s with an expression", name);
	OT_TRY(check_object(c, a->object));
	bool byref = a->object->ret.flags & DIF_TF_BYREF;
	if ((need == NEEDS_VALUE && byref) || (need == NEEDS_REF && !byref))
		return bad(35, c, "%s of a value by %s", name, byref ? "reference" : "value");
	return NULL;
}

static struct ot_err *check_frames(const struct check *c, const struct dif_action *a)
{
	if (a->kind == DIF_ACT_stack && a->arg > DIF_FRAMES_MAX)
		return bad(38, c, "stack() of %llu frames", (unsigned long long)a->arg);
	if ((a->kind == DIF_ACT_ustack || a->kind == DIF_ACT_jstack) &&
	    ((a->arg & 0xffffffff) > DIF_FRAMES_MAX || a->arg >> 32 > DIF_USTACK_STRSIZE_MAX))
		return bad(38, c, "%s() of %llu frames", dif_action_name(a->kind),
			   (unsigned long long)(a->arg & 0xffffffff));
	return NULL;
}

/* Does the action continue the printf-like statement of an earlier one? Stacks and symbols may be between
 * them. */
static bool continues(const struct dif_clause *clause, uint32_t index)
{
	const struct dif_action *a = &clause->actions[index];

	while (index-- && a->uarg && clause->actions[index].uarg == a->uarg)
		if (clause->actions[index].kind == a->kind)
			return true;
	return false;
}

static struct ot_err *check_printf(const struct check *c, const struct dif_clause *clause, uint32_t index)
{
	const struct dif_action *a = &clause->actions[index];
	bool follows = continues(clause, index);

	if (!follows && a->kind != DIF_ACT_printa && !a->format)
		return bad(37, c, "%s without a format", dif_action_name(a->kind));
	if (a->kind == DIF_ACT_printa && (!a->aggid || a->aggid > c->prog->naggs))
		return bad(37, c, "printa of aggregation %u, which does not exist", a->aggid);
	return NULL;
}

/* --- aggregations -------------------------------------------------------------------------- */

static struct ot_err *check_agg(const struct check *c, const struct dif_clause *clause, uint32_t index,
				uint32_t nkeys_before)
{
	const struct dif_action *a = &clause->actions[index];
	const char *name = dif_action_name(a->kind);
	uint32_t nkeys = 0, nincr = 0;

	if (!a->aggid || a->aggid > c->prog->naggs)
		return bad(39, c, "%s into aggregation %u, which does not exist", name, a->aggid);
	const struct dif_aggvar *var = &c->prog->aggs[a->aggid - 1];
	if (var->kind != (enum dif_agg_kind)a->kind || var->arg != a->arg)
		return bad(39, c, "%s into @%s, which has another function", name, var->name);
	if (a->ntuple != nkeys_before + 1)
		return bad(40, c, "%s with %u keys, but %u precede it", name, a->ntuple, nkeys_before);
	for (uint32_t i = index - nkeys_before; i < index; i++) {
		if (clause->actions[i].is_increment)
			nincr++;
		else if (nincr)
			return bad(40, c, "%s with a key after the increment", name);
		else
			nkeys++;
	}
	if (nincr > 1 || nkeys != var->nkeys)
		return bad(40, c, "%s into @%s with %u keys instead of %u", name, var->name, nkeys,
			   var->nkeys);
	if (!dif_agg_words((enum dif_agg_kind)a->kind, a->arg))
		return bad(41, c, "%s with invalid parameters", name);
	return NULL;
}

static struct ot_err *check_key(const struct check *c, const struct dif_action *a)
{
	static const struct dif_layout_opts any = { 256, 20, 20, 50, 512 };

	if (a->is_increment) {
		if (a->kind != DIF_ACT_difexpr || !a->object || a->object->ret.flags & DIF_TF_BYREF)
			return bad(40, c, "an increment that is not a value");
		return NULL;
	}
	if (DIF_ACT_IS_PRINTFLIKE(a->kind) || a->kind == DIF_ACT_libact || a->kind == DIF_ACT_exit ||
	    DIF_ACT_IS_AGG(a->kind) ||
	    !dif_action_record_size(
		&(struct dif_action){ .kind = a->kind, .arg = a->arg, .object = a->object }, &any))
		return bad(40, c, "%s can't be an aggregation key", dif_action_name(a->kind));
	return NULL;
}

/* --- the order of actions ---------------------------------------------------------------------- */

struct order {
	bool data, speculate, commit;
};

static struct ot_err *check_order(const struct check *c, const struct dif_action *a, struct order *o)
{
	if (DIF_ACT_IS_AGG(a->kind) && (o->speculate || o->commit))
		return bad(42, c, "aggregation after %s", o->commit ? "commit" : "speculate");
	if (a->kind == DIF_ACT_speculate) {
		if (o->commit)
			return bad(44, c, "speculate after commit");
		if (o->data || o->speculate)
			return bad(43, c, "speculate after %s", o->data ? "recorded data" : "speculate");
		o->speculate = true;
	}
	if (a->kind == DIF_ACT_commit) {
		if (o->commit || o->data)
			return bad(44, c, "commit after %s", o->commit ? "commit" : "recorded data");
		o->commit = true;
	}
	if (is_data(a)) {
		if (o->commit)
			return bad(44, c, "recorded data after commit");
		if (o->speculate && a->kind == DIF_ACT_exit)
			return bad(43, c, "exit after speculate");
		o->data = true;
	}
	return NULL;
}

static struct ot_err *check_clause(struct check *c, const struct dif_clause *clause)
{
	struct order order = { 0 };
	uint32_t nkeys = 0;

	OT_TRY(check_probe(c, &clause->probe));
	if (clause->predicate) {
		OT_TRY(check_object(c, clause->predicate));
		if (clause->predicate->ret.flags & DIF_TF_BYREF)
			return bad(35, c, "predicate by reference");
	}
	for (uint32_t i = 0; i < clause->nactions; i++) {
		const struct dif_action *a = &clause->actions[i];
		if (!dif_action_name(a->kind))
			return bad(33, c, "no action %#x", a->kind);
		OT_TRY(check_action_object(c, a));
		OT_TRY(check_frames(c, a));
		OT_TRY(check_order(c, a, &order));
		if (a->is_key || a->is_increment) {
			OT_TRY(check_key(c, a));
			nkeys++;
			continue;
		}
		if (DIF_ACT_IS_AGG(a->kind))
			OT_TRY(check_agg(c, clause, i, nkeys));
		else if (nkeys)
			return bad(40, c, "keys before %s", dif_action_name(a->kind));
		if (DIF_ACT_IS_PRINTFLIKE(a->kind))
			OT_TRY(check_printf(c, clause, i));
		nkeys = 0;
	}
	if (nkeys)
		return bad(40, c, "keys without an aggregation");
	return NULL;
}

static struct ot_err *check_program(struct check *c)
{
	const struct dif_program *prog = c->prog;
	uint64_t nactions = 0;

	for (uint32_t i = 0; i < prog->nclauses; i++)
		nactions += prog->clauses[i].nactions;
	if (prog->nclauses > DIF_CLAUSES_MAX || nactions > DIF_ACTIONS_MAX || prog->naggs > DIF_AGGS_MAX)
		return bad(31, c, "%u clauses, %llu actions, %u aggregations", prog->nclauses,
			   (unsigned long long)nactions, prog->naggs);
	for (uint32_t i = 0; i < prog->naggs; i++) {
		const struct dif_aggvar *a = &prog->aggs[i];
		if (!a->name || a->id != i + 1)
			return bad(45, c, "aggregation %u has the number %u", i + 1, a->id);
		if (!DIF_ACT_IS_AGG(a->kind) || !dif_agg_words(a->kind, a->arg))
			return bad(41, c, "@%s has an invalid function", a->name);
	}
	for (c->clause = 0; c->clause < prog->nclauses; c->clause++)
		OT_TRY(check_clause(c, &prog->clauses[c->clause]));
	return NULL;
}

struct ot_err *dif_program_verify(struct dif_program *prog)
{
	struct check c = { .prog = prog };

	ot_map_init(&c.vars);
	ot_map_init(&c.seen);
	struct ot_err *err = check_program(&c);
	ot_map_deinit(&c.seen);
	ot_map_deinit(&c.vars);
	return err;
}
