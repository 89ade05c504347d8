/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trampoline's operations as instructions: registers, values, comparisons, jumps and the end.
 *
 * At the first instruction of a C function RAX, R10, R11 and the flags are dead: the calling convention gives
 * them to the callee, and no kernel that can trace its functions is compiled with a convention of its own
 * (GCC has no -fipa-ra with -pg). RAX and R10 are an operation's first two registers. The others are pushed.
 *
 * At a return of such a function RAX is its result, and RDI, R10, R11 and the flags are dead, with registers
 * that are not used here. So the result is in RDI from the first operation that could change RAX to the end.
 */
#include "vmm-probe/arch/x86/trampoline/emit.h"

#include "vmm-probe/arch/x86/insn/opcodes.h"

#define FREE_REGS 2u  /* that need not be pushed */
#define HALF_LINE 32u /* bytes of half a cache line */

static const uint8_t registers[VP_TRAMP_REGS] = { VP_RAX, VP_R10, VP_RBX, VP_R12, VP_R13, VP_R14 };

_Static_assert((VP_TRAMP_REGS - FREE_REGS + 1) * 8 <= VP_TRAMP_STACK_MAX,
	       "with RDX, which STORE_TIME pushes");

enum vp_reg vp_emit_reg(uint8_t reg)
{
	return (enum vp_reg)registers[reg];
}

enum vp_reg vp_emit_arg(uint8_t n)
{
	static const uint8_t args[] = { VP_REGS_ARGS };

	return (enum vp_reg)args[n];
}

void vp_emit_jump_to(struct vp_emitter *e, uint32_t jump, uint16_t target)
{
	if (e->npending == 2 * VP_TRAMP_OPS_MAX) {
		e->a.full = true;
		return;
	}
	e->pending[e->npending].jump = jump;
	e->pending[e->npending++].target = target;
}

static void land(struct vp_emitter *e, uint32_t target)
{
	for (uint32_t i = 0; i < e->npending; i++)
		if (e->pending[i].target == target) {
			vp_asm_land(&e->a, e->pending[i].jump, false);
			e->has_task = false; /* it may not be on that way */
		}
}

/* Operations that leave R11 as it is. */
static bool keeps_task(const struct vp_tramp_op *op)
{
	return op->kind <= VP_TRAMP_LOAD_PERCPU || (op->kind >= VP_TRAMP_SHL && op->kind <= VP_TRAMP_NOT) ||
	       (op->kind >= VP_TRAMP_COMPARE && op->kind <= VP_TRAMP_JUMP);
}

/* --- values ---------------------------------------------------------------------------------- */

static void move(struct vp_emitter *e, enum vp_reg dst, enum vp_reg src)
{
	if (dst != src)
		vp_asm_reg(&e->a, VP_ASM_MOV, dst, src);
}

static void find_task(struct vp_emitter *e)
{
	if (!e->has_task)
		vp_asm_load(&e->a, VP_EMIT_SCRATCH, (struct vp_asm_place){ VP_ASM_GS, e->world->current }, 8,
			    false);
	e->has_task = true;
}

static void load_task(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	find_task(e);
	vp_asm_load(&e->a, vp_emit_reg(op->dst), (struct vp_asm_place){ VP_ASM_R11, op->disp }, op->size,
		    op->sign);
}

/* Two registers; IMUL has its own form. */
static void apply(struct vp_emitter *e, uint8_t kind, enum vp_reg dst, enum vp_reg src)
{
	static const uint8_t ops[] = {
		[VP_TRAMP_ADD] = VP_ASM_ADD, [VP_TRAMP_SUB] = VP_ASM_SUB, [VP_TRAMP_AND] = VP_ASM_AND,
		[VP_TRAMP_OR] = VP_ASM_OR,   [VP_TRAMP_XOR] = VP_ASM_XOR,
	};

	if (kind == VP_TRAMP_MUL)
		vp_asm_mul(&e->a, dst, src);
	else
		vp_asm_reg(&e->a, (enum vp_asm_op)ops[kind], dst, src);
}

