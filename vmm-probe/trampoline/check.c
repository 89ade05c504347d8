/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a list of operations must be before bytes are made of it. The compiler is not trusted with a guest:
 * even if it has a defect, a list that passes here only reads the running task and the per-CPU area, only
 * writes our own memory, and ends.
 *
 * Rules (tests/unit/trampoline_check_test.c breaks each):
 *    1  at most VP_TRAMP_OPS_MAX operations, each of a kind that exists
 *    2  registers are below VP_TRAMP_REGS, arguments among those in registers, sizes those of the kind
 *    3  a constant operand fits in 32 bits with sign; a shift is below 64
 *    4  a jump goes forward, at most to the end, on a condition that exists
 *    5  loads are within the running task or the per-CPU area; so are its pointer and count of preemption
 *    6  words are aligned, within a CPU's data, and not in the ring
 *    7  the ring is within data, and its records are a power of two in number and size
 *    8  a record is RESERVE, stores and PUBLISH without anything between; no jump leads into it; a store is
 *       within the record
 *    9  EXIT is the last operation, and without a record
 *   10  a table of keys is aligned, within the room for keys and in reach of a displacement; all of a list
 *       have the same number of sets, and two to four words a key
 *   11  an entry's word is changed by KEYED's result only: on all ways that lead there, with nothing on them
 *       that changes its register
 *   12  at an entry there is no result; at a return there are neither arguments nor a record
 */
#include <string.h>

#include "vmm-probe/arch/regs.h"
#include "vmm-probe/trampoline/trampoline.h"

#define QUANTIZE_WORDS 127u
#define RING_MAX       (1u << 30)
/* What a register can be in place of KEYED's result: */
#define NO_ENTRY       0xfeu /* nothing, on some way */
#define NO_WAY         0xfdu /* no way leads there */

struct checker {
	const struct vp_tramp_guest *guest;
	enum vp_tramp_place place;
	const struct vp_tramp_op *ops;
	uint32_t nops, at;
	bool record;                           /* at is in one */
	uint8_t entry;                         /* the register with KEYED's result */
	uint8_t sets;                          /* log2, of the tables; 0: there was none */
	uint8_t brought[VP_TRAMP_OPS_MAX + 1]; /* `entry`, by the jumps to each operation */
};

#define BAD(c, rule, ...) \
	ot_err_prefix(ot_err_new(OT_ERR_BAD_DATA, __VA_ARGS__), "rule %u at operation %u", rule, (c)->at)

static bool in_record(const struct vp_tramp_op *op)
{
	return op->kind > VP_TRAMP_RESERVE && op->kind <= VP_TRAMP_PUBLISH;
}

static bool is_word(const struct vp_tramp_op *op)
{
	return op->kind >= VP_TRAMP_COUNT && op->kind <= VP_TRAMP_LQUANTIZE;
}

/* --- values ---------------------------------------------------------------------------------- */

static bool size_is(const struct vp_tramp_op *op, bool small)
{
	return op->size == 4 || op->size == 8 || (small && (op->size == 1 || op->size == 2));
}

/* Registers and words of the stack that such an operation takes for granted. */
static struct ot_err *check_place(const struct checker *c, const struct vp_tramp_op *op)
{
	bool of_entry = op->kind == VP_TRAMP_ARG || op->kind == VP_TRAMP_RESERVE || in_record(op);

	if (c->place != VP_TRAMP_AT_ENTRY && c->place != VP_TRAMP_AT_RETURN)
		return BAD(c, 12, "a list for no site");
	if (c->place == VP_TRAMP_AT_RETURN ? of_entry : op->kind == VP_TRAMP_RETURNED)
		return BAD(c, 12, "operation %u at %s", op->kind,
			   c->place == VP_TRAMP_AT_RETURN ? "a return" : "an entry");
	return NULL;
}

static struct ot_err *check_operands(const struct checker *c, const struct vp_tramp_op *op)
{
	bool arg = op->kind == VP_TRAMP_ARG || op->kind == VP_TRAMP_STORE_ARG;

