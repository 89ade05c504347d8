/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing messages in protobuf's wire format, field by field. A message within a message is begun and ended:
 * its length is written when it ends, into four bytes that were left for it (a length may be longer than it
 * needs to be). After a failure further calls do nothing, and cli_pb_error() tells it.
 */
#ifndef CLI_OUTPUT_PROTOBUF_H
#define CLI_OUTPUT_PROTOBUF_H

#include "base/buf.h"
#include "base/err.h"

#define CLI_PB_MAX (1u << 30) /* bytes in a buffer */

struct cli_pb {
	struct ot_buf buf; /* what was written */
	bool too_long;     /* more than CLI_PB_MAX, or a message of more than 256 MiB */
};

void cli_pb_deinit(struct cli_pb *pb);

/** A field of type int64, uint64, int32, uint32, bool or an enum; a negative number as int64. */
void cli_pb_int(struct cli_pb *pb, unsigned field, uint64_t value);
/** A field of type bytes, or a string, which is valid UTF-8. */
void cli_pb_bytes(struct cli_pb *pb, unsigned field, const void *data, size_t len);
void cli_pb_string(struct cli_pb *pb, unsigned field, const char *s);

/** The fields of @p from, as they are; its failure too. */
void cli_pb_append(struct cli_pb *pb, const struct cli_pb *from);

/** A message as a field, or a packed field of numbers: what is written until cli_pb_end() is in it. Returns
 * what that wants. */
size_t cli_pb_begin(struct cli_pb *pb, unsigned field);
void cli_pb_end(struct cli_pb *pb, size_t begun);
/** A number of a packed field. */
void cli_pb_varint(struct cli_pb *pb, uint64_t value);

/** NULL: everything was written. LIMIT: it was too long. */
OT_MUST_CHECK struct ot_err *cli_pb_error(const struct cli_pb *pb);

#endif
