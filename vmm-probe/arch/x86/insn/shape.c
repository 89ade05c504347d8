/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsing instructions by tables of opcodes. */
#include "vmm-probe/arch/x86/insn/shape.h"

#include <string.h>

#define INSN_MAX 15u

#define REX_W 8u

/*
 * What follows each opcode, sixteen in a row:
 *
 *   .  nothing              m  a ModRM operand         !  there is no such instruction
 *   b  1 byte               B  ModRM, 1 byte           p  a prefix or an escape
 *   w  2 bytes              Z  ModRM, 4 bytes (2 with 66)
 *   z  4 bytes (2 with 66)  g  ModRM, 1 byte if its reg field is 0 or 1; G the same with 4 (2)
 *   v  4 bytes (2; 8 with REX.W)
 *   r  a relative address of 4 bytes; refused with 66, whose effect depends on the processor
 *   o  an address of 8 bytes (4 with 67)
 *   e  enter's 3 bytes
 * c ModRM with two registers, for any mod field
 */
/* clang-format off */
static const char one_byte[257] =
	"mmmmbz!!mmmmbz!p" /* 0 */
	"mmmmbz!!mmmmbz!!"
	"mmmmbzp!mmmmbzp!"
	"mmmmbzp!mmmmbzp!"
	"pppppppppppppppp" /* 4 */
	"................"
	"!!pmppppzZbB...."
	"bbbbbbbbbbbbbbbb"
	"BZ!Bmmmmmmmmmmmm" /* 8 */
	"..........!....."
	"oooo....bz......"
	"bbbbbbbbvvvvvvvv"
	"BBw.ppBZe.w..b!." /* c */
	"mmmm!!..mmmmmmmm"
	"bbbbbbbbrr!b...."
	"p.pp..gG......mm";

static const char two_byte[257] =
	"mmmm!.....!.!m.B" /* 0 */
	"mmmmmmmmmmmmmmmm"
	"cccc!!!!mmmmmmmm"
	"......!.p!p!!!!!"
	"mmmmmmmmmmmmmmmm" /* 4 */
	"mmmmmmmmmmmmmmmm"
	"mmmmmmmmmmmmmmmm"
	"BBBBmmm.mm!!mmmm"
	"rrrrrrrrrrrrrrrr" /* 8 */
	"mmmmmmmmmmmmmmmm"
	"...mBmmm...mBmmm"
	"mmmmmmmmmmBmmmmm"
	"mmBmBBBm........" /* c */
	"mmmmmmmmmmmmmmmm"
	"mmmmmmmmmmmmmmmm"
	"mmmmmmmmmmmmmmmm";
/* clang-format on */

struct reader {
	const uint8_t *p;
	unsigned len, at;
	bool bad;
	struct vp_insn_shape s;
};

static uint8_t next(struct reader *r)
{
	if (r->at >= r->len) {
		r->bad = true;
		return 0;
	}
	return r->p[r->at++];
}

static void skip(struct reader *r, unsigned n)
{
	if (r->len - r->at < n)
		r->bad = true;
	else
		r->at += n;
}

/* ModRM, SIB and displacement. EVEX scales one-byte displacements, which does not change the length. */
static void read_modrm(struct reader *r)
{
	uint8_t modrm = next(r);
	unsigned mod = modrm >> 6, rm = modrm & 7;

	r->s.has_modrm = true;
	r->s.modrm = modrm;
	if (mod == 3)
		return;
	if (rm == 4 && (next(r) & 7) == 5 && mod == 0)
		skip(r, 4);
	if (mod == 1)
		skip(r, 1);
	else if (mod == 2 || (mod == 0 && rm == 5))
		skip(r, 4);
}

/* Size of an immediate that depends on the operand size. */
static unsigned immediate(const struct reader *r)
{
	return r->s.opsize && !(r->s.rex & REX_W) ? 2 : 4;
}

static void read_group(struct reader *r, unsigned size)
{
	read_modrm(r);
	if (((r->s.modrm >> 3) & 7) < 2)
		skip(r, size);
}

static void read_branch(struct reader *r)
{
	if (r->s.opsize && !(r->s.rex & REX_W))
		r->bad = true;
	skip(r, 4);
}

static void read_rest(struct reader *r, char what)
{
	switch (what) {
	case '.':
		return;
	case 'm':
		return read_modrm(r);
	case 'B':
		read_modrm(r);
		return skip(r, 1);
	case 'Z':
		read_modrm(r);
		return skip(r, immediate(r));
	case 'g':
		return read_group(r, 1);
	case 'G':
		return read_group(r, immediate(r));
	case 'b':
		return skip(r, 1);
	case 'w':
		return skip(r, 2);
	case 'z':
		return skip(r, immediate(r));
	case 'v':
		return skip(r, r->s.rex & REX_W ? 8 : immediate(r));
	case 'r':
		return read_branch(r);
	case 'o':
		return skip(r, r->s.addrsize ? 4 : 8);
	case 'e':
		return skip(r, 3);
	case 'c':
		r->s.has_modrm = true;
		r->s.modrm = next(r);
		return;
	default:
		r->bad = true;
	}
}

