/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executing programs of call frame information. The bytes are a guest's. */
#include "vmm-probe/guest/elf/cfi_program.h"

#include <string.h>

#include "vmm-probe/arch/native.h"

/* DWARF 5, table 7.29, and GNU's */
enum op {
	ADVANCE = 0x40, /* … with an operand in the low 6 bits, as OFFSET and RESTORE */
	OFFSET = 0x80,
	RESTORE = 0xc0,
	NOP = 0x00,
	SET_LOC,
	ADVANCE1,
	ADVANCE2,
	ADVANCE4,
	OFFSET_EXTENDED,
	RESTORE_EXTENDED,
	UNDEFINED,
	SAME_VALUE,
	REGISTER,
	REMEMBER,
	RESTORE_STATE,
	DEF_CFA,
	DEF_CFA_REGISTER,
	DEF_CFA_OFFSET,
	DEF_CFA_EXPRESSION,
	EXPRESSION,
	OFFSET_EXTENDED_SF,
	DEF_CFA_SF,
	DEF_CFA_OFFSET_SF,
	VAL_OFFSET,
	VAL_OFFSET_SF,
	VAL_EXPRESSION,
	GNU_ARGS_SIZE = 0x2e,
	GNU_NEGATIVE_OFFSET_EXTENDED,
};

/* The place of the caller's value of a register. */
enum where { SAME, LOST, AT_CFA, ELSEWHERE };

struct rule {
	enum where where;
	int64_t offset; /* AT_CFA: from there */
};

struct state {
	bool by_expression;
	uint8_t plt; /* … of the procedure linkage table: vp_native_plt_pushed_at(); 0: of something else */
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct rule saved, ra; /* the former of vp_cfi_common.saved */
};

struct run {
	const struct vp_cfi_common *common;
	struct vp_cfi_bytes b;
	struct state now, initial; /* RESTORE is to the latter */
	struct state remembered[VP_CFI_REMEMBERED_MAX];
	unsigned nremembered, operations;
	uint64_t addr, end; /* the address from which `now` is valid */
	bool given;         /* last is the row that emit received … */
	struct vp_frame_row last;
	vp_cfi_emit emit;
	void *arg;
	bool refused; /* by emit */
};

/* --- bytes --------------------------------------------------------------------------------------- */

const uint8_t *vp_cfi_take(struct vp_cfi_bytes *b, uint64_t n)
{
	const uint8_t *at = b->at;

	if (b->bad || n > (size_t)(b->end - b->at)) {
		b->bad = true;
		return NULL;
	}
	b->at += n;
	return at;
}

uint64_t vp_cfi_fixed(struct vp_cfi_bytes *b, unsigned n)
{
	const uint8_t *at = vp_cfi_take(b, n);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, n);
	return value;
}

/* Bits above the 64th are lost. */
static uint64_t leb(struct vp_cfi_bytes *b, unsigned *ret_bits, uint8_t *ret_last)
{
	uint64_t value = 0;
	unsigned bits = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)vp_cfi_fixed(b, 1);
		if (bits < 64)
			value |= (uint64_t)(byte & 0x7f) << bits;
		bits += 7;
	} while (byte & 0x80);
	*ret_bits = bits;
	*ret_last = byte;
	return value;
}

uint64_t vp_cfi_uleb(struct vp_cfi_bytes *b)
{
	unsigned bits;
	uint8_t last;

	return leb(b, &bits, &last);
}

int64_t vp_cfi_sleb(struct vp_cfi_bytes *b)
{
	unsigned bits;
	uint8_t last;
	uint64_t value = leb(b, &bits, &last);

	if (bits < 64 && last & 0x40)
		value |= ~0ull << bits;
	return (int64_t)value;
}

/* --- rows ---------------------------------------------------------------------------------------- */

/* In bytes: -32768 … 32760. */
static bool fits(int64_t bytes)
{
	return bytes % 8 == 0 && bytes >= INT16_MIN && bytes <= INT16_MAX;
}

static struct vp_frame_row row_of(const struct state *s, bool is_signal)
{
	const struct vp_frame_row stop = vp_frame_row(0, VP_FRAME_STOP, 0, 0);
	int16_t fp = s->saved.where == AT_CFA ? (int16_t)s->saved.offset : 0;
	int64_t words = s->cfa_offset / 8;

