/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One packet of a link, before it is sealed: a header, and a stretch of the stream that messages make up. In
 * the stream each message is its kind and its length, u32 both, and its bytes. A packet holds several
 * messages, or a part of one.
 *
 * `number` orders the stretches. `turn` counts all packets of this side: the other side says
 * the highest turn that it heard, so a packet that isn't acknowledged, while later ones were heard, is known
 * to be lost long before its time is up.
 *
 * A stretch travels without its zeros (zeros.h) where that is shorter. Another magic number says so.
 */
#ifndef FLEET_LINK_PACKET_H
#define FLEET_LINK_PACKET_H

#include "fleet/link/link.h"
#include "fleet/link/seal.h"

/* How a packet begins: "OFl1", or "OFlz" where runs of zeros are left out. */
#define FL_PACKET_MAGIC        0x316c464fu
#define FL_PACKET_MAGIC_PACKED 0x7a6c464fu

#define FL_PACKET_HEADER 40
#define FL_PAYLOAD_MAX   (FL_PACKET_MAX - FL_PACKET_HEADER - FL_SEAL_OVERHEAD)

struct fl_packet {
	uint32_t mask;   /* bit i: the number taken + 1 + i has arrived, too */
	uint64_t number; /* from 1 on; 0: no stretch, only an acknowledgement */
	uint64_t turn;   /* from 1 on */
	uint64_t taken;  /* all numbers up to it have arrived */
	uint64_t heard;  /* the highest turn received from the other side */
	struct fl_bytes payload;
	bool is_packed; /* the payload's zeros are left out */
};

static inline bool fl_packet_is_magic(uint32_t magic)
{
	return magic == FL_PACKET_MAGIC || magic == FL_PACKET_MAGIC_PACKED;
}

/** Append it to @p out. */
void fl_packet_put(struct ot_buf *out, const struct fl_packet *p);
/** Parse @p data; the payload stays borrowed. False: not a packet of a link. */
bool fl_packet_get(const void *data, size_t len, struct fl_packet *ret);

#endif
