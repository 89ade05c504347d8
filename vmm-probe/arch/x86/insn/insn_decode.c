/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoding bytes to struct vp_insn. Each decode_*() handles one family of opcodes; all others are refused. */
#include <string.h>

#include "base/compiler.h"
#include "vmm-probe/arch/x86/insn/insn.h"

#define REX_W 8u
#define REX_R 4u
#define REX_X 2u
#define REX_B 1u

/* The state of decoding. */
struct decoder {
	const uint8_t *p;
	unsigned len, at;
	bool bad;        /* truncated, or refused */
	bool opsize, gs; /* prefixes 66, 65 */
	bool rep;        /* f3 */
	uint8_t rex;     /* 0: none */
	uint8_t modrm, opcode;
	struct vp_insn *insn;
};

static uint8_t next(struct decoder *d)
{
	if (d->at >= d->len) {
		d->bad = true;
		return 0;
	}
	return d->p[d->at++];
}

/* @n bytes, sign-extended. */
static int64_t immediate(struct decoder *d, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)next(d) << (8 * i);
	return n == 8 ? (int64_t)v : (int64_t)(v << (64 - 8 * n)) >> (64 - 8 * n);
}

/* Operand size of an operation that is not on bytes. */
static uint8_t wide(const struct decoder *d)
{
	return d->rex & REX_W ? 8 : d->opsize ? 2 : 4;
}

/* Size of such an operation's immediate: for 8 bytes it is sign-extended from 4. */
static unsigned imm_bytes(uint8_t size)
{
	return size == 8 ? 4 : size;
}

static struct vp_operand imm(int64_t v)
{
	return (struct vp_operand){ .kind = VP_OPERAND_IMM, .value = v };
}

/* Register @n of @size: without REX, 4 to 7 of byte size are AH, CH, DH, BH. */
static struct vp_operand reg(const struct decoder *d, unsigned n, uint8_t size)
{
	if (size == 1 && !d->rex && n >= 4 && n < 8)
		return (struct vp_operand){ .kind = VP_OPERAND_HIGH, .reg = (uint8_t)(n - 4) };
	return (struct vp_operand){ .kind = VP_OPERAND_REG, .reg = (uint8_t)n };
}

static void read_modrm(struct decoder *d)
{
	d->modrm = next(d);
}

static unsigned modrm_reg(const struct decoder *d)
{
	return (d->modrm >> 3 & 7) | (d->rex & REX_R ? 8 : 0);
}

/* The opcode extension (/n) of a group. */
static unsigned modrm_group(const struct decoder *d)
{
	return d->modrm >> 3 & 7;
}

static struct vp_operand memory(struct decoder *d)
{
	struct vp_operand o = { .kind = VP_OPERAND_MEM, .base = VP_NO_REG, .index = VP_NO_REG, .gs = d->gs };
	unsigned mod = d->modrm >> 6, rm = d->modrm & 7;

	if (rm == 4) {
		uint8_t sib = next(d);
		unsigned index = (sib >> 3 & 7) | (d->rex & REX_X ? 8 : 0);
		if (index != 4)
			o.index = (uint8_t)index;
		o.scale = sib >> 6;
		rm = sib & 7;
		if (rm != 5 || mod)
			o.base = (uint8_t)(rm | (d->rex & REX_B ? 8 : 0));
		else
			mod = 2; /* no base, 32-bit displacement */
	} else if (rm == 5 && !mod) {
		o.base = VP_REG_RIP;
		mod = 2;
	} else {
		o.base = (uint8_t)(rm | (d->rex & REX_B ? 8 : 0));
	}
	o.value = mod == 1 ? immediate(d, 1) : mod == 2 ? immediate(d, 4) : 0;
	return o;
}

/* The operand in ModRM's r/m field. */
static struct vp_operand rm(struct decoder *d, uint8_t size)
{
	if (d->modrm >> 6 == 3)
		return reg(d, (d->modrm & 7) | (d->rex & REX_B ? 8u : 0), size);
	return memory(d);
}

static bool set(struct decoder *d, enum vp_insn_op op, uint8_t size, struct vp_operand dst,
		struct vp_operand src)
{
	d->insn->op = (uint8_t)op;
	d->insn->size = size;
	d->insn->dst = dst;
	d->insn->src = src;
	return true;
}

