/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A merger between an operator and canned hosts, each of which says what a test has it say. */
#ifndef TESTS_FLEET_MERGE_FIXTURE_H
#define TESTS_FLEET_MERGE_FIXTURE_H

#include "tests/unit/fleet_operator_fixture.h"

#include "fleet/merge/internal.h"

#define GOT_MAX 256

/* What has reached the operator. */
struct got {
	enum fl_kind kind;
	int member; /* -1: of the merger's own */
	struct ot_buf body;
};

struct merging {
	struct fixture f; /* the program that is the operator's, and the hosts */
	struct fl_merge_config config;
	struct fl_link *operator, * link;
	struct fl_merge *m;
	struct got got[GOT_MAX];
	unsigned n;
	struct ot_err *err; /* that has ended it */
};

/* --- links ------------------------------------------------------------------------------------------------ */

static inline void make_pair(struct fl_carrier **ret_near, struct fl_carrier **ret_far)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_null(fl_pipe_create(ends[0], ends[0], ret_near));
	assert_null(fl_pipe_create(ends[1], ends[1], ret_far));
}

static inline void tell(struct merging *t, enum fl_kind kind, struct ot_buf *body)
{
	assert_false(body && body->failed);
	assert_null(fl_link_send(t->operator, kind, body ? body->data : NULL, body ? body->len : 0));
	if (body)
		ot_buf_deinit(body);
	ot_err_destroy(fl_link_poll(t->operator));
}

static inline void tell_of(struct merging *t, uint32_t member, enum fl_kind kind)
{
	struct ot_buf body = { 0 };

	fl_put_of(&body, &(struct fl_of){ member, kind, { NULL, 0 } });
	tell(t, FL_OF, &body);
}

/* --- what the operator has ---------------------------------------------------------------------------------- */

static inline void keep(struct merging *t, enum fl_kind kind, const void *data, size_t len)
{
	struct got *got = &t->got[t->n++];
	struct ot_arena arena;
	struct fl_of of;

	assert_true(t->n <= GOT_MAX);
	*got = (struct got){ kind, -1, { 0 } };
	ot_buf_init(&got->body);
	if (kind != FL_OF) {
		ot_buf_append(&got->body, data, len);
		return;
	}
	ot_arena_init(&arena);
	assert_null(fl_get_of(data, len, &arena, &of));
	ot_arena_deinit(&arena);
	got->kind = (enum fl_kind)of.kind;
	got->member = (int)of.member;
	ot_buf_append(&got->body, of.body.data, of.body.len);
}

static inline void forget(struct merging *t)
{
	for (unsigned i = 0; i < t->n; i++)
		ot_buf_deinit(&t->got[i].body);
	t->n = 0;
}

static inline void listen_once(struct merging *t)
{
	enum fl_kind kind;
	const void *data;
	size_t len;

	ot_err_destroy(fl_link_poll(t->operator));
	while (fl_link_receive(t->operator, & kind, &data, &len))
		keep(t, kind, data, len);
	ot_err_destroy(fl_link_poll(t->operator));
}

/* Whatever is under way arrives. */
static inline void work(struct merging *t)
{
	for (unsigned i = 0; i < 6 && !t->err; i++) {
		for (unsigned k = 0; k < OT_ARRAY_SIZE(t->f.hosts); k++)
			if (t->f.hosts[k].link)
				ot_err_destroy(fl_link_poll(t->f.hosts[k].link));
		t->err = fl_merge_step(t->m);
		listen_once(t);
	}
}

/* The place of the first such message from number @from on; t->n: there is none. */
static inline unsigned find(const struct merging *t, unsigned from, int member, enum fl_kind kind)
{
	while (from < t->n && (t->got[from].member != member || t->got[from].kind != kind))
		from++;
	return from;
}

static inline bool has(const struct merging *t, int member, enum fl_kind kind)
{
	return find(t, 0, member, kind) < t->n;
}

static inline struct fl_reader reader_of(const struct merging *t, unsigned i)
{
	assert_true(i < t->n);
	return fl_reader_of(t->got[i].body.data, t->got[i].body.len);
}

/* The kinds of all that came, as words; OF's with their member's number behind. */
static inline const char *kinds(const struct merging *t)
{
	static char text[4096];
	size_t len = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < t->n && len < sizeof(text) - 64; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
					fl_kind_name(t->got[i].kind));
		if (t->got[i].member >= 0)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "(%d)", t->got[i].member);
	}
	return text;
}

/* --- its course --------------------------------------------------------------------------------------------- */

