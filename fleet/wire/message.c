/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages that are one struct each: its members in order. */
#include "fleet/wire/message.h"

/* The end of each reader: *ret gets all of the message, or nothing. */
#define FINISH(r, kind)                                                 \
	do {                                                            \
		struct ot_err *finish_err_ = fl_reader_end(&(r), kind); \
		if (!finish_err_)                                       \
			*ret = m;                                       \
		return finish_err_;                                     \
	} while (0)

void fl_put_hello(struct ot_buf *out, const struct fl_hello *m)
{
	fl_put_u32(out, m->protocol);
	fl_put_sentence(out, m->name);
	fl_put_clock(out, &m->clock);
}

struct ot_err *fl_get_hello(const void *data, size_t len, struct ot_arena *arena, struct fl_hello *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_hello m = { .name = "" };

	m.protocol = fl_get_u32(&r);
	/* The rest of another protocol's HELLO is unknown here. */
	if (!r.failed && m.protocol != FL_PROTOCOL) {
		*ret = m;
		return NULL;
	}
	m.name = fl_get_text(&r, FL_TEXT_MAX, arena);
	fl_get_clock(&r, &m.clock);
	FINISH(r, FL_HELLO);
}

void fl_put_run(struct ot_buf *out, const struct fl_run *m)
{
	fl_put_text(out, m->guests);
	fl_put_u32(out, m->nsources);
	for (uint32_t i = 0; i < m->nsources; i++) {
		const struct fl_source *s = &m->sources[i];

		fl_put_u8(out, s->is_script);
		fl_put_u8(out, s->spec);
		fl_put_text(out, s->name);
		fl_put_bytes(out, s->text.data, s->text.len);
	}
	fl_put_u32(out, m->noptions);
	for (uint32_t i = 0; i < m->noptions; i++) {
		fl_put_text(out, m->options[i].name);
		fl_put_u8(out, m->options[i].value != NULL);
		if (m->options[i].value)
			fl_put_text(out, m->options[i].value);
	}
	fl_put_u32(out, m->nargs);
	for (uint32_t i = 0; i < m->nargs; i++)
		fl_put_text(out, m->args[i]);
}

static void get_sources(struct fl_reader *r, struct ot_arena *arena, struct fl_run *m)
{
	uint32_t n = fl_get_count(r, FL_TEXTS_MAX);
	struct fl_source *sources = fl_get_room(r, arena, n, sizeof(*sources));

	for (uint32_t i = 0; i < n && !r->failed; i++) {
		sources[i].is_script = fl_get_bool(r);
		sources[i].spec = fl_get_u8(r);
		sources[i].name = fl_get_text(r, FL_TEXT_MAX, arena);
		sources[i].text = fl_get_bytes(r);
		if (sources[i].text.len > FL_SOURCE_MAX)
			r->failed = true;
	}
	m->sources = sources;
	m->nsources = n;
}

static void get_options(struct fl_reader *r, struct ot_arena *arena, struct fl_run *m)
{
	uint32_t n = fl_get_count(r, FL_STRINGS_MAX);
	struct fl_option *options = fl_get_room(r, arena, n, sizeof(*options));

	for (uint32_t i = 0; i < n && !r->failed; i++) {
		options[i].name = fl_get_text(r, FL_TEXT_MAX, arena);
		if (fl_get_bool(r))
			options[i].value = fl_get_text(r, FL_TEXT_MAX, arena);
	}
	m->options = options;
	m->noptions = n;
}

static void get_args(struct fl_reader *r, struct ot_arena *arena, struct fl_run *m)
{
	uint32_t n = fl_get_count(r, FL_STRINGS_MAX);
	const char **args = fl_get_room(r, arena, n, sizeof(*args));

	for (uint32_t i = 0; i < n && !r->failed; i++)
		args[i] = fl_get_text(r, FL_TEXT_MAX, arena);
	m->args = args;
	m->nargs = n;
}

