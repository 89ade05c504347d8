/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies the operator's variables, as BEGIN left them, to each guest that has its own. */
#include "vmm-probe/session/variables.h"

#include <string.h>

/* Of begun.cells: before a key and a value, each padded to 8 bytes. */
struct begun_cell {
	uint32_t id, key_len;
};

/* The beginning of each key, as built by dif/vm/vars.c. */
struct key_head {
	uint32_t id, scope;
};

static uint32_t padded(uint32_t n)
{
	return (n + 7) & ~7u;
}

/* Thread-local variables are those of the operator's own thread. */
static void keep_cell(void *arg, const void *key, uint32_t key_len, const void *value)
{
	static const uint8_t zeros[8];
	struct vp_session_begun *b = arg;
	struct key_head head;

	if (key_len < sizeof(head))
		return;
	memcpy(&head, key, sizeof(head));
	if (head.scope != DIF_SCOPE_GLOBAL)
		return;
	const struct begun_cell cell = { head.id, key_len };
	ot_buf_append(&b->cells, &cell, sizeof(cell));
	ot_buf_append(&b->cells, key, key_len);
	ot_buf_append(&b->cells, zeros, padded(key_len) - key_len);
	ot_buf_append(&b->cells, value, b->value_size);
}

struct ot_err *vp_variables_keep(struct vp_session *s)
{
	const struct vp_feed *host = &s->feeds[0];
	struct vp_session_begun *b = &s->begun;
	uint64_t size = host->open.globals_size;

	if (!s->apart)
		return NULL;
	uint8_t *globals = ot_arena_alloc(&s->arena, size + 1);
	if (!globals)
		return ot_err_nomem();
	memcpy(globals, host->shared.mem + host->open.globals_offset, size);
	*b = (struct vp_session_begun){ .known = true, .vars = s->program.vars, .globals = globals };
	ot_buf_init(&b->cells);
	if (host->shared.dynvars) {
		b->value_size = dif_dynvars_value_size(host->shared.dynvars);
		dif_dynvars_each(host->shared.dynvars, keep_cell, b);
	}
	return b->cells.failed ? ot_err_nomem() : NULL;
}

/* Bytes of a scalar at its offset: a word, and behind it the contents of a by-reference value. */
static uint32_t scalar_size(const struct dif_var_slot *slot)
{
	return 8 + (slot->type.flags & DIF_TF_BYREF ? padded(dif_var_bytes(&slot->type)) : 0);
}

static bool is_scalar(const struct dif_var_slot *slot)
{
	return slot->scope == DIF_SCOPE_GLOBAL && slot->kind != DIF_VARKIND_ARRAY;
}

/* A program to which another kernel's clauses were added has its variables at other offsets. */
static void give_globals(struct vp_session *s, struct vp_feed *feed)
{
	const struct vp_session_begun *b = &s->begun;
	uint8_t *globals = feed->shared.mem + feed->open.globals_offset;

	for (uint32_t i = 0; i < b->vars.nslots; i++) {
		const struct dif_var_slot *from = &b->vars.slots[i];
		const struct dif_var_slot *to =
		    is_scalar(from) ? dif_var_slot_find(&s->program.vars, from->scope, from->id) : NULL;

		if (to && is_scalar(to) && scalar_size(to) == scalar_size(from))
			memcpy(globals + to->offset, b->globals + from->offset, scalar_size(from));
	}
}

static void give_cell(struct vp_session *s, struct vp_feed *feed, const struct begun_cell *cell,
		      const uint8_t *key, const uint8_t *value)
{
	struct dif_dynvars *dv = feed->shared.dynvars;
	const struct dif_var_slot *slot = dif_var_slot_find(&s->program.vars, DIF_SCOPE_GLOBAL, cell->id);
	uint32_t size = slot && slot->type.flags & DIF_TF_BYREF ? dif_var_bytes(&slot->type) : 8;
	size_t room;

	if (!slot || size > s->begun.value_size)
		return;
	uint64_t at = dif_dynvars_cell(dv, 0, key, cell->key_len, size > 8 ? size : 8, DIF_DYNVAR_ALLOC);
	if (at)
		memcpy((uint8_t *)dif_dynvars_mem(dv, &room) + at, value, size);
}

void vp_variables_give(struct vp_session *s, struct vp_feed *feed)
{
	const struct vp_session_begun *b = &s->begun;
	struct begun_cell cell;

	if (!b->known || !feed->opened)
		return;
	give_globals(s, feed);
	for (size_t at = 0; feed->shared.dynvars && at < b->cells.len;) {
		const uint8_t *p = (const uint8_t *)b->cells.data + at;

		memcpy(&cell, p, sizeof(cell));
		p += sizeof(cell);
		give_cell(s, feed, &cell, p, p + padded(cell.key_len));
		at += sizeof(cell) + padded(cell.key_len) + b->value_size;
	}
}

void vp_variables_free(struct vp_session *s)
{
	ot_buf_deinit(&s->begun.cells);
}
