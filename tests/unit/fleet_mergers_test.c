/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/operator: mergers. What members hand over is theirs, sums are a merger's, and one that is lost is
 * replaced. The other ends of the links are the test's own mergers, m1 and m2, with hosts h1, h2 … */
#include <sodium.h>
#include <time.h>

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

static void make_calling(struct mergers *m)
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

static void connect_merger(struct mergers *m, unsigned i)
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
static void open_fleet(struct mergers *m, const char *text, unsigned nmergers, unsigned nhosts)
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

static void close_fleet(struct mergers *m)
{
	teardown(&m->f);
	ot_arena_deinit(&m->arena);
}

/* --- what the test's mergers say -------------------------------------------------------------------------- */

/* The body that was written, as a member's. */
static void say_of(struct canned *h, uint32_t member, enum fl_kind kind)
{
	struct ot_buf of = { 0 };

	fl_put_of(&of,
		  &(struct fl_of){ member, kind, { (const uint8_t *)h->body.data, (uint32_t)h->body.len } });
	ot_buf_clear(&h->body);
	assert_null(fl_link_send(h->link, FL_OF, of.data, of.len));
	ot_buf_deinit(&of);
	ot_err_destroy(fl_link_poll(h->link));
}

static void say_gone(struct canned *h, uint32_t member, uint64_t silent_ns, const char *text)
{
	fl_put_gone(&h->body, &(struct fl_gone){ member, silent_ns, text });
	say(h, FL_GONE);
}

static void of_hello(struct canned *h, uint32_t member)
{
	struct fl_hello hello = { .protocol = FL_PROTOCOL, .name = "host" };

	fl_clock_now(&hello.clock);
	fl_put_hello(&h->body, &hello);
	say_of(h, member, FL_HELLO);
}

static void of_ready(struct canned *h, uint32_t member)
{
	fl_put_guest(&h->body, &(struct fl_guest){ 0, "web01", true, 0, "" });
	say_of(h, member, FL_GUEST);
	fl_put_ready(&h->body, &(struct fl_ready){ .matched = 3, .ntexts = 1, .by_text = { 3 } });
	say_of(h, member, FL_READY);
}

static void put_program(struct fixture *f, struct canned *h)
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

static void put_enabled(struct canned *h, uint32_t epid, uint32_t clause)
{
	fl_put_enabled(&h->body,
		       &(struct fl_enabled){ epid, clause, 0, 77, "fbt", "vmlinux", "do_exit", "entry" });
}

/* The merger, and what its members have to say before START. */
static void greet(struct canned *h, uint32_t nmembers)
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
static bool hear(struct mergers *m, unsigned i, struct heard *ret)
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

static void expect_of(struct mergers *m, unsigned i, uint32_t member, enum fl_kind kind)
{
	struct heard heard;

	assert_true(hear(m, i, &heard));
	assert_int_equal(heard.kind, FL_OF);
	assert_int_equal(heard.of.member, member);
	assert_int_equal(heard.of.kind, kind);
}

static void expect_kind(struct mergers *m, unsigned i, enum fl_kind kind)
{
	struct heard heard;

	assert_true(hear(m, i, &heard));
	assert_int_equal(heard.kind, kind);
}

/* MEMBER, whose invitations are the operator's for that host, for this merger's key. */
static void expect_member(struct mergers *m, unsigned i, uint32_t number, unsigned host)
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
static void begin_fleet(struct mergers *m, const char *text, unsigned nmergers, unsigned nhosts)
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

static void say_ended(struct canned *h, uint32_t member, bool exited, int32_t status)
{
	fl_put_ended(&h->body, &(struct fl_ended){ exited, status, false, "" });
	say_of(h, member, FL_ENDED);
}

static void expect_report(struct mergers *m, bool whole, const char *text)
{
	struct ot_buf out = { 0 };

	assert_int_equal(fl_fleet_report(m->f.fleet, &out), whole);
	assert_string_equal(ot_buf_str(&out), text);
	ot_buf_deinit(&out);
}

/* Each of its share, as soon as the merger has said that it is there; what they run is signed. */
static void members_are_invited_by_the_operator(void **state)
{
	struct mergers m;
	struct heard heard;

	(void)state;
	open_fleet(&m, counting, 2, 3);
	m.f.fleet->is_strict = true;
	assert_false(hear(&m, 0, &heard));
	greet(&m.f.hosts[0], 0);
	assert_null(fl_host_pump_strictly(m.mergers[0]));
	expect_member(&m, 0, 0, 0);
	expect_member(&m, 0, 1, 2);
	assert_false(hear(&m, 0, &heard));
	assert_false(hear(&m, 1, &heard));
	greet(&m.f.hosts[1], 0);
	assert_null(fl_host_pump_strictly(m.mergers[1]));
	expect_member(&m, 1, 0, 1);
	close_fleet(&m);
}

