/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An operator's requests to hosts: written, read, and checked against a host's name and clock. */
#include <string.h>

#include "dif/obj/program.h"
#include "fleet/trust/envelope.h"

void fl_request_sign(const struct fl_identity *id, const struct fl_request *request, struct ot_buf *out)
{
	struct ot_buf body;

	ot_buf_init(&body);
	fl_put_u32(&body, request->protocol);
	fl_put_u8(&body, (uint8_t)request->asks);
	fl_put_bytes(&body, id->public, FL_PUBLIC);
	fl_put_text(&body, request->operator);
	fl_put_u32(&body, request->nhosts);
	for (uint32_t i = 0; i < request->nhosts; i++)
		fl_put_text(&body, request->hosts[i]);
	fl_put_text(&body, request->guests);
	fl_put_bytes(&body, request->run, FL_DIGEST);
	fl_put_bytes(&body, request->ephemeral, FL_PUBLIC);
	fl_put_bytes(&body, request->nonce, FL_NONCE);
	fl_put_u64(&body, request->not_before);
	fl_put_u64(&body, request->not_after);
	fl_envelope_close(FL_ENVELOPE_REQUEST, id, &body, out);
	ot_buf_deinit(&body);
}

static void get_hosts(struct fl_reader *r, struct ot_arena *arena, struct fl_request *ret)
{
	uint32_t n = fl_get_u32(r);
	const char **hosts = n && n <= FL_REQUEST_HOSTS ? ot_arena_alloc(arena, n * sizeof(*hosts)) : NULL;

	if (!hosts) {
		r->no_memory |= n && n <= FL_REQUEST_HOSTS && !r->failed;
		r->failed = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		hosts[i] = fl_get_text(r, FL_NAME_MAX, arena);
	ret->hosts = hosts;
	ret->nhosts = n;
}

static struct ot_err *get_body(struct fl_bytes body, struct ot_arena *arena, struct fl_request *ret)
{
	struct fl_reader r = fl_reader_of(body.data, body.len);

	ret->protocol = fl_get_u32(&r);
	ret->asks = fl_get_u8(&r);
	fl_get_fixed(&r, ret->signer, FL_PUBLIC);
	ret->operator= fl_get_text(&r, FL_TEXT_MAX, arena);
	get_hosts(&r, arena, ret);
	ret->guests = fl_get_text(&r, FL_TEXT_MAX, arena);
	fl_get_fixed(&r, ret->run, FL_DIGEST);
	fl_get_fixed(&r, ret->ephemeral, FL_PUBLIC);
	fl_get_fixed(&r, ret->nonce, FL_NONCE);
	ret->not_before = fl_get_u64(&r);
	ret->not_after = fl_get_u64(&r);
	if (ret->asks < FL_ASKS_WHO || ret->asks > FL_ASKS_MERGE)
		r.failed = true;
	return fl_whole(&r, "a request");
}

struct ot_err *fl_request_open(const void *data, size_t len, struct ot_arena *arena, struct fl_request *ret)
{
	struct fl_bytes signature, body;
	struct fl_request request = { 0 };

	OT_TRY(fl_envelope_split(FL_ENVELOPE_REQUEST, data, len, FL_REQUEST_MAX, &signature, &body));
	OT_TRY(get_body(body, arena, &request));
	if (!fl_envelope_verify(FL_ENVELOPE_REQUEST, request.signer, signature, body))
		return ot_err_new(OT_ERR_PERMISSION, "the request is not signed with the key that it names");
	fl_digest(data, len, request.digest);
	*ret = request;
	return NULL;
}

bool fl_request_means(const struct fl_request *request, const char *name)
{
	for (uint32_t i = 0; i < request->nhosts; i++)
		/* an empty pattern of D matches everything */
		if (*request->hosts[i] && dif_glob_match(request->hosts[i], name))
			return true;
	return false;
}

struct ot_err *fl_request_check(const struct fl_request *request, const char *name, uint64_t now)
{
	uint64_t most = request->asks == FL_ASKS_WHO ? FL_QUESTION_MAX_S : FL_INVITATION_MAX_S;

	if (request->protocol != FL_PROTOCOL)
		return ot_err_new(OT_ERR_PERMISSION,
				  "the operator speaks version %u of the protocol, this host %u",
				  request->protocol, FL_PROTOCOL);
	if (!fl_request_means(request, name))
		return ot_err_new(OT_ERR_PERMISSION, "the request is for another host");
	if (request->not_after < request->not_before || request->not_after - request->not_before > most)
		return ot_err_new(OT_ERR_PERMISSION, "the request is valid for longer than %llu s",
				  (unsigned long long)most);
	if (now < request->not_before)
		return ot_err_new(OT_ERR_PERMISSION,
				  "the request becomes valid in %llu s: do the clocks agree?",
				  (unsigned long long)(request->not_before - now));
	if (now > request->not_after)
		return ot_err_new(OT_ERR_PERMISSION,
				  "the request has expired, %llu s ago: do the clocks agree?",
				  (unsigned long long)(now - request->not_after));
	return NULL;
}
