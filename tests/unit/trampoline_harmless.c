/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a trampoline's bytes by a disassembler that knows nothing of how they were made, and holds them
 * against what docs/design/017-resident-probes.md promises: which instructions there are, what memory they
 * touch, where they jump.
 */
#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/trampoline_fixture.h"

/* What the two registers that addresses are made of may be used as. */
enum use { NOTHING, TASK, DATA, SET, KEYS }; /* SET: a number of a set; KEYS: where its keys begin */

struct known {
	enum use r11, rax;
	uint64_t data; /* the offset in data that R11 stands for … */
	uint64_t span; /* … or up to so many bytes more */
};

/* One instruction after the other. */
struct reader {
	const struct tf_machine *m;
	const uint8_t *code;
	uint32_t len;
	uint64_t at;
	const struct vp_tramp_end *end;
	const cs_insn *insn;
	const cs_x86 *x86;
	struct known now;
	bool falls; /* the instruction before goes on here */
	int pushed;
	uint8_t starts[VP_TRAMP_BYTES_MAX];       /* 1: an instruction; 2: it is jumped to */
	struct known brought[VP_TRAMP_BYTES_MAX]; /* by the jumps there */
};

static bool is_jump(unsigned id)
{
	return id >= X86_INS_JAE && id <= X86_INS_JS && id != X86_INS_JCXZ && id != X86_INS_JECXZ &&
	       id != X86_INS_JRCXZ;
}

/* Nothing else: no call, no return, no string instruction, no division, nothing of the system's but OUT. */
static bool is_known(unsigned id)
{
	static const unsigned known[] = { X86_INS_MOV,    X86_INS_MOVABS, X86_INS_MOVZX, X86_INS_MOVSX,
					  X86_INS_MOVSXD, X86_INS_ADD,    X86_INS_SUB,   X86_INS_IMUL,
					  X86_INS_AND,    X86_INS_OR,     X86_INS_XOR,   X86_INS_SHL,
					  X86_INS_SHR,    X86_INS_SAR,    X86_INS_NOT,   X86_INS_NEG,
					  X86_INS_CMP,    X86_INS_TEST,   X86_INS_BSR,   X86_INS_INC,
					  X86_INS_DEC,    X86_INS_PUSH,   X86_INS_POP,   X86_INS_CMPXCHG,
					  X86_INS_RDTSC,  X86_INS_OUT,    X86_INS_SAL };

	for (size_t i = 0; i < OT_ARRAY_SIZE(known); i++)
		if (known[i] == id)
			return true;
	return is_jump(id);
}

/* --- memory ---------------------------------------------------------------------------------- */

/* Are there buckets, and is the word of an entry within the first ones? */
static bool is_in_buckets(const struct reader *r, uint64_t at)
{
	const struct vp_trampoline *t = &r->m->t;

	for (uint32_t i = 0; i < t->ncells; i++) {
		const struct vp_tramp_cell *c = &t->cells[i];
		uint64_t stride = c->keyed ? 8ull * vp_tramp_entries(&t->table) : 8;
		if (c->nwords > 2 && at - c->at <= stride && r->now.span < stride)
			return true;
	}
	return false;
}

/* The words of data that R11 with this displacement can stand for. Of a record's place only the ring's
 * beginning is known, and of a bucket its array's: that a number is within bounds is the emitter's test. */
static const char *check_data(const struct reader *r, const cs_x86_op *op)
{
	uint64_t at = r->now.data + (uint64_t)op->mem.disp, size = op->size + r->now.span;

	if (op->mem.index == X86_REG_RAX)
		return is_in_buckets(r, at) ? NULL : "an index that is no bucket's";
	if (op->mem.index != X86_REG_INVALID)
		return "memory by an index that is not RAX";
	return at > TF_SPACING || size > TF_SPACING - at ? "memory beyond data" : NULL;
}

static const char *check_percpu(const struct reader *r, const cs_x86_op *op)
{
	int64_t at = op->mem.disp;
	bool written = op->access & CS_AC_WRITE;

	if (op->mem.index != X86_REG_INVALID)
		return "the per-CPU area by an index";
	if (written && (at != TF_PREEMPT || (r->insn->id != X86_INS_INC && r->insn->id != X86_INS_DEC)))
		return "a store to the per-CPU area that does not count preemption";
	return at < 0 || at + op->size > (int64_t)TF_PERCPU_SIZE ? "memory beyond the per-CPU area" : NULL;
}