	if (is_signal)
		return vp_frame_row(0, VP_FRAME_SIGNAL, 0, 0);
	if (s->ra.where != AT_CFA || s->ra.offset != -8 || s->saved.where == ELSEWHERE ||
	    (s->saved.where == AT_CFA && (!fits(s->saved.offset) || !s->saved.offset)))
		return stop;
	if (s->by_expression)
		return s->plt ? vp_frame_row(0, VP_FRAME_PLT, s->plt, fp) : stop;
	if (s->cfa_offset % 8 || words < INT16_MIN || words > INT16_MAX)
		return stop;
	if (s->cfa_register == VP_DWARF_SP)
		return vp_frame_row(0, VP_FRAME_SP, (int16_t)words, fp);
	return s->cfa_register == VP_DWARF_FP ? vp_frame_row(0, VP_FRAME_FP, (int16_t)words, fp) : stop;
}

static void give(struct run *r, const struct vp_frame_row *row)
{
	if (r->given && !memcmp(&r->last, row, sizeof(*row)))
		return;
	r->given = true;
	r->last = *row;
	r->refused = !r->emit(r->arg, r->addr, row);
}

/* The present row is valid for @p delta more bytes. */
static void advance(struct run *r, uint64_t delta)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, r->common->code_align, &bytes) || bytes > r->end - r->addr)
		bytes = r->end - r->addr;
	if (!bytes)
		return;
	struct vp_frame_row row = row_of(&r->now, r->common->is_signal);
	give(r, &row);
	r->addr += bytes;
}

/* --- operations ---------------------------------------------------------------------------------- */

static void set_rule(struct run *r, uint64_t reg, enum where where, int64_t offset)
{
	if (reg == r->common->saved)
		r->now.saved = (struct rule){ where, offset };
	else if (reg == VP_DWARF_RA)
		r->now.ra = (struct rule){ where, offset };
	else if (reg == VP_DWARF_SP && where != SAME)
		r->now.ra.where = ELSEWHERE; /* the caller's is the CFA in all code that a row can describe */
}

static void restore(struct run *r, uint64_t reg)
{
	if (reg == r->common->saved)
		r->now.saved = r->initial.saved;
	else if (reg == VP_DWARF_RA)
		r->now.ra = r->initial.ra;
}

/* In units of data_align. */
static int64_t scaled(const struct run *r, int64_t n)
{
	return (int64_t)((uint64_t)n * (uint64_t)r->common->data_align);
}

static int64_t factored(struct run *r)
{
	return scaled(r, (int64_t)vp_cfi_uleb(&r->b));
}

static int64_t factored_signed(struct run *r)
{
	return scaled(r, vp_cfi_sleb(&r->b));
}

static void expression(struct run *r)
{
	uint64_t len = vp_cfi_uleb(&r->b);
	const uint8_t *at = vp_cfi_take(&r->b, len);

	r->now.by_expression = true;
	r->now.plt = at ? vp_native_plt_pushed_at(at, len) : 0;
}

static void set_cfa(struct run *r, uint64_t reg, int64_t offset)
{
	r->now.by_expression = false;
	r->now.cfa_register = reg;
	r->now.cfa_offset = offset;
}

static void do_cfa(struct run *r, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DEF_CFA:
		reg = vp_cfi_uleb(&r->b);
		set_cfa(r, reg, (int64_t)vp_cfi_uleb(&r->b));
		return;
	case DEF_CFA_SF:
		reg = vp_cfi_uleb(&r->b);
		set_cfa(r, reg, factored_signed(r));
		return;
	case DEF_CFA_REGISTER:
		set_cfa(r, vp_cfi_uleb(&r->b), r->now.cfa_offset);
		return;
	case DEF_CFA_OFFSET:
		r->now.cfa_offset = (int64_t)vp_cfi_uleb(&r->b);
		return;
	case DEF_CFA_OFFSET_SF:
		r->now.cfa_offset = factored_signed(r);
		return;
	case DEF_CFA_EXPRESSION:
		expression(r);
		return;
	default:
		r->b.bad = true;
	}
}

