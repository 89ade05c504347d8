/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A signed text: version, kind, signature, body. The signature also covers the kind, after words that no
 * other text signed by the same key begins with. */
#ifndef FLEET_TRUST_ENVELOPE_H
#define FLEET_TRUST_ENVELOPE_H

#include "fleet/trust/sign.h"

enum fl_envelope {
	FL_ENVELOPE_REQUEST = 1,
	FL_ENVELOPE_ANSWER,
};

void fl_envelope_close(enum fl_envelope kind, const struct fl_identity *id, const struct ot_buf *body,
		       struct ot_buf *out);
/** The parts of @p data, borrowed from it. BAD_DATA: it is not of @p kind, or has more than @p max bytes. */
OT_MUST_CHECK struct ot_err *fl_envelope_split(enum fl_envelope kind, const void *data, size_t len,
					       size_t max, struct fl_bytes *ret_signature,
					       struct fl_bytes *ret_body);
/** Is @p signature that of @p key? */
OT_MUST_CHECK bool fl_envelope_verify(enum fl_envelope kind, const uint8_t key[FL_PUBLIC],
				      struct fl_bytes signature, struct fl_bytes body);

/** NULL if the text was complete and nothing is left over; else BAD_DATA, with the name @p what, or
 * NO_MEMORY. */
OT_MUST_CHECK struct ot_err *fl_whole(const struct fl_reader *r, const char *what);
/** A field of exactly @p len bytes. */
void fl_get_fixed(struct fl_reader *r, uint8_t *ret, uint32_t len);

#endif
