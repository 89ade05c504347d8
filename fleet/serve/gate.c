/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests: allowed or refused, and logged before they take effect. */
#include "fleet/serve/gate.h"

#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"

#define WINDOW_S  10u
#define TEXT_KEPT 200u

/* --- the log ------------------------------------------------------------------------------------------ */

/* Is there room for a line about an unauthenticated request? */
static bool has_room(struct fl_gate *gate, struct fl_gate_lines *lines, const char *what, uint64_t now)
{
	ot_auto(ot_buf_deinit) struct ot_buf line = { 0 };

	ot_buf_init(&line);
	if (now >= lines->begun + WINDOW_S || now < lines->begun) {
		if (lines->untold) {
			ot_buf_printf(&line, "fleet: refused %u more requests %s", lines->untold, what);
			gate->log(gate->arg, ot_buf_str(&line));
		}
		*lines = (struct fl_gate_lines){ .begun = now };
	}
	if (lines->lines++ < FL_GATE_LINES)
		return true;
	lines->untold++;
	return false;
}

static void log_stranger(struct fl_gate *gate, const char *why, uint64_t now)
{
	ot_auto(ot_buf_deinit) struct ot_buf line = { 0 };

	gate->refused++;
	if (!has_room(gate, &gate->strangers, "of unknown keys", now))
		return;
	ot_buf_init(&line);
	ot_buf_puts(&line, "fleet: refused: ");
	ot_log_put_text(&line, why, TEXT_KEPT);
	gate->log(gate->arg, ot_buf_str(&line));
}

static const char *asked(enum fl_asks asks)
{
	return asks == FL_ASKS_RUN ? "run" : asks == FL_ASKS_MERGE ? "merge" : "who";
}

/* A known operator's request, and the decision. */
static void log_request(struct fl_gate *gate, const struct fl_conf_operator *operator,
			const struct fl_request * request, const char *outcome, const char *why)
{
	ot_auto(ot_buf_deinit) struct ot_buf line = { 0 };
	char session[FL_SESSION_TEXT], run[2 * FL_DIGEST + 1];

	fl_session_text(request->digest, session);
	sodium_bin2hex(run, sizeof(run), request->run, FL_DIGEST);
	ot_buf_init(&line);
	ot_buf_printf(&line, "fleet: %s: operator=%s as=\"", outcome, operator->name);
	ot_log_put_text(&line, request->operator, TEXT_KEPT);
	ot_buf_printf(&line, "\" asks=%s", asked(request->asks));
	if (request->asks != FL_ASKS_MERGE) {
		ot_buf_puts(&line, " guests=\"");
		ot_log_put_text(&line, request->guests, TEXT_KEPT);
		ot_buf_putc(&line, '"');
	}
	ot_buf_printf(&line, " session=%s", session);
	if (request->asks == FL_ASKS_RUN)
		ot_buf_printf(&line, " run=%s", run);
	if (why) {
		ot_buf_puts(&line, " why=\"");
		ot_log_put_text(&line, why, TEXT_KEPT);
		ot_buf_putc(&line, '"');
	}
	if (!line.failed)
		gate->log(gate->arg, line.data);
}

/* A validly signed request that any eavesdropper may have sent again. */
static void log_repeated(struct fl_gate *gate, const struct fl_gate_result *result, const char *why,
			 uint64_t now)
{
	gate->refused++;
	if (has_room(gate, &gate->repeated, "that were repeated, are another host's or have expired", now))
		log_request(gate, result->operator, & result->request, "refused", why);
}

/* --- answers ------------------------------------------------------------------------------------------ */

static struct ot_err *answer(const struct fl_gate *gate, const struct ot_buf *body,
			     struct fl_gate_result *ret)
{
	struct fl_answer a = { .host = gate->conf->name,
			       .body = { (const uint8_t *)body->data, (uint32_t)body->len } };

	if (body->failed)
		return ot_err_nomem();
	memcpy(a.request, ret->request.digest, FL_DIGEST);
	memcpy(a.ephemeral, ret->public, FL_PUBLIC);
	return fl_answer_sign(gate->identity, &a, ret->request.ephemeral, &ret->answer);
}

static struct ot_err *answer_verdict(const struct fl_gate *gate, const struct fl_verdict *verdict,
				     struct fl_gate_result *ret)
{
	ot_auto(ot_buf_deinit) struct ot_buf body = { 0 };

	ot_buf_init(&body);
	fl_body_put_verdict(&body, verdict);
	return answer(gate, &body, ret);
}

/* @p why is consumed. An operator without the right to ask for guests gets no reason. */
static struct ot_err *answer_refused(const struct fl_gate *gate, enum fl_reason reason, struct ot_err *why,
				     struct fl_gate_result *ret)
{
	struct ot_err *err = NULL;

