/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line of a Python instruction, by its code object's table of locations (CPython 3.11 and later,
 * Objects/locations.md). An entry is for one to eight instructions:
 *
 *   1 cccc nnn | …     c: how its location is written; n + 1: how many instructions; then bytes below 0x80
 *
 * Hit path. The table is the process's: it is read in pieces, up to its end or the walk's fuel.
 */
#include "vmm-probe/engine/hit/python.h"

#define CHUNK       128u
#define VARINT_MAX  6u /* groups of 6 bits in 32 */
#define ENTRY_FIRST 0x80u

/* Forms of a location: the codes that contain a line. */
enum {
	ONE_LINE_0 = 10, /* up to 12: the line of the previous entry, or one of the next two */
	ONE_LINE_2 = 12,
	NO_COLUMNS = 13,
	LONG = 14, /* the same, followed by columns */
	NO_LOCATION = 15,
};

struct table {
	struct vp_python_walk *w;
	uint64_t at, left;
	uint32_t held, next; /* of chunk */
	uint8_t chunk[CHUNK];
};

static bool peek(struct table *t, uint8_t *ret)
{
	if (t->next == t->held) {
		uint32_t n = t->left < CHUNK ? (uint32_t)t->left : CHUNK;

		if (!n || !vp_python_load(t->w, t->at, t->chunk, n))
			return false;
		t->at += n;
		t->left -= n;
		t->held = n;
		t->next = 0;
	}
	*ret = t->chunk[t->next];
	return true;
}

static bool take(struct table *t, uint8_t *ret)
{
	if (!peek(t, ret))
		return false;
	t->next++;
	return true;
}

/* Six bits a byte, the lowest first; of the number the lowest is its sign. */
static bool take_signed(struct table *t, int32_t *ret)
{
	uint32_t value = 0;
	uint8_t byte = 0x40;

	for (unsigned i = 0; i < VARINT_MAX && byte & 0x40; i++) {
		if (!take(t, &byte))
			return false;
		value |= (uint32_t)(byte & 0x3f) << 6 * i;
	}
	*ret = value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
	return true;
}

static bool take_change(struct table *t, unsigned code, int32_t *ret)
{
	*ret = 0;
	if (code >= ONE_LINE_0 && code <= ONE_LINE_2)
		*ret = (int32_t)code - ONE_LINE_0;
	else if (code == NO_COLUMNS || code == LONG)
		return take_signed(t, ret);
	return true;
}

static void skip_rest(struct table *t)
{
	uint8_t byte;

	while (peek(t, &byte) && !(byte & ENTRY_FIRST))
		t->next++;
}

static bool open_table(struct vp_python_walk *w, uint64_t code, struct table *t, uint32_t *ret_line)
{
	uint64_t bytes;

	*t = (struct table){ .w = w };
	if (!vp_python_load(w, code + w->in.code_first_line, ret_line, sizeof(*ret_line)) ||
	    !vp_python_load(w, code + w->in.code_lines, &bytes, sizeof(bytes)) ||
	    !vp_python_load(w, bytes + w->in.bytes_size, &t->left, sizeof(t->left)))
		return false;
	t->at = bytes + w->in.bytes_data;
	return true;
}

bool vp_python_line(struct vp_python_walk *w, uint64_t code, uint64_t instruction, uint32_t *ret)
{
	struct table t;
	uint8_t first;
	int32_t change;
	uint32_t line;

	if (!open_table(w, code, &t, &line))
		return false;
	while (take(&t, &first)) {
		unsigned form = first >> 3 & 15, length = (first & 7u) + 1;

		if (!take_change(&t, form, &change))
			return false;
		line += (uint32_t)change;
		if (instruction < length) {
			*ret = line;
			return form != NO_LOCATION && line <= INT32_MAX;
		}
		instruction -= length;
		skip_rest(&t);
	}
	return false;
}