static const struct vp_operand none;
static const uint8_t alu[8] = { VP_INSN_ADD, VP_INSN_OR,  VP_INSN_ADC, VP_INSN_SBB,
				VP_INSN_AND, VP_INSN_SUB, VP_INSN_XOR, VP_INSN_CMP };

/* 00 to 3d: eight operations, six forms each */
static bool decode_alu(struct decoder *d, uint8_t op)
{
	uint8_t size = op & 1 ? wide(d) : 1;
	enum vp_insn_op what = (enum vp_insn_op)alu[op >> 3];

	switch (op & 7) {
	case 0:
	case 1: {
		read_modrm(d);
		struct vp_operand dst = rm(d, size);
		return set(d, what, size, dst, reg(d, modrm_reg(d), size));
	}
	case 2:
	case 3: {
		read_modrm(d);
		struct vp_operand src = rm(d, size);
		return set(d, what, size, reg(d, modrm_reg(d), size), src);
	}
	case 4:
	case 5:
		return set(d, what, size, reg(d, 0, size), imm(immediate(d, imm_bytes(size))));
	default:
		return false;
	}
}

/* 80, 81, 83 */
static bool decode_alu_imm(struct decoder *d, uint8_t op)
{
	uint8_t size = op & 1 ? wide(d) : 1;

	read_modrm(d);
	struct vp_operand dst = rm(d, size);
	return set(d, (enum vp_insn_op)alu[modrm_group(d)], size, dst,
		   imm(immediate(d, op == 0x81 ? imm_bytes(size) : 1)));
}

/* 84, 85, 88 to 8b, 8d, c6, c7 */
static bool decode_mov(struct decoder *d, uint8_t op)
{
	uint8_t size = op & 1 ? wide(d) : 1;

	read_modrm(d);
	struct vp_operand other = rm(d, size), self = reg(d, modrm_reg(d), size);

	switch (op) {
	case 0x84:
	case 0x85:
		return set(d, VP_INSN_TEST, size, other, self);
	case 0x88:
	case 0x89:
		return set(d, VP_INSN_MOV, size, other, self);
	case 0x8a:
	case 0x8b:
		return set(d, VP_INSN_MOV, size, self, other);
	case 0x8d:
		other.gs = false; /* lea ignores segments */
		return other.kind == VP_OPERAND_MEM && set(d, VP_INSN_LEA, size, self, other);
	default:
		return modrm_group(d) == 0 &&
		       set(d, VP_INSN_MOV, size, other, imm(immediate(d, imm_bytes(size))));
	}
}

/* b0 to bf */
static bool decode_mov_imm(struct decoder *d, uint8_t op)
{
	uint8_t size = op & 8 ? wide(d) : 1;
	unsigned n = (op & 7) | (d->rex & REX_B ? 8u : 0);

	return set(d, VP_INSN_MOV, size, reg(d, n, size), imm(immediate(d, size)));
}

/* c0, c1, d0, d1 */
static bool decode_shift(struct decoder *d, uint8_t op)
{
	static const int ops[8] = { -1, -1, -1, -1, VP_INSN_SHL, VP_INSN_SHR, -1, VP_INSN_SAR };
	uint8_t size = op & 1 ? wide(d) : 1;

	read_modrm(d);
	struct vp_operand dst = rm(d, size);
	int what = ops[modrm_group(d)];
	return what >= 0 && set(d, (enum vp_insn_op)what, size, dst, imm(op < 0xd0 ? immediate(d, 1) : 1));
}

/* f6, f7, fe, ff */
static bool decode_group(struct decoder *d, uint8_t op)
{
	uint8_t size = op & 1 ? wide(d) : 1;

	read_modrm(d);
	unsigned group = modrm_group(d) | (op & 8 ? 8 : 0);
	struct vp_operand dst = rm(d, size);

	switch (group) {
	case 0:
		return set(d, VP_INSN_TEST, size, dst, imm(immediate(d, imm_bytes(size))));
	case 2:
		return set(d, VP_INSN_NOT, size, dst, none);
	case 3:
		return set(d, VP_INSN_NEG, size, dst, none);
	case 8:
		return set(d, VP_INSN_INC, size, dst, none);
	case 9:
		return set(d, VP_INSN_DEC, size, dst, none);
	default:
		break;
	}
	if (op != 0xff || d->opsize)
		return false;
	switch (group) {
	case 10:
		return set(d, VP_INSN_CALL, 8, none, dst);
	case 12:
		return set(d, VP_INSN_JMP, 8, none, dst);
	case 14:
		return set(d, VP_INSN_PUSH, 8, none, dst);
	default:
		return false;
	}
}