static const char *check_task(const struct reader *r, const cs_x86_op *op)
{
	bool known = (op->mem.base == X86_REG_R11 && r->now.r11 == TASK) ||
		     (op->mem.base == X86_REG_RAX && r->now.rax == TASK);

	if (!known || op->mem.index != X86_REG_INVALID)
		return "memory at a computed address";
	if (op->access & CS_AC_WRITE)
		return "a store to the task";
	return op->mem.disp < 0 || op->mem.disp + op->size > (int64_t)TF_TASK_SIZE ? "memory beyond the task"
										   : NULL;
}

static const char *check_keys(const struct reader *r, const cs_x86_op *op)
{
	const struct vp_tramp_table *t = &r->m->t.table;
	uint64_t at = (uint64_t)op->mem.disp - t->keys;

	if (op->access & CS_AC_WRITE || op->mem.index != X86_REG_INVALID)
		return "a store to the keys";
	return at + op->size > VP_TRAMP_WAYS << vp_tramp_key_log(t->nwords) ? "memory beyond a set's keys"
									    : NULL;
}

static const char *check_memory(const struct reader *r, const cs_x86_op *op)
{
	if (op->mem.segment == X86_REG_INVALID && op->mem.base == X86_REG_R11 && r->now.r11 == KEYS)
		return check_keys(r, op);
	if (op->mem.segment == X86_REG_INVALID)
		return check_task(r, op);
	if (op->mem.segment != X86_REG_GS)
		return "memory by another segment";
	if (op->mem.base == X86_REG_INVALID)
		return check_percpu(r, op);
	return op->mem.base == X86_REG_R11 && r->now.r11 == DATA ? check_data(r, op)
								 : "GS with a computed address";
}

/* A shift can make of anything the number of a set, and of that where its keys begin. */
static enum use shifted(const struct reader *r)
{
	const struct vp_tramp_table *t = &r->m->t.table;
	unsigned id = r->insn->id;
	int64_t by = r->x86->operands[1].imm;

	if (t->nwords && id == X86_INS_SHR && by == 64 - (int64_t)t->sets_log)
		return SET;
	return (id == X86_INS_SHL || id == X86_INS_SAL) && r->now.r11 == SET &&
		       by == VP_TRAMP_WAYS_LOG + vp_tramp_key_log(t->nwords)
		   ? KEYS
		   : NOTHING;
}

/* What RAX and R11 are from now on. */
static void note_base(struct reader *r)
{
	const cs_x86_op *dst = &r->x86->operands[0], *src = &r->x86->operands[1];
	bool task = r->insn->id == X86_INS_MOV && r->x86->op_count == 2 && src->type == X86_OP_MEM &&
		    src->mem.segment == X86_REG_GS && src->mem.base == X86_REG_INVALID &&
		    src->mem.disp == TF_CURRENT;
	const uint64_t data = r->m->guest.world.data;

	if (r->insn->id == X86_INS_RDTSC || r->insn->id == X86_INS_CMPXCHG)
		r->now.rax = NOTHING; /* which no operand says */
	if (!r->x86->op_count || dst->type != X86_OP_REG || !(dst->access & CS_AC_WRITE))
		return;
	if (dst->reg == X86_REG_RAX || dst->reg == X86_REG_EAX)
		r->now.rax = task ? TASK : NOTHING;
	if (dst->reg != X86_REG_R11 && dst->reg != X86_REG_R11D)
		return;
	if (r->now.r11 == DATA && r->insn->id == X86_INS_ADD) {
		/* a record's place: its offset, and where the records begin; or an entry's */
		if (src->type == X86_OP_REG && src->reg != X86_REG_RAX)
			r->now.span = 8ull * vp_tramp_entries(&r->m->t.table) - 8;
		return;
	}
	r->now.r11 = task ? TASK : src->type == X86_OP_IMM ? shifted(r) : NOTHING;
	if (src->type == X86_OP_IMM && (uint64_t)src->imm - data < TF_SPACING &&
	    (r->insn->id == X86_INS_MOVABS || r->insn->id == X86_INS_MOV)) {
		r->now.r11 = DATA;
		r->now.data = (uint64_t)src->imm - data;
		r->now.span = 0;
	}
}

