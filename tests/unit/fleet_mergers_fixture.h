/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An operator with mergers, m1 and m2, which are the test's own ends of links, and their hosts, h1, h2 … */
#ifndef TESTS_UNIT_FLEET_MERGERS_FIXTURE_H
#define TESTS_UNIT_FLEET_MERGERS_FIXTURE_H

#include <sodium.h>

#include "fleet/operator/nats.h"
#include "tests/unit/fleet_operator_fixture.h"

#define HOSTS 4u

static const char *const names[HOSTS] = { "h1", "h2", "h3", "h4" };
static const char *const merger_names[] = { "m1", "m2" };

struct mergers {
	struct fixture f;
	struct fl_nats_config nats;
	struct fl_known_host known[HOSTS];
	struct fl_host *mergers[2], *members[HOSTS];
	uint8_t keys[2][FL_PUBLIC];
	struct ot_arena arena;
};

/* --- the operator's ends ---------------------------------------------------------------------------------- */

static inline void make_calling(struct mergers *m)
{
	struct fl_calling *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	assert_null(fl_trust_start());
	c->fleet = m->f.fleet;
	ot_arena_init(&c->arena);
	ot_map_init(&c->by_name);
	strcpy(c->name, "alice@desk");
	crypto_sign_keypair(c->identity.public, c->identity.secret);
	c->hosts = calloc(HOSTS, sizeof(*c->hosts));
	assert_non_null(c->hosts);
	c->nhosts = HOSTS;
	for (unsigned i = 0; i < HOSTS; i++) {
		m->known[i].name = names[i];
		memset(m->known[i].key, (int)(0x40 + i), FL_PUBLIC);
		c->hosts[i] = (struct fl_invited){ .known = &m->known[i], .asks = FL_ASKS_RUN };
		ot_buf_puts(&c->hosts[i].guests, "web*");
	}
	m->f.fleet->calling = c;
}

static inline void connect_merger(struct mergers *m, unsigned i)
{
	struct fl_carrier *near, *far;
	struct fl_channel *channel;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_null(fl_pipe_create(ends[0], ends[0], &near));
	assert_null(fl_pipe_create(ends[1], ends[1], &far));
	assert_null(fl_link_create(far, NULL, NULL, NULL, &m->f.hosts[i].link));
	memset(m->keys[i], (int)(0x70 + i), FL_PUBLIC);
	assert_null(fl_host_create(m->f.fleet, merger_names[i], merger_names[i], &m->mergers[i]));
	assert_null(fl_merger_create(m->mergers[i], m->keys[i]));
	assert_null(fl_channel_open(near, NULL, &channel));
	assert_null(fl_host_connect(m->mergers[i], channel));
}

/* nhosts, of the mergers in turn. */
static inline void open_fleet(struct mergers *m, const char *text, unsigned nmergers, unsigned nhosts)
{
	memset(m, 0, sizeof(*m));
	ot_arena_init(&m->arena);
	setup(&m->f, text, 0);
	assert_true(lx_compile(&m->f.lx, text));
	make_calling(m);
	for (unsigned i = 0; i < nmergers; i++)
		connect_merger(m, i);
	for (unsigned i = 0; i < nhosts; i++) {
		assert_null(fl_host_create(m->f.fleet, names[i], names[i], &m->members[i]));
		assert_null(fl_host_of(m->members[i], &m->f.fleet->calling->hosts[i]));
		assert_null(fl_merger_add(m->mergers[i % nmergers], m->members[i]));
	}
}

static inline void close_fleet(struct mergers *m)
{
	teardown(&m->f);
	ot_arena_deinit(&m->arena);
}

/* --- what the test's mergers say -------------------------------------------------------------------------- */

