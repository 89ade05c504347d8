/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trampoline writes to our own memory: words of aggregations, and records.
 *
 * An interrupt may come between any two instructions, with a trampoline of its own on the same CPU; and the
 * task may continue on another CPU. So a word is changed by one instruction, which no interrupt divides and
 * for which the processor adds this CPU's base as it executes it; no lock prefix is needed, as no other CPU
 * has that word. Operations that need more than one, the least and the greatest, exchange only the compared
 * value.
 *
 * A record is written with the count of preemption raised, as the guest's own tracing does: the task stays on
 * its CPU, and no one waits for a record whose writer sleeps. A nested trampoline finishes the next record
 * before this one continues.
 */
#include "vmm-probe/arch/x86/trampoline/emit.h"

#define QUANTIZE_ZERO 63 /* the bucket of 0, as in dif/vm/agg.c */

static const struct vp_asm_place here = { VP_ASM_GS_R11, 0 };

static struct vp_asm_place field(int32_t disp)
{
	return (struct vp_asm_place){ VP_ASM_GS_R11, disp };
}

/* R11 = what, with this CPU's base, is the address of data + @offset. */
static void address(struct vp_emitter *e, uint64_t offset)
{
	vp_asm_set(&e->a, VP_EMIT_SCRATCH, e->world->data + offset);
}

static void move(struct vp_emitter *e, enum vp_reg dst, enum vp_reg src)
{
	if (dst != src)
		vp_asm_reg(&e->a, VP_ASM_MOV, dst, src);
}

/* The same for the operation's word, or the entry's. */
static void word_address(struct vp_emitter *e, const struct vp_tramp_op *op, uint64_t offset)
{
	address(e, offset);
	if (op->keyed)
		vp_asm_reg(&e->a, VP_ASM_ADD, VP_EMIT_SCRATCH, vp_emit_reg(op->b));
}

/* --- words ----------------------------------------------------------------------------------- */

/* @keeps: the condition under which the word stays as it is, of the new value compared with it. If it changes
 * between, the exchange has loaded the new one. */
static void exchange(struct vp_emitter *e, const struct vp_tramp_op *op, enum vp_asm_cond keeps)
{
	uint32_t ends[2 * VP_TRAMP_TRIES], n = 0;

	move(e, VP_R10, vp_emit_reg(op->a));
	word_address(e, op, op->value);
	vp_asm_load(&e->a, VP_RAX, here, 8, false);
	for (unsigned i = 0; i < VP_TRAMP_TRIES; i++) {
		vp_asm_reg(&e->a, VP_ASM_CMP, VP_R10, VP_RAX);
		ends[n++] = vp_asm_jump_if(&e->a, keeps, true);
		vp_asm_exchange(&e->a, here, VP_R10);
		ends[n++] = vp_asm_jump_if(&e->a, VP_ASM_E, true);
	}
	address(e, e->world->lost);
	vp_asm_change(&e->a, VP_ASM_INC, here, 8);
	for (uint32_t i = 0; i < n; i++)
		vp_asm_land(&e->a, ends[i], true);
}

/* dif_quantize_bucket() of RAX, into RAX; 0 to 126 for any RAX: a positive number's highest bit is 62 at
 * most. */
static void bucket(struct vp_emitter *e)
{
	struct vp_assembler *a = &e->a;

	vp_asm_reg(a, VP_ASM_TST, VP_RAX, VP_RAX);
	uint32_t negative = vp_asm_jump_if(a, VP_ASM_S, true);
	uint32_t positive = vp_asm_jump_if(a, VP_ASM_NE, true);
	vp_asm_set(a, VP_RAX, QUANTIZE_ZERO);
	uint32_t zero = vp_asm_jump(a, true);
	vp_asm_land(a, positive, true);
	vp_asm_highest_bit(a, VP_RAX, VP_RAX);
	vp_asm_imm(a, VP_ASM_ADD, VP_RAX, QUANTIZE_ZERO + 1);
	uint32_t done = vp_asm_jump(a, true);
	vp_asm_land(a, negative, true);
	vp_asm_unary(a, VP_ASM_NEG, VP_RAX, 0);
	vp_asm_highest_bit(a, VP_R10, VP_RAX);
	vp_asm_set(a, VP_RAX, QUANTIZE_ZERO - 1);
	vp_asm_reg(a, VP_ASM_SUB, VP_RAX, VP_R10);
	/* INT64_MIN shares the bucket of -2^62. */
	uint32_t in_range = vp_asm_jump_if(a, VP_ASM_NS, true);
	vp_asm_set(a, VP_RAX, 0);
	vp_asm_land(a, in_range, true);
	vp_asm_land(a, done, true);
	vp_asm_land(a, zero, true);
}