static void apply_imm(struct vp_emitter *e, uint8_t kind, enum vp_reg dst, int32_t value)
{
	static const uint8_t ops[] = {
		[VP_TRAMP_ADD] = VP_ASM_ADD, [VP_TRAMP_SUB] = VP_ASM_SUB, [VP_TRAMP_AND] = VP_ASM_AND,
		[VP_TRAMP_OR] = VP_ASM_OR,   [VP_TRAMP_XOR] = VP_ASM_XOR,
	};

	if (kind == VP_TRAMP_MUL)
		vp_asm_mul_imm(&e->a, dst, dst, value);
	else
		vp_asm_imm(&e->a, (enum vp_asm_op)ops[kind], dst, value);
}

static void arithmetic(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	enum vp_reg dst = vp_emit_reg(op->dst), a = vp_emit_reg(op->a);

	if (op->b == VP_TRAMP_IMM) {
		move(e, dst, a);
		apply_imm(e, op->kind, dst, (int32_t)op->value);
		return;
	}
	/* The result may not replace b before it is used. */
	enum vp_reg b = vp_emit_reg(op->b), into = dst == b ? VP_EMIT_SCRATCH : dst;
	move(e, into, a);
	apply(e, op->kind, into, b);
	move(e, dst, into);
}

static void unary(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	enum vp_reg dst = vp_emit_reg(op->dst);
	enum vp_asm_unary what = op->kind == VP_TRAMP_SHL   ? VP_ASM_SHL
				 : op->kind == VP_TRAMP_SHR ? VP_ASM_SHR
				 : op->kind == VP_TRAMP_SAR ? VP_ASM_SAR
							    : VP_ASM_NOT;

	move(e, dst, vp_emit_reg(op->a));
	vp_asm_unary(&e->a, what, dst, (uint8_t)op->value & 63);
}

static void value(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	enum vp_reg dst = vp_emit_reg(op->dst);

	switch (op->kind) {
	case VP_TRAMP_CONST:
		vp_asm_set(&e->a, dst, op->value);
		break;
	case VP_TRAMP_MOV:
		move(e, dst, vp_emit_reg(op->a));
		break;
	case VP_TRAMP_ARG:
		move(e, dst, vp_emit_arg(op->a));
		break;
	case VP_TRAMP_RETURNED:
		move(e, dst, e->moved ? VP_EMIT_RESULT : VP_RAX);
		break;
	case VP_TRAMP_CURRENT:
		vp_asm_load(&e->a, dst, (struct vp_asm_place){ VP_ASM_GS, e->world->current }, 8, false);
		break;
	case VP_TRAMP_LOAD_TASK:
		load_task(e, op);
		break;
	case VP_TRAMP_LOAD_PERCPU:
		vp_asm_load(&e->a, dst, (struct vp_asm_place){ VP_ASM_GS, op->disp }, op->size, op->sign);
		break;
	case VP_TRAMP_SHL:
	case VP_TRAMP_SHR:
	case VP_TRAMP_SAR:
	case VP_TRAMP_NOT:
		unary(e, op);
		break;
	default:
		arithmetic(e, op);
		break;
	}
}

/* --- comparisons and jumps ------------------------------------------------------------------- */

static void compare(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	if (op->b == VP_TRAMP_IMM)
		vp_asm_imm(&e->a, VP_ASM_CMP, vp_emit_reg(op->a), (int32_t)op->value);
	else
		vp_asm_reg(&e->a, VP_ASM_CMP, vp_emit_reg(op->a), vp_emit_reg(op->b));
}

/* In pieces of 4 bytes, the last of which may begin in the one before; what is shorter in 2 and 1. At the end
 * ZF is set if all are equal: the first that is not ends it. */