/* The body that was written, as a member's. */
static inline void say_of(struct canned *h, uint32_t member, enum fl_kind kind)
{
	struct ot_buf of = { 0 };

	fl_put_of(&of,
		  &(struct fl_of){ member, kind, { (const uint8_t *)h->body.data, (uint32_t)h->body.len } });
	ot_buf_clear(&h->body);
	assert_null(fl_link_send(h->link, FL_OF, of.data, of.len));
	ot_buf_deinit(&of);
	ot_err_destroy(fl_link_poll(h->link));
}

static inline void say_gone(struct canned *h, uint32_t member, uint64_t silent_ns, const char *text)
{
	fl_put_gone(&h->body, &(struct fl_gone){ member, silent_ns, text });
	say(h, FL_GONE);
}

static inline void of_hello(struct canned *h, uint32_t member)
{
	struct fl_hello hello = { .protocol = FL_PROTOCOL, .name = "host" };

	fl_clock_now(&hello.clock);
	fl_put_hello(&h->body, &hello);
	say_of(h, member, FL_HELLO);
}

static inline void of_ready(struct canned *h, uint32_t member)
{
	fl_put_guest(&h->body, &(struct fl_guest){ 0, "web01", true, 0, "" });
	say_of(h, member, FL_GUEST);
	fl_put_ready(&h->body, &(struct fl_ready){ .matched = 3, .ntexts = 1, .by_text = { 3 } });
	say_of(h, member, FL_READY);
}

static inline void put_program(struct fixture *f, struct canned *h)
{
	struct ot_buf dof = { 0 };

	assert_null(dif_dof_write(&f->lx.prog, &dof));
	fl_put_program(&h->body,
		       &(struct fl_program){ .dof = { (const uint8_t *)dof.data, (uint32_t)dof.len },
					     .strsize = STRSIZE,
					     .stackframes = 4,
					     .ustackframes = 4,
					     .jstackframes = 4,
					     .jstackstrsize = 64 });
	ot_buf_deinit(&dof);
}

static inline void put_enabled(struct canned *h, uint32_t epid, uint32_t clause)
{
	fl_put_enabled(&h->body,
		       &(struct fl_enabled){ epid, clause, 0, 77, "fbt", "vmlinux", "do_exit", "entry" });
}

/* The merger, and what its members have to say before START. */
static inline void greet(struct canned *h, uint32_t nmembers)
{
	say_hello(h, FL_PROTOCOL);
	say_guest(h, 0, "m", true);
	for (uint32_t i = 0; i < nmembers; i++) {
		of_hello(h, i);
		of_ready(h, i);
	}
}

/* --- what they hear --------------------------------------------------------------------------------------- */

struct heard {
	enum fl_kind kind;
	struct fl_bytes body; /* the arena's */
	struct fl_of of;      /* if it is one */
};

/* The next message, HELLO left out. */
static inline bool hear(struct mergers *m, unsigned i, struct heard *ret)
{
	struct fl_link *link = m->f.hosts[i].link;
	const void *data;
	size_t len;

	for (unsigned round = 0; round < 4; round++) {
		while (fl_link_receive(link, &ret->kind, &data, &len)) {
			if (ret->kind == FL_HELLO)
				continue;
			uint8_t *copy = ot_arena_alloc(&m->arena, len + 1);

			memcpy(copy, data, len);
			ret->body = (struct fl_bytes){ copy, (uint32_t)len };
			if (ret->kind == FL_OF)
				assert_null(fl_get_of(copy, len, NULL, &ret->of));
			return true;
		}
		take(&m->f);
		ot_err_destroy(fl_link_poll(link));
	}
	return false;
}

static inline void expect_of(struct mergers *m, unsigned i, uint32_t member, enum fl_kind kind)
{
	struct heard heard;

	assert_true(hear(m, i, &heard));
	assert_int_equal(heard.kind, FL_OF);
	assert_int_equal(heard.of.member, member);
	assert_int_equal(heard.of.kind, kind);
}

static inline void expect_kind(struct mergers *m, unsigned i, enum fl_kind kind)
{
	struct heard heard;

	assert_true(hear(m, i, &heard));
	assert_int_equal(heard.kind, kind);
}