/* 50 to 5f */
static bool decode_push_pop(struct decoder *d, uint8_t op)
{
	struct vp_operand r = reg(d, (op & 7) | (d->rex & REX_B ? 8u : 0), 8);

	if (d->opsize)
		return false;
	return op & 8 ? set(d, VP_INSN_POP, 8, r, none) : set(d, VP_INSN_PUSH, 8, none, r);
}

/* Direct jumps and calls; vp_insn_decode() makes the target absolute when the length is known. */
static bool decode_jump(struct decoder *d, enum vp_insn_op op, unsigned bytes)
{
	return !d->opsize && set(d, op, 8, none, imm(immediate(d, bytes)));
}

/* movzx, movsx, movsxd: from @from bytes */
static bool decode_extend(struct decoder *d, enum vp_insn_op op, uint8_t from)
{
	read_modrm(d);
	struct vp_operand src = rm(d, from);
	d->insn->src_size = from;
	return set(d, op, wide(d), reg(d, modrm_reg(d), wide(d)), src);
}

/* 0f af, 69, 6b */
static bool decode_imul(struct decoder *d, uint8_t op)
{
	uint8_t size = wide(d);

	read_modrm(d);
	struct vp_operand src = rm(d, size), dst = reg(d, modrm_reg(d), size);
	d->insn->third = op == 0xaf ? dst : imm(immediate(d, op == 0x69 ? imm_bytes(size) : 1));
	return set(d, VP_INSN_IMUL, size, dst, src);
}

/* 0f xx */
static bool decode_two_byte(struct decoder *d)
{
	uint8_t op = next(d), size = wide(d);

	d->insn->cond = op & 15;
	switch (op >> 4) {
	case 4: {
		read_modrm(d);
		struct vp_operand src = rm(d, size);
		return set(d, VP_INSN_CMOV, size, reg(d, modrm_reg(d), size), src);
	}
	case 8:
		return decode_jump(d, VP_INSN_JCC, 4);
	case 9:
		read_modrm(d);
		return set(d, VP_INSN_SET, 1, rm(d, 1), none);
	default:
		break;
	}
	switch (op) {
	case 0x1f: /* nop r/m: the operand is not accessed */
		read_modrm(d);
		rm(d, size);
		return set(d, VP_INSN_NOP, size, none, none);
	case 0xaf:
		return decode_imul(d, op);
	case 0xb6:
	case 0xb7:
		return decode_extend(d, VP_INSN_MOVZX, op & 1 ? 2 : 1);
	case 0xbe:
	case 0xbf:
		return decode_extend(d, VP_INSN_MOVSX, op & 1 ? 2 : 1);
	default:
		return false;
	}
}

static bool decode_rest(struct decoder *d, uint8_t op)
{
	uint8_t size = wide(d);

	switch (op) {
	case 0x69:
	case 0x6b:
		return decode_imul(d, op);
	case 0xfc:
		return set(d, VP_INSN_CLD, size, none, none);
	case 0x63:
		return size == 8 && decode_extend(d, VP_INSN_MOVSX, 4);
	case 0x68:
	case 0x6a:
		return !d->opsize && set(d, VP_INSN_PUSH, 8, none, imm(immediate(d, op == 0x68 ? 4 : 1)));
	case 0x90: /* with REX.B it is xchg */
		return !(d->rex & REX_B) && set(d, VP_INSN_NOP, size, none, none);
	case 0x98:
		return set(d, VP_INSN_CWIDEN, size, none, none);
	case 0x99:
		return set(d, VP_INSN_CSIGN, size, none, none);
	case 0xa8:
		return set(d, VP_INSN_TEST, 1, reg(d, 0, 1), imm(immediate(d, 1)));
	case 0xa9:
		return set(d, VP_INSN_TEST, size, reg(d, 0, size), imm(immediate(d, imm_bytes(size))));
	case 0xc2:
		return !d->opsize && set(d, VP_INSN_RET, 8, none, imm(immediate(d, 2) & 0xffff));
	case 0xc3:
		return !d->opsize && set(d, VP_INSN_RET, 8, none, imm(0));
	case 0xc9:
		return !d->opsize && set(d, VP_INSN_LEAVE, 8, none, none);
	case 0xe8:
		return decode_jump(d, VP_INSN_CALL, 4);
	case 0xe9:
		return decode_jump(d, VP_INSN_JMP, 4);
	case 0xeb:
		return decode_jump(d, VP_INSN_JMP, 1);
	default:
		return false;
	}
}

