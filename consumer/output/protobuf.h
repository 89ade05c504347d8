/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing messages in protobuf's wire format, field by field. A message within a message is begun and ended:
 * its length is written when it ends, into four bytes that were left for it (a length may be longer than it
 * needs to be). After a failure further calls do nothing, and con_pb_error() returns it.
 */
#ifndef CONSUMER_OUTPUT_PROTOBUF_H
#define CONSUMER_OUTPUT_PROTOBUF_H

#include "base/buf.h"
#include "base/err.h"

#define CON_PB_MAX (1u << 30) /* bytes in a buffer */

struct con_pb {
	struct ot_buf buf; /* what was written */
	bool too_long;     /* more than CON_PB_MAX, or a message of more than 256 MiB */
};

void con_pb_deinit(struct con_pb *pb);

/** A field of type int64, uint64, int32, uint32, bool or an enum; a negative number as int64. */
void con_pb_int(struct con_pb *pb, unsigned field, uint64_t value);
/** A field of type bytes, or a string, which is valid UTF-8. */
void con_pb_bytes(struct con_pb *pb, unsigned field, const void *data, size_t len);
void con_pb_string(struct con_pb *pb, unsigned field, const char *s);

/** The fields of @p from, as they are; its failure too. */
void con_pb_append(struct con_pb *pb, const struct con_pb *from);

/** A message as a field, or a packed field of numbers: all output until con_pb_end() is in it. Returns the
 * argument of con_pb_end(). */
size_t con_pb_begin(struct con_pb *pb, unsigned field);
void con_pb_end(struct con_pb *pb, size_t begun);
/** A number of a packed field. */
void con_pb_varint(struct con_pb *pb, uint64_t value);

/** NULL: everything was written. LIMIT: it was too long. */
OT_MUST_CHECK struct ot_err *con_pb_error(const struct con_pb *pb);

#endif
