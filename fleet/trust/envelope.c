/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signatures over requests and answers, and their common parts. */
#include "fleet/trust/envelope.h"

#include <sodium.h>
#include <string.h>

#define VERSION 1u

/* Ed25519ph over these words, the kind and the body: hashed in parts, so no copy is needed. */
static const char domain[] = "outsight fleet, version 1: ";

static void hash(enum fl_envelope kind, const void *body, size_t len, crypto_sign_state *ret)
{
	uint8_t word = (uint8_t)kind;

	crypto_sign_init(ret);
	crypto_sign_update(ret, (const uint8_t *)domain, sizeof(domain));
	crypto_sign_update(ret, &word, 1);
	crypto_sign_update(ret, body, len);
}

void fl_envelope_close(enum fl_envelope kind, const struct fl_identity *id, const struct ot_buf *body,
		       struct ot_buf *out)
{
	uint8_t signature[crypto_sign_BYTES];
	crypto_sign_state state;

	out->failed |= body->failed;
	if (out->failed)
		return;
	hash(kind, body->data, body->len, &state);
	crypto_sign_final_create(&state, signature, NULL, id->secret);
	fl_put_u8(out, VERSION);
	fl_put_u8(out, (uint8_t)kind);
	fl_put_bytes(out, signature, sizeof(signature));
	fl_put_bytes(out, body->data, body->len);
}

struct ot_err *fl_envelope_split(enum fl_envelope kind, const void *data, size_t len, size_t max,
				 struct fl_bytes *ret_signature, struct fl_bytes *ret_body)
{
	struct fl_reader r = fl_reader_of(data, len);
	uint8_t version = fl_get_u8(&r), word = fl_get_u8(&r);
	struct fl_bytes signature = fl_get_bytes(&r), body = fl_get_bytes(&r);

	if (len > max)
		return ot_err_new(OT_ERR_BAD_DATA, "a message of %zu bytes", len);
	if (signature.len != crypto_sign_BYTES)
		r.failed = true;
	OT_TRY(fl_whole(&r, "a message"));
	if (version != VERSION)
		return ot_err_new(OT_ERR_BAD_DATA,
				  "a message of version %u, not %u: another release of Outsight", version,
				  VERSION);
	if (word != kind)
		return ot_err_new(OT_ERR_BAD_DATA, "a message of another kind (%u)", word);
	*ret_signature = signature;
	*ret_body = body;
	return NULL;
}

bool fl_envelope_verify(enum fl_envelope kind, const uint8_t key[FL_PUBLIC], struct fl_bytes signature,
			struct fl_bytes body)
{
	crypto_sign_state state;

	hash(kind, body.data, body.len, &state);
	/* the library's parameter lacks const */
	return !crypto_sign_final_verify(&state, (uint8_t *)(uintptr_t)signature.data, key);
}

struct ot_err *fl_whole(const struct fl_reader *r, const char *what)
{
	if (r->no_memory)
		return ot_err_nomem();
	if (r->failed || fl_more(r))
		return ot_err_new(OT_ERR_BAD_DATA, "%s that is not whole", what);
	return NULL;
}

void fl_get_fixed(struct fl_reader *r, uint8_t *ret, uint32_t len)
{
	struct fl_bytes bytes = fl_get_bytes(r);

	if (bytes.len != len)
		r->failed = true;
	if (r->failed)
		memset(ret, 0, len);
	else
		memcpy(ret, bytes.data, len);
}

void fl_digest(const void *data, size_t len, uint8_t ret[FL_DIGEST])
{
	crypto_generichash(ret, FL_DIGEST, data, len, NULL, 0);
}

void fl_session_text(const uint8_t digest[FL_DIGEST], char ret[FL_SESSION_TEXT])
{
	sodium_bin2hex(ret, FL_SESSION_TEXT, digest, (FL_SESSION_TEXT - 1) / 2);
}

void fl_ephemeral_make(uint8_t ret_public[FL_PUBLIC], uint8_t ret_secret[FL_PUBLIC])
{
	crypto_kx_keypair(ret_public, ret_secret);
}