/* dif's bucket of lquantize() for RAX, into RAX: 0 to levels + 1 for any RAX. The division of a number below
 * levels * step is a multiplication by 2^n / step, rounded up, and a shift by n: the error is less than a
 * part in levels * step if 2^n is not below step times that, and nothing overflows below VP_TRAMP_RANGE_MAX.
 */
static void level(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	struct vp_assembler *a = &e->a;
	const uint32_t range = (uint32_t)op->step * op->levels;
	uint8_t n = 0;

	while (1ull << n < (uint64_t)range * op->step)
		n++;
	vp_asm_extend(a, VP_RAX, VP_RAX);
	vp_asm_imm(a, VP_ASM_SUB, VP_RAX, op->disp);
	uint32_t below = vp_asm_jump_if(a, VP_ASM_S, true);
	vp_asm_imm(a, VP_ASM_CMP, VP_RAX, (int32_t)range);
	uint32_t above = vp_asm_jump_if(a, VP_ASM_AE, true);
	vp_asm_mul_imm(a, VP_RAX, VP_RAX, (int32_t)((1ull << n) / op->step + 1));
	vp_asm_unary(a, VP_ASM_SHR, VP_RAX, n);
	vp_asm_imm(a, VP_ASM_ADD, VP_RAX, 1);
	uint32_t within = vp_asm_jump(a, true);
	vp_asm_land(a, below, true);
	vp_asm_set(a, VP_RAX, 0);
	uint32_t zero = vp_asm_jump(a, true);
	vp_asm_land(a, above, true);
	vp_asm_set(a, VP_RAX, op->levels + 1ull);
	vp_asm_land(a, within, true);
	vp_asm_land(a, zero, true);
}

/* Behind the word at @first of the operation's, that of a bucket whose number is in RAX. An entry's are as
 * far apart as its array is long. */
static void count_bucket(struct vp_emitter *e, const struct vp_tramp_op *op, unsigned first)
{
	uint8_t shift = op->keyed ? (uint8_t)(op->size + VP_TRAMP_WAYS_LOG) : 0;

	if (shift)
		vp_asm_unary(&e->a, VP_ASM_SHL, VP_RAX, shift);
	word_address(e, op, op->value + (first * 8ull << shift));
	vp_asm_change(&e->a, VP_ASM_INC, (struct vp_asm_place){ VP_ASM_GS_R11_RAX8, 0 }, 8);
}

/* --- keys ------------------------------------------------------------------------------------ */

/* R11 = where the key's set begins in its table. */
static void find_set(struct vp_emitter *e, const struct vp_tramp_op *op, const uint8_t *words,
		     uint32_t nwords)
{
	struct vp_assembler *a = &e->a;

	vp_asm_reg(a, VP_ASM_MOV, VP_EMIT_SCRATCH, vp_emit_reg(words[0]));
	vp_asm_reg(a, VP_ASM_XOR, VP_EMIT_SCRATCH, vp_emit_reg(words[1]));
	for (uint32_t i = 2; i < nwords; i++) {
		vp_asm_mul_imm(a, VP_EMIT_SCRATCH, VP_EMIT_SCRATCH, VP_TRAMP_MIX);
		vp_asm_reg(a, VP_ASM_XOR, VP_EMIT_SCRATCH, vp_emit_reg(words[i]));
	}
	for (unsigned i = 0; i < 2; i++)
		vp_asm_mul_imm(a, VP_EMIT_SCRATCH, VP_EMIT_SCRATCH, VP_TRAMP_MIX);
	vp_asm_unary(a, VP_ASM_SHR, VP_EMIT_SCRATCH, (uint8_t)(64 - op->size));
	vp_asm_unary(a, VP_ASM_SHL, VP_EMIT_SCRATCH, (uint8_t)(VP_TRAMP_WAYS_LOG + vp_tramp_key_log(nwords)));
}