	if (op->dst >= VP_TRAMP_REGS || op->a >= (arg ? VP_NREGS_ARGS : VP_TRAMP_REGS) ||
	    (op->b >= VP_TRAMP_REGS && op->b != VP_TRAMP_IMM))
		return BAD(c, 2, "no such register: %u, %u, %u", op->dst, op->a, op->b);
	if (op->b == VP_TRAMP_IMM && (int64_t)op->value != (int32_t)op->value)
		return BAD(c, 3, "constant %#llx", (unsigned long long)op->value);
	if (op->kind >= VP_TRAMP_SHL && op->kind <= VP_TRAMP_SAR && op->value > 63)
		return BAD(c, 3, "a shift by %llu", (unsigned long long)op->value);
	return NULL;
}

static struct ot_err *check_within(const struct checker *c, int64_t at, uint32_t bytes, uint32_t of)
{
	if (at < 0 || at > of || bytes > of - at)
		return BAD(c, 5, "%u bytes at %lld of %u", bytes, (long long)at, of);
	return NULL;
}

static struct ot_err *check_percpu(const struct checker *c, int64_t at, uint32_t bytes)
{
	return check_within(c, at - c->guest->percpu, bytes, c->guest->percpu_size);
}

/* What each load from the task and each record begins with. */
static struct ot_err *check_world(const struct checker *c)
{
	const struct vp_tramp_world *w = &c->guest->world;

	OT_TRY(check_percpu(c, w->current, 8));
	return w->ring.count ? check_percpu(c, w->preempt, 4) : NULL;
}

static struct ot_err *check_load(const struct checker *c, const struct vp_tramp_op *op)
{
	const struct vp_tramp_guest *g = c->guest;

	switch (op->kind) {
	case VP_TRAMP_LOAD_TASK:
	case VP_TRAMP_LOAD_PERCPU:
		if (!size_is(op, true))
			return BAD(c, 2, "a load of %u bytes", op->size);
		return op->kind == VP_TRAMP_LOAD_TASK ? check_within(c, op->disp, op->size, g->task_size)
						      : check_percpu(c, op->disp, op->size);
	case VP_TRAMP_NAMED:
		if (!op->size || op->size > VP_TRAMP_TEXT)
			return BAD(c, 2, "a name of %u bytes", op->size);
		return check_within(c, op->disp, op->size, g->task_size);
	default:
		return NULL;
	}
}

static struct ot_err *check_jump(const struct checker *c, const struct vp_tramp_op *op)
{
	if (op->kind != VP_TRAMP_JUMP && op->kind != VP_TRAMP_RESERVE && op->kind != VP_TRAMP_KEYED)
		return NULL;
	if (op->cond > VP_TRAMP_NOT_ABOVE || op->target <= c->at || op->target > c->nops)
		return BAD(c, 4, "a jump to %u of %u", op->target, c->nops);
	if (op->target < c->nops && in_record(&c->ops[op->target]))
		return BAD(c, 8, "a jump into a record");
	return NULL;
}

/* --- data ------------------------------------------------------------------------------------ */

static uint64_t ring_bytes(const struct vp_tramp_ring *r)
{
	return r->count ? (uint64_t)r->first + ((uint64_t)r->count << r->shift) : 0;
}

static struct ot_err *check_ring(const struct checker *c)
{
	const struct vp_tramp_ring *r = &c->guest->world.ring;

	if (!r->count)
		return NULL;
	if (r->count & (r->count - 1) || r->shift > 12 || r->first > RING_MAX || ring_bytes(r) > RING_MAX ||
	    r->at & 7 || r->at > c->guest->data_size || ring_bytes(r) > c->guest->data_size - r->at)
		return BAD(c, 7, "a ring of %u records at %#llx", r->count, (unsigned long long)r->at);
	if (r->head & 7 || r->tail & 7 || r->lost & 7 || r->first < 8 || r->head > r->first - 8 ||
	    r->tail > r->first - 8 || r->lost > r->first - 8)
		return BAD(c, 7, "a ring whose words are in its records");
	return NULL;
}

