/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that only the two ends of a link can make and read (libsodium: XChaCha20-Poly1305, a random nonce
 * in each packet, one key for each direction). A packet that is not the other end's, or is one's own, or is
 * of another session, does not open, and is ignored and counted.
 *
 * Repeated packets do open: a link takes each number once.
 */
#ifndef FLEET_LINK_SEAL_H
#define FLEET_LINK_SEAL_H

#include "base/buf.h"
#include "base/err.h"

#define FL_KEY           32
#define FL_SEAL_OVERHEAD 40 /* nonce and tag */

struct fl_seal;

/** Keys agreed on by both ends (crypto_kx): @p own_secret, @p own_public of this end and @p other_public of
 * the other one; @p is_operator: which of the two this end is. BAD_DATA: @p other_public is no acceptable
 * key. */
OT_MUST_CHECK struct ot_err *fl_seal_create(const uint8_t own_public[FL_KEY],
					    const uint8_t own_secret[FL_KEY],
					    const uint8_t other_public[FL_KEY], bool is_operator,
					    struct fl_seal **ret);
void fl_seal_destroy(struct fl_seal *seal);

/** Append the sealed form of @p packet to @p out. */
void fl_seal_close(struct fl_seal *seal, const void *packet, size_t len, struct ot_buf *out);
/** Open @p sealed into @p out (cleared before). False: it is not the other end's. */
bool fl_seal_open(struct fl_seal *seal, const void *sealed, size_t len, struct ot_buf *out);
/** The number of packets that did not open. */
uint64_t fl_seal_refused(const struct fl_seal *seal);

#endif
