/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An identity in a fleet: an Ed25519 key. Operators and hosts have one each; a host's serve.conf has the
 * public keys of operators, an operator's file of hosts those of hosts. As text a public key is base64.
 */
#ifndef FLEET_TRUST_KEYS_H
#define FLEET_TRUST_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define FL_PUBLIC      32
#define FL_SECRET      64
#define FL_PUBLIC_TEXT 45 /* with the NUL */
#define FL_NAME_MAX    63

struct fl_identity {
	uint8_t public[FL_PUBLIC];
	uint8_t secret[FL_SECRET];
};

/** Start libsodium: before any other function of this folder. */
OT_MUST_CHECK struct ot_err *fl_trust_start(void);

/** Generate a key and write it to @p path, mode 0600. An existing file is kept: OS with EEXIST. */
OT_MUST_CHECK struct ot_err *fl_identity_make(const char *path, struct fl_identity *ret);
/** Read a key. PERMISSION: @p path is a symbolic link, another user's, or readable by others. */
OT_MUST_CHECK struct ot_err *fl_identity_read(const char *path, struct fl_identity *ret);
/** Overwrite the secret part. */
void fl_identity_wipe(struct fl_identity *id);

void fl_public_text(const uint8_t key[FL_PUBLIC], char ret[FL_PUBLIC_TEXT]);
/** False: @p text is not a key. */
OT_MUST_CHECK bool fl_public_parse(const char *text, uint8_t ret[FL_PUBLIC]);

/** Is this a valid name of a host or an operator? Letters, digits, '-' and '_', so that it can be part of a
 * subject of NATS, of a log line and of a pattern; at most FL_NAME_MAX. */
bool fl_name_is_valid(const char *name);

#endif