/* A jump that is taken if the key is at @at from R11 on. Its second word is written last, so it is compared
 * first: who sees it sees the others. */
static uint32_t compare_key(struct vp_emitter *e, uint64_t at, const uint8_t *words, uint32_t nwords)
{
	static const uint8_t order[VP_TRAMP_KEY_WORDS] = { 1, 0, 2, 3 };
	uint32_t other[VP_TRAMP_KEY_WORDS], found = 0;

	for (uint32_t i = 0; i < nwords; i++) {
		struct vp_asm_place word = { VP_ASM_R11, (int32_t)(at + order[i] * 8u) };
		vp_asm_fetch(&e->a, VP_ASM_CMP, vp_emit_reg(words[order[i]]), word);
		if (i + 1 < nwords)
			other[i] = vp_asm_jump_if(&e->a, VP_ASM_NE, true);
		else
			found = vp_asm_jump_if(&e->a, VP_ASM_E, false);
	}
	for (uint32_t i = 0; i + 1 < nwords; i++)
		vp_asm_land(&e->a, other[i], true);
	return found;
}

void vp_emit_keyed(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	const uint8_t words[VP_TRAMP_KEY_WORDS] = { op->a, op->b, op->c, op->d };
	uint32_t nwords = op->c == VP_TRAMP_IMM ? 2 : op->d == VP_TRAMP_IMM ? 3 : 4, found[VP_TRAMP_WAYS];
	uint8_t key_log = (uint8_t)vp_tramp_key_log(nwords);

	find_set(e, op, words, nwords);
	for (unsigned i = 0; i < VP_TRAMP_WAYS; i++)
		found[i] = compare_key(e, op->value + ((uint64_t)i << key_log), words, nwords);
	vp_emit_jump_to(e, vp_asm_jump(&e->a, false), op->target);
	for (unsigned i = VP_TRAMP_WAYS; i-- > 0;) {
		vp_asm_land(&e->a, found[i], false);
		if (i)
			vp_asm_imm(&e->a, VP_ASM_ADD, VP_EMIT_SCRATCH, 1 << key_log);
	}
	/* An entry has one word where a key has all of its own. */
	vp_asm_unary(&e->a, VP_ASM_SHR, VP_EMIT_SCRATCH, (uint8_t)(key_log - 3));
	move(e, vp_emit_reg(op->dst), VP_EMIT_SCRATCH);
}

/* --- words, by operation ----------------------------------------------------------------------- */

void vp_emit_word(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	switch (op->kind) {
	case VP_TRAMP_COUNT:
		word_address(e, op, op->value);
		vp_asm_change(&e->a, VP_ASM_INC, here, 8);
		break;
	case VP_TRAMP_SUM:
		word_address(e, op, op->value);
		vp_asm_store(&e->a, VP_ASM_ADD, here, vp_emit_reg(op->a), 8);
		break;
	case VP_TRAMP_LEAST:
		exchange(e, op, VP_ASM_GE);
		break;
	case VP_TRAMP_MOST:
		exchange(e, op, VP_ASM_LE);
		break;
	case VP_TRAMP_QUANTIZE:
		move(e, VP_RAX, vp_emit_reg(op->a));
		bucket(e);
		count_bucket(e, op, 0);
		break;
	default: /* LQUANTIZE: behind its parameters */
		move(e, VP_RAX, vp_emit_reg(op->a));
		level(e, op);
		count_bucket(e, op, 1);
		break;
	}
}

/* --- records --------------------------------------------------------------------------------- */

static struct vp_asm_place preempt(const struct vp_emitter *e)
{
	return (struct vp_asm_place){ VP_ASM_GS, e->world->preempt };
}

/* The tail is a word that others write: for any value, a distance that is not below the number of records
 * means that the ring is full. */
