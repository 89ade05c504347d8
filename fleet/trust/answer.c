/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host's answers, and their encrypted bodies. */
#include <sodium.h>
#include <string.h>

#include "base/cleanup.h"
#include "fleet/trust/envelope.h"

struct ot_err *fl_answer_sign(const struct fl_identity *id, const struct fl_answer *answer,
			      const uint8_t to[FL_PUBLIC], struct ot_buf *out)
{
	ot_auto(ot_buf_deinit) struct ot_buf body, sealed;

	ot_buf_init(&body);
	ot_buf_init(&sealed);
	ot_buf_zero(&sealed, answer->body.len + crypto_box_SEALBYTES);
	if (sealed.failed)
		return ot_err_nomem();
	if (crypto_box_seal((uint8_t *)sealed.data, answer->body.data, answer->body.len, to))
		return ot_err_new(OT_ERR_BAD_DATA,
				  "nothing can be encrypted for the key that the request names");
	fl_put_text(&body, answer->host);
	fl_put_bytes(&body, answer->request, FL_DIGEST);
	fl_put_bytes(&body, answer->ephemeral, FL_PUBLIC);
	fl_put_bytes(&body, sealed.data, sealed.len);
	fl_envelope_close(FL_ENVELOPE_ANSWER, id, &body, out);
	return out->failed ? ot_err_nomem() : NULL;
}

/* Parse the unverified text; the body is still encrypted. */
static struct ot_err *get(struct fl_bytes body, struct ot_arena *arena, struct fl_answer *ret)
{
	struct fl_reader r = fl_reader_of(body.data, body.len);

	ret->host = fl_get_text(&r, FL_NAME_MAX, arena);
	fl_get_fixed(&r, ret->request, FL_DIGEST);
	fl_get_fixed(&r, ret->ephemeral, FL_PUBLIC);
	ret->body = fl_get_bytes(&r);
	if (ret->body.len < crypto_box_SEALBYTES || !fl_name_is_valid(ret->host))
		r.failed = true;
	return fl_whole(&r, "an answer");
}

struct ot_err *fl_answer_host(const void *data, size_t len, struct ot_arena *arena, const char **ret)
{
	struct fl_bytes signature, body;
	struct fl_answer answer = { 0 };

	OT_TRY(fl_envelope_split(FL_ENVELOPE_ANSWER, data, len, FL_ANSWER_MAX, &signature, &body));
	OT_TRY(get(body, arena, &answer));
	*ret = answer.host;
	return NULL;
}

static struct ot_err *decrypt(const struct fl_bytes *sealed, const uint8_t public[FL_PUBLIC],
			      const uint8_t secret[FL_PUBLIC], struct ot_arena *arena, struct fl_bytes *ret)
{
	uint32_t len = sealed->len - crypto_box_SEALBYTES;
	uint8_t *plain = ot_arena_alloc(arena, len + 1);

	if (!plain)
		return ot_err_nomem();
	if (crypto_box_seal_open(plain, sealed->data, sealed->len, public, secret))
		return ot_err_new(OT_ERR_BAD_DATA, "an answer that is encrypted for another key");
	*ret = (struct fl_bytes){ plain, len };
	return NULL;
}

struct ot_err *fl_answer_open(const void *data, size_t len, const uint8_t key[FL_PUBLIC],
			      const uint8_t request[FL_DIGEST], const uint8_t public[FL_PUBLIC],
			      const uint8_t secret[FL_PUBLIC], struct ot_arena *arena, struct fl_answer *ret)
{
	struct fl_bytes signature, body;
	struct fl_answer answer = { 0 };

	OT_TRY(fl_envelope_split(FL_ENVELOPE_ANSWER, data, len, FL_ANSWER_MAX, &signature, &body));
	OT_TRY(get(body, arena, &answer));
	if (!fl_envelope_verify(FL_ENVELOPE_ANSWER, key, signature, body))
		return ot_err_new(OT_ERR_PERMISSION, "the answer is not signed with the key of %s",
				  answer.host);
	if (memcmp(answer.request, request, FL_DIGEST))
		return ot_err_new(OT_ERR_NOT_FOUND, "%s answers another request", answer.host);
	OT_TRY(decrypt(&answer.body, public, secret, arena, &answer.body));
	*ret = answer;
	return NULL;
}

void fl_body_put_verdict(struct ot_buf *out, const struct fl_verdict *verdict)
{
	fl_put_u8(out, verdict->accepted);
	fl_put_u32(out, verdict->reason);
	fl_put_text(out, verdict->text);
}

struct ot_err *fl_body_get_verdict(struct fl_bytes body, struct ot_arena *arena, struct fl_verdict *ret)
{
	struct fl_reader r = fl_reader_of(body.data, body.len);
	uint8_t accepted = fl_get_u8(&r);
	struct fl_verdict verdict = { .accepted = accepted == 1, .reason = fl_get_u32(&r) };

	verdict.text = fl_get_text(&r, FL_TEXT_MAX, arena);
	if (accepted > 1)
		r.failed = true;
	OT_TRY(fl_whole(&r, "a verdict"));
	*ret = verdict;
	return NULL;
}

void fl_body_put_presence(struct ot_buf *out, const struct fl_presence *presence)
{
	fl_put_text(out, presence->guest);
	fl_put_text(out, presence->kernel);
}

bool fl_body_next_presence(struct fl_reader *r, struct ot_arena *arena, struct fl_presence *ret)
{
	if (!fl_more(r))
		return false;
	struct fl_presence presence = { .guest = fl_get_text(r, FL_TEXT_MAX, arena) };

	presence.kernel = fl_get_text(r, FL_TEXT_MAX, arena);
	if (r->failed)
		return false;
	*ret = presence;
	return true;
}
