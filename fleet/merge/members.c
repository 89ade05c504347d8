/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts that the operator named. They are invited on its behalf, once for each invitation that it signed,
 * until they answer. A host accepts no invitation twice, so each attempt has its own. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fleet/link/seal.h"
#include "fleet/merge/internal.h"

/* --- MEMBER ------------------------------------------------------------------------------------------------ */

/* A host that ended may be asked again, under another number. */
static bool is_here(const struct fl_member_here *member)
{
	return member->state == FL_MEMBER_INVITED || member->state == FL_MEMBER_JOINED;
}

/* Its text is used in the names of subjects, and of a table. */
static struct ot_err *check(const struct fl_merge *m, const struct fl_member *wanted)
{
	if (!fl_name_is_valid(wanted->name))
		return ot_err_new(OT_ERR_BAD_DATA, "an invalid host's name");
	if (m->members[wanted->member].state != FL_MEMBER_NONE)
		return ot_err_new(OT_ERR_BAD_DATA, "two hosts with number %u", wanted->member);
	for (uint32_t i = 0; i < FL_MEMBERS_MAX; i++)
		if (is_here(&m->members[i]) && !strcmp(m->members[i].name, wanted->name))
			return ot_err_new(OT_ERR_BAD_DATA, "host %s a second time", wanted->name);
	for (uint32_t i = 0; i < wanted->ninvitations; i++)
		if (wanted->invitations[i].len > FL_REQUEST_MAX)
			return ot_err_new(OT_ERR_BAD_DATA, "an invitation of %u bytes",
					  wanted->invitations[i].len);
	return NULL;
}

/* What its clauses may do at the operator, and the interval of sums. */
static struct ot_err *read_run(struct fl_merge *m, const struct fl_member *wanted, struct ot_arena *arena)
{
	struct con_program items[FL_TEXTS_MAX];
	struct con_strings args = { 0 };
	struct con_texts texts = { .items = items, .args = &args };
	struct fl_run run;

	OT_TRY(fl_get_run(wanted->run.data, wanted->run.len, arena, &run));
	for (uint32_t i = 0; i < run.nsources; i++)
		items[texts.count++] = (struct con_program){ .is_script = true,
							     .text = (const char *)run.sources[i].text.data,
							     .len = run.sources[i].text.len };
	args.items = (const char **)(uintptr_t)run.args;
	args.count = run.nargs;
	m->fleet->may_act |= fl_trust_of(&texts);
	for (uint32_t i = 0; i < run.noptions; i++)
		if (!strcmp(run.options[i].name, "aggrate"))
			OT_TRY(
			    dif_options_set(&m->opts, "aggrate", run.options[i].value, DIF_OPT_COMMAND_LINE));
	return NULL;
}

static struct ot_err *note(struct fl_merge *m, const struct fl_member *wanted)
{
	struct fl_member_here *member = &m->members[wanted->member];
	const char *name = ot_arena_strdup(&m->arena, wanted->name);
	bool failed = !name;

	if (failed)
		return ot_err_nomem();
	*member = (struct fl_member_here){ .state = FL_MEMBER_INVITED,
					   .number = wanted->member,
					   .name = name,
					   .ninvitations = wanted->ninvitations };
	memcpy(member->key, wanted->key.data, FL_PUBLIC);
	ot_map_init(&member->enabled);
	ot_buf_init(&member->run);
	ot_buf_init(&member->last);
	ot_buf_append(&member->run, wanted->run.data, wanted->run.len);
	failed |= member->run.failed;
	for (uint32_t i = 0; i < wanted->ninvitations; i++) {
		ot_buf_init(&member->invitations[i]);
		ot_buf_append(&member->invitations[i], wanted->invitations[i].data,
			      wanted->invitations[i].len);
		failed |= member->invitations[i].failed;
	}
	return failed ? ot_err_nomem() : NULL;
}

struct ot_err *fl_members_take(struct fl_merge *m, const void *data, size_t len)
{
	struct fl_member wanted;
	struct ot_arena arena;

