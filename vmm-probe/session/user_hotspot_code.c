/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identifies code of HotSpot's: the interpreter's, by the frame's method; a compiled method's, with those
 * that are inlined at its pc; a stub's, by its name. A compiled method has a record for each place where it
 * can be stopped, in order of place, and for each such place its scopes: a chain from the innermost method
 * outwards.
 */
#include "vmm-probe/session/user_hotspot.h"

#include <string.h>

#include "vmm-probe/engine/wire/notes.h"

#define STEPS_MAX  64u    /* as the engine's: hit/hotspot.c */
#define PCS_MAX    65536u /* records of a method */
#define LEVELS_MAX 32u    /* methods that are shown at a place */
#define NAME_BYTES 64u    /* of a stub, with its NUL */
#define COMPILED   "*"    /* as DTrace marks it */

/* --- pieces of code ------------------------------------------------------------------------------------ */

static const struct vp_hotspot_heap *heap_of(const struct vp_hotspot *walk, uint64_t pc)
{
	for (uint32_t i = 0; i < walk->nheaps; i++)
		if (pc >= walk->heaps[i].start && pc < walk->heaps[i].end)
			return &walk->heaps[i];
	return NULL;
}

static bool find_blob(const struct vp_user_reader *m, const struct vp_hotspot *walk, uint64_t pc,
		      uint64_t *ret)
{
	const struct vp_hotspot_heap *heap = heap_of(walk, pc);
	uint64_t segment = heap ? (pc - heap->start) >> heap->shift : 0;
	uint8_t back;

	for (unsigned i = 0; heap && i < STEPS_MAX; i++) {
		if (!vp_user_read(m, heap->segments + segment, &back, 1) || back == VP_HOTSPOT_NOTHING ||
		    back > segment)
			return false;
		if (!back) {
			*ret = heap->start + (segment << heap->shift) + walk->block_head;
			return true;
		}
		segment -= back;
	}
	return false;
}

/* --- a compiled method --------------------------------------------------------------------------------- */

struct pcs {
	uint64_t at;
	uint32_t n;
};

static bool find_pcs(const struct vp_user_reader *m, const struct vp_hotspot_layout *l, uint64_t blob,
		     struct pcs *ret)
{
	uint32_t start, end;

	if (!vp_user_read_u32(m, blob + l->nmethod_pcs, &start) ||
	    !vp_user_read_u32(m, blob + l->nmethod_pcs_end, &end) || end < start || !l->pc_size)
		return false;
	*ret = (struct pcs){ blob + start, (end - start) / l->pc_size };
	return ret->n <= PCS_MAX;
}

/* The scope of the first record at or behind the place, @code bytes into the method's code. */
static bool find_scope(const struct vp_user_reader *m, const struct vp_hotspot_layout *l,
		       const struct pcs *pcs, int64_t code, uint32_t *ret)
{
	uint32_t low = 0, high = pcs->n;
	int32_t at;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (!vp_user_read(m, pcs->at + (uint64_t)middle * l->pc_size + l->pc_offset, &at, sizeof(at)))
			return false;
		if (at < code)
			low = middle + 1;
		else
			high = middle;
	}
	return low < pcs->n && vp_user_read_u32(m, pcs->at + (uint64_t)low * l->pc_size + l->pc_scope, ret);
}

/* A scope: the place of the next outer one, the method, and its bytecode's index + 1. */
struct scope {
	uint32_t outer, method, bytecode;
};

static bool read_scope(const struct vp_user_reader *m, uint64_t at, struct scope *ret)
{
	return vp_hotspot_number(m, &at, &ret->outer) && vp_hotspot_number(m, &at, &ret->method) &&
	       vp_hotspot_number(m, &at, &ret->bytecode);
}