/* MEMBER, whose invitations are the operator's for that host, for this merger's key. */
static inline void expect_member(struct mergers *m, unsigned i, uint32_t number, unsigned host)
{
	struct heard heard;
	struct fl_member got;
	struct fl_request r;
	uint8_t digest[FL_DIGEST], nonce[FL_NONCE] = { 0 };

	assert_true(hear(m, i, &heard));
	assert_int_equal(heard.kind, FL_MEMBER);
	assert_null(fl_get_member(heard.body.data, heard.body.len, &m->arena, &got));
	assert_int_equal(got.member, number);
	assert_string_equal(got.name, names[host]);
	assert_memory_equal(got.key.data, m->known[host].key, FL_PUBLIC);
	assert_int_equal(got.ninvitations, FL_INVITATIONS_MAX);
	fl_digest(got.run.data, got.run.len, digest);
	for (uint32_t k = 0; k < got.ninvitations; k++) {
		assert_null(fl_request_open(got.invitations[k].data, got.invitations[k].len, &m->arena, &r));
		assert_int_equal(r.asks, FL_ASKS_RUN);
		assert_string_equal(r.operator, "alice@desk");
		assert_string_equal(r.guests, "web*");
		assert_int_equal(r.nhosts, 1);
		assert_string_equal(r.hosts[0], names[host]);
		assert_memory_equal(r.run, digest, FL_DIGEST);
		assert_memory_equal(r.ephemeral, m->keys[i], FL_PUBLIC);
		assert_memory_not_equal(r.nonce, nonce, FL_NONCE); /* a host takes none twice */
		memcpy(nonce, r.nonce, FL_NONCE);
	}
}

/* --- the course of it -------------------------------------------------------------------------------------- */

/* Everything up to the last STARTED; h1 and h3 are the first merger's if there are two, else all are. */
static inline void begin_fleet(struct mergers *m, const char *text, unsigned nmergers, unsigned nhosts)
{
	open_fleet(m, text, nmergers, nhosts);
	for (unsigned i = 0; i < nmergers; i++)
		greet(&m->f.hosts[i], 0);
	/* who is asked has to be asked first */
	m->f.fleet->is_strict = true;
	for (unsigned i = 0; i < nmergers; i++)
		assert_null(fl_host_pump_strictly(m->mergers[i]));
	for (unsigned k = 0; k < nhosts; k++) {
		expect_member(m, k % nmergers, k / nmergers, k);
		of_hello(&m->f.hosts[k % nmergers], k / nmergers);
		of_ready(&m->f.hosts[k % nmergers], k / nmergers);
	}
	assert_null(fl_fleet_prepare(m->f.fleet, -1));
	assert_null(fl_fleet_bind(m->f.fleet, &m->f.lx.prog, &m->f.sink, 0));
	for (unsigned k = 0; k < nhosts; k++)
		say_of(&m->f.hosts[k % nmergers], k / nmergers, FL_STARTED);
	assert_null(fl_fleet_start(m->f.fleet));
	for (unsigned i = 0; i < nmergers; i++)
		expect_kind(m, i, FL_PROGRAM); /* before any START */
	for (unsigned k = 0; k < nhosts; k++)
		expect_of(m, k % nmergers, k / nmergers, FL_START);
}

static inline void say_ended(struct canned *h, uint32_t member, bool exited, int32_t status)
{
	fl_put_ended(&h->body, &(struct fl_ended){ exited, status, false, "" });
	say_of(h, member, FL_ENDED);
}

static inline void expect_report(struct mergers *m, bool whole, const char *text)
{
	struct ot_buf out = { 0 };

	assert_int_equal(fl_fleet_report(m->f.fleet, &out), whole);
	assert_string_equal(ot_buf_str(&out), text);
	ot_buf_deinit(&out);
}

#endif