struct ot_err *fl_get_run(const void *data, size_t len, struct ot_arena *arena, struct fl_run *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_run m = { .guests = fl_get_text(&r, FL_TEXT_MAX, arena) };

	get_sources(&r, arena, &m);
	get_options(&r, arena, &m);
	get_args(&r, arena, &m);
	FINISH(r, FL_RUN);
}

void fl_put_refused(struct ot_buf *out, const struct fl_refused *m)
{
	fl_put_u32(out, m->reason);
	fl_put_sentence(out, m->text);
}

struct ot_err *fl_get_refused(const void *data, size_t len, struct ot_arena *arena, struct fl_refused *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_refused m = { .reason = fl_get_u32(&r) };

	m.text = fl_get_text(&r, FL_TEXT_MAX, arena);
	FINISH(r, FL_REFUSED);
}

void fl_put_program(struct ot_buf *out, const struct fl_program *m)
{
	fl_put_bytes(out, m->dof.data, m->dof.len);
	fl_put_u32(out, m->strsize);
	fl_put_u32(out, m->stackframes);
	fl_put_u32(out, m->ustackframes);
	fl_put_u32(out, m->jstackframes);
	fl_put_u32(out, m->jstackstrsize);
}

struct ot_err *fl_get_program(const void *data, size_t len, struct ot_arena *arena, struct fl_program *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_program m = { .dof = fl_get_bytes(&r) };

	(void)arena;
	m.strsize = fl_get_u32(&r);
	m.stackframes = fl_get_u32(&r);
	m.ustackframes = fl_get_u32(&r);
	m.jstackframes = fl_get_u32(&r);
	m.jstackstrsize = fl_get_u32(&r);
	FINISH(r, FL_PROGRAM);
}

void fl_put_ready(struct ot_buf *out, const struct fl_ready *m)
{
	fl_put_u64(out, m->matched);
	fl_put_u32(out, m->ntexts);
	for (uint32_t i = 0; i < m->ntexts; i++)
		fl_put_u64(out, m->by_text[i]);
}

struct ot_err *fl_get_ready(const void *data, size_t len, struct ot_arena *arena, struct fl_ready *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_ready m = { .matched = fl_get_u64(&r) };

	(void)arena;
	m.ntexts = fl_get_u32(&r);
	if (m.ntexts > FL_TEXTS_MAX) {
		m.ntexts = 0;
		r.failed = true;
	}
	for (uint32_t i = 0; i < m.ntexts; i++)
		m.by_text[i] = fl_get_u64(&r);
	FINISH(r, FL_READY);
}

void fl_put_overload(struct ot_buf *out, const struct fl_overload *m)
{
	fl_put_u32(out, m->epid);
	fl_put_u32(out, m->taken);
	fl_put_u32(out, m->percent);
	fl_put_u32(out, m->limit);
}

struct ot_err *fl_get_overload(const void *data, size_t len, struct ot_arena *arena, struct fl_overload *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_overload m = { .epid = fl_get_u32(&r) };

	(void)arena;
	m.taken = fl_get_u32(&r);
	m.percent = fl_get_u32(&r);
	m.limit = fl_get_u32(&r);
	FINISH(r, FL_OVERLOAD);
}

void fl_put_guest(struct ot_buf *out, const struct fl_guest *m)
{
	fl_put_u32(out, m->guest);
	fl_put_sentence(out, m->name);
	fl_put_u8(out, m->joined);
	fl_put_u32(out, m->how);
	fl_put_sentence(out, m->text);
	fl_put_u64(out, m->time);
	fl_put_sentence(out, m->uuid ? m->uuid : "");
}

struct ot_err *fl_get_guest(const void *data, size_t len, struct ot_arena *arena, struct fl_guest *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_guest m = { .guest = fl_get_u32(&r) };

	m.name = fl_get_text(&r, FL_TEXT_MAX, arena);
	m.joined = fl_get_bool(&r);
	m.how = fl_get_u32(&r);
	m.text = fl_get_text(&r, FL_TEXT_MAX, arena);
	m.time = fl_get_u64(&r);
	m.uuid = fl_get_text(&r, FL_TEXT_MAX, arena);
	FINISH(r, FL_GUEST);
}