static bool decode_opcode(struct decoder *d, uint8_t op)
{
	if (op == 0x0f)
		return decode_two_byte(d);
	if (op < 0x40)
		return decode_alu(d, op);
	if (op >= 0x50 && op < 0x60)
		return decode_push_pop(d, op);
	if (op >= 0x70 && op < 0x80) {
		d->insn->cond = op & 15;
		return decode_jump(d, VP_INSN_JCC, 1);
	}
	if (op == 0x80 || op == 0x81 || op == 0x83)
		return decode_alu_imm(d, op);
	if (op == 0x84 || op == 0x85 || (op >= 0x88 && op <= 0x8b) || op == 0x8d || op == 0xc6 || op == 0xc7)
		return decode_mov(d, op);
	if (op >= 0xb0 && op < 0xc0)
		return decode_mov_imm(d, op);
	if ((op & 0xfe) == 0xc0 || (op & 0xfe) == 0xd0)
		return decode_shift(d, op);
	if ((op & 0xf6) == 0xf6)
		return decode_group(d, op);
	return decode_rest(d, op);
}

/* Read prefixes and the opcode. A REX prefix is in effect only directly before the opcode. */
static uint8_t read_prefixes(struct decoder *d)
{
	for (;;) {
		uint8_t b = next(d);
		if (d->bad)
			return 0;
		switch (b) {
		case 0x66:
			d->opsize = true;
			d->rex = 0;
			break;
		case 0x65:
			d->gs = true;
			d->rex = 0;
			break;
		case 0xf3:
			d->rep = true;
			d->rex = 0;
			break;
		case 0x2e:
		case 0x3e: /* CS and DS: no meaning in 64-bit mode */
			d->rex = 0;
			break;
		default:
			if ((b & 0xf0) != 0x40)
				return b;
			d->rex = b;
			break;
		}
	}
}

static bool is_direct(const struct vp_insn *i)
{
	return (i->op == VP_INSN_JMP || i->op == VP_INSN_JCC || i->op == VP_INSN_CALL) &&
	       i->src.kind == VP_OPERAND_IMM;
}

bool vp_insn_decode(const uint8_t *bytes, unsigned len, uint64_t rip, struct vp_insn *ret)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct vp_insn insn = { 0 };
	struct decoder d = { .p = bytes, .len = len < 15 ? len : 15, .insn = &insn };

	if (len >= sizeof(endbr64) && !memcmp(bytes, endbr64, sizeof(endbr64))) {
		*ret = (struct vp_insn){ .op = VP_INSN_NOP, .len = sizeof(endbr64), .size = 4 };
		return true;
	}
	uint8_t op = read_prefixes(&d);
	/* `rep ret` is a ret; any other rep is refused. So are lock, FS and 67, as unknown opcodes. */
	if (d.bad || (d.rep && op != 0xc3) || !decode_opcode(&d, op) || d.bad)
		return false;
	insn.len = (uint8_t)d.at;
	if (is_direct(&insn))
		insn.src.value = (int64_t)(rip + insn.len + (uint64_t)insn.src.value);
	*ret = insn;
	return true;
}

static bool is_memory(const struct vp_operand *o)
{
	return o->kind == VP_OPERAND_MEM;
}

bool vp_insn_uses_gs(const struct vp_insn *i)
{
	return (is_memory(&i->dst) && i->dst.gs) || (is_memory(&i->src) && i->src.gs);
}
