/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's kernel text, read by the operator's process. */
#include "vmm-probe/provider/text.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"

#define TEXT_MAX (128u << 20)
#define READ_MAX (16u << 20)

struct vp_text {
	struct vp_guest *guest;
	uint64_t start, len; /* of the core kernel's; len 0: it could not be read as a whole */
	uint8_t *core;
	uint8_t *other;
	uint64_t other_cap;
	struct vp_patches patches[2]; /* before the core kernel's text was read, and after */
};

/* Without the marks, or with a hole between them, functions are read one by one: slower, with the same
 * result. */
static void read_core(struct vp_text *text)
{
	struct vp_gva start, end;
	struct ot_err *err = vp_guest_symbol(text->guest, "_stext", &start);

	if (!err)
		err = vp_guest_symbol(text->guest, "_etext", &end);
	if (!err && end.v > start.v && end.v - start.v <= TEXT_MAX) {
		err = vp_budget_take(end.v - start.v);
		text->core = err ? NULL : malloc(end.v - start.v);
		if (text->core)
			err = vp_guest_read(text->guest, start, text->core, end.v - start.v);
		if (text->core && !err) {
			text->start = start.v;
			text->len = end.v - start.v;
		}
	}
	ot_err_destroy(err);
}

/* Another session may begin or end while text is read. The patches listed before and after cover both cases.
 */
static void undo_patches(const struct vp_text *text, uint64_t gva, uint8_t *bytes, uint64_t len)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(text->patches); i++)
		vp_patches_undo(&text->patches[i], gva, bytes, len);
}

static struct ot_err *ask(const struct vp_text_undo *undo, struct vp_patches *ret)
{
	return undo ? undo->patches(undo->arg, ret) : NULL;
}

struct ot_err *vp_text_create(struct vp_guest *guest, const struct vp_text_undo *undo, struct vp_text **ret)
{
	struct vp_text *text = calloc(1, sizeof(*text));

	if (!text)
		return ot_err_nomem();
	text->guest = guest;
	struct ot_err *err = ask(undo, &text->patches[0]);
	if (!err) {
		struct vp_budget budget;

		vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_TEXT]);
		read_core(text);
		vp_budget_end(&budget);
		err = ask(undo, &text->patches[1]);
	}
	if (err) {
		vp_text_destroy(text);
		return err;
	}
	undo_patches(text, text->start, text->core, text->len);
	*ret = text;
	return NULL;
}

void vp_text_destroy(struct vp_text *text)
{
	if (!text)
		return;
	for (size_t i = 0; i < OT_ARRAY_SIZE(text->patches); i++)
		free(text->patches[i].list);
	free(text->core);
	free(text->other);
	free(text);
}

struct ot_err *vp_text_read(struct vp_text *text, uint64_t gva, uint64_t len, const uint8_t **ret)
{
	struct vp_budget budget;

	if (gva >= text->start && len <= text->len && gva - text->start <= text->len - len) {
		*ret = text->core + (gva - text->start);
		return NULL;
	}
	if (len > READ_MAX)
		return ot_err_new(OT_ERR_LIMIT, "%llu bytes of text at once", (unsigned long long)len);
	if (len > text->other_cap) {
		uint8_t *grown = realloc(text->other, len);

		if (!grown)
			return ot_err_nomem();
		text->other = grown;
		text->other_cap = len;
	}
	vp_guest_budget_begin(text->guest, &budget, &vp_readings[VP_READ_TEXT]);
	struct ot_err *err = vp_guest_read(text->guest, vp_gva(gva), text->other, len);
	vp_budget_end(&budget);
	OT_TRY(err);
	undo_patches(text, gva, text->other, len);
	*ret = text->other;
	return NULL;
}

const uint8_t *vp_text_core(const struct vp_text *text, uint64_t *ret_start, uint64_t *ret_len)
{
	*ret_start = text->start;
	*ret_len = text->len;
	return text->core;
}
