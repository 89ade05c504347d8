/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of messages: written, and read from bytes that the other side chose. */
#include "fleet/wire/value.h"

#include <string.h>

#include "fleet/wire/kind.h"

struct fl_reader fl_reader_of(const void *data, size_t len)
{
	return (struct fl_reader){ .at = data, .end = len ? (const uint8_t *)data + len : data };
}

/* The next len bytes; NULL if there are fewer, and for all later reads. */
static const uint8_t *take(struct fl_reader *r, size_t len)
{
	if (r->failed || (size_t)(r->end - r->at) < len) {
		r->failed = true;
		return NULL;
	}

	const uint8_t *p = r->at;

	r->at += len;
	return p;
}

static uint64_t get_integer(struct fl_reader *r, unsigned size)
{
	const uint8_t *p = take(r, size);
	uint64_t v = 0;

	for (unsigned i = 0; p && i < size; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

uint8_t fl_get_u8(struct fl_reader *r)
{
	return (uint8_t)get_integer(r, 1);
}

uint32_t fl_get_u32(struct fl_reader *r)
{
	return (uint32_t)get_integer(r, 4);
}

uint64_t fl_get_u64(struct fl_reader *r)
{
	return get_integer(r, 8);
}

bool fl_get_bool(struct fl_reader *r)
{
	uint8_t v = fl_get_u8(r);

	if (v > 1)
		r->failed = true;
	return v == 1;
}

struct fl_bytes fl_get_bytes(struct fl_reader *r)
{
	uint32_t len = fl_get_u32(r);
	const uint8_t *data = take(r, len);

	return data ? (struct fl_bytes){ .data = data, .len = len } : (struct fl_bytes){ NULL, 0 };
}

const char *fl_get_text(struct fl_reader *r, uint32_t max, struct ot_arena *arena)
{
	struct fl_bytes b = fl_get_bytes(r);

	if (!b.len)
		return "";
	if (b.len > max || memchr(b.data, '\0', b.len)) {
		r->failed = true;
		return "";
	}

	const char *text = ot_arena_strndup(arena, (const char *)b.data, b.len);

	if (!text)
		r->failed = r->no_memory = true;
	return text ? text : "";
}

uint32_t fl_get_count(struct fl_reader *r, uint32_t max)
{
	uint32_t n = fl_get_u32(r);

	if (n > max)
		r->failed = true;
	return r->failed ? 0 : n;
}

void *fl_get_room(struct fl_reader *r, struct ot_arena *arena, uint32_t n, size_t size)
{
	void *room = ot_arena_alloc(arena, n * size);

	if (!room)
		r->failed = r->no_memory = true;
	return room;
}

bool fl_more(const struct fl_reader *r)
{
	return !r->failed && r->at < r->end;
}

struct ot_err *fl_reader_end(const struct fl_reader *r, unsigned kind)
{
	if (r->no_memory)
		return ot_err_nomem();
	if (r->failed)
		return ot_err_new(OT_ERR_BAD_DATA, "a broken message %s (%u)", fl_kind_name(kind), kind);
	if (r->at != r->end)
		return ot_err_new(OT_ERR_BAD_DATA, "a message %s (%u) with %zu bytes too many",
				  fl_kind_name(kind), kind, (size_t)(r->end - r->at));
	return NULL;
}

static void put_integer(struct ot_buf *out, uint64_t v, unsigned size)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < size; i++)
		bytes[i] = (uint8_t)(v >> (8 * i));
	ot_buf_append(out, bytes, size);
}

void fl_put_u8(struct ot_buf *out, uint8_t v)
{
	put_integer(out, v, 1);
}

void fl_put_u32(struct ot_buf *out, uint32_t v)
{
	put_integer(out, v, 4);
}

void fl_put_u64(struct ot_buf *out, uint64_t v)
{
	put_integer(out, v, 8);
}

void fl_put_bytes(struct ot_buf *out, const void *data, size_t len)
{
	if (len > FL_MESSAGE_MAX) {
		out->failed = true;
		return;
	}
	fl_put_u32(out, (uint32_t)len);
	ot_buf_append(out, data, len);
}

void fl_put_text(struct ot_buf *out, const char *text)
{
	fl_put_bytes(out, text, strlen(text));
}

void fl_put_sentence(struct ot_buf *out, const char *text)
{
	size_t len = strnlen(text, FL_TEXT_MAX + 1);

	if (len > FL_TEXT_MAX)
		/* Never split a character of UTF-8. */
		for (len = FL_TEXT_MAX; len > FL_TEXT_MAX - 4 && ((uint8_t)text[len] & 0xc0) == 0x80; len--)
			;
	fl_put_bytes(out, text, len);
}