/* Read prefixes; returns the opcode. A REX prefix is in effect only directly before the opcode. */
static uint8_t read_prefixes(struct reader *r)
{
	for (;;) {
		uint8_t b = next(r), rex = 0;

		switch (b) {
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
			break;
		case 0x66:
			r->s.opsize = true;
			break;
		case 0x67:
			r->s.addrsize = true;
			break;
		case 0xf0:
			r->s.lock = true;
			break;
		case 0xf2:
			r->s.repne = true;
			break;
		case 0xf3:
			r->s.rep = true;
			break;
		default:
			if ((b & 0xf0) != 0x40)
				return b;
			rex = b;
		}
		if (r->bad)
			return 0;
		r->s.rex = rex;
	}
}

/* The opcode and the rest, after 0f or in a map of VEX or EVEX. */
static void read_in_map(struct reader *r)
{
	uint8_t op = r->s.opcode = next(r);

	switch (r->s.map) {
	case VP_MAP_0F38:
	case VP_MAP_FP16_6:
		return read_modrm(r);
	case VP_MAP_0F3A:
		return read_rest(r, 'B');
	case VP_MAP_FP16_5:
		return read_modrm(r);
	default:
		break;
	}
	if (r->s.space != VP_SPACE_LEGACY) {
		/* Only vector instructions: no branches or control registers; only vzeroupper has no
		 * operand. */
		bool immediate_byte = (op & 0xfc) == 0x70 || op == 0xc2 || (op >= 0xc4 && op <= 0xc6);
		return read_rest(r, op == 0x77 ? '.' : immediate_byte ? 'B' : 'm');
	}
	/* 0f b8 is valid with f3 only (popcnt). 0f 78 with 66 or f2 is extrq or insertq, with two more
	 * bytes. */
	if ((op == 0xb8 && !r->s.rep) || (op == 0x78 && (r->s.opsize || r->s.repne)))
		r->bad = true;
	read_rest(r, two_byte[op]);
}

static void read_escape(struct reader *r)
{
	uint8_t b = r->at < r->len ? r->p[r->at] : 0;

	r->s.map = b == 0x38 ? VP_MAP_0F38 : b == 0x3a ? VP_MAP_0F3A : VP_MAP_0F;
	if (r->s.map != VP_MAP_0F)
		r->at++;
	/* In 0f 3a only hreset has f3; it is newer than these tables. */
	if (r->s.map == VP_MAP_0F3A && r->s.rep)
		r->bad = true;
	read_in_map(r);
}

/* VEX and EVEX may not follow REX, or prefixes that they encode themselves. */
static bool may_be_vector(const struct reader *r)
{
	return !r->s.rex && !r->s.opsize && !r->s.lock && !r->s.rep && !r->s.repne;
}

static void read_vex(struct reader *r, bool three)
{
	uint8_t b = next(r), map = three ? b & 0x1f : VP_MAP_0F;

	r->s.space = VP_SPACE_VEX;
	if (three)
		next(r);
	if (!may_be_vector(r) || map < VP_MAP_0F || map > VP_MAP_0F3A)
		r->bad = true;
	r->s.map = (enum vp_opcode_map)map;
	read_in_map(r);
}

static void read_evex(struct reader *r)
{
	uint8_t p0 = next(r), p1 = next(r), map = p0 & 7;

	next(r);
	r->s.space = VP_SPACE_EVEX;
	/* APX redefines bit 3 of the first byte and bit 2 of the second, and adds map 4. */
	if (!may_be_vector(r) || (p0 & 8) || !(p1 & 4) || map == 0 || map == 4 || map == 7)
		r->bad = true;
	r->s.map = map == 5 ? VP_MAP_FP16_5 : map == 6 ? VP_MAP_FP16_6 : (enum vp_opcode_map)(map & 3);
	read_in_map(r);
}

bool vp_insn_shape(const uint8_t *bytes, uint64_t len, struct vp_insn_shape *ret)
{
	struct reader r = { .p = bytes, .len = len < INSN_MAX ? (unsigned)len : INSN_MAX };
	uint8_t op = read_prefixes(&r);

	if (r.bad)
		return false;
	if (op == 0x0f) {
		read_escape(&r);
	} else if (op == 0xc4 || op == 0xc5) {
		read_vex(&r, op == 0xc4);
	} else if (op == 0x62) {
		read_evex(&r);
	} else {
		r.s.opcode = op;
		read_rest(&r, one_byte[op]);
		/* 8f with another extension is AMD's XOP. */
		if (op == 0x8f && (r.s.modrm & 0x38))
			r.bad = true;
	}
	if (r.bad)
		return false;
	r.s.len = (uint8_t)r.at;
	*ret = r.s;
	return true;
}

uint8_t vp_insn_length(const uint8_t *bytes, uint64_t len)
{
	struct vp_insn_shape s;

	return vp_insn_shape(bytes, len, &s) ? s.len : 0;
}