/* --- control --------------------------------------------------------------------------------- */

/* Another way to the same place: what they do not agree on is not known. */
static void join(struct known *at, const struct known *from)
{
	if (at->rax != from->rax)
		at->rax = NOTHING;
	if (at->r11 != from->r11 || at->data != from->data || at->span != from->span)
		at->r11 = NOTHING;
}

static void arrive(struct reader *r, uint64_t here)
{
	if (r->starts[here] & 2 && r->falls)
		join(&r->now, &r->brought[here]);
	else if (r->starts[here] & 2)
		r->now = r->brought[here];
	r->starts[here] |= 1;
}

static const char *check_jump(struct reader *r)
{
	const cs_x86_op *op = &r->x86->operands[0];
	uint64_t here = r->insn->address - r->at, target;

	if (op->type != X86_OP_IMM)
		return "an indirect jump";
	if (r->end->to && (uint64_t)op->imm == r->end->to)
		return r->insn->id == X86_INS_JMP ? NULL : "a conditional jump to the end";
	target = (uint64_t)op->imm - r->at;
	if (target >= r->len || target <= here)
		return "a jump back, or out of the trampoline";
	if (r->starts[target] & 2)
		join(&r->brought[target], &r->now);
	else
		r->brought[target] = r->now;
	r->starts[target] |= 2;
	return NULL;
}

/* Only at a return of the function, only where it does not go on from, and where some processors need it. */
static const char *check_return(const struct reader *r)
{
	if (r->end->place != VP_TRAMP_AT_RETURN || r->end->to)
		return "a return";
	return r->insn->address & 32 ? NULL : "a return in the lower half of a cache line";
}

static const char *check_insn(struct reader *r)
{
	unsigned id = r->insn->id;

	if (id == X86_INS_RET)
		return r->x86->op_count ? "a return that pops" : check_return(r);
	if (id == X86_INS_INT3)
		return r->falls || r->starts[r->insn->address - r->at] & 2 ? "a breakpoint" : NULL;
	if (!is_known(id))
		return "an instruction that no trampoline has";
	if (r->x86->prefix[0])
		return "a prefix (lock, rep)";
	if (is_jump(id))
		return check_jump(r);
	if (id == X86_INS_OUT)
		return r->x86->operands[0].imm == TF_PORT ? NULL : "another port";
	r->pushed += id == X86_INS_PUSH;
	if (r->pushed * 8 > (int)VP_TRAMP_STACK_MAX)
		return "too much of the guest's stack";
	for (uint8_t i = 0; i < r->x86->op_count; i++) {
		const char *wrong =
		    r->x86->operands[i].type == X86_OP_MEM ? check_memory(r, &r->x86->operands[i]) : NULL;
		if (wrong)
			return wrong;
	}
	note_base(r);
	return NULL;
}

static const char *read_all(struct reader *r, csh handle, cs_insn *insn)
{
	const uint8_t *code = r->code;
	size_t left = r->len;
	uint64_t address = r->at;

	while (left) {
		uint64_t here = address - r->at;
		if (!cs_disasm_iter(handle, &code, &left, &address, insn))
			return "bytes that are no instruction";
		r->insn = insn;
		r->x86 = &insn->detail->x86;
		arrive(r, here);
		const char *wrong = check_insn(r);
		if (wrong)
			return wrong;
		r->falls = insn->id != X86_INS_JMP && insn->id != X86_INS_RET && insn->id != X86_INS_INT3;
	}
	if (r->falls || (r->end->to && (uint64_t)r->x86->operands[0].imm != r->end->to))
		return "it does not end as it should";
	for (uint32_t i = 0; i < r->len; i++)
		if (r->starts[i] == 2)
			return "a jump into an instruction";
	return NULL;
}

const char *tf_harmless(const struct tf_machine *m, const uint8_t *code, uint32_t len, uint64_t at,
			const struct vp_tramp_end *end)
{
	static csh handle;
	static cs_insn *insn;
	static struct reader r;

	r = (struct reader){ .m = m, .code = code, .len = len, .at = at, .end = end, .falls = true };
	if (!handle) {
		if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
			return "no disassembler";
		cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
		insn = cs_malloc(handle);
	}
	return insn ? read_all(&r, handle, insn) : "no memory";
}
