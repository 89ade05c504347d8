/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes: the placeholder of a frame's text where names are not read at the hit. The engine writes a kind and
 * some numbers; by these the operator's process reads the names when the record arrives
 * (session/user_notes.h). A note is a string, so that it fits among texts: no byte of it is 0, and its first
 * byte begins no text.
 *
 * A number is written in groups of six bits, the lowest first, with bit 7 set in each byte, and bit 6 in each
 * but the last.
 */
#ifndef VP_ENGINE_WIRE_NOTES_H
#define VP_ENGINE_WIRE_NOTES_H

#include <stdbool.h>
#include <stdint.h>

/* The first byte; behind it are the numbers in parentheses. */
enum vp_note_kind {
	VP_NOTE_NONE,
	VP_NOTE_HOTSPOT_METHOD, /* a frame of HotSpot's interpreter (method, bytecode - method): addresses */
	VP_NOTE_HOTSPOT_CODE, /* compiled code, or a stub (number of the compilation), distinguished by its pc
			       */
	VP_NOTE_KINDS,
};

#define VP_NOTE_BITS  6u
#define VP_NOTE_MORE  0x40u
#define VP_NOTE_BYTE  0x80u
#define VP_NOTE_BYTES 11u /* of a number, at most */
#define VP_NOTE_MAX   32u /* bytes of a note, with its NUL */

static inline bool vp_is_note(const char *text)
{
	uint8_t first = (uint8_t)*text;

	return first != VP_NOTE_NONE && first < VP_NOTE_KINDS;
}

/** Take the number at *at, and advance behind it. False: there is none, or it is too long. */
static inline bool vp_note_take(const char **at, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < VP_NOTE_BYTES; i++) {
		uint8_t byte = (uint8_t) * *at;

		if (!(byte & VP_NOTE_BYTE))
			return false;
		(*at)++;
		value |= (uint64_t)(byte & (VP_NOTE_MORE - 1)) << VP_NOTE_BITS * i;
		if (!(byte & VP_NOTE_MORE)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

/** A difference as a number that is small where it is small, and back. */
static inline uint64_t vp_note_difference(uint64_t from, uint64_t to)
{
	uint64_t d = to - from;

	return d << 1 ^ (d >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t vp_note_add(uint64_t from, uint64_t difference)
{
	return from + (difference >> 1 ^ (difference & 1 ? UINT64_MAX : 0));
}

#endif