	ot_arena_init(&arena);
	struct ot_err *err = fl_get_member(data, len, &arena, &wanted);

	if (!err)
		err = check(m, &wanted);
	if (!err)
		err = read_run(m, &wanted, &arena);
	if (!err)
		err = note(m, &wanted);
	ot_arena_deinit(&arena);
	return err;
}

/* --- the end of one ---------------------------------------------------------------------------------------- */

static void forget_invitations(struct fl_member_here *member)
{
	for (uint32_t i = 0; i < member->ninvitations; i++)
		ot_buf_deinit(&member->invitations[i]);
	member->ninvitations = 0;
	fl_carrier_destroy(member->carrier);
	member->carrier = NULL;
}

void fl_members_end(struct fl_merge *m, struct fl_member_here *member, enum fl_kind ending, const void *body,
		    size_t len)
{
	forget_invitations(member);
	member->state = FL_MEMBER_OVER;
	if (member->told || member->ending || m->closing)
		return;
	member->ending = ending;
	ot_buf_append(&member->last, body, len);
	if (!m->endings_ns)
		m->endings_ns = ot_now_ns();
}

void fl_members_lose(struct fl_merge *m, struct fl_member_here *member, const char *why)
{
	ot_auto(ot_buf_deinit) struct ot_buf body = { 0 };
	const uint64_t silent_ns = member->host ? ot_now_ns() - member->host->heard_ns : 0;

	ot_buf_init(&body);
	fl_put_gone(&body, &(struct fl_gone){ member->number, silent_ns, why });
	fl_members_end(m, member, FL_GONE, body.data, body.len);
}

void fl_members_deinit(struct fl_merge *m)
{
	for (uint32_t i = 0; i < FL_MEMBERS_MAX; i++) {
		struct fl_member_here *member = &m->members[i];

		if (member->state == FL_MEMBER_NONE)
			continue;
		forget_invitations(member);
		ot_buf_deinit(&member->run);
		ot_buf_deinit(&member->last);
		ot_map_deinit(&member->enabled);
	}
}

/* --- invitations ------------------------------------------------------------------------------------------- */

/* Subscribe before the host can send. */
static struct ot_err *listen_to(struct fl_merge *m, struct fl_member_here *member)
{
	char out[FL_BROKER_SUBJECT], in[FL_BROKER_SUBJECT], session[FL_SESSION_TEXT];

	fl_session_text(member->digest, session);
	snprintf(out, sizeof(out), "os.v1.out.%s.%s", session, member->name);
	snprintf(in, sizeof(in), "os.v1.in.%s.%s", session, member->name);
	fl_carrier_destroy(member->carrier);
	member->carrier = NULL;
	return fl_nats_create(m->config->broker, out, in, &member->carrier);
}

static struct ot_err *invite(struct fl_merge *m, struct fl_member_here *member)
{
	const struct ot_buf *invitation = &member->invitations[member->next++];
	char subject[FL_BROKER_SUBJECT];

	fl_digest(invitation->data, invitation->len, member->digest);
	member->until_ns = ot_now_ns() + m->answer_ns;
	OT_TRY(listen_to(m, member));
	snprintf(subject, sizeof(subject), "os.v1.run.%s", member->name);
	/* without room it is lost, as if in the broker */
	ot_err_destroy(
	    fl_broker_publish(m->config->broker, subject, m->reply, invitation->data, invitation->len));
	return NULL;
}

static void attempt(struct fl_merge *m, struct fl_member_here *member)
{
	struct ot_err *err = NULL;

	if (member->next == member->ninvitations)
		fl_members_lose(m, member, "it does not answer");
	else
		err = invite(m, member);
	if (err)
		fl_members_lose(m, member, ot_err_message(err));
	ot_err_destroy(err);
}

uint64_t fl_members_due_ns(const struct fl_merge *m)
{
	uint64_t due = UINT64_MAX;

	for (uint32_t i = 0; m->config->broker && i < FL_MEMBERS_MAX; i++)
		if (m->members[i].state == FL_MEMBER_INVITED && m->members[i].until_ns < due)
			due = m->members[i].until_ns;
	return due;
}

