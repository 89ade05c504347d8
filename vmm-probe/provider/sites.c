/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding entries and exits: a linear sweep from the function's start, as kernel functions have no data
 * between their instructions. An instruction's effect on control flow follows from its opcode, a handful of
 * encodings.
 */
#include "vmm-probe/provider/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/search.h"
#include "vmm-probe/arch/x86/insn/shape.h"

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

/* jmp *disp(,%reg,8) and jmp *disp(%base,%reg,8): a jump table's. So is `notrack jmp`, which compilers emit
 * only for tables. */
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

/* Classify the instruction @p p of @p len bytes, which ends at @p next. False: it is no exit. */
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
	size_t n = OT_COUNT_BEFORE(exits->ntargets, i, exits->targets[i] < from);

	return n < exits->ntargets && exits->targets[n] < to;
}

struct ot_err *vp_exits_find(uint64_t gva, const uint8_t *bytes, uint32_t len, struct vp_exits *exits)
{
	exits->count = exits->ntargets = 0;
	exits->incomplete = false;
	for (uint32_t at = 0; at < len;) {
		/* Padding; and after jumps and returns, against straight-line speculation. */
		if (bytes[at] == 0xcc) {
			at++;
			continue;
		}

		uint8_t n = vp_insn_length(bytes + at, len - at);
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
	/* gen_endbr_poison(), asm/ibt.h: replaces the endbr64 of functions without indirect calls. */
	static const uint8_t poison[4] = { 0x66, 0x0f, 0x1f, 0x00 };

	return len > 4 && (!memcmp(bytes, endbr64, 4) || !memcmp(bytes, poison, 4)) ? 4 : 0;
}
