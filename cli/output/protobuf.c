/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Protobuf's wire format: see protobuf.h. */
#include "cli/output/protobuf.h"

#include <string.h>

#define LENGTH_BYTES 4u
#define LENGTH_MAX   (1u << 7 * LENGTH_BYTES)

enum wire { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void cli_pb_deinit(struct cli_pb *pb)
{
	ot_buf_deinit(&pb->buf);
}

static void append(struct cli_pb *pb, const void *data, size_t len)
{
	pb->too_long |= len > CLI_PB_MAX - pb->buf.len;
	if (!pb->too_long)
		ot_buf_append(&pb->buf, data, len);
}

/* Seven bits a byte, the least first; all but the last byte have the eighth. */
void cli_pb_varint(struct cli_pb *pb, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)value;
	append(pb, bytes, n);
}

static void put_tag(struct cli_pb *pb, unsigned field, enum wire wire)
{
	cli_pb_varint(pb, (uint64_t)field << 3 | wire);
}

void cli_pb_int(struct cli_pb *pb, unsigned field, uint64_t value)
{
	put_tag(pb, field, WIRE_VARINT);
	cli_pb_varint(pb, value);
}

void cli_pb_bytes(struct cli_pb *pb, unsigned field, const void *data, size_t len)
{
	put_tag(pb, field, WIRE_BYTES);
	cli_pb_varint(pb, len);
	append(pb, data, len);
}

void cli_pb_string(struct cli_pb *pb, unsigned field, const char *s)
{
	cli_pb_bytes(pb, field, s, strlen(s));
}

void cli_pb_append(struct cli_pb *pb, const struct cli_pb *from)
{
	append(pb, from->buf.data, from->buf.len);
	pb->buf.failed |= from->buf.failed;
	pb->too_long |= from->too_long;
}

size_t cli_pb_begin(struct cli_pb *pb, unsigned field)
{
	static const uint8_t room[LENGTH_BYTES];

	put_tag(pb, field, WIRE_BYTES);
	append(pb, room, sizeof(room));
	return pb->buf.len;
}

void cli_pb_end(struct cli_pb *pb, size_t begun)
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

struct ot_err *cli_pb_error(const struct cli_pb *pb)
{
	if (pb->buf.failed)
		return ot_err_nomem();
	return pb->too_long
		   ? ot_err_new(OT_ERR_LIMIT, "more than %u MiB of data: aggregate by less", CLI_PB_MAX >> 20)
		   : NULL;
}