static void members_are_hosts(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 1, 2);
	assert_int_equal(fl_fleet_matched(m.f.fleet), 6);
	struct canned *h = &m.f.hosts[0];

	/* what a record needs comes before it */
	put_program(&m.f, h);
	say_of(h, 1, FL_PROGRAM);
	put_enabled(h, 5, 0);
	say_of(h, 1, FL_ENABLED);
	put_clock(h);
	put_record(h, 5, 1, ot_now_ns(), 42, 24);
	say_of(h, 1, FL_RECORDS);
	take(&m.f);
	m.f.fleet->order.waits = false;
	assert_null(fl_order_release(&m.f.fleet->order, UINT64_MAX, ot_now_ns()));
	assert_int_equal(m.f.seen.records, 1);
	const struct vp_enabled *ecb = m.f.seen.record.ecb;
	assert_int_equal(ecb->guest, FL_GUEST_BASE + m.members[1]->index * VP_GUESTS_MAX);
	assert_string_equal(m.members[1]->there[0].name, "h2/web01");
	assert_int_equal(con_load(m.f.seen.data + ecb->layout->recs[0].offset, 8), 42);
	/* what does not add up is the host's too */
	put_enabled(h, 6, 1);
	say_of(h, 1, FL_ENABLED);
	put_aggregate(h, 6, 2, "do_exit", 8 + STRSIZE, 7, 8);
	say_of(h, 1, FL_AGGREGATES);
	take(&m.f);
	assert_int_equal(m.f.seen.aggregates, 1);
	close_fleet(&m);
}

/* A merger's own data: it has hosts' names in it, and names of its own numbers. */
static void sums_are_the_mergers(void **state)
{
	static const char text[] = "fbt::do_exit:entry { @[guest] = count(); @s[stack(1)] = count(); }";
	struct con_symbols symbols = { .nguests = 1 };
	struct mergers m;
	char name[64];

	(void)state;
	begin_fleet(&m, text, 1, 2);
	struct canned *h = &m.f.hosts[0];

	put_program(&m.f, h);
	say(h, FL_PROGRAM);
	put_enabled(h, 1, 0);
	say(h, FL_ENABLED);
	fl_put_name(&h->body, &(struct fl_name){ 0, 70000, "vmlinux`do_exit", "" });
	say(h, FL_NAMES);
	put_aggregate(h, 1, 1, "h2/web01", 8 + STRSIZE, 7, 8);
	say(h, FL_AGGREGATES);
	fl_put_drop(&h->body, &(struct fl_drop){ VP_DROP_AGGREGATION, 0, 12 });
	say(h, FL_DROPS);
	take(&m.f);
	assert_int_equal(m.f.seen.aggregates, 1);
	assert_int_equal(m.f.seen.drops, 1);
	assert_string_equal((const char *)m.f.seen.tuple + 8, "h2/web01"); /* not "m1/m" */
	fl_fleet_names(m.f.fleet, &symbols);
	symbols.kernel(symbols.arg, m.f.seen.aggregate.ecb->guest, 70000, VP_SYM_OFFSET, name, sizeof(name));
	assert_string_equal(name, "vmlinux`do_exit");
	assert_int_equal(m.f.seen.news, 0); /* it is no guest that has joined */
	close_fleet(&m);
}

/* exit() in a clause of a member's is the session's. */
static void ended_one_by_one(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 1, 2);
	say_ended(&m.f.hosts[0], 0, true, 7);
	say_ended(&m.f.hosts[0], 1, false, 0);
	bool exited;
	int status;

	assert_false(fl_fleet_has_ended(m.f.fleet));
	assert_null(fl_fleet_take(m.f.fleet, &exited, &status));
	assert_true(exited);
	assert_int_equal(status, 7);
	assert_true(fl_fleet_has_ended(m.f.fleet));
	expect_report(&m, true, "");
	close_fleet(&m);
}

