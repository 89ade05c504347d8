/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds user addresses in records and tuples. */
#include "vmm-probe/session/user_seen.h"

#include <string.h>

#include "vmm-probe/engine/wire/notes.h"

struct vp_user_symbols *vp_user_symbols_of(struct vp_session *s, uint32_t guest)
{
	struct vp_user_symbols *us = &s->user_symbols[guest < s->links.n ? guest : 0];

	if (!us->round)
		vp_user_symbols_init(us, NULL, s->config.sysroot, vp_session_say_of, s);
	/* The kernel of a guest that is starting is found later. Through a stub that stops the guest for each
	 * word its programs are not read. */
	const struct vp_guest_link *link = guest < s->links.n ? s->links.items[guest] : NULL;

	if (link && !us->ps && (!link->source.ops || !link->source.ops->patient))
		us->guest = link->guest;
	return us;
}

void vp_user_seen_round(struct vp_session *s)
{
	for (uint32_t i = 0; i < s->links.n; i++)
		vp_user_symbols_round(vp_user_symbols_of(s, i));
}

static uint64_t word(const uint8_t *data, uint64_t i)
{
	uint64_t value;

	memcpy(&value, data + 8 * i, sizeof(value));
	return value;
}

/* A text or a note for each frame; the bytes behind the last one are zero. */
static void see_notes(struct vp_user_symbols *us, const uint8_t *data, uint64_t frames, uint32_t size)
{
	const char *at = (const char *)data + 8 * (frames + 1), *end = (const char *)data + size;

	for (uint64_t i = 1; i <= frames && at < end && word(data, i); i++) {
		size_t len = strnlen(at, (size_t)(end - at));

		if (at + len == end)
			return;
		if (vp_is_note(at))
			vp_user_notes_see(us, word(data, 0), word(data, i), at);
		at += len + 1;
	}
}

/* A PID and its frames, up to a zero. */
static void see_stack(struct vp_session *s, struct vp_user_symbols *us, const struct dif_action *action,
		      const uint8_t *data, uint32_t size)
{
	const struct dif_layout_opts *opts = &s->program.layout_opts;
	struct vp_frames_known *known = &s->frames[us - s->user_symbols];
	uint64_t frames = action->arg & 0xffffffff;

	if (!frames)
		frames = action->kind == DIF_ACT_jstack ? opts->jstackframes : opts->ustackframes;
	for (uint64_t i = 1; i <= frames && 8 * (i + 1) <= size && word(data, i); i++)
		if (word(data, i) != DIF_FRAME_WITHOUT_PC) {
			vp_user_symbols_see(us, word(data, 0), word(data, i));
			vp_frames_met(known, us, word(data, 0), word(data, i));
		}
	if (size / 8 > frames + 1)
		see_notes(us, data, frames, size);
	if (size >= 16 && word(data, 1))
		vp_frames_want(known, us, word(data, 0));
}

static void see(struct vp_session *s, const struct vp_feed *feed, const struct vp_enabled *ecb,
		const struct dif_rec *rec, const uint8_t *base)
{
	const struct dif_action *action = &ecb->clause->actions[rec->action];
	const uint8_t *data = base + rec->offset;

	switch (action->kind) {
	case DIF_ACT_ustack:
	case DIF_ACT_jstack:
		see_stack(s, vp_user_symbols_of(s, feed->guest), action, data, rec->size);
		return;
	case DIF_ACT_usym:
	case DIF_ACT_umod:
	case DIF_ACT_uaddr:
		if (rec->size >= 16)
			vp_user_symbols_see(vp_user_symbols_of(s, feed->guest), word(data, 0), word(data, 1));
		return;
	default:
		return;
	}
}

void vp_user_seen_record(struct vp_session *s, const struct vp_feed *feed, const struct vp_enabled *ecb,
			 const uint8_t *record)
{
	for (uint32_t i = 0; feed->link && i < ecb->layout->nrecs; i++)
		see(s, feed, ecb, &ecb->layout->recs[i], record);
}

void vp_user_seen_tuple(struct vp_session *s, const struct vp_feed *feed, const struct vp_enabled *ecb,
			const struct dif_agg_layout *agg, const uint8_t *tuple)
{
	for (uint32_t i = 0; feed->link && i < agg->nkeys; i++)
		see(s, feed, ecb, &agg->keys[i], tuple);
}
