/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sealed packets, by libsodium. */
#include "fleet/link/seal.h"

#include <sodium.h>
#include <stdlib.h>

#define NONCE crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define TAG   crypto_aead_xchacha20poly1305_ietf_ABYTES

_Static_assert(FL_KEY == crypto_kx_PUBLICKEYBYTES && FL_KEY == crypto_kx_SECRETKEYBYTES, "keys of crypto_kx");
_Static_assert(FL_KEY == crypto_kx_SESSIONKEYBYTES, "one key for each direction");
_Static_assert(FL_KEY == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "which seals");
_Static_assert(FL_SEAL_OVERHEAD == NONCE + TAG, "what a packet grows by");

struct fl_seal {
	uint8_t receive[FL_KEY], send[FL_KEY];
	uint64_t refused;
};

struct ot_err *fl_seal_create(const uint8_t own_public[FL_KEY], const uint8_t own_secret[FL_KEY],
			      const uint8_t other_public[FL_KEY], bool is_operator, struct fl_seal **ret)
{
	if (sodium_init() < 0)
		return ot_err_new(OT_ERR_INTERNAL, "libsodium can't be used");

	/* The operator is the client in crypto_kx's terms. */
	int (*agree)(unsigned char *, unsigned char *, const unsigned char *, const unsigned char *,
		     const unsigned char *) =
	    is_operator ? crypto_kx_client_session_keys : crypto_kx_server_session_keys;
	struct fl_seal *seal = calloc(1, sizeof(*seal));

	if (!seal)
		return ot_err_nomem();
	if (agree(seal->receive, seal->send, own_public, own_secret, other_public)) {
		free(seal);
		return ot_err_new(OT_ERR_BAD_DATA, "the other end's key is not valid");
	}
	*ret = seal;
	return NULL;
}

void fl_seal_destroy(struct fl_seal *seal)
{
	if (!seal)
		return;
	sodium_memzero(seal, sizeof(*seal));
	free(seal);
}

void fl_seal_close(struct fl_seal *seal, const void *packet, size_t len, struct ot_buf *out)
{
	uint8_t nonce[NONCE];
	size_t at = out->len + NONCE;

	randombytes_buf(nonce, sizeof(nonce));
	ot_buf_append(out, nonce, sizeof(nonce));
	ot_buf_zero(out, len + TAG);
	if (out->failed)
		return;
	crypto_aead_xchacha20poly1305_ietf_encrypt((uint8_t *)out->data + at, NULL, packet, len, NULL, 0,
						   NULL, nonce, seal->send);
}

bool fl_seal_open(struct fl_seal *seal, const void *sealed, size_t len, struct ot_buf *out)
{
	const uint8_t *nonce = sealed;

	ot_buf_clear(out);
	if (len < FL_SEAL_OVERHEAD) {
		seal->refused++;
		return false;
	}
	ot_buf_zero(out, len - FL_SEAL_OVERHEAD);
	if (out->failed ||
	    crypto_aead_xchacha20poly1305_ietf_decrypt((uint8_t *)out->data, NULL, NULL, nonce + NONCE,
						       len - NONCE, NULL, 0, nonce, seal->receive)) {
		ot_buf_clear(out);
		seal->refused++;
		return false;
	}
	return true;
}

uint64_t fl_seal_refused(const struct fl_seal *seal)
{
	return seal->refused;
}