static void lost_one_by_one(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 1, 3);
	say_ended(&m.f.hosts[0], 0, false, 0);
	say_gone(&m.f.hosts[0], 1, 12000000000ull, "nothing was heard for 10 s");
	take(&m.f);
	assert_non_null(strstr(m.f.seen.said, "h2: the host is lost: nothing was heard for 10 s\n"));
	say_ended(&m.f.hosts[0], 2, false, 0);
	take(&m.f);
	assert_true(fl_fleet_has_ended(m.f.fleet));
	expect_report(&m, false, "hosts: 2 whole, 1 lost: h2, last heard 12 s ago");
	close_fleet(&m);
}

/* --- before it runs ---------------------------------------------------------------------------------------- */

static void open_greeted(struct mergers *m, bool without_silent)
{
	open_fleet(m, counting, 1, 2);
	m->nats.without_silent = without_silent;
	m->f.fleet->config.nats = &m->nats;
	greet(&m->f.hosts[0], 0);
	m->f.fleet->is_strict = true;
	assert_null(fl_host_pump_strictly(m->mergers[0]));
	of_hello(&m->f.hosts[0], 0);
	of_ready(&m->f.hosts[0], 0);
}

static void expect_failure(struct mergers *m, enum ot_err_code code, const char *text)
{
	struct ot_err *err = fl_fleet_prepare(m->f.fleet, -1);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), code);
	assert_string_equal(ot_err_message(err), text);
	ot_err_destroy(err);
	close_fleet(m);
}

static void refused_by_a_host(void **state)
{
	struct mergers m;

	(void)state;
	open_greeted(&m, false);
	fl_put_refused(&m.f.hosts[0].body, &(struct fl_refused){ FL_REASON_POLICY, "refused: no\n" });
	say_of(&m.f.hosts[0], 1, FL_REFUSED);
	expect_failure(&m, OT_ERR_PERMISSION, "host h2: refused: no");
}

static void silent_hosts(void **state)
{
	struct mergers m;

	(void)state;
	open_greeted(&m, false);
	say_gone(&m.f.hosts[0], 1, 0, "it does not answer");
	expect_failure(&m, OT_ERR_NOT_FOUND,
		       "host h2: it does not answer: -x hostloss=ok goes on without it");

	open_greeted(&m, true);
	say_gone(&m.f.hosts[0], 1, 0, "it does not answer");
	assert_null(fl_fleet_prepare(m.f.fleet, -1));
	assert_string_equal(m.f.seen.said, "h2: it does not answer\n");
	assert_null(fl_fleet_bind(m.f.fleet, &m.f.lx.prog, &m.f.sink, 0));
	say_of(&m.f.hosts[0], 0, FL_STARTED);
	assert_null(fl_fleet_start(m.f.fleet));
	say_ended(&m.f.hosts[0], 0, false, 0);
	take(&m.f);
	assert_true(fl_fleet_has_ended(m.f.fleet));
	expect_report(&m, true, ""); /* as one that never was a part */
	close_fleet(&m);
}

/* --- what is wrong ------------------------------------------------------------------------------------------ */

/* A member's message that is not right is its end, here and there. */
static void one_members_fault(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 1, 2);
	put_clock(&m.f.hosts[0]);
	put_record(&m.f.hosts[0], 99, 1, 1, 1, 24);
	say_of(&m.f.hosts[0], 1, FL_RECORDS);
	take(&m.f);
	assert_int_equal(m.members[1]->state, FL_HOST_LOST);
	assert_int_equal(m.members[0]->state, FL_HOST_RUNNING);
	assert_int_equal(m.mergers[0]->state, FL_HOST_RUNNING);
	expect_of(&m, 0, 1, FL_STOP);
	/* what it says further is nothing */
	say_of(&m.f.hosts[0], 1, FL_RECORDS);
	take(&m.f);
	assert_int_equal(m.mergers[0]->state, FL_HOST_RUNNING);
	close_fleet(&m);
}

static void put_nothing(struct canned *h)
{
	(void)h;
}

static void put_strange_member(struct canned *h)
{
	fl_put_of(&h->body, &(struct fl_of){ 2, FL_READY, { NULL, 0 } });
}

static void put_strange_gone(struct canned *h)
{
	fl_put_gone(&h->body, &(struct fl_gone){ 2, 0, "" });
}

static void put_strange_sum(struct canned *h)
{
	put_aggregate(h, 44, 2, "x", 8 + STRSIZE, 7, 8);
}