/* Outer scopes were written first, so that the chain ends. */
static bool put_scopes(const struct vp_user_reader *m, const struct vp_hotspot_layout *l, uint64_t blob,
		       uint32_t offset, struct ot_buf *out)
{
	uint64_t scopes, method;
	uint32_t metadata;
	struct scope s;

	if (!vp_user_read_u64(m, blob + l->nmethod_scopes, &scopes) ||
	    !vp_user_read_u32(m, blob + l->nmethod_metadata, &metadata))
		return false;
	for (unsigned i = 0; offset && i < LEVELS_MAX; i++) {
		if (i)
			ot_buf_putc(out, '\n');
		if (!read_scope(m, scopes + offset, &s) || s.outer >= offset || !s.method ||
		    !vp_user_read_u64(m, blob + metadata + 8ull * (s.method - 1), &method) ||
		    !vp_hotspot_method(m, l, method, s.bytecode ? (int64_t)s.bytecode - 1 : 0, COMPILED, out))
			return false;
		offset = s.outer;
	}
	return true;
}

static bool put_compiled(const struct vp_user_reader *m, const struct vp_hotspot_layout *l, uint64_t blob,
			 uint64_t pc, struct ot_buf *out)
{
	uint64_t code, method;
	uint32_t scope;
	struct pcs pcs;

	if (vp_user_read_u64(m, blob + l->walk.blob_code, &code) && pc - code < INT32_MAX &&
	    find_pcs(m, l, blob, &pcs) && find_scope(m, l, &pcs, (int64_t)(pc - code), &scope) && scope)
		return put_scopes(m, l, blob, scope, out);
	/* The wrapper of a native one, or another place. */
	return vp_user_read_u64(m, blob + l->nmethod_method, &method) && method &&
	       vp_hotspot_method(m, l, method, -1, COMPILED, out);
}

/* --- a note -------------------------------------------------------------------------------------------- */

/* The place is a return address, or an instruction that was interrupted. */
static bool put_code(const struct vp_user_reader *m, const struct vp_hotspot_layout *l, uint64_t pc,
		     uint64_t id, struct ot_buf *out)
{
	char name[NAME_BYTES];
	uint64_t blob, at;
	uint32_t now;

	if ((!find_blob(m, &l->walk, pc - 1, &blob) && !find_blob(m, &l->walk, pc, &blob)) ||
	    !vp_user_read_u64(m, blob + l->blob_name, &at) || !vp_user_read_string(m, at, name, sizeof(name)))
		return false;
	/* Another method may have been compiled into its place meanwhile. */
	if (!strcmp(name, "nmethod") || !strcmp(name, "native nmethod"))
		return vp_user_read_u32(m, blob + l->walk.nmethod_id, &now) && now == id &&
		       put_compiled(m, l, blob, pc, out);
	if (!*name)
		return false;
	for (char *c = name; *c; c++)
		ot_buf_putc(out, *c < 0x20 || *c == 0x7f ? '?' : *c);
	return true;
}

/* Places in the frame that are not described: if the bytecode is not the method's, the layout is not that of
 * JDK 9 and later, or the frame is incomplete. */
static bool put_interpreted(const struct vp_user_reader *m, const struct vp_hotspot_layout *l,
			    uint64_t method, uint64_t bytecode, struct ot_buf *out)
{
	int64_t index;

	if (vp_hotspot_bytecode(m, l, method, bytecode, &index))
		return vp_hotspot_method(m, l, method, index, "", out);
	ot_buf_puts(out, "Interpreter"); /* HotSpot's name for that piece of code */
	return true;
}

bool vp_hotspot_text(const struct vp_user_reader *m, const struct vp_hotspot_layout *l, uint64_t pc,
		     const char *note, struct ot_buf *out)
{
	const char *at = note + 1;
	uint64_t method, other;

	switch ((enum vp_note_kind)(uint8_t)*note) {
	case VP_NOTE_HOTSPOT_METHOD:
		return vp_note_take(&at, &method) && vp_note_take(&at, &other) &&
		       put_interpreted(m, l, method, vp_note_add(method, other), out);
	case VP_NOTE_HOTSPOT_CODE:
		return vp_note_take(&at, &other) && put_code(m, l, pc, other, out);
	case VP_NOTE_NONE:
	case VP_NOTE_KINDS:
	default:
		return false;
	}
}