static void reserve(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	const struct vp_tramp_ring *r = &e->world->ring;
	struct vp_assembler *a = &e->a;
	uint32_t full[VP_TRAMP_TRIES], got[VP_TRAMP_TRIES];

	vp_asm_change(a, VP_ASM_INC, preempt(e), 4);
	address(e, r->at);
	vp_asm_load(a, VP_RAX, field((int32_t)r->head), 8, false);
	for (unsigned i = 0; i < VP_TRAMP_TRIES; i++) {
		vp_asm_reg(a, VP_ASM_MOV, VP_R10, VP_RAX);
		vp_asm_fetch(a, VP_ASM_SUB, VP_R10, field((int32_t)r->tail));
		vp_asm_imm(a, VP_ASM_CMP, VP_R10, (int32_t)r->count);
		full[i] = vp_asm_jump_if(a, VP_ASM_AE, true);
		vp_asm_reg(a, VP_ASM_MOV, VP_R10, VP_RAX);
		vp_asm_imm(a, VP_ASM_ADD, VP_R10, 1);
		vp_asm_exchange(a, field((int32_t)r->head), VP_R10);
		got[i] = vp_asm_jump_if(a, VP_ASM_E, false);
	}
	for (unsigned i = 0; i < VP_TRAMP_TRIES; i++)
		vp_asm_land(a, full[i], true);
	vp_asm_change(a, VP_ASM_INC, field((int32_t)r->lost), 8);
	vp_asm_change(a, VP_ASM_DEC, preempt(e), 4);
	vp_emit_jump_to(e, vp_asm_jump(a, false), op->target);
	for (unsigned i = 0; i < VP_TRAMP_TRIES; i++)
		vp_asm_land(a, got[i], false);
	vp_asm_imm(a, VP_ASM_AND, VP_RAX, (int32_t)(r->count - 1));
	vp_asm_unary(a, VP_ASM_SHL, VP_RAX, (uint8_t)r->shift);
	vp_asm_reg(a, VP_ASM_ADD, VP_R11, VP_RAX);
	vp_asm_imm(a, VP_ASM_ADD, VP_R11, (int32_t)r->first);
}

/* RDTSC writes RDX, which may be an argument. */
static void store_time(struct vp_emitter *e, int32_t disp)
{
	static const uint8_t rdtsc[] = { 0x0f, 0x31 };

	vp_asm_push(&e->a, VP_RDX);
	vp_asm_bytes(&e->a, rdtsc, sizeof(rdtsc));
	vp_asm_unary(&e->a, VP_ASM_SHL, VP_RDX, 32);
	vp_asm_reg(&e->a, VP_ASM_OR, VP_RAX, VP_RDX);
	vp_asm_pop(&e->a, VP_RDX);
	vp_asm_store(&e->a, VP_ASM_MOV, field(disp), VP_RAX, 8);
}

static void store_task(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	vp_asm_load(&e->a, VP_RAX, (struct vp_asm_place){ VP_ASM_GS, e->world->current }, 8, false);
	if (op->kind == VP_TRAMP_STORE_TASK)
		vp_asm_load(&e->a, VP_RAX, (struct vp_asm_place){ VP_ASM_RAX, (int32_t)op->value }, op->size,
			    false);
	vp_asm_store(&e->a, VP_ASM_MOV, field(op->disp), VP_RAX,
		     op->kind == VP_TRAMP_STORE_TASK ? op->size : 8);
}

void vp_emit_record(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	switch (op->kind) {
	case VP_TRAMP_RESERVE:
		reserve(e, op);
		break;
	case VP_TRAMP_STORE_CONST:
		vp_asm_store_imm(&e->a, field(op->disp), (int32_t)op->value, op->size);
		break;
	case VP_TRAMP_STORE_ARG:
		vp_asm_store(&e->a, VP_ASM_MOV, field(op->disp), vp_emit_arg(op->a), 8);
		break;
	case VP_TRAMP_STORE_CURRENT:
	case VP_TRAMP_STORE_TASK:
		store_task(e, op);
		break;
	case VP_TRAMP_STORE_PREEMPT: /* as it was before RESERVE raised it */
		vp_asm_load(&e->a, VP_RAX, preempt(e), 4, false);
		vp_asm_imm(&e->a, VP_ASM_SUB, VP_RAX, 1);
		vp_asm_store(&e->a, VP_ASM_MOV, field(op->disp), VP_RAX, 4);
		break;
	case VP_TRAMP_STORE_TIME:
		store_time(e, op->disp);
		break;
	default: /* PUBLISH: this processor's stores become visible in their order */
		vp_asm_store(&e->a, VP_ASM_MOV, field(op->disp), VP_R10, 8);
		vp_asm_change(&e->a, VP_ASM_DEC, preempt(e), 4);
		break;
	}
}