/* A merger that is not honest is lost, and its hosts with it, as there is no other. */
static void a_mergers_fault(void **state)
{
	static const struct {
		enum fl_kind kind;
		void (*put)(struct canned *h);
	} bad[] = {
		{ FL_OF, put_nothing },     { FL_OF, put_strange_member },      { FL_GONE, put_strange_gone },
		{ FL_READY, put_nothing },  { FL_STARTED, put_nothing },        { FL_RECORDS, put_nothing },
		{ FL_FAULTS, put_nothing }, { FL_AGGREGATES, put_strange_sum }, { FL_HELLO, put_nothing },
		{ FL_MEMBER, put_nothing }, { FL_OVERLOAD, put_nothing },       { FL_RUN, put_nothing },
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++) {
		struct mergers m;

		begin_fleet(&m, counting, 1, 2);
		bad[i].put(&m.f.hosts[0]);
		say(&m.f.hosts[0], bad[i].kind);
		take(&m.f);
		assert_int_equal(m.mergers[0]->state, FL_HOST_LOST);
		assert_true(fl_fleet_has_ended(m.f.fleet));
		assert_non_null(strstr(m.f.seen.said,
				       "merger m1 is lost: of its 2 hosts 2 are lost; what they "
				       "counted since "));
		close_fleet(&m);
	}
}

/* --- a merger is lost ---------------------------------------------------------------------------------------- */

/* m1 has h1 and h3, m2 has h2 and h4. */
static void lose_first(struct mergers *m)
{
	begin_fleet(m, counting, 2, 4);
	m->f.fleet->again_ns = 1;
	fl_link_destroy(m->f.hosts[0].link);
	m->f.hosts[0].link = NULL;
	take(&m->f);
}

static void hosts_go_to_another_merger(void **state)
{
	struct mergers m;

	(void)state;
	lose_first(&m);
	assert_non_null(
	    strstr(m.f.seen.said, "merger m1 is lost: its 2 hosts go to m2; what they counted since "));
	assert_int_equal(m.members[0]->state, FL_HOST_LEFT_OUT);
	assert_int_equal(m.members[2]->state, FL_HOST_LEFT_OUT);
	assert_false(fl_fleet_has_ended(m.f.fleet));
	/* numbers that were not used there, in the order of the last first */
	expect_member(&m, 1, 2, 2);
	expect_member(&m, 1, 3, 0);
	for (uint32_t member = 2; member < 4; member++) {
		of_hello(&m.f.hosts[1], member);
		of_ready(&m.f.hosts[1], member);
		expect_of(&m, 1, member, FL_START);
		say_of(&m.f.hosts[1], member, FL_STARTED);
		take(&m.f);
	}
	assert_int_equal(m.f.fleet->nagain, 0);
	for (uint32_t member = 0; member < 4; member++)
		say_ended(&m.f.hosts[1], member, false, 0);
	take(&m.f);
	assert_true(fl_fleet_has_ended(m.f.fleet));
	expect_report(&m, false, "hosts: 4 whole; 1 merger lost");
	close_fleet(&m);
}

/* What is uncertain began as long before the last sums as hosts may gather. */
static void since_when(void **state)
{
	static const char before[] = "what they counted since ";
	struct mergers m;
	unsigned h, min, s;
	struct tm tm;

	(void)state;
	begin_fleet(&m, counting, 2, 2);
	m.f.lx.opts.aggrate_ns = 100000000000ull;
	fl_link_destroy(m.f.hosts[0].link);
	m.f.hosts[0].link = NULL;
	time_t now = time(NULL);

	take(&m.f);
	const char *at = strstr(m.f.seen.said, before);

	assert_non_null(at);
	assert_int_equal(sscanf(at + strlen(before), "%2u:%2u:%2u may be missing", &h, &min, &s), 3);
	assert_non_null(localtime_r(&now, &tm));
	const int ago =
	    (tm.tm_hour - (int)h) * 3600 + (tm.tm_min - (int)min) * 60 + tm.tm_sec - (int)s + 86400;

	assert_in_range(ago % 86400, 100, 160); /* a busy machine takes its time */
	close_fleet(&m);
}