	if (ret->request.asks != FL_ASKS_WHO)
		err = answer_verdict(gate, &(struct fl_verdict){ false, reason, ot_err_message(why) }, ret);
	ot_err_destroy(why);
	return err;
}

static struct ot_err *refuse(struct fl_gate *gate, enum fl_reason reason, struct ot_err *why,
			     struct fl_gate_result *ret)
{
	gate->refused++;
	log_request(gate, ret->operator, & ret->request, "refused", ot_err_message(why));
	return answer_refused(gate, reason, why, ret);
}

static struct ot_err *tell_guests(struct fl_gate *gate, struct fl_gate_result *ret)
{
	ot_auto(ot_buf_deinit) struct ot_buf body = { 0 };

	ot_buf_init(&body);
	ret->later = !gate->guests(gate->arg, ret->operator, ret->request.guests, &body);
	return ret->later ? NULL : answer(gate, &body, ret);
}

static struct ot_err *take_invitation(struct fl_gate *gate, uint64_t now, struct fl_gate_result *ret)
{
	struct ot_err *why = fl_replay_take(gate->replay, &ret->request, now);

	/* a repeated one is not answered: the sender of the first one has the answer */
	if (why && ot_err_code(why) == OT_ERR_PERMISSION) {
		log_repeated(gate, ret, ot_err_message(why), now);
		ot_err_destroy(why);
		return NULL;
	}
	if (why)
		return refuse(gate, FL_REASON_OTHER, why, ret);
	if (gate->running(gate->arg) >= gate->conf->workers)
		return refuse(gate, FL_REASON_POLICY,
			      ot_err_new(OT_ERR_LIMIT, "%u sessions already run on this host, its maximum",
					 gate->conf->workers),
			      ret);
	OT_TRY(answer_verdict(gate, &(struct fl_verdict){ true, 0, "" }, ret));
	log_request(gate, ret->operator, & ret->request, "allowed", NULL);
	ret->run = true;
	return NULL;
}

/* A host has guests and does not merge; a merger merges and has none. */
static struct ot_err *check_kind(const struct fl_gate *gate, enum fl_asks asks)
{
	if (gate->merges == (asks == FL_ASKS_MERGE))
		return NULL;
	return ot_err_new(OT_ERR_PERMISSION, gate->merges
						 ? "this is a merger, and has no guests"
						 : "this is no merger: outsight-serve --merge is one");
}

static struct ot_err *take_request(struct fl_gate *gate, uint64_t now, struct fl_gate_result *ret)
{
	/* every host receives WHO; RUN is sent under one host's name */
	if (ret->request.asks == FL_ASKS_WHO && !fl_request_means(&ret->request, gate->conf->name))
		return NULL;
	struct ot_err *why = fl_request_check(&ret->request, gate->conf->name, now);

	if (why) {
		log_repeated(gate, ret, ot_err_message(why), now);
		return answer_refused(gate, FL_REASON_TRUST, why, ret);
	}
	why = check_kind(gate, ret->request.asks);
	if (why)
		return refuse(gate, FL_REASON_POLICY, why, ret);
	fl_ephemeral_make(ret->public, ret->secret);
	if (ret->request.asks == FL_ASKS_WHO)
		return tell_guests(gate, ret);
	return take_invitation(gate, now, ret);
}

struct ot_err *fl_gate_take(struct fl_gate *gate, const void *data, size_t len, uint64_t now,
			    struct ot_arena *arena, struct fl_gate_result *ret)
{
	*ret = (struct fl_gate_result){ 0 };
	ot_buf_init(&ret->answer);
	struct ot_err *err = fl_request_open(data, len, arena, &ret->request);

	if (!err) {
		char key[FL_PUBLIC_TEXT];

		ret->operator= fl_conf_find(gate->conf, ret->request.signer);
		fl_public_text(ret->request.signer, key);
		if (!ret->operator)
			err =
			    ot_err_new(OT_ERR_PERMISSION, "serve.conf has no operator with the key %s", key);
	}
	if (err && ot_err_code(err) != OT_ERR_NO_MEMORY) {
		log_stranger(gate, ot_err_message(err), now);
		ot_err_destroy(err);
		return NULL;
	}
	if (!err)
		err = take_request(gate, now, ret);
	if (err)
		fl_gate_result_deinit(ret);
	return err;
}

void fl_gate_result_deinit(struct fl_gate_result *result)
{
	ot_buf_deinit(&result->answer);
	sodium_memzero(result->secret, sizeof(result->secret));
	result->run = false;
}
