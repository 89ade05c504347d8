/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulating decoded instructions. Memory is read first and written last, and registers change only after the
 * last access that may fail, so an instruction is emulated completely or not at all.
 */
#include <string.h>

#include "vmm-probe/arch/x86/insn/insn.h"

#define CF         (1ull << 0)
#define PF         (1ull << 2)
#define AF         (1ull << 4)
#define ZF         (1ull << 6)
#define SF         (1ull << 7)
#define DF         (1ull << 10)
#define OF         (1ull << 11)
#define ARITHMETIC (CF | PF | AF | ZF | SF | OF)

#define RAX 0
#define RDX 2
#define RSP 4
#define RBP 5

static uint64_t mask_of(unsigned size)
{
	return size == 8 ? ~0ull : (1ull << (8 * size)) - 1;
}

static uint64_t top_bit(unsigned size)
{
	return 1ull << (8 * size - 1);
}

static uint64_t extend(uint64_t v, unsigned size)
{
	unsigned shift = 64 - 8 * size;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

/* --- operands ------------------------------------------------------------------------------ */

static uint64_t address(const struct vp_insn *insn, const struct vp_operand *o, const struct vp_insn_env *env)
{
	uint64_t a = (uint64_t)o->value;

	if (o->base == VP_REG_RIP)
		a += env->rip + insn->len;
	else if (o->base != VP_NO_REG)
		a += env->r[o->base];
	if (o->index != VP_NO_REG)
		a += env->r[o->index] << o->scale;
	return o->gs ? a + env->gs_base : a;
}

static bool get(const struct vp_insn *insn, const struct vp_operand *o, unsigned size,
		const struct vp_insn_env *env, uint64_t *ret)
{
	uint64_t v = 0;

	switch (o->kind) {
	case VP_OPERAND_REG:
		*ret = env->r[o->reg] & mask_of(size);
		return true;
	case VP_OPERAND_HIGH:
		*ret = env->r[o->reg] >> 8 & 0xff;
		return true;
	case VP_OPERAND_IMM:
		*ret = (uint64_t)o->value & mask_of(size);
		return true;
	case VP_OPERAND_MEM:
		if (!env->load(env->arg, address(insn, o, env), &v, size))
			return false;
		*ret = v;
		return true;
	default:
		*ret = 0;
		return true;
	}
}

/* Writing 4 bytes of a register clears its upper half; 1 or 2 leave the rest unchanged. */
static bool put(const struct vp_insn *insn, const struct vp_operand *o, unsigned size,
		struct vp_insn_env *env, uint64_t v)
{
	switch (o->kind) {
	case VP_OPERAND_REG:
		if (size >= 4)
			env->r[o->reg] = v & mask_of(size);
		else
			env->r[o->reg] = (env->r[o->reg] & ~mask_of(size)) | (v & mask_of(size));
		return true;
	case VP_OPERAND_HIGH:
		env->r[o->reg] = (env->r[o->reg] & ~0xff00ull) | (v & 0xff) << 8;
		return true;
	case VP_OPERAND_MEM:
		return env->store(env->arg, address(insn, o, env), &v, size);
	default:
		return true;
	}
}

/* --- flags --------------------------------------------------------------------------------- */

static uint64_t result_flags(uint64_t v, unsigned size)
{
	uint64_t f = 0;

	if (!(__builtin_popcountll(v & 0xff) & 1))
		f |= PF;
	if (!(v & mask_of(size)))
		f |= ZF;
	if (v & top_bit(size))
		f |= SF;
	return f;
}

static uint64_t add_flags(uint64_t a, uint64_t b, uint64_t r, uint64_t carry, unsigned size)
{
	uint64_t f = result_flags(r, size);

	r &= mask_of(size);
	if (r < a || (carry && r == a))
		f |= CF;
	if ((a ^ b ^ r) & 0x10)
		f |= AF;
	if (~(a ^ b) & (a ^ r) & top_bit(size))
		f |= OF;
	return f;
}

static uint64_t sub_flags(uint64_t a, uint64_t b, uint64_t r, uint64_t borrow, unsigned size)
{
	uint64_t f = result_flags(r, size);

	r &= mask_of(size);
	if (a < b || (borrow && a == b))
		f |= CF;
	if ((a ^ b ^ r) & 0x10)
		f |= AF;
	if ((a ^ b) & (a ^ r) & top_bit(size))
		f |= OF;
	return f;
}

static bool holds(unsigned cond, uint64_t f)
{
	bool v = false;

	switch (cond >> 1) {
	case 0:
		v = f & OF;
		break;
	case 1:
		v = f & CF;
		break;
	case 2:
		v = f & ZF;
		break;
	case 3:
		v = f & (CF | ZF);
		break;
	case 4:
		v = f & SF;
		break;
	case 5:
		v = f & PF;
		break;
	case 6:
		v = !(f & SF) != !(f & OF);
		break;
	case 7:
		v = f & ZF || !(f & SF) != !(f & OF);
		break;
	default:
		break;
	}
	return v != (cond & 1);
}

/* --- operations ---------------------------------------------------------------------------- */

/* Arithmetic on @a and @b: the result in *ret; returns the flags. */
static uint64_t arithmetic(unsigned op, uint64_t a, uint64_t b, unsigned size, uint64_t rflags, uint64_t *ret)
{
	uint64_t carry = rflags & CF;

	switch (op) {
	case VP_INSN_ADC:
		*ret = a + b + carry;
		return add_flags(a, b, *ret, carry, size);
	case VP_INSN_ADD:
		*ret = a + b;
		return add_flags(a, b, *ret, 0, size);
	case VP_INSN_SBB:
		*ret = a - b - carry;
		return sub_flags(a, b, *ret, carry, size);
	case VP_INSN_SUB:
	case VP_INSN_CMP:
		*ret = a - b;
		return sub_flags(a, b, *ret, 0, size);
	case VP_INSN_NEG:
		*ret = 0 - a;
		return sub_flags(0, a, *ret, 0, size);
	case VP_INSN_INC:
		*ret = a + 1;
		return (add_flags(a, 1, *ret, 0, size) & ~CF) | carry;
	case VP_INSN_DEC:
		*ret = a - 1;
		return (sub_flags(a, 1, *ret, 0, size) & ~CF) | carry;
	case VP_INSN_OR:
		*ret = a | b;
		break;
	case VP_INSN_XOR:
		*ret = a ^ b;
		break;
	default: /* AND, TEST */
		*ret = a & b;
		break;
	}
	return result_flags(*ret, size);
}

static bool run_arithmetic(const struct vp_insn *i, struct vp_insn_env *env)
{
	uint64_t a, b, r;

	if (!get(i, &i->dst, i->size, env, &a) || !get(i, &i->src, i->size, env, &b))
		return false;
	uint64_t f = arithmetic(i->op, a, b, i->size, env->rflags, &r);
	if (i->op != VP_INSN_CMP && i->op != VP_INSN_TEST && !put(i, &i->dst, i->size, env, r))
		return false;
	env->rflags = (env->rflags & ~ARITHMETIC) | f;
	return true;
}

/* A shift by 0 does not change flags. OF is computed as for a shift by 1; for others it is undefined. */
static bool run_shift(const struct vp_insn *i, struct vp_insn_env *env)
{
	unsigned n = (unsigned)i->src.value & (i->size == 8 ? 63 : 31), bits = 8u * i->size;
	uint64_t a, r, f = 0;

	if (!get(i, &i->dst, i->size, env, &a))
		return false;
	if (!n)
		return put(i, &i->dst, i->size, env, a);
	if (i->op == VP_INSN_SHL) {
		r = n < bits ? a << n : 0;
		f |= n <= bits && a >> (bits - n) & 1 ? CF : 0;
		f |= !(r & top_bit(i->size)) != !(f & CF) ? OF : 0;
	} else if (i->op == VP_INSN_SHR) {
		r = n < bits ? a >> n : 0;
		f |= n <= bits && a >> (n - 1) & 1 ? CF : 0;
		f |= a & top_bit(i->size) ? OF : 0;
	} else {
		int64_t s = (int64_t)extend(a, i->size);
		r = (uint64_t)(s >> (n < 63 ? n : 63));
		f |= s >> (n - 1 < 63 ? n - 1 : 63) & 1 ? CF : 0;
	}
	if (!put(i, &i->dst, i->size, env, r))
		return false;
	env->rflags = (env->rflags & ~ARITHMETIC) | f | result_flags(r, i->size);
	return true;
}

/* CF and OF: the product did not fit. The other flags are undefined, and not changed here. */
static bool run_imul(const struct vp_insn *i, struct vp_insn_env *env)
{
	uint64_t a, b;

	if (!get(i, &i->src, i->size, env, &a) || !get(i, &i->third, i->size, env, &b))
		return false;
	__int128 product = (__int128)(int64_t)extend(a, i->size) * (int64_t)extend(b, i->size);
	uint64_t r = (uint64_t)product & mask_of(i->size);
	bool fits = (__int128)(int64_t)extend(r, i->size) == product;
	env->rflags = (env->rflags & ~(CF | OF)) | (fits ? 0 : CF | OF);
	return put(i, &i->dst, i->size, env, r); /* a register: can't fail */
}

static bool run_move(const struct vp_insn *i, struct vp_insn_env *env)
{
	unsigned from = i->op == VP_INSN_MOVZX || i->op == VP_INSN_MOVSX ? i->src_size : i->size;
	uint64_t v = 0;

	if (i->op == VP_INSN_LEA)
		v = address(i, &i->src, env);
	else if (i->op == VP_INSN_SET)
		v = holds(i->cond, env->rflags);
	else if (!get(i, i->op == VP_INSN_NOT ? &i->dst : &i->src, from, env, &v))
		return false;
	if (i->op == VP_INSN_MOVSX)
		v = extend(v, from);
	if (i->op == VP_INSN_NOT)
		v = ~v;
	/* If the condition is false, a 32-bit cmov still clears the upper half. */
	if (i->op == VP_INSN_CMOV && !holds(i->cond, env->rflags))
		v = env->r[i->dst.reg];
	return put(i, &i->dst, i->size, env, v);
}

static bool push(struct vp_insn_env *env, uint64_t v)
{
	if (!env->store(env->arg, env->r[RSP] - 8, &v, 8))
		return false;
	env->r[RSP] -= 8;
	return true;
}

static bool run_stack(const struct vp_insn *i, struct vp_insn_env *env)
{
	uint64_t v = 0, at = i->op == VP_INSN_LEAVE ? env->r[RBP] : env->r[RSP];

	if (i->op == VP_INSN_PUSH)
		return get(i, &i->src, 8, env, &v) && push(env, v);
	if (!env->load(env->arg, at, &v, 8))
		return false;
	env->r[RSP] = at + 8;
	env->r[i->op == VP_INSN_LEAVE ? RBP : i->dst.reg] = v; /* after RSP: pop %rsp loads the value */
	return true;
}

/* *ret: the address of the next instruction; becomes the target if the branch is taken. */
static bool run_branch(const struct vp_insn *i, struct vp_insn_env *env, uint64_t *ret)
{
	uint64_t target;

	if (i->op == VP_INSN_RET) {
		if (!env->load(env->arg, env->r[RSP], ret, 8))
			return false;
		env->r[RSP] += 8 + (uint64_t)i->src.value;
		return true;
	}
	if (i->op == VP_INSN_JCC && !holds(i->cond, env->rflags))
		return true;
	if (!get(i, &i->src, 8, env, &target) || (i->op == VP_INSN_CALL && !push(env, *ret)))
		return false;
	*ret = target;
	return true;
}

static void run_sign(const struct vp_insn *i, struct vp_insn_env *env)
{
	const struct vp_operand rax = { .kind = VP_OPERAND_REG, .reg = RAX };
	const struct vp_operand rdx = { .kind = VP_OPERAND_REG, .reg = RDX };

	if (i->op == VP_INSN_CWIDEN)
		put(i, &rax, i->size, env, extend(env->r[RAX], i->size / 2));
	else
		put(i, &rdx, i->size, env, env->r[RAX] & top_bit(i->size) ? ~0ull : 0);
}

bool vp_insn_run(const struct vp_insn *insn, struct vp_insn_env *env)
{
	uint64_t next = env->rip + insn->len;
	bool ok = true;

	switch (insn->op) {
	case VP_INSN_NOP:
		break;
	case VP_INSN_MOV:
	case VP_INSN_MOVZX:
	case VP_INSN_MOVSX:
	case VP_INSN_LEA:
	case VP_INSN_NOT:
	case VP_INSN_CMOV:
	case VP_INSN_SET:
		ok = run_move(insn, env);
		break;
	case VP_INSN_IMUL:
		ok = run_imul(insn, env);
		break;
	case VP_INSN_CLD:
		env->rflags &= ~DF;
		break;
	case VP_INSN_SHL:
	case VP_INSN_SHR:
	case VP_INSN_SAR:
		ok = run_shift(insn, env);
		break;
	case VP_INSN_PUSH:
	case VP_INSN_POP:
	case VP_INSN_LEAVE:
		ok = run_stack(insn, env);
		break;
	case VP_INSN_JMP:
	case VP_INSN_JCC:
	case VP_INSN_CALL:
	case VP_INSN_RET:
		ok = run_branch(insn, env, &next);
		break;
	case VP_INSN_CWIDEN:
	case VP_INSN_CSIGN:
		run_sign(insn, env);
		break;
	default:
		ok = run_arithmetic(insn, env);
		break;
	}
	if (ok)
		env->rip = next;
	return ok;
}
