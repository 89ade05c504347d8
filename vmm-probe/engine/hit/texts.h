/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a user stack's datum that holds texts of frames: UTF-8, one text behind the other. Hit path. */
#ifndef VP_ENGINE_HIT_TEXTS_H
#define VP_ENGINE_HIT_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm-probe/engine/wire/notes.h"

/* Zeroed at first. Only written, as it may be shared memory. */
struct vp_texts {
	char *at;
	size_t size, used;
	bool full; /* a text did not fit; nothing is appended afterwards */
};

static inline void vp_texts_byte(struct vp_texts *t, char c)
{
	if (t->used == t->size)
		t->full = true;
	if (!t->full)
		t->at[t->used++] = c;
}

static inline void vp_texts_string(struct vp_texts *t, const char *s)
{
	while (*s)
		vp_texts_byte(t, *s++);
}

/** A number that is not negative. */
static inline void vp_texts_number(struct vp_texts *t, uint32_t n)
{
	char digits[10];
	unsigned count = 0;

	do
		digits[count++] = (char)('0' + n % 10);
	while (n /= 10);
	while (count)
		vp_texts_byte(t, digits[--count]);
}

/** A character. Line ends, NULs and invalid characters become '?'. */
static inline void vp_texts_character(struct vp_texts *t, uint32_t c)
{
	if (c < 0x20 || c == 0x7f || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = '?';
	if (c < 0x80) {
		vp_texts_byte(t, (char)c);
		return;
	}
	if (c < 0x800) {
		vp_texts_byte(t, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			vp_texts_byte(t, (char)(0xe0 | c >> 12));
		} else {
			vp_texts_byte(t, (char)(0xf0 | c >> 18));
			vp_texts_byte(t, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		vp_texts_byte(t, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	vp_texts_byte(t, (char)(0x80 | (c & 0x3f)));
}

/** A number of a note (wire/notes.h). */
static inline void vp_texts_note_number(struct vp_texts *t, uint64_t n)
{
	do {
		uint8_t more = n >> VP_NOTE_BITS ? VP_NOTE_MORE : 0;

		vp_texts_byte(t, (char)(VP_NOTE_BYTE | more | (n & (VP_NOTE_MORE - 1))));
		n >>= VP_NOTE_BITS;
	} while (n);
}

/** Remove the texts that were appended since the length was @p used. */
static inline void vp_texts_back(struct vp_texts *t, size_t used)
{
	while (t->used > used)
		t->at[--t->used] = '\0';
}

#endif