/* --- answers ----------------------------------------------------------------------------------------------- */

struct ot_err *fl_members_join(struct fl_merge *m, struct fl_member_here *member, struct fl_carrier *carrier,
			       struct fl_seal *seal)
{
	const uint32_t index = m->fleet->nhosts;

	OT_TRY(fl_fleet_add_sealed(m->fleet, carrier, seal, member->name, ""));
	member->host = m->fleet->hosts[index];
	member->state = FL_MEMBER_JOINED;
	m->by_host[index] = member;
	forget_invitations(member);
	return NULL;
}

/* Like REFUSED from a host that is connected. */
static struct ot_err *refuse(struct fl_merge *m, struct fl_member_here *member,
			     const struct fl_verdict *verdict, struct ot_arena *arena)
{
	ot_auto(ot_buf_deinit) struct ot_buf body = { 0 };
	const char *text = ot_arena_printf(arena, "refused: %s", verdict->text);

	if (!text)
		return ot_err_nomem();
	ot_buf_init(&body);
	fl_put_refused(&body, &(struct fl_refused){ verdict->reason, text });
	forget_invitations(member);
	member->state = FL_MEMBER_OVER;
	member->told = true;
	return body.failed ? ot_err_nomem() : fl_relay_pass(m, member, FL_REFUSED, body.data, body.len);
}

static struct ot_err *take_verdict(struct fl_merge *m, struct fl_member_here *member,
				   const struct fl_answer *answer, struct ot_arena *arena)
{
	struct fl_carrier *carrier = member->carrier;
	struct fl_verdict verdict;
	struct fl_seal *seal;

	OT_TRY(fl_body_get_verdict(answer->body, arena, &verdict));
	if (!verdict.accepted)
		return refuse(m, member, &verdict, arena);
	OT_TRY(fl_seal_create(m->config->public, m->config->secret, answer->ephemeral, true, &seal));
	member->carrier = NULL;
	return fl_members_join(m, member, carrier, seal);
}

static struct fl_member_here *find(struct fl_merge *m, const char *name)
{
	for (uint32_t i = 0; i < FL_MEMBERS_MAX; i++)
		if (m->members[i].state == FL_MEMBER_INVITED && !strcmp(m->members[i].name, name))
			return &m->members[i];
	return NULL;
}

/* A wrong answer is its host's fault, or the broker's. */
static struct ot_err *take_answer(struct fl_merge *m, const struct fl_broker_message *message,
				  struct ot_arena *arena)
{
	struct fl_member_here *member = NULL;
	struct fl_answer answer;
	const char *name;
	struct ot_err *err = fl_answer_host(message->data, message->len, arena, &name);

	if (!err)
		member = find(m, name);
	if (!err && !member)
		return NULL;
	if (!err)
		err = fl_answer_open(message->data, message->len, member->key, member->digest,
				     m->config->public, m->config->secret, arena, &answer);
	if (err) {
		m->forged += ot_err_code(err) != OT_ERR_NOT_FOUND; /* of an earlier attempt */
		ot_err_destroy(err);
		return NULL;
	}
	err = take_verdict(m, member, &answer, arena);
	if (!err || ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	fl_members_lose(m, member, ot_err_message(err));
	ot_err_destroy(err);
	return NULL;
}

struct ot_err *fl_members_step(struct fl_merge *m)
{
	struct fl_broker_message message;
	struct ot_err *err = NULL;

	while (!err && m->answers && fl_inbox_next(m->answers, &message)) {
		struct ot_arena arena;

		ot_arena_init(&arena);
		err = take_answer(m, &message, &arena);
		ot_arena_deinit(&arena);
	}
	if (fl_members_due_ns(m) > ot_now_ns())
		return err;
	for (uint32_t i = 0; !err && i < FL_MEMBERS_MAX; i++)
		if (m->members[i].state == FL_MEMBER_INVITED && m->members[i].until_ns <= ot_now_ns())
			attempt(m, &m->members[i]);
	return err;
}
