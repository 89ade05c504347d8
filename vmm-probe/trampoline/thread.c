/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A predicate's branches, straightened. DIF makes a 0 or a 1 of a comparison and then tests that: where the
 * value is known on a way, so is where the test leads, and the way goes there at once.
 *
 * Only for operations behind whose end no value is read.
 */
#include <string.h>

#include "vmm-probe/trampoline/maker.h"

struct thread {
	struct vp_tramp_op *ops; /* from the first one on */
	uint32_t first, n;       /* targets count from `first` operations earlier */
};

static uint32_t end_of(const struct thread *t)
{
	return t->first + t->n;
}

static struct vp_tramp_op *at(const struct thread *t, uint32_t target)
{
	return &t->ops[target - t->first];
}

static bool is_always(const struct vp_tramp_op *op)
{
	return op->kind == VP_TRAMP_JUMP && op->cond == VP_TRAMP_ALWAYS;
}

/* --- where a constant leads ------------------------------------------------------------------------ */

struct walk {
	uint64_t value[VP_TRAMP_VIRTUALS];
	uint32_t known;    /* bits: of which registers */
	bool tested, zero; /* the last comparison was a test of one of these */
};

static void set(struct walk *w, uint8_t reg, uint64_t value)
{
	w->known |= 1u << reg;
	w->value[reg] = value;
}

static bool is_known(const struct walk *w, uint8_t reg)
{
	return w->known >> reg & 1;
}

/* The operation behind @pc, on this way; *ret_stops: the effect of @pc is unknown. */
static uint32_t step(struct walk *w, const struct vp_tramp_op *op, uint32_t pc, bool *ret_stops)
{
	bool equal = op->cond == VP_TRAMP_EQUAL;

	switch (op->kind) {
	case VP_TRAMP_NOP:
		return pc + 1;
	case VP_TRAMP_CONST:
		set(w, op->dst, op->value);
		return pc + 1;
	case VP_TRAMP_MOV:
		*ret_stops = !is_known(w, op->a);
		set(w, op->dst, w->value[op->a]);
		return pc + 1;
	case VP_TRAMP_TEST:
		*ret_stops = !is_known(w, op->a);
		w->tested = true;
		w->zero = !w->value[op->a];
		return pc + 1;
	case VP_TRAMP_JUMP:
		if (is_always(op))
			return op->target;
		*ret_stops = !w->tested || (!equal && op->cond != VP_TRAMP_NOT_EQUAL);
		return equal == w->zero ? op->target : pc + 1;
	default:
		*ret_stops = true;
		return pc;
	}
}

/* Where all operations from the constant @from on lead, if that is out of the list. */
static bool leads_out(const struct thread *t, uint32_t from, uint32_t *ret)
{
	struct walk w = { .known = 0 };
	bool stops = false;
	uint32_t pc = from;

	while (pc < end_of(t) && !stops)
		pc = step(&w, at(t, pc), pc, &stops);
	*ret = pc;
	return !stops;
}

static void skip_tests(const struct thread *t)
{
	uint32_t to;

	for (uint32_t i = t->first; i < end_of(t); i++)
		if (at(t, i)->kind == VP_TRAMP_CONST && leads_out(t, i, &to))
			*at(t, i) = (struct vp_tramp_op){ .kind = VP_TRAMP_JUMP, .target = (uint16_t)to };
}

/* --- jumps ----------------------------------------------------------------------------------------- */

/* The first operation at or behind @i that does something. */
static uint32_t next(const struct thread *t, uint32_t i)
{
	while (i < end_of(t) && at(t, i)->kind == VP_TRAMP_NOP)
		i++;
	return i;
}

/* A jump to a jump goes where that goes. All go forward, so the last one is right before those that lead to
 * it. */
static void follow(const struct thread *t)
{
	for (uint32_t i = end_of(t); i-- > t->first;) {
		struct vp_tramp_op *op = at(t, i);
		if (op->kind != VP_TRAMP_JUMP || op->target >= end_of(t))
			continue;
		uint32_t to = next(t, op->target);
		op->target = to < end_of(t) && is_always(at(t, to)) ? at(t, to)->target : (uint16_t)to;
	}
}

static void drop_unreached(const struct thread *t)
{
	bool reached[VP_TRAMP_OPS_MAX + 1] = { true };

	for (uint32_t i = 0; i < t->n; i++) {
		struct vp_tramp_op *op = &t->ops[i];
		if (!reached[i])
			*op = (struct vp_tramp_op){ .kind = VP_TRAMP_NOP };
		if (!reached[i])
			continue;
		reached[i + 1] |= !is_always(op);
		if (op->kind == VP_TRAMP_JUMP && op->target < end_of(t))
			reached[op->target - t->first] = true;
	}
}

static uint8_t opposite(uint8_t cond)
{
	static const uint8_t pairs[] = {
		[VP_TRAMP_EQUAL] = VP_TRAMP_NOT_EQUAL,     [VP_TRAMP_NOT_EQUAL] = VP_TRAMP_EQUAL,
		[VP_TRAMP_LESS] = VP_TRAMP_NOT_LESS,       [VP_TRAMP_NOT_LESS] = VP_TRAMP_LESS,
		[VP_TRAMP_GREATER] = VP_TRAMP_NOT_GREATER, [VP_TRAMP_NOT_GREATER] = VP_TRAMP_GREATER,
		[VP_TRAMP_BELOW] = VP_TRAMP_NOT_BELOW,     [VP_TRAMP_NOT_BELOW] = VP_TRAMP_BELOW,
		[VP_TRAMP_ABOVE] = VP_TRAMP_NOT_ABOVE,     [VP_TRAMP_NOT_ABOVE] = VP_TRAMP_ABOVE,
	};

	return pairs[cond];
}

/* "if c, jump over the next one, which jumps" is one jump if not c. */
static void invert(const struct thread *t)
{
	for (uint32_t i = t->first; i < end_of(t); i++) {
		struct vp_tramp_op *op = at(t, i);
		uint32_t over = next(t, i + 1);
		if (op->kind != VP_TRAMP_JUMP || is_always(op) || over >= end_of(t) ||
		    !is_always(at(t, over)) || op->target != next(t, over + 1))
			continue;
		op->cond = opposite(op->cond);
		op->target = at(t, over)->target;
		*at(t, over) = (struct vp_tramp_op){ .kind = VP_TRAMP_NOP };
	}
}

void vp_tramp_thread(struct vp_tramp_maker *m, uint32_t first)
{
	const struct thread t = { m->out->ops + first, first, m->out->nops - first };

	if (m->full)
		return;
	skip_tests(&t);
	follow(&t);
	drop_unreached(&t);
	invert(&t);
	drop_unreached(&t);
}
