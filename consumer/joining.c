/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests that join a session while it runs: the common part of the command and the library. */
#include "consumer/joining.h"

#include <stdlib.h>

#include "base/buf.h"
#include "consumer/guest_patterns.h"
#include "consumer/session_log.h"
#include "vmm-probe/attach/newcomers.h"

struct pattern {
	const char *text;
	struct con_guest_owner owner;
	uint32_t first, end; /* of the session's guests, those that it brought */
};

struct con_joining {
	struct con_joining_config config;
	struct pattern *patterns;
	size_t n, cap;
	struct vp_newcomers *newcomers; /* NULL: none may join */
	bool has_left[VP_GUESTS_MAX];
};

struct ot_err *con_joining_create(const struct con_joining_config *config, struct con_joining **ret)
{
	struct con_joining *j = calloc(1, sizeof(*j));

	if (!j)
		return ot_err_nomem();
	j->config = *config;
	*ret = j;
	return NULL;
}

static struct con_guest_filter filter_of(const struct con_joining *j)
{
	return (struct con_guest_filter){ j->config.may, j->config.say, j->config.arg };
}

struct ot_err *con_joining_attach(struct con_joining *j, const char *pattern)
{
	const struct con_guest_filter filter = filter_of(j);
	struct vp_session *s = j->config.session;

	if (!ot_grow(&j->patterns, &j->cap, j->n + 1, sizeof(*j->patterns)))
		return ot_err_nomem();
	struct pattern *p = &j->patterns[j->n];
	*p = (struct pattern){ .text = pattern, .first = vp_session_nguests(s) };
	OT_TRY(con_attach_guests(s, pattern, &filter, &p->owner));
	p->end = vp_session_nguests(s);
	j->n++;
	return NULL;
}

/* In the newcomers' thread; the patterns don't change any more. */
static struct ot_err *wants(void *arg, const struct vp_machine *machine, bool *ret)
{
	const struct con_joining *j = arg;
	const struct con_guest_filter filter = filter_of(j);

	*ret = false;
	for (size_t i = 0; i < j->n && !*ret; i++)
		OT_TRY(con_guest_matches(j->patterns[i].text, &filter, &j->patterns[i].owner, machine, ret));
	return NULL;
}

struct ot_err *con_joining_await(struct con_joining *j)
{
	struct vp_session *s = j->config.session;
	struct vp_newcomers_config config = {
		.opts = *vp_session_attach_opts(s),
		.wants = wants,
		.arg = j,
	};

	config.opts.unwinds = true; /* in the thread that attaches them: the session's would wait for it */
	OT_TRY(vp_newcomers_create(&config, &j->newcomers));
	for (uint32_t i = 0; i < vp_session_nguests(s); i++)
		vp_newcomers_know(j->newcomers, vp_session_guest_pid(s, i));
	for (size_t i = 0; i < j->n; i++)
		for (uint32_t k = j->patterns[i].first; k < j->patterns[i].end; k++)
			vp_session_may_end(s, k);
	vp_session_await(s);
	return NULL;
}

bool con_joining_awaits(const struct con_joining *j)
{
	return j && j->newcomers;
}

struct ot_err *con_joining_start(struct con_joining *j)
{
	return con_joining_awaits(j) ? vp_newcomers_start(j->newcomers) : NULL;
}

static struct ot_err *join(struct con_joining *j, struct vp_guest_link *link, uint32_t *ret_guest)
{
	const struct con_joining_config *c = &j->config;
	uint32_t ncomps = c->comp->ncomps;
	bool is_new = false;

	OT_TRY(vp_session_adopt(c->session, link, ret_guest, &is_new));
	struct ot_err *err = is_new ? c->compile(c->arg) : NULL;
	if (!err)
		err = vp_session_join(c->session);
	if (!err)
		return NULL;
	con_compile_undo(c->comp, ncomps);
	vp_session_reject(c->session);
	return err;
}

/* @why is consumed. */
static void refuse(struct con_joining *j, const char *name, struct ot_err *why)
{
	struct ot_buf text;

	ot_buf_init(&text);
	ot_buf_printf(&text, "%s is not traced: %s", name, ot_err_message(why));
	j->config.say(j->config.arg, ot_buf_str(&text));
	ot_buf_deinit(&text);
	ot_err_destroy(why);
}

static void take(struct con_joining *j, const struct vp_newcomer *newcomer)
{
	struct ot_err *err = newcomer->err;
	uint32_t guest = 0;

	if (newcomer->link) {
		con_journal_note_one("joining", newcomer->name);
		err = join(j, newcomer->link, &guest);
	}
	if (err) {
		refuse(j, newcomer->name, err);
		return;
	}
	con_session_take_records(j->config.session, guest);
	j->config.joined(j->config.arg, guest, newcomer->name);
}

void con_joining_take(struct con_joining *j)
{
	struct vp_newcomer newcomer;

	if (!con_joining_awaits(j))
		return;
	struct vp_session *s = j->config.session;
	for (uint32_t i = 0; i < vp_session_nguests(s); i++) {
		if (j->has_left[i] || !vp_session_has_left(s, i))
			continue;
		j->has_left[i] = true;
		if (vp_session_may_return(s, i))
			vp_newcomers_forget(j->newcomers, vp_session_guest_pid(s, i));
	}
	while (vp_newcomers_take(j->newcomers, &newcomer))
		take(j, &newcomer);
}

void con_joining_stop(struct con_joining *j)
{
	if (con_joining_awaits(j))
		vp_newcomers_stop(j->newcomers);
}

void con_joining_destroy(struct con_joining *j)
{
	if (!j)
		return;
	vp_newcomers_destroy(j->newcomers);
	free(j->patterns);
	free(j);
}