void fl_put_say(struct ot_buf *out, const struct fl_say *m)
{
	fl_put_u8(out, m->missing);
	fl_put_sentence(out, m->text);
}

struct ot_err *fl_get_say(const void *data, size_t len, struct ot_arena *arena, struct fl_say *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_say m = { .missing = fl_get_bool(&r) };

	m.text = fl_get_text(&r, FL_TEXT_MAX, arena);
	FINISH(r, FL_SAY);
}

void fl_put_ended(struct ot_buf *out, const struct fl_ended *m)
{
	fl_put_u8(out, m->exited);
	fl_put_u32(out, (uint32_t)m->status);
	fl_put_u8(out, m->failed);
	fl_put_sentence(out, m->text);
}

struct ot_err *fl_get_ended(const void *data, size_t len, struct ot_arena *arena, struct fl_ended *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_ended m = { .exited = fl_get_bool(&r) };

	m.status = (int32_t)fl_get_u32(&r);
	m.failed = fl_get_bool(&r);
	m.text = fl_get_text(&r, FL_TEXT_MAX, arena);
	FINISH(r, FL_ENDED);
}

/* --- of a merger -------------------------------------------------------------------------------------------- */

void fl_put_member(struct ot_buf *out, const struct fl_member *m)
{
	fl_put_u32(out, m->member);
	fl_put_text(out, m->name);
	fl_put_bytes(out, m->key.data, m->key.len);
	fl_put_bytes(out, m->run.data, m->run.len);
	fl_put_u32(out, m->ninvitations);
	for (uint32_t i = 0; i < m->ninvitations; i++)
		fl_put_bytes(out, m->invitations[i].data, m->invitations[i].len);
}

struct ot_err *fl_get_member(const void *data, size_t len, struct ot_arena *arena, struct fl_member *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_member m = { .member = fl_get_u32(&r) };

	m.name = fl_get_text(&r, FL_TEXT_MAX, arena);
	m.key = fl_get_bytes(&r);
	m.run = fl_get_bytes(&r);
	m.ninvitations = fl_get_count(&r, FL_INVITATIONS_MAX);
	for (uint32_t i = 0; i < m.ninvitations; i++)
		m.invitations[i] = fl_get_bytes(&r);
	if (m.member >= FL_MEMBERS_MAX || m.key.len != FL_MEMBER_KEY || !m.ninvitations)
		r.failed = true;
	FINISH(r, FL_MEMBER);
}

void fl_put_of(struct ot_buf *out, const struct fl_of *m)
{
	fl_put_u32(out, m->member);
	fl_put_u32(out, m->kind);
	fl_put_bytes(out, m->body.data, m->body.len);
}

struct ot_err *fl_get_of(const void *data, size_t len, struct ot_arena *arena, struct fl_of *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_of m = { .member = fl_get_u32(&r) };

	(void)arena;
	m.kind = fl_get_u32(&r);
	m.body = fl_get_bytes(&r);
	/* a merger's own messages belong to no member */
	if (m.member >= FL_MEMBERS_MAX || m.kind < FL_HELLO || m.kind >= FL_MEMBER)
		r.failed = true;
	FINISH(r, FL_OF);
}

void fl_put_gone(struct ot_buf *out, const struct fl_gone *m)
{
	fl_put_u32(out, m->member);
	fl_put_u64(out, m->silent_ns);
	fl_put_sentence(out, m->text);
}

struct ot_err *fl_get_gone(const void *data, size_t len, struct ot_arena *arena, struct fl_gone *ret)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct fl_gone m = { .member = fl_get_u32(&r) };

	m.silent_ns = fl_get_u64(&r);
	m.text = fl_get_text(&r, FL_TEXT_MAX, arena);
	if (m.member >= FL_MEMBERS_MAX)
		r.failed = true;
	FINISH(r, FL_GONE);
}