/* RUN that a host gets directly then is the one that invitations of it are for. */
static void the_same_program_directly(void **state)
{
	struct fl_carrier *near, *far;
	struct fl_channel *channel;
	struct canned other = { 0 };
	struct mergers m;
	struct ot_buf member = { 0 };
	struct fl_member got;
	enum fl_kind kind;
	const void *data;
	size_t len;
	int ends[2];

	(void)state;
	begin_fleet(&m, counting, 1, 1);
	assert_null(fl_calling_member(m.f.fleet->calling, m.members[0]->invited, 0, m.keys[0], &member));
	assert_null(fl_get_member(member.data, member.len, &m.arena, &got));
	connect_merger(&m, 1); /* with room, so that the host is not lost */
	fl_link_destroy(m.f.hosts[0].link);
	m.f.hosts[0].link = NULL;
	take(&m.f);
	struct fl_host *h = m.f.fleet->hosts[m.f.fleet->nhosts - 1];

	assert_string_equal(h->name, "h1");
	assert_int_equal(h->state, FL_HOST_WAITING);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_null(fl_pipe_create(ends[0], ends[0], &near));
	assert_null(fl_pipe_create(ends[1], ends[1], &far));
	assert_null(fl_link_create(far, NULL, NULL, NULL, &other.link));
	assert_null(fl_channel_open(near, NULL, &channel));
	assert_null(fl_host_connect(h, channel));
	say_hello(&other, FL_PROTOCOL);
	take(&m.f);
	do {
		ot_err_destroy(fl_link_poll(other.link));
		assert_true(fl_link_receive(other.link, &kind, &data, &len));
	} while (kind == FL_HELLO);
	assert_int_equal(kind, FL_RUN);
	assert_int_equal(len, got.run.len);
	assert_memory_equal(data, got.run.data, len);
	fl_link_destroy(other.link);
	ot_buf_deinit(&other.body);
	ot_buf_deinit(&member);
	close_fleet(&m);
}

/* The next one is lost before they have begun: there is none, and no broker. */
static void no_merger_is_left(void **state)
{
	struct mergers m;

	(void)state;
	lose_first(&m);
	fl_link_destroy(m.f.hosts[1].link);
	m.f.hosts[1].link = NULL;
	for (unsigned i = 0; i < 4; i++)
		take(&m.f);
	assert_true(fl_fleet_has_ended(m.f.fleet));
	struct ot_buf out = { 0 };

	assert_false(fl_fleet_report(m.f.fleet, &out));
	assert_non_null(strstr(ot_buf_str(&out), "hosts: 0 whole, 4 lost: "));
	assert_non_null(strstr(ot_buf_str(&out), "; 2 mergers lost"));
	ot_buf_deinit(&out);
	close_fleet(&m);
}

/* One that ends by itself, since it has to, is no better. */
static void a_merger_is_stopped(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 2, 4);
	m.f.fleet->again_ns = 1;
	fl_put_ended(&m.f.hosts[0].body,
		     &(struct fl_ended){ .failed = true, .text = "stopped by signal 15" });
	say(&m.f.hosts[0], FL_ENDED);
	take(&m.f);
	assert_non_null(strstr(m.f.seen.said, "merger m1 is lost: its 2 hosts go to m2"));
	close_fleet(&m);
}

/* A merger whose hosts have ended is missed by nobody. */
static void lost_after_all(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 1, 1);
	say_ended(&m.f.hosts[0], 0, false, 0);
	take(&m.f);
	fl_link_destroy(m.f.hosts[0].link);
	m.f.hosts[0].link = NULL;
	take(&m.f);
	expect_report(&m, true, "");
	close_fleet(&m);
}

/* Hosts that wait for their turn when the session ends have not begun again. */
static void stopped_while_waiting(void **state)
{
	struct mergers m;

	(void)state;
	begin_fleet(&m, counting, 2, 2);
	fl_link_destroy(m.f.hosts[0].link);
	m.f.hosts[0].link = NULL;
	take(&m.f);
	assert_false(fl_fleet_has_ended(m.f.fleet));
	say_ended(&m.f.hosts[1], 0, false, 0);
	assert_null(fl_fleet_stop(m.f.fleet, NULL, NULL));
	assert_non_null(strstr(m.f.seen.said, "h1: the host is lost: it had not begun again"));
	close_fleet(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_invited_by_the_operator),
		cmocka_unit_test(members_are_hosts),
		cmocka_unit_test(sums_are_the_mergers),
		cmocka_unit_test(ended_one_by_one),
		cmocka_unit_test(lost_one_by_one),
		cmocka_unit_test(refused_by_a_host),
		cmocka_unit_test(silent_hosts),
		cmocka_unit_test(one_members_fault),
		cmocka_unit_test(a_mergers_fault),
		cmocka_unit_test(hosts_go_to_another_merger),
		cmocka_unit_test(since_when),
		cmocka_unit_test(the_same_program_directly),
		cmocka_unit_test(no_merger_is_left),
		cmocka_unit_test(a_merger_is_stopped),
		cmocka_unit_test(lost_after_all),
		cmocka_unit_test(stopped_while_waiting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