static void named(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	uint32_t ends[VP_TRAMP_TEXT], n = 0;
	uint8_t done = 0;

	find_task(e);
	while (done < op->size) {
		uint8_t left = (uint8_t)(op->size - done), size = op->size >= 4 ? 4 : left >= 2 ? 2 : 1;
		done = left < size ? op->size - size : done;
		if (n)
			ends[n - 1] = vp_asm_jump_if(&e->a, VP_ASM_NE, true);
		vp_asm_compare(&e->a, (struct vp_asm_place){ VP_ASM_R11, op->disp + done }, op->text + done,
			       size);
		done = (uint8_t)(done + size);
		n++;
	}
	for (uint32_t i = 0; i + 1 < n; i++)
		vp_asm_land(&e->a, ends[i], true);
}

/* The conditions that are no single one of the processor's: its own "less" includes the overflow, DIF's does
 * not. */
static void jump_signed(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	if (op->cond == VP_TRAMP_GREATER) {
		uint32_t equal = vp_asm_jump_if(&e->a, VP_ASM_E, true);
		vp_emit_jump_to(e, vp_asm_jump_if(&e->a, VP_ASM_NS, false), op->target);
		vp_asm_land(&e->a, equal, true);
	} else {
		vp_emit_jump_to(e, vp_asm_jump_if(&e->a, VP_ASM_E, false), op->target);
		vp_emit_jump_to(e, vp_asm_jump_if(&e->a, VP_ASM_S, false), op->target);
	}
}

static void jump(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	static const uint8_t conds[] = {
		[VP_TRAMP_EQUAL] = VP_ASM_E, [VP_TRAMP_NOT_EQUAL] = VP_ASM_NE,
		[VP_TRAMP_LESS] = VP_ASM_S,  [VP_TRAMP_NOT_LESS] = VP_ASM_NS,
		[VP_TRAMP_BELOW] = VP_ASM_B, [VP_TRAMP_NOT_BELOW] = VP_ASM_AE,
		[VP_TRAMP_ABOVE] = VP_ASM_A, [VP_TRAMP_NOT_ABOVE] = VP_ASM_BE,
	};

	if (op->cond == VP_TRAMP_GREATER || op->cond == VP_TRAMP_NOT_GREATER)
		jump_signed(e, op);
	else if (op->cond == VP_TRAMP_ALWAYS)
		vp_emit_jump_to(e, vp_asm_jump(&e->a, false), op->target);
	else
		vp_emit_jump_to(e, vp_asm_jump_if(&e->a, (enum vp_asm_cond)conds[op->cond], false),
				op->target);
}

/* --- begin and end --------------------------------------------------------------------------- */

/* How many of the guest's registers the operations need. */
static unsigned count_pushed(const struct vp_tramp_op *ops, uint32_t nops)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < nops; i++) {
		bool value = ops[i].kind >= VP_TRAMP_CONST && ops[i].kind <= VP_TRAMP_KEYED;
		if (value && ops[i].dst + 1u > n)
			n = ops[i].dst + 1u;
	}
	return n > FREE_REGS ? n - FREE_REGS : 0;
}

/* Does any operation change RAX? */
static bool changes_result(const struct vp_tramp_op *ops, uint32_t nops)
{
	for (uint32_t i = 0; i < nops; i++) {
		bool value = ops[i].kind >= VP_TRAMP_CONST && ops[i].kind <= VP_TRAMP_KEYED;
		if ((value && vp_emit_reg(ops[i].dst) == VP_RAX) ||
		    (ops[i].kind >= VP_TRAMP_LEAST && ops[i].kind <= VP_TRAMP_PUBLISH))
			return true;
	}
	return false;
}

static void begin(struct vp_emitter *e, const struct vp_tramp_op *ops, uint32_t nops)
{
	e->pushed = count_pushed(ops, nops);
	e->moved = e->back->place == VP_TRAMP_AT_RETURN && changes_result(ops, nops);
	for (unsigned i = 0; i < e->pushed; i++)
		vp_asm_push(&e->a, vp_emit_reg((uint8_t)(FREE_REGS + i)));
	if (e->moved)
		move(e, VP_EMIT_RESULT, VP_RAX);
}

/* A kernel may have each `ret` in the upper half of a cache line, as some processors mistake what others
 * predict (Indirect Target Selection). So ours is there on all. */
