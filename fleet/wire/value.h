/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values that messages consist of: integers, bytes and texts, in order. */
#ifndef FLEET_WIRE_VALUE_H
#define FLEET_WIRE_VALUE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define FL_TEXT_MAX 4096u /* bytes of names, messages, options' values */

/* Reads values from a message in order. After a missing value every further one is 0 or empty, and `failed`
 * stays set. */
struct fl_reader {
	const uint8_t *at, *end;
	bool failed, no_memory;
};

/* Bytes in the message: borrowed from it. */
struct fl_bytes {
	const uint8_t *data;
	uint32_t len;
};

struct fl_reader fl_reader_of(const void *data, size_t len);
uint8_t fl_get_u8(struct fl_reader *r);
uint32_t fl_get_u32(struct fl_reader *r);
uint64_t fl_get_u64(struct fl_reader *r);
struct fl_bytes fl_get_bytes(struct fl_reader *r);
/** A text of at most @p max bytes without a NUL in it, copied to @p arena with a NUL at the end; never NULL
 * ("" when @p r has failed). */
const char *fl_get_text(struct fl_reader *r, uint32_t max, struct ot_arena *arena);
/** A byte that is 0 or 1. */
bool fl_get_bool(struct fl_reader *r);
/** The number of elements that follow, at most @p max; 0 once @p r has failed. */
uint32_t fl_get_count(struct fl_reader *r, uint32_t max);
/** Zeroed memory for @p n elements; NULL without memory, and @p r has failed. */
void *fl_get_room(struct fl_reader *r, struct ot_arena *arena, uint32_t n, size_t size);
/** Is there another element of a list? */
bool fl_more(const struct fl_reader *r);
/** NULL if the message was complete and nothing is left over; else BAD_DATA, which names @p kind, or
 * NO_MEMORY. */
OT_MUST_CHECK struct ot_err *fl_reader_end(const struct fl_reader *r, unsigned kind);

void fl_put_u8(struct ot_buf *out, uint8_t v);
void fl_put_u32(struct ot_buf *out, uint32_t v);
void fl_put_u64(struct ot_buf *out, uint64_t v);
void fl_put_bytes(struct ot_buf *out, const void *data, size_t len);
void fl_put_text(struct ot_buf *out, const char *text);
/** A text for a person, which is cut to the FL_TEXT_MAX bytes that a reader accepts. */
void fl_put_sentence(struct ot_buf *out, const char *text);

#endif
