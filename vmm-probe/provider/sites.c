/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding entries and ways out. Capstone says where instructions begin, by a straight walk from the
 * function's start: kernel functions have no data between their instructions. What an
 * instruction does to the flow we read off its opcode: that is a handful of encodings, and it
 * spares the disassembler's details, which cost ten times its decoding.
 */
#include "vmm-probe/provider/sites.h"

#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

struct vp_disasm {
	csh handle;
	cs_insn *insn;
};

struct ot_err *vp_disasm_create(struct vp_disasm **ret)
{
	struct vp_disasm *d = calloc(1, sizeof(*d));

	if (!d)
		return ot_err_nomem();
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK) {
		free(d);
		return ot_err_new(OT_ERR_UNSUPPORTED, "this capstone has no x86");
	}
	d->insn = cs_malloc(d->handle);
	if (!d->insn) {
		vp_disasm_destroy(d);
		return ot_err_nomem();
	}
	*ret = d;
	return NULL;
}

void vp_disasm_destroy(struct vp_disasm *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

static bool is_prefix(uint8_t b);

/* Bytes of a ModRM operand at @p p: the byte itself, SIB and displacement; 0: cut off. EVEX scales its
 * one-byte displacements, which changes their value, not their length. */
static unsigned modrm_length(const uint8_t *p, uint64_t len)
{
	if (len < 1)
		return 0;

	unsigned mod = p[0] >> 6, rm = p[0] & 7, n = 1;

	if (mod != 3 && rm == 4) {
		if (len < 2)
			return 0;
		n++;
		if (mod == 0 && (p[1] & 7) == 5)
			n += 4;
	}
	if (mod == 1)
		n++;
	else if (mod == 2 || (mod == 0 && rm == 5))
		n += 4;
	return n;
}

/*
 * Length of an instruction that is newer than our disassembler: ud1, serialize, wrpkru, tpause, the
 * shadow stack's, AVX-512's. All additions of twenty years keep to one rule: behind the opcode comes a ModRM
 * operand and no more, in map 3 (0f 3a) one byte more; and vector shifts (0f 70 to 73) have that byte too.
 */
static unsigned new_length(const uint8_t *p, uint64_t len)
{
	unsigned n = 0, imm = 0, operand;

	while (n < len && n < 14 && is_prefix(p[n]))
		n++;
	if (n + 6 <= len && p[n] == 0x62) {
		imm = (p[n + 1] & 7) == 3 || ((p[n + 1] & 7) == 1 && (p[n + 4] & 0xfc) == 0x70);
		n += 5;
	} else if (n + 5 <= len && p[n] == 0xc4) {
		imm = (p[n + 1] & 0x1f) == 3;
		n += 4;
	} else if (n + 2 <= len && p[n] == 0x0f) {
		imm = p[n + 1] == 0x3a;
		n += p[n + 1] == 0x38 || p[n + 1] == 0x3a ? 3 : 2;
	} else {
		return 0;
	}
	operand = n < len ? modrm_length(p + n, len - n) : 0;
	n += operand + imm;
	return operand && n <= len && n <= 15 ? n : 0;
}

uint8_t vp_disasm_length(struct vp_disasm *d, const uint8_t *bytes, uint64_t len)
{
	size_t left = len > 15 ? 15 : len;
	uint64_t address = 0;
	const uint8_t *p = bytes;

	/* ud1, a trap with an operand that says why: older capstones take it for two bytes. */
	if ((len > 1 && bytes[0] == 0x0f && bytes[1] == 0xb9) ||
	    (len > 2 && bytes[0] == 0x67 && bytes[1] == 0x0f && bytes[2] == 0xb9))
		return (uint8_t)new_length(bytes, len);
	if (cs_disasm_iter(d->handle, &p, &left, &address, d->insn))
		return (uint8_t)d->insn->size;
	return (uint8_t)new_length(bytes, len);
}

static bool is_prefix(uint8_t b)
{
	switch (b) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e: /* notrack */
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2: /* bnd */
	case 0xf3:
		return true;
	default:
		return (b & 0xf0) == 0x40; /* REX */
	}
}

/* jmp *disp(,%reg,8) and jmp *disp(%base,%reg,8): a table. So is `notrack jmp`, which is only ever
 * written for tables. */
static bool is_table_jump(const uint8_t *p, unsigned at, unsigned len)
{
	uint8_t modrm = p[at + 1];

	for (unsigned i = 0; i < at; i++)
		if (p[i] == 0x3e)
			return true;
	return (modrm >> 6) != 3 && (modrm & 7) == 4 && at + 2 < len && ((p[at + 2] >> 3) & 7) != 4;
}