static void give_back(struct vp_emitter *e)
{
	static const uint8_t ret[] = { VP_OPCODE_RET, VP_OPCODE_INT3 };

	if (!((e->at + e->a.len) & HALF_LINE)) {
		uint32_t skip = vp_asm_jump(&e->a, true);
		uint64_t here = e->at + e->a.len;
		for (uint64_t i = here & HALF_LINE ? HALF_LINE : here % HALF_LINE; i < HALF_LINE; i++)
			vp_asm_bytes(&e->a, &ret[1], 1);
		vp_asm_land(&e->a, skip, true);
	}
	vp_asm_bytes(&e->a, ret, sizeof(ret));
}

static struct ot_err *go_on(struct vp_emitter *e)
{
	static const uint8_t jmp = VP_OPCODE_JMP;
	int32_t distance;

	vp_asm_bytes(&e->a, &jmp, 1);
	if (!vp_emit_reaches(e->at + e->a.len + sizeof(distance), e->back->to, &distance))
		return ot_err_new(OT_ERR_LIMIT, "a trampoline at %#llx does not reach %#llx",
				  (unsigned long long)e->at, (unsigned long long)e->back->to);
	vp_asm_bytes(&e->a, &distance, sizeof(distance));
	return NULL;
}

/* The VMM, if it is to be asked, finds the guest's registers as they were at the site, but for those that are
 * dead there. */
static struct ot_err *leave(struct vp_emitter *e, bool exits)
{
	const uint8_t out[] = { VP_OPCODE_OUT, e->world->port };

	for (unsigned i = e->pushed; i > 0; i--)
		vp_asm_pop(&e->a, vp_emit_reg((uint8_t)(FREE_REGS + i - 1)));
	if (e->moved)
		move(e, VP_RAX, VP_EMIT_RESULT);
	if (exits) {
		e->exit = e->a.len;
		vp_asm_bytes(&e->a, out, sizeof(out));
	}
	if (e->back->to)
		return go_on(e);
	give_back(e);
	return NULL;
}

static struct ot_err *operation(struct vp_emitter *e, const struct vp_tramp_op *op)
{
	switch (op->kind) {
	case VP_TRAMP_NOP:
		return NULL;
	case VP_TRAMP_COMPARE:
		compare(e, op);
		return NULL;
	case VP_TRAMP_TEST:
		vp_asm_reg(&e->a, VP_ASM_TST, vp_emit_reg(op->a), vp_emit_reg(op->a));
		return NULL;
	case VP_TRAMP_NAMED:
		named(e, op);
		return NULL;
	case VP_TRAMP_JUMP:
		if (op->cond == VP_TRAMP_ALWAYS && op->target == e->end)
			return leave(e, false);
		jump(e, op);
		return NULL;
	case VP_TRAMP_KEYED:
		vp_emit_keyed(e, op);
		return NULL;
	case VP_TRAMP_EXIT:
		return leave(e, true);
	default:
		if (op->kind >= VP_TRAMP_RESERVE)
			vp_emit_record(e, op);
		else if (op->kind >= VP_TRAMP_COUNT)
			vp_emit_word(e, op);
		else
			value(e, op);
		return NULL;
	}
}

struct ot_err *vp_trampoline_emit(const struct vp_tramp_op *ops, uint32_t nops,
				  const struct vp_tramp_world *world, uint64_t at,
				  const struct vp_tramp_end *end, struct vp_tramp_code *code)
{
	struct vp_emitter e = { .a = { .code = code->bytes, .size = code->size },
				.world = world,
				.at = at,
				.back = end,
				.end = nops };
	struct ot_err *err = NULL;

	begin(&e, ops, nops);
	for (uint32_t i = 0; i < nops && !err; i++) {
		land(&e, i);
		err = operation(&e, &ops[i]);
		e.has_task = e.has_task && keeps_task(&ops[i]);
	}
	land(&e, nops);
	if (!err)
		err = leave(&e, false);
	if (!err && e.a.full)
		err = ot_err_new(OT_ERR_LIMIT, "a trampoline of more than %u bytes", code->size);
	code->len = e.a.len;
	code->exit = e.exit;
	return err;
}