/* Operations that define a register's place. */
static void do_register(struct run *r, uint8_t op)
{
	uint64_t reg = vp_cfi_uleb(&r->b);

	switch (op) {
	case OFFSET_EXTENDED:
		set_rule(r, reg, AT_CFA, factored(r));
		return;
	case OFFSET_EXTENDED_SF:
		set_rule(r, reg, AT_CFA, factored_signed(r));
		return;
	case GNU_NEGATIVE_OFFSET_EXTENDED:
		set_rule(r, reg, AT_CFA, scaled(r, -(int64_t)(vp_cfi_uleb(&r->b) & INT64_MAX)));
		return;
	case RESTORE_EXTENDED:
		restore(r, reg);
		return;
	case UNDEFINED:
		set_rule(r, reg, LOST, 0);
		return;
	case SAME_VALUE:
		set_rule(r, reg, SAME, 0);
		return;
	case REGISTER:
	case VAL_OFFSET:
	case VAL_OFFSET_SF:
		vp_cfi_uleb(&r->b);
		set_rule(r, reg, ELSEWHERE, 0);
		return;
	case EXPRESSION:
	case VAL_EXPRESSION:
		vp_cfi_take(&r->b, vp_cfi_uleb(&r->b));
		set_rule(r, reg, ELSEWHERE, 0);
		return;
	default:
		do_cfa(r, op);
	}
}

static void remember(struct run *r)
{
	if (r->nremembered == VP_CFI_REMEMBERED_MAX)
		r->b.bad = true;
	else
		r->remembered[r->nremembered++] = r->now;
}

static void restore_state(struct run *r)
{
	if (!r->nremembered)
		r->b.bad = true;
	else
		r->now = r->remembered[--r->nremembered];
}

/* Operations without a register first. */
static void do_extended(struct run *r, uint8_t op)
{
	switch (op) {
	case NOP:
		return;
	case ADVANCE1:
		advance(r, vp_cfi_fixed(&r->b, 1));
		return;
	case ADVANCE2:
		advance(r, vp_cfi_fixed(&r->b, 2));
		return;
	case ADVANCE4:
		advance(r, vp_cfi_fixed(&r->b, 4));
		return;
	case REMEMBER:
		remember(r);
		return;
	case RESTORE_STATE:
		restore_state(r);
		return;
	case GNU_ARGS_SIZE:
		vp_cfi_uleb(&r->b);
		return;
	case DEF_CFA:
	case DEF_CFA_SF:
	case DEF_CFA_REGISTER:
	case DEF_CFA_OFFSET:
	case DEF_CFA_OFFSET_SF:
	case DEF_CFA_EXPRESSION:
		do_cfa(r, op);
		return;
	default: /* SET_LOC too, which no compiler uses here */
		do_register(r, op);
	}
}

/* Up to its end, or the first invalid operation. */
static void run_program(struct run *r, const struct vp_cfi_bytes *program)
{
	r->b = *program;
	while (r->b.at < r->b.end && !r->b.bad && !r->refused && r->addr < r->end) {
		uint8_t op = (uint8_t)vp_cfi_fixed(&r->b, 1);

		if (++r->operations > VP_CFI_OPERATIONS_MAX)
			r->b.bad = true;
		else if ((op & 0xc0) == ADVANCE)
			advance(r, op & 0x3f);
		else if ((op & 0xc0) == OFFSET)
			set_rule(r, op & 0x3f, AT_CFA, factored(r));
		else if ((op & 0xc0) == RESTORE)
			restore(r, op & 0x3f);
		else
			do_extended(r, op);
	}
}

bool vp_cfi_run(const struct vp_cfi_common *common, const struct vp_cfi_function *function, vp_cfi_emit emit,
		void *arg)
{
	struct run r = {
		.common = common, .addr = function->start, .end = function->end, .emit = emit, .arg = arg
	};

	run_program(&r, &common->program);
	r.initial = r.now;
	if (!r.b.bad && r.addr == function->start)
		run_program(&r, &function->program);
	struct vp_frame_row row =
	    r.b.bad ? vp_frame_row(0, VP_FRAME_STOP, 0, 0) : row_of(&r.now, common->is_signal);
	if (!r.refused && r.addr < r.end)
		give(&r, &row);
	return !r.refused;
}