static int32_t rel32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* What the instruction @p p of @p len bytes, the end of which is at @p next, does. False: goes on or stays.
 */
static bool classify(const uint8_t *p, unsigned len, uint64_t next, struct vp_exit *ret)
{
	unsigned at = 0;

	while (at + 1 < len && is_prefix(p[at]))
		at++;
	ret->target = 0;
	switch (p[at]) {
	case 0xc3:
	case 0xc2:
	case 0xcb:
	case 0xca:
		ret->kind = VP_EXIT_RET;
		return true;
	case 0xe9:
		if (at + 5 > len)
			return false;
		ret->kind = VP_EXIT_JUMP;
		ret->target = next + (uint64_t)(int64_t)rel32(p + at + 1);
		return true;
	case 0xe0: /* loopne, loope, loop, jrcxz */
	case 0xe1:
	case 0xe2:
	case 0xe3:
		ret->kind = VP_EXIT_JUMP_IF;
		ret->target = next + (uint64_t)(int64_t)(int8_t)p[at + 1];
		return at + 2 <= len;
	case 0xeb:
		ret->kind = VP_EXIT_JUMP;
		ret->target = next + (uint64_t)(int64_t)(int8_t)p[at + 1];
		return at + 2 <= len;
	case 0x0f:
		if (at + 6 > len || (p[at + 1] & 0xf0) != 0x80)
			return false;
		ret->kind = VP_EXIT_JUMP_IF;
		ret->target = next + (uint64_t)(int64_t)rel32(p + at + 2);
		return true;
	case 0xff:
		ret->kind = VP_EXIT_INDIRECT;
		/* /4 jmp near, /5 jmp far */
		return at + 2 <= len && (p[at + 1] & 0x30) == 0x20 && !is_table_jump(p, at, len);
	default:
		ret->kind = VP_EXIT_JUMP_IF;
		if ((p[at] & 0xf0) != 0x70 || at + 2 > len)
			return false;
		ret->target = next + (uint64_t)(int64_t)(int8_t)p[at + 1];
		return true;
	}
}

static struct ot_err *add(struct vp_exits *exits, const struct vp_exit *e)
{
	if (!ot_grow(&exits->list, &exits->cap, exits->count + 1, sizeof(*exits->list)))
		return ot_err_nomem();
	exits->list[exits->count++] = *e;
	return NULL;
}

static struct ot_err *add_target(struct vp_exits *exits, uint64_t offset)
{
	if (!exits->want_targets)
		return NULL;
	if (!ot_grow(&exits->targets, &exits->targets_cap, exits->ntargets + 1, sizeof(*exits->targets)))
		return ot_err_nomem();
	exits->targets[exits->ntargets++] = (uint32_t)offset;
	return NULL;
}

static int by_offset(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool vp_exits_has_target(const struct vp_exits *exits, uint32_t from, uint32_t to)
{
	size_t lo = 0, hi = exits->ntargets;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (exits->targets[mid] < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < exits->ntargets && exits->targets[lo] < to;
}

struct ot_err *vp_disasm_exits(struct vp_disasm *d, uint64_t gva, const uint8_t *bytes, uint32_t len,
			       struct vp_exits *exits)
{
	exits->count = exits->ntargets = 0;
	exits->incomplete = false;
	for (uint32_t at = 0; at < len;) {
		/* Padding; and behind jumps and returns, against straight-line speculation. */
		if (bytes[at] == 0xcc) {
			at++;
			continue;
		}

		uint8_t n = vp_disasm_length(d, bytes + at, len - at);
		struct vp_exit e = { .offset = at, .length = n };

		if (!n) {
			exits->incomplete = true;
			break;
		}
		at += n;
		if (!classify(bytes + e.offset, n, gva + at, &e))
			continue;
		if (e.kind != VP_EXIT_RET && e.kind != VP_EXIT_INDIRECT && e.target - gva < len)
			OT_TRY(add_target(exits, e.target - gva));
		else
			OT_TRY(add(exits, &e));
	}
	if (exits->ntargets)
		qsort(exits->targets, exits->ntargets, sizeof(*exits->targets), by_offset);
	return NULL;
}

void vp_exits_deinit(struct vp_exits *exits)
{
	free(exits->list);
	free(exits->targets);
	*exits = (struct vp_exits){ 0 };
}

uint32_t vp_entry_offset(const uint8_t *bytes, uint64_t len)
{
	static const uint8_t endbr64[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	/* What the kernel turns an endbr64 that nothing jumps to into, so that nothing can. */
	static const uint8_t poison[4] = { 0x66, 0x0f, 0x1f, 0x00 };

	return len > 4 && (!memcmp(bytes, endbr64, 4) || !memcmp(bytes, poison, 4)) ? 4 : 0;
}