static struct ot_err *check_word(const struct checker *c, uint64_t at, uint64_t nwords)
{
	const struct vp_tramp_ring *r = &c->guest->world.ring;
	uint64_t size = c->guest->data_size;

	if (at & 7 || at > size || nwords * 8 > size - at)
		return BAD(c, 6, "%llu words at %#llx of %#llx", (unsigned long long)nwords,
			   (unsigned long long)at, (unsigned long long)size);
	if (r->count && at + nwords * 8 > r->at && at < r->at + ring_bytes(r))
		return BAD(c, 6, "words in the ring");
	return NULL;
}

/* How many words, or arrays of an entry's word each, an operation may change. */
static uint64_t words_of(const struct vp_tramp_op *op)
{
	switch (op->kind) {
	case VP_TRAMP_QUANTIZE:
		return QUANTIZE_WORDS;
	case VP_TRAMP_LQUANTIZE: /* the parameters, what is below, the levels, what is above */
		return op->levels + 3ull;
	default:
		return 1;
	}
}

static struct ot_err *check_words(const struct checker *c, const struct vp_tramp_op *op)
{
	if (!is_word(op))
		return NULL;
	if (op->kind == VP_TRAMP_LEAST || op->kind == VP_TRAMP_MOST)
		OT_TRY(check_word(c, c->guest->world.lost, 1));
	if (op->kind == VP_TRAMP_LQUANTIZE &&
	    (!op->step || !op->levels || (uint32_t)op->step * op->levels >= VP_TRAMP_RANGE_MAX))
		return BAD(c, 3, "%u levels of %u", op->levels, op->step);
	return check_word(c, op->value, words_of(op) << (op->keyed ? c->sets + VP_TRAMP_WAYS_LOG : 0));
}

/* --- entries --------------------------------------------------------------------------------- */

static struct ot_err *check_table(struct checker *c, const struct vp_tramp_op *op)
{
	const struct vp_tramp_world *w = &c->guest->world;
	uint32_t nwords = op->c == VP_TRAMP_IMM ? 2 : op->d == VP_TRAMP_IMM ? 3 : 4;
	uint64_t align = 1ull << vp_tramp_key_log(nwords), bytes;

	if (op->b == VP_TRAMP_IMM || (op->c >= VP_TRAMP_REGS && op->c != VP_TRAMP_IMM) ||
	    (op->d >= VP_TRAMP_REGS && op->d != VP_TRAMP_IMM))
		return BAD(c, 2, "no such register: %u, %u, %u", op->b, op->c, op->d);
	if (op->size < VP_TRAMP_SETS_LEAST || op->size > VP_TRAMP_SETS_LOG ||
	    (c->sets && op->size != c->sets))
		return BAD(c, 10, "a table of 2^%u sets", op->size);
	c->sets = op->size;
	bytes = align << (op->size + VP_TRAMP_WAYS_LOG);
	if (op->value & (align - 1) || w->keys_end < w->keys_from || op->value < w->keys_from ||
	    bytes > w->keys_end - w->keys_from || op->value > w->keys_end - bytes ||
	    (int64_t)op->value != (int32_t)op->value ||
	    (int64_t)(op->value + bytes) != (int32_t)(op->value + bytes))
		return BAD(c, 10, "keys at %#llx", (unsigned long long)op->value);
	return NULL;
}

/* Does the operation change a register that has KEYED's result? */
static bool changes(const struct vp_tramp_op *op, uint8_t reg)
{
	if (op->kind >= VP_TRAMP_LEAST)
		return reg < VP_TRAMP_SPENT;
	return op->kind >= VP_TRAMP_CONST && op->kind <= VP_TRAMP_KEYED && op->dst == reg;
}

static void bring(uint8_t *at, uint8_t entry)
{
	if (*at == NO_WAY)
		*at = entry;
	else if (entry != NO_WAY && *at != entry)
		*at = NO_ENTRY;
}