static inline void put_text_run(struct ot_buf *out, const char *text)
{
	const struct fl_source source = { .spec = DIF_SPEC_NAME,
					  .name = "",
					  .text = { (const uint8_t *)text, (uint32_t)strlen(text) } };

	fl_put_run(out, &(struct fl_run){ .guests = "web*", .sources = &source, .nsources = 1 });
}

static inline void put_member(struct ot_buf *out, uint32_t member, const char *name, const char *text)
{
	static const uint8_t key[FL_PUBLIC];
	struct ot_buf run = { 0 };

	put_text_run(&run, text);
	fl_put_member(out, &(struct fl_member){ .member = member,
						.name = name,
						.key = { key, sizeof(key) },
						.run = { (const uint8_t *)run.data, (uint32_t)run.len },
						.ninvitations = 1,
						.invitations = { { key, sizeof(key) } } });
	ot_buf_deinit(&run);
}

/* As if member number @member, which is canned host @i, had answered. */
static inline void join_as(struct merging *t, unsigned i, unsigned member)
{
	struct fl_carrier *near, *far;

	make_pair(&near, &far);
	assert_null(fl_link_create(far, NULL, NULL, NULL, &t->f.hosts[i].link));
	assert_null(fl_members_join(t->m, &t->m->members[member], near, NULL));
}

static inline void join(struct merging *t, unsigned i)
{
	join_as(t, i, i);
}

static inline void greet(struct merging *t)
{
	struct fl_hello hello = { .protocol = FL_PROTOCOL, .name = "alice@desk" };
	struct ot_buf body = { 0 };

	fl_put_hello(&body, &hello);
	tell(t, FL_HELLO, &body);
}

/* A merger and @nhosts hosts that have links, of which none has said anything. */
static inline void merging_setup(struct merging *t, const char *text, unsigned nhosts)
{
	static const char *const names[] = { "h1", "h2" };
	struct fl_carrier *near, *far;
	struct ot_buf body;

	memset(t, 0, sizeof(*t));
	setup(&t->f, text, 0);
	assert_true(lx_compile(&t->f.lx, text));
	t->config.name = "m1";
	make_pair(&near, &far);
	assert_null(fl_link_create(near, NULL, NULL, NULL, &t->operator));
	assert_null(fl_link_create(far, NULL, NULL, NULL, &t->link));
	assert_null(fl_merge_create(t->link, &t->config, &t->m));
	t->m->opts.aggrate_ns = 0; /* sums go out in each round */
	greet(t);
	for (unsigned i = 0; i < nhosts; i++) {
		body = (struct ot_buf){ 0 };
		put_member(&body, i, names[i], text);
		tell(t, FL_MEMBER, &body);
	}
	work(t);
	assert_null(t->err);
	for (unsigned i = 0; i < nhosts; i++)
		join(t, i);
}

static inline void merging_teardown(struct merging *t)
{
	forget(t);
	ot_err_destroy(t->err);
	fl_merge_destroy(t->m);
	fl_link_destroy(t->link);
	fl_link_destroy(t->operator);
	teardown(&t->f);
}

static inline void tell_program(struct merging *t, const struct dif_program *prog)
{
	struct ot_buf dof = { 0 }, body = { 0 };

	assert_null(dif_dof_write(prog, &dof));
	fl_put_program(&body,
		       &(struct fl_program){ .dof = { (const uint8_t *)dof.data, (uint32_t)dof.len } });
	ot_buf_deinit(&dof);
	tell(t, FL_PROGRAM, &body);
}

/* The operator has its program, and every host has begun. */
static inline void merging_start(struct merging *t, unsigned nhosts)
{
	tell_program(t, &t->f.lx.prog);
	for (unsigned i = 0; i < nhosts; i++)
		tell_of(t, i, FL_START);
	work(t);
	for (unsigned i = 0; i < nhosts; i++)
		say(&t->f.hosts[i], FL_STARTED);
	work(t);
	assert_null(t->err);
}

/* Two hosts of one kernel run, and nothing that came until then is remembered. */
static inline void merging_begin(struct merging *t, const char *text)
{
	merging_setup(t, text, 2);
	for (unsigned i = 0; i < 2; i++)
		say_all(&t->f, i);
	work(t);
	merging_start(t, 2);
	forget(t);
}

static inline void say_ended(struct canned *h)
{
	fl_put_ended(&h->body, &(struct fl_ended){ .text = "" });
	say(h, FL_ENDED);
}

#endif
