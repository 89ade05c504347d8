/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Protobuf's wire format: see protobuf.h. */
#include "consumer/output/protobuf.h"

#include <string.h>

#define LENGTH_BYTES 4u
#define LENGTH_MAX   (1u << 7 * LENGTH_BYTES)

enum wire { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void con_pb_deinit(struct con_pb *pb)
{
	ot_buf_deinit(&pb->buf);
}

static void append(struct con_pb *pb, const void *data, size_t len)
{
	pb->too_long |= len > CON_PB_MAX - pb->buf.len;
	if (!pb->too_long)
		ot_buf_append(&pb->buf, data, len);
}

/* Seven bits a byte, the least first; all but the last byte have the eighth. */
void con_pb_varint(struct con_pb *pb, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)value;
	append(pb, bytes, n);
}

static void put_tag(struct con_pb *pb, unsigned field, enum wire wire)
{
	con_pb_varint(pb, (uint64_t)field << 3 | wire);
}

void con_pb_int(struct con_pb *pb, unsigned field, uint64_t value)
{
	put_tag(pb, field, WIRE_VARINT);
	con_pb_varint(pb, value);
}

void con_pb_bytes(struct con_pb *pb, unsigned field, const void *data, size_t len)
{
	put_tag(pb, field, WIRE_BYTES);
	con_pb_varint(pb, len);
	append(pb, data, len);
}

void con_pb_string(struct con_pb *pb, unsigned field, const char *s)
{
	con_pb_bytes(pb, field, s, strlen(s));
}

void con_pb_append(struct con_pb *pb, const struct con_pb *from)
{
	append(pb, from->buf.data, from->buf.len);
	pb->buf.failed |= from->buf.failed;
	pb->too_long |= from->too_long;
}

size_t con_pb_begin(struct con_pb *pb, unsigned field)
{
	static const uint8_t room[LENGTH_BYTES];

	put_tag(pb, field, WIRE_BYTES);
	append(pb, room, sizeof(room));
	return pb->buf.len;
}

void con_pb_end(struct con_pb *pb, size_t begun)
{
	size_t len = pb->buf.len - begun;

	if (pb->too_long || pb->buf.failed)
		return;
	if (len >= LENGTH_MAX) {
		pb->too_long = true;
		return;
	}
	for (size_t i = 0; i < LENGTH_BYTES; i++)
		pb->buf.data[begun - LENGTH_BYTES + i] =
		    (char)((len >> 7 * i & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}

struct ot_err *con_pb_error(const struct con_pb *pb)
{
	if (pb->buf.failed)
		return ot_err_nomem();
	return pb->too_long
		   ? ot_err_new(OT_ERR_LIMIT, "more than %u MiB of data: aggregate by less", CON_PB_MAX >> 20)
		   : NULL;
}
