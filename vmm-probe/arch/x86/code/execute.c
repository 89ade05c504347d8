/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions on symbolic states. The ones that compilers use to pass arguments and to test conditions are
 * known; for any other, the registers and memory that it may write, as capstone lists them, become unknown.
 */
#include "vmm-probe/arch/x86/code/execute.h"

#include <stdlib.h>
#include <string.h>

#include "vmm-probe/arch/x86/code/condition.h"
#include "vmm-probe/arch/x86/code/disassembler.h"

struct executor {
	struct vp_executor base;
	struct vp_disassembler d;
};

/* One instruction on its way. */
struct run {
	struct vp_exprs *exprs;
	struct vp_state *s;
	const cs_insn *insn;
	const cs_x86_op *ops;
	unsigned nops;
};

static void destroy(struct vp_executor *executor)
{
	struct executor *x = (struct executor *)executor;

	vp_x86_disassembler_close(&x->d);
	free(x);
}

/* --- registers ---------------------------------------------------------------------------------------- */

/* Names of the parts of each register: 8, 4, 2 bytes, the low byte, the byte above it. */
static const uint16_t parts[16][5] = {
	{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
	{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
	{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
	{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
	{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, 0 },
	{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, 0 },
	{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, 0 },
	{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, 0 },
	{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, 0 },
	{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, 0 },
	{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, 0 },
	{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, 0 },
	{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, 0 },
	{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, 0 },
	{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, 0 },
	{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, 0 },
};

enum part { PART_8, PART_4, PART_2, PART_1, PART_HIGH };

/* The general register, and the part of it, that @id names. False: none. */
static bool find_part(unsigned id, unsigned *ret_reg, enum part *ret_part)
{
	for (unsigned r = 0; id && r < OT_ARRAY_SIZE(parts); r++)
		for (unsigned p = 0; p < OT_ARRAY_SIZE(parts[r]); p++)
			if (parts[r][p] == id) {
				*ret_reg = r;
				*ret_part = (enum part)p;
				return true;
			}
	return false;
}

static const struct vp_expr *get(const struct run *run, unsigned id)
{
	static const uint8_t sizes[] = { 8, 4, 2, 1, 1 };
	unsigned r;
	enum part part;

	if (!find_part(id, &r, &part))
		return NULL;
	const struct vp_expr *e = run->s->regs[r];
	if (part == PART_HIGH)
		e = vp_expr_binary(run->exprs, VP_EXPR_SHR, e, vp_expr_const(run->exprs, 8));
	return vp_expr_extend(run->exprs, VP_EXPR_ZX, e, sizes[part]);
}

/* A write to 4 bytes clears the others, one to 2 or 1 keeps them. */
static void put(const struct run *run, unsigned id, const struct vp_expr *value)
{
	struct vp_exprs *x = run->exprs;
	unsigned r;
	enum part part;

	if (!find_part(id, &r, &part))
		return;
	const struct vp_expr **reg = &run->s->regs[r];
	switch (part) {
	case PART_8:
		*reg = value;
		break;
	case PART_4:
		*reg = vp_expr_extend(x, VP_EXPR_ZX, value, 4);
		break;
	case PART_2:
	case PART_1: {
		unsigned size = part == PART_2 ? 2 : 1;
		uint64_t kept = ~((1ull << 8 * size) - 1);
		const struct vp_expr *low = vp_expr_extend(x, VP_EXPR_ZX, value, size);
		/* The rest may be unknown, and the part is read alone. */
		*reg = *reg
			   ? vp_expr_binary(x, VP_EXPR_OR,
					    vp_expr_binary(x, VP_EXPR_AND, *reg, vp_expr_const(x, kept)), low)
			   : NULL;
		break;
	}
	case PART_HIGH:
		*reg = NULL;
	}
}

/* --- operands ---------------------------------------------------------------------------------------- */

static const struct vp_expr *address_of(const struct run *run, const x86_op_mem *m)
{
	struct vp_exprs *x = run->exprs;
	const struct vp_expr *e = vp_expr_const(x, (uint64_t)m->disp);

	if (m->base == X86_REG_RIP)
		return vp_expr_const(x, run->insn->address + run->insn->size + (uint64_t)m->disp);
	if (m->base != X86_REG_INVALID)
		e = vp_expr_binary(x, VP_EXPR_ADD, get(run, m->base), e);
	if (m->index != X86_REG_INVALID)
		e = vp_expr_binary(
		    x, VP_EXPR_ADD,
		    vp_expr_binary(x, VP_EXPR_MUL, get(run, m->index), vp_expr_const(x, (uint64_t)m->scale)),
		    e);
	return e;
}

static bool is_percpu(const cs_x86_op *op)
{
	return op->mem.segment == X86_REG_GS;
}

static const struct vp_expr *load(const struct run *run, const cs_x86_op *op)
{
	const struct vp_expr *address = address_of(run, &op->mem);

	if (op->mem.segment == X86_REG_FS)
		return NULL;
	if (is_percpu(op))
		address = vp_expr_binary(run->exprs, VP_EXPR_ADD, vp_expr_percpu(run->exprs), address);
	return vp_state_load(run->s, run->exprs, address, op->size);
}

static const struct vp_expr *source(const struct run *run, const cs_x86_op *op)
{
	switch (op->type) {
	case X86_OP_REG:
		return get(run, op->reg);
	case X86_OP_IMM:
		return vp_expr_const(run->exprs, (uint64_t)op->imm);
	case X86_OP_MEM:
		return load(run, op);
	default:
		return NULL;
	}
}

/* A counter of this CPU (of preemption, of nested calls) is not an argument: writes to it do not make the
 * rest of memory unknown. The only values read from per-CPU memory are `current` and the CPU's number. */
static void destination(const struct run *run, const cs_x86_op *op, const struct vp_expr *value)
{
	if (op->type == X86_OP_REG)
		put(run, op->reg, value);
	else if (op->type == X86_OP_MEM && !is_percpu(op))
		vp_state_store(run->s, address_of(run, &op->mem), op->size, value);
}

static void set_flags(const struct run *run, enum vp_flags_kind kind, const struct vp_expr *a,
		      const struct vp_expr *b, unsigned size)
{
	run->s->flags = (struct vp_flags){ .kind = kind, .a = a, .b = b, .size = size };
}

/* --- instructions ---------------------------------------------------------------------------------------- */

static void push(const struct run *run, const struct vp_expr *value)
{
	const struct vp_expr **rsp = &run->s->regs[VP_RSP];

	*rsp = vp_expr_add(run->exprs, *rsp, (uint64_t)-8);
	vp_state_store(run->s, *rsp, 8, value);
}

static void pop(const struct run *run)
{
	const struct vp_expr **rsp = &run->s->regs[VP_RSP];
	const struct vp_expr *value = vp_state_load(run->s, run->exprs, *rsp, 8);

	*rsp = vp_expr_add(run->exprs, *rsp, 8);
	destination(run, &run->ops[0], value);
}

/* add, sub, and, or, xor: both operands and the flags. */
static void arithmetic(const struct run *run, enum vp_expr_op op)
{
	struct vp_exprs *x = run->exprs;
	const cs_x86_op *dst = &run->ops[0], *src = &run->ops[1];
	bool clears = dst->type == X86_OP_REG && src->type == X86_OP_REG && dst->reg == src->reg &&
		      (op == VP_EXPR_XOR || op == VP_EXPR_SUB);
	const struct vp_expr *a = source(run, dst), *b = source(run, src);
	const struct vp_expr *v = clears ? vp_expr_const(x, 0) : vp_expr_binary(x, op, a, b);

	destination(run, dst, v);
	if (op == VP_EXPR_SUB)
		set_flags(run, VP_FLAGS_COMPARE, a, b, dst->size);
	else
		set_flags(run, op == VP_EXPR_ADD ? VP_FLAGS_SIGN : VP_FLAGS_RESULT, v, NULL, dst->size);
}

static void shift(const struct run *run, enum vp_expr_op op)
{
	struct vp_exprs *x = run->exprs;
	const cs_x86_op *dst = &run->ops[0];
	unsigned size = dst->size;
	const struct vp_expr *a = source(run, dst);
	const struct vp_expr *by = run->nops > 1 ? vp_expr_binary(x, VP_EXPR_AND, source(run, &run->ops[1]),
								  vp_expr_const(x, size == 8 ? 63 : 31))
						 : vp_expr_const(x, 1);
	const struct vp_expr *v =
	    vp_expr_binary(x, op, op == VP_EXPR_SAR ? vp_expr_extend(x, VP_EXPR_SX, a, size) : a, by);

	destination(run, dst, v);
	/* A shift by 0 leaves the flags as they were. */
	set_flags(run, VP_FLAGS_UNKNOWN, NULL, NULL, size);
}

static void multiply(const struct run *run)
{
	const cs_x86_op *a = run->nops == 3 ? &run->ops[1] : &run->ops[0], *b = &run->ops[run->nops - 1];
	const struct vp_expr *v = vp_expr_binary(run->exprs, VP_EXPR_MUL, source(run, a), source(run, b));

	destination(run, &run->ops[0], v);
	set_flags(run, VP_FLAGS_UNKNOWN, NULL, NULL, 8);
}

/* sbb of a register from itself: all ones if there was a carry. */
static bool subtract_carry(const struct run *run)
{
	const cs_x86_op *dst = &run->ops[0], *src = &run->ops[1];

	if (dst->type != X86_OP_REG || src->type != X86_OP_REG || dst->reg != src->reg)
		return false;
	const struct vp_expr *carry = vp_x86_condition(run->s, run->exprs, VP_COND_B);
	destination(run, dst, vp_expr_binary(run->exprs, VP_EXPR_SUB, vp_expr_const(run->exprs, 0), carry));
	set_flags(run, VP_FLAGS_UNKNOWN, NULL, NULL, 8);
	return true;
}

/* The bit of a bit string in memory that the second operand, a signed number, selects. */
static const struct vp_expr *bit_in_memory(const struct run *run, const struct vp_expr *address)
{
	struct vp_exprs *x = run->exprs;
	const struct vp_expr *n = vp_expr_extend(x, VP_EXPR_SX, source(run, &run->ops[1]), run->ops[1].size);
	const struct vp_expr *byte = vp_expr_binary(x, VP_EXPR_SAR, n, vp_expr_const(x, 3));

	byte = vp_state_load(run->s, x, vp_expr_binary(x, VP_EXPR_ADD, address, byte), 1);
	byte = vp_expr_binary(x, VP_EXPR_SHR, byte, vp_expr_binary(x, VP_EXPR_AND, n, vp_expr_const(x, 7)));
	return vp_expr_binary(x, VP_EXPR_AND, byte, vp_expr_const(x, 1));
}

static void bit_test(const struct run *run)
{
	const cs_x86_op *bits = &run->ops[0];
	const struct vp_expr *at;
	uint64_t address;

	set_flags(run, VP_FLAGS_UNKNOWN, NULL, NULL, 8);
	if (bits->type == X86_OP_MEM) {
		at = is_percpu(bits) ? NULL : address_of(run, &bits->mem);
		if (vp_expr_is_const(at, &address))
			run->s->flags = (struct vp_flags){ .kind = VP_FLAGS_BITS,
							   .bits = address,
							   .a = bit_in_memory(run, at) };
		return;
	}
	const struct vp_expr *by = vp_expr_binary(run->exprs, VP_EXPR_AND, source(run, &run->ops[1]),
						  vp_expr_const(run->exprs, bits->size * 8u - 1));
	const struct vp_expr *bit = vp_expr_binary(run->exprs, VP_EXPR_SHR, source(run, bits), by);
	set_flags(run, VP_FLAGS_CARRY,
		  vp_expr_binary(run->exprs, VP_EXPR_AND, bit, vp_expr_const(run->exprs, 1)), NULL, 8);
}

static void increment(const struct run *run, uint64_t by)
{
	const struct vp_expr *v = vp_expr_add(run->exprs, source(run, &run->ops[0]), by);

	destination(run, &run->ops[0], v);
	set_flags(run, VP_FLAGS_SIGN, v, NULL, run->ops[0].size);
}

/* cbw, cwde, cdqe */
static void sign_accumulator(const struct run *run, unsigned to, unsigned from, unsigned size)
{
	put(run, to, vp_expr_extend(run->exprs, VP_EXPR_SX, get(run, from), size));
}

/* The number of an instruction's condition: setcc and jcc have it in their opcodes. */
static bool condition_of(const cs_insn *insn, uint8_t first, enum vp_condition *ret)
{
	uint8_t op = insn->detail->x86.opcode[0], second = insn->detail->x86.opcode[1];

	if (op == 0x0f && (second & 0xf0) == first) {
		*ret = (enum vp_condition)(second & 15);
		return true;
	}
	if (first == 0x80 && (op & 0xf0) == 0x70) {
		*ret = (enum vp_condition)(op & 15);
		return true;
	}
	return false;
}

/* setcc and cmovcc. False: neither. */
static bool conditional(const struct run *run)
{
	const cs_x86_op *dst = &run->ops[0];
	enum vp_condition c;

	if (condition_of(run->insn, 0x90, &c)) {
		destination(run, dst, vp_x86_condition(run->s, run->exprs, c));
		return true;
	}
	if (!condition_of(run->insn, 0x40, &c) || run->nops != 2)
		return false;
	destination(run, dst,
		    vp_expr_if(run->exprs, vp_x86_condition(run->s, run->exprs, c), source(run, &run->ops[1]),
			       source(run, dst)));
	return true;
}

/* Moves of all kinds. False: none. */
static bool move(const struct run *run)
{
	struct vp_exprs *x = run->exprs;
	const cs_x86_op *dst = &run->ops[0], *src = &run->ops[1];

	switch (run->insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
		destination(run, dst, source(run, src));
		return true;
	case X86_INS_MOVZX:
		destination(run, dst, vp_expr_extend(x, VP_EXPR_ZX, source(run, src), src->size));
		return true;
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
		destination(run, dst, vp_expr_extend(x, VP_EXPR_SX, source(run, src), src->size));
		return true;
	case X86_INS_LEA:
		destination(run, dst, address_of(run, &src->mem));
		return true;
	case X86_INS_PUSH:
		push(run, source(run, dst));
		return true;
	case X86_INS_POP:
		pop(run);
		return true;
	case X86_INS_PUSHFQ:
		push(run, NULL);
		return true;
	case X86_INS_POPFQ:
		run->s->regs[VP_RSP] = vp_expr_add(x, run->s->regs[VP_RSP], 8);
		run->s->flags.kind = VP_FLAGS_UNKNOWN;
		return true;
	case X86_INS_CBW:
		sign_accumulator(run, X86_REG_AX, X86_REG_AL, 1);
		return true;
	case X86_INS_CWDE:
		sign_accumulator(run, X86_REG_EAX, X86_REG_AX, 2);
		return true;
	case X86_INS_CDQE:
		sign_accumulator(run, X86_REG_RAX, X86_REG_EAX, 4);
		return true;
	case X86_INS_NOP:
	case X86_INS_ENDBR64:
		return true;
	default:
		return false;
	}
}

/* Instructions that are one operation on two operands. */
static bool operation_of(unsigned id, enum vp_expr_op *ret)
{
	static const struct {
		unsigned id;
		enum vp_expr_op op;
	} all[] = {
		{ X86_INS_ADD, VP_EXPR_ADD }, { X86_INS_SUB, VP_EXPR_SUB }, { X86_INS_AND, VP_EXPR_AND },
		{ X86_INS_OR, VP_EXPR_OR },   { X86_INS_XOR, VP_EXPR_XOR }, { X86_INS_SHL, VP_EXPR_SHL },
		{ X86_INS_SAL, VP_EXPR_SHL }, { X86_INS_SHR, VP_EXPR_SHR }, { X86_INS_SAR, VP_EXPR_SAR },
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		if (all[i].id != id)
			continue;
		*ret = all[i].op;
		return true;
	}
	return false;
}

/* not: all bits inverted, no flags. neg: subtracted from 0. */
static void invert(const struct run *run)
{
	struct vp_exprs *x = run->exprs;
	const struct vp_expr *a = source(run, &run->ops[0]);

	if (run->insn->id == X86_INS_NOT) {
		destination(run, &run->ops[0],
			    vp_expr_binary(x, VP_EXPR_XOR, a, vp_expr_const(x, UINT64_MAX)));
		return;
	}
	destination(run, &run->ops[0], vp_expr_binary(x, VP_EXPR_SUB, vp_expr_const(x, 0), a));
	set_flags(run, VP_FLAGS_UNKNOWN, NULL, NULL, 8);
}

/* Instructions that only set flags. False: none of them. */
static bool test(const struct run *run)
{
	const cs_x86_op *ops = run->ops;
	const struct vp_expr *a;

	switch (run->insn->id) {
	case X86_INS_CMP:
		set_flags(run, VP_FLAGS_COMPARE, source(run, &ops[0]), source(run, &ops[1]), ops[0].size);
		return true;
	case X86_INS_TEST:
		a = vp_expr_binary(run->exprs, VP_EXPR_AND, source(run, &ops[0]), source(run, &ops[1]));
		set_flags(run, VP_FLAGS_RESULT, a, NULL, ops[0].size);
		return true;
	case X86_INS_BT:
		bit_test(run);
		return true;
	default:
		return false;
	}
}

/* False: not a known instruction. */
static bool compute(const struct run *run)
{
	enum vp_expr_op op;

	if (operation_of(run->insn->id, &op)) {
		if (op == VP_EXPR_SHL || op == VP_EXPR_SHR || op == VP_EXPR_SAR)
			shift(run, op);
		else
			arithmetic(run, op);
		return true;
	}
	switch (run->insn->id) {
	case X86_INS_IMUL:
		if (run->nops < 2)
			return false;
		multiply(run);
		return true;
	case X86_INS_INC:
		increment(run, 1);
		return true;
	case X86_INS_DEC:
		increment(run, (uint64_t)-1);
		return true;
	case X86_INS_NOT:
	case X86_INS_NEG:
		invert(run);
		return true;
	case X86_INS_SBB:
		return subtract_carry(run);
	default:
		return test(run);
	}
}

/* Everything that an unknown instruction may write becomes unknown. */
static void forget(const struct executor *x, const struct run *run)
{
	cs_regs read, written;
	uint8_t nread = 0, nwritten = 0;
	unsigned r;
	enum part part;

	run->s->flags.kind = VP_FLAGS_UNKNOWN;
	if (cs_regs_access(x->d.handle, run->insn, read, &nread, written, &nwritten) != CS_ERR_OK) {
		memset(run->s->regs, 0, sizeof(run->s->regs));
		run->s->memory_unknown = run->s->stack_unknown = true;
		return;
	}
	for (uint8_t i = 0; i < nwritten; i++)
		if (find_part(written[i], &r, &part))
			run->s->regs[r] = NULL;
	for (unsigned i = 0; i < run->nops; i++)
		if (run->ops[i].type == X86_OP_MEM && (run->ops[i].access & CS_AC_WRITE))
			destination(run, &run->ops[i], NULL);
}

static uint64_t direct(const struct run *run)
{
	return run->nops && run->ops[0].type == X86_OP_IMM ? (uint64_t)run->ops[0].imm : 0;
}

static bool branch(const struct run *run, struct vp_step *step)
{
	enum vp_condition c;

	if (!condition_of(run->insn, 0x80, &c))
		return false;
	step->flow = VP_FLOW_BRANCH;
	step->target = direct(run);
	step->when = vp_x86_condition(run->s, run->exprs, c);
	if (run->s->flags.kind == VP_FLAGS_BITS && (c == VP_COND_B || c == VP_COND_AE)) {
		step->bit_test = run->s->flags.bits;
		step->taken_if_set = c == VP_COND_B;
	}
	return true;
}

/* Instructions that change the flow. False: none. */
static bool control(const struct run *run, struct vp_step *step)
{
	switch (run->insn->id) {
	case X86_INS_CALL:
		step->flow = VP_FLOW_CALL;
		step->target = direct(run);
		return true;
	case X86_INS_JMP:
		step->target = direct(run);
		step->flow = step->target ? VP_FLOW_JUMP : VP_FLOW_END;
		return true;
	case X86_INS_RET:
	case X86_INS_RETF:
	case X86_INS_INT3:
	case X86_INS_INT:
	case X86_INS_UD0:
	case X86_INS_UD2:
	case X86_INS_HLT:
	case X86_INS_IRET:
	case X86_INS_IRETQ:
	case X86_INS_SYSRET:
	case X86_INS_LJMP:
	case X86_INS_LCALL:
	case X86_INS_LOOP:
	case X86_INS_LOOPE:
	case X86_INS_LOOPNE:
	case X86_INS_JRCXZ:
	case X86_INS_JECXZ:
		step->flow = VP_FLOW_END;
		return true;
	default:
		return branch(run, step);
	}
}

static struct vp_step execute(struct vp_executor *executor, struct vp_exprs *exprs, struct vp_state *state,
			      uint64_t gva, const uint8_t *bytes, unsigned len)
{
	const struct executor *x = (const struct executor *)executor;
	struct vp_step step = { .flow = VP_FLOW_END };
	size_t left = len;

	if (!cs_disasm_iter(x->d.handle, &bytes, &left, &gva, x->d.insn))
		return step;
	const cs_x86 *x86 = &x->d.insn->detail->x86;
	const struct run run = {
		.exprs = exprs, .s = state, .insn = x->d.insn, .ops = x86->operands, .nops = x86->op_count
	};
	step.len = (uint8_t)x->d.insn->size;
	if (control(&run, &step))
		return step;
	step.flow = VP_FLOW_NEXT;
	if (move(&run) || conditional(&run))
		return step;
	if (!compute(&run))
		forget(x, &run);
	return step;
}

struct ot_err *vp_x86_executor_create(struct vp_executor **ret)
{
	struct executor *x = calloc(1, sizeof(*x));

	if (!x)
		return ot_err_nomem();
	x->base = (struct vp_executor){ .execute = execute, .destroy = destroy };
	struct ot_err *err = vp_x86_disassembler_open(true, &x->d);
	if (err) {
		free(x);
		return err;
	}
	*ret = &x->base;
	return NULL;
}
