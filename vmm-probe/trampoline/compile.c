/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A site's clauses, one after the other: each in place if all of them can be; else their predicates in front
 * of an exit. */
#include <stdio.h>
#include <string.h>

#include "vmm-probe/trampoline/maker.h"

struct vp_tramp_op *vp_tramp_add(struct vp_tramp_maker *m, enum vp_tramp_kind kind)
{
	struct vp_tramp_op *op = &m->beyond;

	if (m->out->nops == VP_TRAMP_OPS_MAX)
		m->full = true;
	else
		op = &m->out->ops[m->out->nops++];
	*op = (struct vp_tramp_op){ .kind = (uint8_t)kind };
	return op;
}

static struct ot_err *predicate(struct vp_tramp_maker *m, enum vp_tramp_cond when)
{
	uint32_t first = m->out->nops;

	OT_TRY(vp_tramp_object(m, m->clause->clause->predicate));
	vp_tramp_add(m, VP_TRAMP_TEST)->a = VP_TRAMP_RESULT;
	struct vp_tramp_op *op = vp_tramp_add(m, VP_TRAMP_JUMP);
	op->cond = (uint8_t)when;
	op->target = VP_TRAMP_SKIP;
	vp_tramp_thread(m, first);
	return vp_tramp_registers(m, first);
}

struct ot_err *vp_tramp_predicate(struct vp_tramp_maker *m, enum vp_tramp_cond when)
{
	return m->clause->clause->predicate ? ot_err_prefix(predicate(m, when), "its predicate") : NULL;
}

void vp_tramp_land(struct vp_tramp_maker *m, uint32_t first)
{
	for (uint32_t i = first; i < m->out->nops; i++)
		if (m->out->ops[i].target == VP_TRAMP_SKIP)
			m->out->ops[i].target = (uint16_t)m->out->nops;
}

/* --- all in place ---------------------------------------------------------------------------- */

/* The present state of a trampoline. */
struct end {
	uint32_t nops, ncells, nrecords, data_used;
	bool full;
};

static struct end end_of(const struct vp_tramp_maker *m)
{
	const struct vp_trampoline *t = m->out;

	return (struct end){ t->nops, t->ncells, t->nrecords, t->data_used, m->full };
}

/* As it was before a way of doing the actions was tried. */
static void begin_again(struct vp_tramp_maker *m, const struct end *before)
{
	m->out->nops = before->nops;
	m->out->ncells = before->ncells;
	m->out->nrecords = before->nrecords;
	m->out->data_used = before->data_used;
	m->out->table.nwords = 0;
	m->full = before->full;
}

/* @way, if *err says that what was tried before can't be done. Its own reason replaces that if @tells, or if
 * there is too little room for it. */
static void try_instead(struct vp_tramp_maker *m, struct ot_err *(*way)(struct vp_tramp_maker *m),
			const struct end *before, bool tells, struct ot_err **err)
{
	if (!*err || ot_err_code(*err) == OT_ERR_NO_MEMORY)
		return;
	begin_again(m, before);
	struct ot_err *next = way(m), *out = *err;
	if (next && !tells && ot_err_code(next) != OT_ERR_NO_MEMORY && ot_err_code(next) != OT_ERR_LIMIT)
		out = next;
	else
		*err = next;
	ot_err_destroy(out);
}

/* The actions that aggregate are words; others make a record, if @m has a ring for it. */
static struct ot_err *words_or_record(struct vp_tramp_maker *m)
{
	uint32_t first = m->out->nops;

	OT_TRY(vp_tramp_predicate(m, VP_TRAMP_EQUAL));
	const struct end before = end_of(m);
	struct ot_err *err = vp_tramp_words(m);
	try_instead(m, vp_tramp_record, &before, true, &err);
	if (!err)
		vp_tramp_land(m, first);
	return err;
}

static struct ot_err *words(struct vp_tramp_maker *m)
{
	uint32_t first = m->out->nops;

	OT_TRY(vp_tramp_predicate(m, VP_TRAMP_EQUAL));
	OT_TRY(vp_tramp_words(m));
	vp_tramp_land(m, first);
	return NULL;
}