/* Is what is done by an entry done by a number below that of the table's entries? */
static struct ot_err *check_keyed(struct checker *c, const struct vp_tramp_op *op)
{
	bool jumps = op->kind == VP_TRAMP_JUMP || op->kind == VP_TRAMP_RESERVE || op->kind == VP_TRAMP_KEYED;

	bring(&c->entry, c->brought[c->at]);
	if (op->keyed && (!is_word(op) || op->b != c->entry || op->size != c->sets || changes(op, op->b)))
		return BAD(c, 11, "an entry that was not looked up");
	if (op->kind == VP_TRAMP_KEYED)
		OT_TRY(check_table(c, op));
	if (c->entry != NO_WAY && changes(op, c->entry))
		c->entry = NO_ENTRY;
	if (jumps)
		bring(&c->brought[op->target], c->entry);
	if (op->kind == VP_TRAMP_JUMP && op->cond == VP_TRAMP_ALWAYS)
		c->entry = NO_WAY;
	if (op->kind == VP_TRAMP_KEYED)
		c->entry = op->dst;
	return NULL;
}

static struct ot_err *check_store(const struct checker *c, const struct vp_tramp_op *op)
{
	uint32_t size = op->kind == VP_TRAMP_STORE_PREEMPT ? 4 : 8;

	if (op->kind == VP_TRAMP_STORE_CONST || op->kind == VP_TRAMP_STORE_TASK) {
		if (!size_is(op, false))
			return BAD(c, 2, "a store of %u bytes", op->size);
		size = op->size;
	}
	if (op->kind == VP_TRAMP_STORE_CONST && op->value > INT32_MAX)
		return BAD(c, 3, "constant %#llx", (unsigned long long)op->value);
	if (op->kind == VP_TRAMP_STORE_TASK)
		OT_TRY(check_within(c, op->value > INT32_MAX ? -1 : (int64_t)op->value, size,
				    c->guest->task_size));
	if (op->disp < 0 || (uint64_t)op->disp + size > 1ull << c->guest->world.ring.shift)
		return BAD(c, 8, "%u bytes at %d of a record", size, op->disp);
	return NULL;
}

static struct ot_err *check_record(struct checker *c, const struct vp_tramp_op *op)
{
	if (c->record != in_record(op))
		return BAD(c, 8,
			   c->record ? "a record that goes on with something else"
				     : "a store without a record");
	if (op->kind == VP_TRAMP_RESERVE && !c->guest->world.ring.count)
		return BAD(c, 8, "a record, where there is no ring");
	if (op->kind == VP_TRAMP_RESERVE)
		c->record = true;
	if (op->kind == VP_TRAMP_PUBLISH)
		c->record = false;
	return in_record(op) ? check_store(c, op) : NULL;
}

struct ot_err *vp_trampoline_check(const struct vp_tramp_guest *guest, enum vp_tramp_place place,
				   const struct vp_tramp_op *ops, uint32_t nops)
{
	struct checker c = { .guest = guest, .place = place, .ops = ops, .nops = nops, .entry = NO_ENTRY };

	if (nops > VP_TRAMP_OPS_MAX)
		return BAD(&c, 1, "%u operations", nops);
	memset(c.brought, NO_WAY, sizeof(c.brought));
	OT_TRY(check_world(&c));
	OT_TRY(check_ring(&c));
	for (; c.at < nops; c.at++) {
		const struct vp_tramp_op *op = &ops[c.at];
		if (op->kind > VP_TRAMP_EXIT)
			return BAD(&c, 1, "no operation %u", op->kind);
		OT_TRY(check_place(&c, op));
		OT_TRY(check_operands(&c, op));
		OT_TRY(check_load(&c, op));
		OT_TRY(check_jump(&c, op));
		OT_TRY(check_keyed(&c, op));
		OT_TRY(check_words(&c, op));
		OT_TRY(check_record(&c, op));
		if (op->kind == VP_TRAMP_EXIT && c.at + 1 != nops)
			return BAD(&c, 9, "operations behind an exit");
	}
	if (c.record)
		return BAD(&c, 8, "a record without an end");
	return NULL;
}
