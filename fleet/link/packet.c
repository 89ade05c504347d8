/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets as bytes. */
#include "fleet/link/packet.h"

void fl_packet_put(struct ot_buf *out, const struct fl_packet *p)
{
	fl_put_u32(out, p->is_packed ? FL_PACKET_MAGIC_PACKED : FL_PACKET_MAGIC);
	fl_put_u32(out, p->mask);
	fl_put_u64(out, p->number);
	fl_put_u64(out, p->turn);
	fl_put_u64(out, p->taken);
	fl_put_u64(out, p->heard);
	ot_buf_append(out, p->payload.data, p->payload.len);
}

bool fl_packet_get(const void *data, size_t len, struct fl_packet *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	uint32_t magic = fl_get_u32(&r);

	ret->mask = fl_get_u32(&r);
	ret->number = fl_get_u64(&r);
	ret->turn = fl_get_u64(&r);
	ret->taken = fl_get_u64(&r);
	ret->heard = fl_get_u64(&r);
	if (r.failed || !fl_packet_is_magic(magic) || !ret->turn || len > FL_PACKET_MAX)
		return false;
	ret->is_packed = magic == FL_PACKET_MAGIC_PACKED;
	ret->payload = (struct fl_bytes){ .data = r.at, .len = (uint32_t)(r.end - r.at) };
	/* A number and a stretch come together. */
	return (ret->number != 0) == (ret->payload.len != 0);
}