static struct ot_err *each(struct vp_tramp_maker *m, struct ot_err *(*compile)(struct vp_tramp_maker *m))
{
	for (uint32_t i = 0; i < m->site->nclauses; i++) {
		m->clause = &m->site->clauses[i];
		OT_TRY(ot_err_prefix(compile(m), "clause %u", i + 1));
	}
	if (m->full)
		return ot_err_new(OT_ERR_LIMIT, "a trampoline of more than %u operations", VP_TRAMP_OPS_MAX);
	return NULL;
}

static struct ot_err *all_words(struct vp_tramp_maker *m)
{
	return each(m, words);
}

static struct ot_err *with_records(struct vp_tramp_maker *m)
{
	return each(m, words_or_record);
}

/* Words if possible, else a table of keys, else records, if there is a ring for them. */
static struct ot_err *in_place(struct vp_tramp_maker *m)
{
	const struct end before = end_of(m);
	struct ot_err *err = all_words(m);

	try_instead(m, vp_tramp_keyed, &before, false, &err);
	/* A record's words are an entry's arguments. */
	if (m->guest->world.ring.count && vp_tramp_place_of(m->site) == VP_TRAMP_AT_ENTRY)
		try_instead(m, with_records, &before, true, &err);
	return err;
}

/* --- in front of an exit --------------------------------------------------------------------- */

static struct ot_err *filtered(struct vp_tramp_maker *m)
{
	if (!m->clause->clause->predicate)
		return ot_err_new(OT_ERR_UNSUPPORTED, "it has no predicate");
	return vp_tramp_predicate(m, VP_TRAMP_NOT_EQUAL);
}

static struct ot_err *filter(struct vp_tramp_maker *m)
{
	uint32_t first = m->out->nops;

	OT_TRY(each(m, filtered));
	struct vp_tramp_op *past = vp_tramp_add(m, VP_TRAMP_JUMP);
	vp_tramp_land(m, first);
	vp_tramp_add(m, VP_TRAMP_EXIT);
	past->target = (uint16_t)m->out->nops;
	m->out->exits = true;
	return NULL;
}

/* @why: why the actions can't be done in place; the operator gets that message if there is no predicate to
 * filter by either. */
static struct ot_err *filter_or(struct vp_tramp_maker *m, uint32_t data_used, struct ot_err *why)
{
	m->full = false;
	m->out->nops = m->out->ncells = m->out->nrecords = 0;
	m->out->table.nwords = 0;
	m->out->data_used = data_used;
	for (uint32_t i = 0; i < m->site->nclauses; i++)
		if (!m->site->clauses[i].clause->predicate)
			return why;
	snprintf(m->out->why, sizeof(m->out->why), "%s", ot_err_message(why));
	ot_err_destroy(why);
	return filter(m);
}

/* Behind the clause: an exit for keys that its table lacks. */
static void exit_on_miss(struct vp_tramp_maker *m)
{
	struct vp_trampoline *t = m->out;

	if (!t->table.nwords || m->full)
		return;
	struct vp_tramp_op *past = vp_tramp_add(m, VP_TRAMP_JUMP);
	for (uint32_t i = 0; i < t->nops; i++)
		if (t->ops[i].kind == VP_TRAMP_KEYED)
			t->ops[i].target = (uint16_t)t->nops;
	vp_tramp_add(m, VP_TRAMP_EXIT);
	past->target = (uint16_t)t->nops;
}

struct ot_err *vp_trampoline_compile(const struct vp_tramp_guest *guest, const struct vp_tramp_site *site,
				     uint32_t data_used, struct vp_trampoline *ret)
{
	struct vp_tramp_maker m = { .guest = guest, .site = site, .out = ret };

	ret->nops = ret->ncells = ret->nrecords = 0;
	ret->table = (struct vp_tramp_table){ 0 };
	ret->data_used = data_used;
	ret->exits = false;
	ret->why[0] = '\0';
	struct ot_err *err = in_place(&m);
	if (!err)
		exit_on_miss(&m);
	if (err && ot_err_code(err) != OT_ERR_NO_MEMORY)
		err = filter_or(&m, data_used, err);
	if (!err && m.full)
		err = ot_err_new(OT_ERR_LIMIT, "a trampoline of more than %u operations", VP_TRAMP_OPS_MAX);
	if (err)
		return err;
	return vp_trampoline_check(guest, vp_tramp_place_of(site), ret->ops, ret->nops);
}
