/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/operator: what hosts hand over reaches the sink, and what hostile ones do ends them and nothing else.
 */
#include "tests/unit/dif_lang_fixture.h"

#include <sys/socket.h>

#include "base/clock.h"
#include "fleet/operator/internal.h"

#define STRSIZE 16u

/* What reaches the sink, and what is said. */
struct seen {
	unsigned records, aggregates, faults, drops, overloads, news;
	struct vp_record record; /* the last one; its data is borrowed */
	uint8_t data[64], tuple[64];
	struct vp_aggregate aggregate;
	uint64_t word;
	uint64_t times[16];
	char said[4096];
};

/* A host that says what a test has it say. */
struct canned {
	struct fl_link *link;
	struct ot_buf body;
};

struct fixture {
	struct lx lx;
	struct con_program text;
	struct con_strings args;
	const char *arg0;
	struct con_texts texts;
	struct ot_arena arena;
	struct fl_fleet *fleet;
	struct canned hosts[2];
	struct seen seen;
	struct vp_sink sink;
};

/* --- the sink ------------------------------------------------------------------------------------------- */

static struct ot_err *see_record(void *arg, const struct vp_record *r)
{
	struct seen *s = arg;

	s->record = *r;
	memcpy(s->data, r->data, r->size < sizeof(s->data) ? r->size : sizeof(s->data));
	if (s->records < OT_ARRAY_SIZE(s->times))
		s->times[s->records] = r->time_ns;
	s->records++;
	return NULL;
}

static struct ot_err *see_aggregate(void *arg, const struct vp_aggregate *agg)
{
	struct seen *s = arg;

	s->aggregates++;
	s->aggregate = *agg;
	s->word = agg->words[0];
	memcpy(s->tuple, agg->tuple, agg->layout->tuple_size < 64 ? agg->layout->tuple_size : 64);
	return NULL;
}

static struct ot_err *see_fault(void *arg, const struct vp_fault_info *fault)
{
	(void)fault;
	((struct seen *)arg)->faults++;
	return NULL;
}

static struct ot_err *see_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	(void)kind;
	(void)cpu;
	(void)count;
	((struct seen *)arg)->drops++;
	return NULL;
}

static struct ot_err *see_overload(void *arg, const struct vp_overload_info *overload)
{
	(void)overload;
	((struct seen *)arg)->overloads++;
	return NULL;
}

static void see_guest(void *arg, const struct vp_guest_news *news)
{
	(void)news;
	((struct seen *)arg)->news++;
}

static void see_said(void *arg, const char *text, const char *hint)
{
	struct seen *s = &((struct fixture *)arg)->seen;
	size_t len = strlen(s->said);

	(void)hint;
	snprintf(s->said + len, sizeof(s->said) - len, "%s\n", text);
}

/* --- a fleet with canned hosts -------------------------------------------------------------------------- */

static void add_host(struct fixture *f, unsigned i)
{
	static const char *const names[] = { "h1", "h2" };
	struct fl_carrier *near, *far;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_null(fl_pipe_create(ends[0], ends[0], &near));
	assert_null(fl_pipe_create(ends[1], ends[1], &far));
	assert_null(fl_link_create(far, NULL, NULL, NULL, &f->hosts[i].link));
	assert_null(fl_fleet_add_carrier(f->fleet, near, names[i], "web*"));
}

static void setup(struct fixture *f, const char *text, unsigned nhosts)
{
	memset(f, 0, sizeof(*f));
	lx_init(&f->lx);
	ot_arena_init(&f->arena);
	f->lx.opts.strsize = STRSIZE;
	f->arg0 = "outsight";
	f->args = (struct con_strings){ &f->arg0, 1, 1 };
	f->text = (struct con_program){ .spec = DIF_SPEC_NAME, .arg = text };
	f->texts = (struct con_texts){
		.opts = &f->lx.opts, .items = &f->text, .count = 1, .args = &f->args, .arena = &f->arena
	};
	f->sink = (struct vp_sink){ &f->seen, see_record,   see_aggregate, see_fault,
				    see_drop, see_overload, NULL,          see_guest };
	const struct fl_fleet_config config = {
		.texts = &f->texts, .opts = &f->lx.opts, .say = see_said, .arg = f
	};
	assert_null(fl_fleet_create(&config, &f->fleet));
	for (unsigned i = 0; i < nhosts; i++)
		add_host(f, i);
}

static void teardown(struct fixture *f)
{
	fl_fleet_destroy(f->fleet);
	for (unsigned i = 0; i < OT_ARRAY_SIZE(f->hosts); i++) {
		fl_link_destroy(f->hosts[i].link);
		ot_buf_deinit(&f->hosts[i].body);
	}
	ot_arena_deinit(&f->arena);
	lx_deinit(&f->lx);
}

/* The body that was written into the host's buffer. */
static void say(struct canned *h, enum fl_kind kind)
{
	assert_null(fl_link_send(h->link, kind, h->body.data, h->body.len));
	ot_buf_clear(&h->body);
	ot_err_destroy(fl_link_poll(h->link));
}

static void say_hello(struct canned *h, uint32_t protocol)
{
	struct fl_hello hello = { .protocol = protocol, .name = "other" };

	fl_clock_now(&hello.clock);
	fl_put_hello(&h->body, &hello);
	say(h, FL_HELLO);
}

static void say_guest(struct canned *h, uint32_t guest, const char *name, bool joined)
{
	fl_put_guest(&h->body, &(struct fl_guest){ guest, name, joined, VP_GUEST_POWERED_OFF,
						   "guest web01 powered off" });
	say(h, FL_GUEST);
}

static void say_program(struct canned *h, const struct dif_program *prog)
{
	struct ot_buf dof = { 0 };

	assert_null(dif_dof_write(prog, &dof));
	fl_put_program(&h->body, &(struct fl_program){
				     .dof = { (const uint8_t *)dof.data, (uint32_t)dof.len },
				     .strsize = STRSIZE,
				     .stackframes = 4,
				     .ustackframes = 4,
				     .jstackframes = 4,
				     .jstackstrsize = 64,
				 });
	ot_buf_deinit(&dof);
	say(h, FL_PROGRAM);
}

static void say_enabled(struct canned *h, uint32_t epid, uint32_t clause, uint32_t guest)
{
	fl_put_enabled(&h->body,
		       &(struct fl_enabled){ epid, clause, guest, 77, "fbt", "vmlinux", "do_exit", "entry" });
	say(h, FL_ENABLED);
}

static void say_ready(struct canned *h, uint64_t matched)
{
	fl_put_ready(&h->body, &(struct fl_ready){ .matched = matched, .ntexts = 1, .by_text = { matched } });
	say(h, FL_READY);
}

/* All that comes before START, for the program that the fixture has compiled; its clauses are enabled as
 * EPIDs from 1 on. */
static void say_all(struct fixture *f, unsigned i)
{
	struct canned *h = &f->hosts[i];

	say_hello(h, FL_PROTOCOL);
	say_guest(h, 0, "web01", true);
	say_program(h, &f->lx.prog);
	for (uint32_t k = 0; k < f->lx.prog.nclauses; k++)
		say_enabled(h, k + 1, k, 0);
	say_ready(h, 3);
}

/* The operator's program is the same one. */
static void start(struct fixture *f, unsigned nhosts)
{
	for (unsigned i = 0; i < nhosts; i++)
		say_all(f, i);
	assert_null(fl_fleet_prepare(f->fleet, -1));
	assert_null(fl_fleet_bind(f->fleet, &f->lx.prog, &f->sink, 0));
	for (unsigned i = 0; i < nhosts; i++)
		say(&f->hosts[i], FL_STARTED);
	assert_null(fl_fleet_start(f->fleet));
}

static void begin(struct fixture *f, const char *text, unsigned nhosts)
{
	setup(f, text, nhosts);
	assert_true(lx_compile(&f->lx, text));
	start(f, nhosts);
}

static void take(struct fixture *f)
{
	bool exited;
	int status;

	for (unsigned i = 0; i < OT_ARRAY_SIZE(f->hosts); i++)
		if (f->hosts[i].link)
			ot_err_destroy(fl_link_poll(f->hosts[i].link));
	assert_null(fl_fleet_take(f->fleet, &exited, &status));
}

/* A record's bytes: a header, and this datum of 8 bytes behind it. */
static void put_record(struct canned *h, uint32_t epid, uint32_t cpu, uint64_t time, uint64_t value,
		       uint32_t size)
{
	uint8_t data[64] = { 0 };

	memcpy(data + 16, &value, sizeof(value));
	fl_put_record(&h->body, &(struct fl_record){ epid, cpu, time, { data, size } });
}

static void put_clock(struct canned *h)
{
	struct fl_clock clock;

	fl_clock_now(&clock);
	fl_put_clock(&h->body, &clock);
}

static void say_record(struct canned *h, uint32_t epid, uint64_t value)
{
	put_clock(h);
	put_record(h, epid, 1, ot_now_ns(), value, 24);
	say(h, FL_RECORDS);
}

static void put_aggregate(struct canned *h, uint32_t epid, uint32_t action, const char *key, uint32_t size,
			  uint64_t word, uint32_t words)
{
	uint8_t tuple[64] = { 0 }, odd[9];

	memcpy(tuple + 8, key, strlen(key));
	memcpy(odd + 1, &word, sizeof(word));
	fl_put_aggregate(&h->body,
			 &(struct fl_aggregate){ epid, action, { tuple, size }, { odd + 1, words } });
}

/* --- data ----------------------------------------------------------------------------------------------- */

static const char counting[] = "fbt::do_exit:entry { trace(arg0); } fbt::do_exit:entry { @other = sum(arg0); "
			       "@a[probefunc] = count(); }";

static void data_reaches_the_sink(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, counting, 2);
	assert_int_equal(fl_fleet_matched(f.fleet), 6);
	assert_int_equal(fl_fleet_matched_by(f.fleet, 0), 6);
	assert_int_equal(fl_fleet_matched_by(f.fleet, 1), 0);
	say_record(&f.hosts[1], 1, 42);
	take(&f);
	f.fleet->order.waits = false;
	assert_null(fl_order_release(&f.fleet->order, UINT64_MAX, ot_now_ns()));
	assert_int_equal(f.seen.records, 1);
	const struct vp_enabled *ecb = f.seen.record.ecb;
	assert_true(ecb->epid >= FL_EPID_BASE);
	assert_int_equal(ecb->guest, FL_GUEST_BASE + VP_GUESTS_MAX);
	assert_string_equal(ecb->probe->function, "do_exit");
	assert_int_equal(ecb->probe->id, 77);
	assert_int_equal(f.seen.record.cpu, 1);
	assert_int_equal(f.seen.record.size, ecb->layout->size);
	assert_int_equal(con_load(f.seen.data + ecb->layout->recs[0].offset, 8), 42);
	put_aggregate(&f.hosts[0], 2, 2, "do_exit", 8 + STRSIZE, 7, 8);
	say(&f.hosts[0], FL_AGGREGATES);
	take(&f);
	assert_int_equal(f.seen.aggregates, 1);
	assert_int_equal(f.seen.word, 7);
	assert_int_equal(f.seen.aggregate.action->aggid, 2);
	assert_string_equal((const char *)f.seen.tuple + 8, "do_exit");
	teardown(&f);
}

/* `guest` in keys and records has its host's name; what is made of it has not, and one that has no room is
 * cut. */
static void guests_names_have_their_hosts(void **state)
{
	const uint32_t at = 16; /* of a string of 16 bytes behind the header */
	uint8_t data[64] = { 0 };
	struct fixture f;

	(void)state;
	begin(&f,
	      "fbt::do_exit:entry { trace(guest); } fbt::do_exit:entry { @[guest] = count(); } "
	      "fbt::do_exit:entry { trace(strjoin(guest, \"\")); }",
	      1);
	memcpy(data + at, "web01", 5);
	for (uint32_t epid = 1; epid <= 3; epid += 2) {
		put_clock(&f.hosts[0]);
		fl_put_record(&f.hosts[0].body, &(struct fl_record){ epid, 0, 1, { data, at + STRSIZE } });
		say(&f.hosts[0], FL_RECORDS);
		take(&f);
		assert_int_equal(f.seen.record.size, at + STRSIZE);
		assert_string_equal((const char *)f.seen.data + at, epid == 1 ? "h1/web01" : "web01");
	}
	put_aggregate(&f.hosts[0], 2, 1, "web01", 8 + STRSIZE, 7, 8);
	say(&f.hosts[0], FL_AGGREGATES);
	take(&f);
	assert_string_equal((const char *)f.seen.tuple + 8, "h1/web01");
	teardown(&f);
}

/* An aggregation has the operator's number, whichever it has on a host. */
static void numbers_are_the_operators(void **state)
{
	struct fixture f;
	struct lx other;

	(void)state;
	setup(&f, counting, 1);
	lx_init(&other);
	assert_true(lx_compile(&other, "END { @a[probefunc] = count(); } END { @other = sum(1); }"));
	assert_true(lx_compile(&f.lx, counting));
	say_all(&f, 0);
	assert_null(fl_fleet_prepare(f.fleet, -1));
	assert_null(fl_fleet_bind(f.fleet, &other.prog, &f.sink, 0));
	say(&f.hosts[0], FL_STARTED);
	assert_null(fl_fleet_start(f.fleet));
	put_aggregate(&f.hosts[0], 2, 2, "x", 8 + STRSIZE, 7, 8);
	say(&f.hosts[0], FL_AGGREGATES);
	take(&f);
	assert_int_equal(f.seen.aggregate.action->aggid, 1);
	teardown(&f);
	lx_deinit(&other);
}

static void faults_drops_and_guests(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, counting, 1);
	fl_put_fault(&f.hosts[0].body, &(struct fl_fault){ 1, 0, 1, 4, DIF_FAULT_BADADDR, 0x10 });
	say(&f.hosts[0], FL_FAULTS);
	fl_put_drop(&f.hosts[0].body, &(struct fl_drop){ VP_DROP_AGGREGATION, 3, 12 });
	say(&f.hosts[0], FL_DROPS);
	fl_put_overload(&f.hosts[0].body, &(struct fl_overload){ 1, 2, 30, 20 });
	say(&f.hosts[0], FL_OVERLOAD);
	say_guest(&f.hosts[0], 1, "web02", true);
	say_guest(&f.hosts[0], 0, "web01", false);
	fl_put_say(&f.hosts[0].body, &(struct fl_say){ true, "a\033[2Jb\nc" });
	say(&f.hosts[0], FL_SAY);
	take(&f);
	assert_int_equal(f.seen.faults, 1);
	assert_int_equal(f.seen.drops, 1);
	assert_int_equal(f.seen.overloads, 1);
	assert_int_equal(f.seen.news, 2);
	assert_non_null(strstr(f.seen.said, "h1: guest web01 powered off\n"));
	assert_non_null(strstr(f.seen.said, "h1: a?[2Jb?c\n"));
	teardown(&f);
}

/* What hosts say of the program is said once. */
static void sentences_are_said_once(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, counting, 2);
	for (unsigned i = 0; i < 2; i++) {
		fl_put_say(&f.hosts[i].body, &(struct fl_say){ true, "x is each guest's own" });
		say(&f.hosts[i], FL_SAY);
		fl_put_say(&f.hosts[i].body, &(struct fl_say){ true, i ? "b" : "a" });
		say(&f.hosts[i], FL_SAY);
		take(&f);
	}
	assert_string_equal(f.seen.said, "h1: x is each guest's own\nh1: a\nh2: b\n");
	teardown(&f);
}

/* --- names ---------------------------------------------------------------------------------------------- */

static void local_name(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf,
		       size_t size)
{
	(void)arg;
	(void)guest;
	(void)addr;
	(void)form;
	snprintf(buf, size, "local");
}

static void addresses_have_names(void **state)
{
	struct con_symbols symbols = { .kernel = local_name, .nguests = 1 };
	const uint32_t guest = FL_GUEST_BASE;
	struct fixture f;
	char text[64];

	(void)state;
	begin(&f, counting, 1);
	fl_put_name(&f.hosts[0].body, &(struct fl_name){ 0, 70000, "vmlinux`do\033exit+0x1", "" });
	fl_put_name(&f.hosts[0].body, &(struct fl_name){ 0, 70001, "python`eval", "f (a.py:3)\ng (b.py:9)" });
	say(&f.hosts[0], FL_NAMES);
	take(&f);
	fl_fleet_names(f.fleet, &symbols);
	assert_true(symbols.nguests > 1);
	symbols.kernel(symbols.arg, guest, 70000, VP_SYM_OFFSET, text, sizeof(text));
	assert_string_equal(text, "vmlinux`do?exit+0x1");
	symbols.kernel(symbols.arg, guest, 5, VP_SYM_OFFSET, text, sizeof(text));
	assert_string_equal(text, "0x5");
	symbols.kernel(symbols.arg, guest + 999999, 70000, VP_SYM_OFFSET, text, sizeof(text));
	assert_string_equal(text, "0x11170");
	symbols.kernel(symbols.arg, 0, 70000, VP_SYM_OFFSET, text, sizeof(text));
	assert_string_equal(text, "local");
	symbols.user(symbols.arg, guest, 12, 70001, VP_SYM_NAME, text, sizeof(text));
	assert_string_equal(text, "python`eval");
	assert_string_equal(symbols.note(symbols.arg, guest, 12, 70001, "x"), "f (a.py:3)\ng (b.py:9)");
	assert_null(symbols.note(symbols.arg, guest, 12, 70000, "x"));
	assert_string_equal(symbols.guest(symbols.arg, guest), "h1/web01");
	assert_null(symbols.guest(symbols.arg, guest + 1));
	assert_null(symbols.guest(symbols.arg, UINT32_MAX));
	teardown(&f);
}

/* --- order ---------------------------------------------------------------------------------------------- */

/* Records wait for the host that is behind, and then come by time. */
static void records_of_hosts_are_in_order(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, counting, 2);
	const uint64_t now = ot_now_ns();
	put_clock(&f.hosts[0]);
	put_record(&f.hosts[0], 1, 0, now - 30, 1, 24);
	put_record(&f.hosts[0], 1, 0, now - 10, 1, 24);
	say(&f.hosts[0], FL_RECORDS);
	take(&f);
	assert_int_equal(f.seen.records, 0);
	put_clock(&f.hosts[1]);
	put_record(&f.hosts[1], 1, 0, now - 40, 1, 24);
	put_record(&f.hosts[1], 1, 0, now - 20, 1, 24);
	say(&f.hosts[1], FL_RECORDS);
	take(&f);
	assert_int_equal(f.seen.records, 4);
	for (unsigned i = 1; i < 4; i++)
		assert_true(f.seen.times[i - 1] < f.seen.times[i]);
	teardown(&f);
}

/* A silent host is waited for for two seconds; what waits is bounded. */
static void order_waits_for_so_long(void **state)
{
	const struct vp_enabled ecb = { .epid = 1 };
	struct seen seen = { 0 };
	const struct vp_sink sink = { .arg = &seen, .record = see_record };
	uint8_t data[100] = { 0 };
	struct fl_order o;

	(void)state;
	fl_order_init(&o, &sink);
	o.waits = true;
	for (uint64_t i = 0; i < 10; i++) {
		const struct vp_record r = { &ecb, 0, 1000 - i, data, sizeof(data) };
		assert_null(fl_order_put(&o, &r, 5000 + i));
	}
	assert_int_equal(fl_order_due_ns(&o), 5009 + FL_ORDER_NS);
	assert_null(fl_order_release(&o, 990, 6000));
	assert_int_equal(seen.records, 0);
	assert_null(fl_order_release(&o, 992, 6000));
	assert_int_equal(seen.records, 2);
	assert_int_equal(seen.times[0], 991);
	o.limit = o.bytes;
	const struct vp_record late = { &ecb, 0, 1, data, sizeof(data) };
	assert_null(fl_order_put(&o, &late, 7000));
	assert_int_equal(seen.records, 3);
	assert_null(fl_order_release(&o, 0, 7000 + FL_ORDER_NS));
	assert_int_equal(seen.records, 11);
	assert_int_equal(o.n, 0);
	assert_int_equal(o.bytes, 0);
	fl_order_deinit(&o);
}

/* A host whose clocks are apart: its records have this host's time. */
static void times_are_this_hosts(void **state)
{
	struct fl_host h = { 0 };
	struct fl_clock there;

	(void)state;
	fl_clock_now(&there);
	there.record += 5000000000ull; /* it has booted earlier */
	fl_host_take_clock(&h, &there);
	uint64_t now = ot_now_ns();
	uint64_t time = fl_host_time(&h, there.record);
	assert_true(time <= now && now - time < 1000000000ull);
	there.record = UINT64_MAX;
	there.realtime = 1;
	fl_host_take_clock(&h, &there);
	assert_true(h.upto_ns <= ot_now_ns());
}

/* --- refused -------------------------------------------------------------------------------------------- */

static void expect_failure(struct fixture *f, enum ot_err_code code, const char *text)
{
	struct ot_err *err = fl_fleet_prepare(f->fleet, -1);

	assert_non_null(err);
	if (ot_err_code(err) != code || !strstr(ot_err_message(err), text))
		fail_msg("%d: %s", ot_err_code(err), ot_err_message(err));
	ot_err_destroy(err);
}

static void say_refused(struct canned *h, enum fl_reason reason, const char *text)
{
	say_hello(h, FL_PROTOCOL);
	fl_put_refused(&h->body, &(struct fl_refused){ reason, text });
	say(h, FL_REFUSED);
}

static void refusals_are_errors(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, counting, 1);
	say_refused(&f.hosts[0], FL_REASON_PROGRAM, "invalid probe specifier x: no\n  (hint)\n");
	struct ot_err *err = fl_fleet_prepare(f.fleet, -1);
	assert_string_equal(ot_err_message(err), "invalid probe specifier x: no\n  (hint)");
	ot_err_destroy(err);
	teardown(&f);
	setup(&f, counting, 2);
	say_refused(&f.hosts[1], FL_REASON_PROGRAM, "invalid probe specifier x");
	say_all(&f, 0);
	expect_failure(&f, OT_ERR_SYNTAX, "host h2: invalid probe specifier x");
	teardown(&f);
	setup(&f, counting, 1);
	say_refused(&f.hosts[0], FL_REASON_POLICY, "not\033here");
	expect_failure(&f, OT_ERR_PERMISSION, "host h1: not?here");
	teardown(&f);
	setup(&f, counting, 1);
	say_hello(&f.hosts[0], FL_PROTOCOL + 1);
	expect_failure(&f, OT_ERR_UNSUPPORTED, "install one release");
	teardown(&f);
	setup(&f, counting, 1);
	fl_link_destroy(f.hosts[0].link);
	f.hosts[0].link = NULL;
	expect_failure(&f, OT_ERR_NOT_FOUND, "host h1: outsight-serve has not answered");
	teardown(&f);
}

static void specs(void **state)
{
	static const char *const wrong[] = { "ssh://h1", "ssh:///web", "ssh://h1/", "ssh://h1/a/b",
					     "ssh://h1/a b" };
	const char *host, *guests;
	struct ot_arena arena;

	(void)state;
	ot_arena_init(&arena);
	assert_false(fl_is_remote("web01"));
	assert_true(fl_is_remote("ssh://h1/web01"));
	for (size_t i = 0; i < OT_ARRAY_SIZE(wrong); i++) {
		struct ot_err *err = fl_spec_parse(wrong[i], &arena, &host, &guests);
		assert_int_equal(ot_err_code(err), OT_ERR_SYNTAX);
		ot_err_destroy(err);
	}
	assert_null(fl_spec_parse("ssh://me@h1/web*", &arena, &host, &guests));
	assert_string_equal(host, "me@h1");
	assert_string_equal(guests, "web*");
	assert_null(fl_spec_parse("ssh://h1//run/socket", &arena, &host, &guests));
	assert_string_equal(guests, "/run/socket");
	ot_arena_deinit(&arena);
}

/* --- what a host's program may do ----------------------------------------------------------------------- */

/* A host has compiled @p program, where the operator asked for @p text. */
static void expect_distrust(const char *text, const char *program, const char *why)
{
	struct fixture f;

	setup(&f, text, 1);
	assert_true(lx_compile(&f.lx, program));
	say_all(&f, 0);
	expect_failure(&f, OT_ERR_BAD_DATA, why);
	teardown(&f);
}

static void programs_do_what_the_text_says(void **state)
{
	struct fixture f;

	(void)state;
	expect_distrust("fbt:::entry { trace(1); }", "fbt::do_exit:entry { exit(0); }",
			"exit() is in no text");
	expect_distrust("fbt:::entry { @a = count(); }",
			"fbt::do_exit:entry { @a = count(); } fbt::do_exit:entry { clear(@a); }",
			"clear() is in no text");
	expect_distrust("fbt:::entry { @a = count(); }",
			"fbt::do_exit:entry { @a = count(); } fbt::do_exit:entry { trunc(@a); }",
			"trunc() is in no text");
	expect_distrust("fbt:::entry { @a = count(); }",
			"fbt::do_exit:entry { @a = count(); } fbt::do_exit:entry { printa(@a); }",
			"printa() is in no text");
	/* these never */
	expect_distrust("system freopen setopt", "fbt::do_exit:entry { system(\"id\"); }", "system()");
	expect_distrust("system freopen setopt", "fbt::do_exit:entry { freopen(\"x\"); }", "freopen()");
	expect_distrust("system freopen setopt", "fbt::do_exit:entry { setopt(\"quiet\"); }",
			"operator's machine");
	expect_distrust("ftruncate", "fbt::do_exit:entry { ftruncate(); }", "operator's machine");
	expect_distrust("x", "fbt::do_exit:entry { printf(\"%99999999d\", 1); }", "wide");
	setup(&f, "fbt::do_exit:entry { @a = count(); clear(@a); exit(0); }", 1);
	assert_true(lx_compile(&f.lx, f.text.arg));
	start(&f, 1);
	teardown(&f);
}

static void functions_must_agree(void **state)
{
	struct fixture f;
	struct lx other;

	(void)state;
	setup(&f, counting, 1);
	lx_init(&other);
	assert_true(lx_compile(&other, "END { @a[probefunc] = sum(1); @other = sum(1); }"));
	assert_true(lx_compile(&f.lx, counting));
	say_all(&f, 0);
	assert_null(fl_fleet_prepare(f.fleet, -1));
	struct ot_err *err = fl_fleet_bind(f.fleet, &other.prog, &f.sink, 0);
	assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
	assert_non_null(strstr(ot_err_message(err), "host h1: @a is count()"));
	ot_err_destroy(err);
	teardown(&f);
	lx_deinit(&other);
}

/* --- hostile -------------------------------------------------------------------------------------------- */

static void put_nothing(struct canned *h)
{
	(void)h;
}

static void unknown_epid(struct canned *h)
{
	put_clock(h);
	put_record(h, 99, 0, 1, 1, 24);
}

static void short_record(struct canned *h)
{
	put_clock(h);
	put_record(h, 1, 0, 1, 1, 23);
}

static void no_such_cpu(struct canned *h)
{
	put_clock(h);
	put_record(h, 1, VP_VCPUS_MAX, 1, 1, 24);
}

static void no_record_clause(struct canned *h)
{
	put_clock(h);
	put_record(h, 2, 0, 1, 1, 24);
}

static void short_tuple(struct canned *h)
{
	put_aggregate(h, 2, 2, "x", 8 + STRSIZE - 1, 7, 8);
}

static void short_words(struct canned *h)
{
	put_aggregate(h, 2, 2, "x", 8 + STRSIZE, 7, 7);
}

static void no_aggregation(struct canned *h)
{
	put_aggregate(h, 2, 0, "x", 8 + STRSIZE, 7, 8);
}

static void no_such_fault(struct canned *h)
{
	fl_put_fault(&h->body, &(struct fl_fault){ 1, 0, 99, 4, 1, 0 });
}

static void no_such_drop(struct canned *h)
{
	fl_put_drop(&h->body, &(struct fl_drop){ VP_DROP_MODULES + 1, 0, 1 });
}

static void no_such_clause(struct canned *h)
{
	fl_put_enabled(&h->body, &(struct fl_enabled){ 9, 2, 0, 1, "a", "b", "c", "d" });
}

static void no_such_guest(struct canned *h)
{
	fl_put_enabled(&h->body, &(struct fl_enabled){ 9, 0, 1, 1, "a", "b", "c", "d" });
}

static void epid_again(struct canned *h)
{
	fl_put_enabled(&h->body, &(struct fl_enabled){ 1, 0, 0, 1, "a", "b", "c", "d" });
}

static void name_again(struct canned *h)
{
	fl_put_name(&h->body, &(struct fl_name){ 0, 70000, "a", "" });
	fl_put_name(&h->body, &(struct fl_name){ 0, 70000, "b", "" });
}

static void name_of_none(struct canned *h)
{
	fl_put_name(&h->body, &(struct fl_name){ 0, 0, "a", "" });
}

static void guest_beyond(struct canned *h)
{
	fl_put_guest(&h->body, &(struct fl_guest){ VP_GUESTS_MAX, "a", true, 0, "" });
}

static void guest_unknown(struct canned *h)
{
	fl_put_guest(&h->body, &(struct fl_guest){ 5, "a", false, 0, "" });
}

static void no_dof(struct canned *h)
{
	static const uint8_t garbage[64] = { 0x7f, 'D', 'O', 'F', 1, 2, 1 };

	fl_put_program(&h->body, &(struct fl_program){ .dof = { garbage, sizeof(garbage) }, .strsize = 16 });
}

static void huge_strings(struct canned *h)
{
	fl_put_program(&h->body, &(struct fl_program){ .strsize = UINT32_MAX });
}

static const struct {
	enum fl_kind kind;
	void (*put)(struct canned *h);
} hostile[] = {
	{ FL_RECORDS, unknown_epid },     { FL_RECORDS, short_record },       { FL_RECORDS, no_such_cpu },
	{ FL_RECORDS, no_record_clause }, { FL_RECORDS, put_nothing },        { FL_AGGREGATES, short_tuple },
	{ FL_AGGREGATES, short_words },   { FL_AGGREGATES, no_aggregation },  { FL_FAULTS, no_such_fault },
	{ FL_DROPS, no_such_drop },       { FL_ENABLED, no_such_clause },     { FL_ENABLED, no_such_guest },
	{ FL_ENABLED, epid_again },       { FL_NAMES, name_again },           { FL_NAMES, name_of_none },
	{ FL_GUEST, guest_beyond },       { FL_GUEST, guest_unknown },        { FL_PROGRAM, no_dof },
	{ FL_PROGRAM, huge_strings },     { FL_OVERLOAD, put_nothing },       { FL_SAY, put_nothing },
	{ FL_ENDED, put_nothing },        { FL_HELLO, put_nothing },          { FL_RUN, put_nothing },
	{ FL_STOP, put_nothing },         { (enum fl_kind)200, put_nothing },
};

/* The host is lost, which is said; the other goes on. */
static void hostile_hosts_are_lost(void **state)
{
	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(hostile); i++) {
		struct ot_buf report = { 0 };
		struct fixture f;

		begin(&f, counting, 2);
		hostile[i].put(&f.hosts[0]);
		say(&f.hosts[0], hostile[i].kind);
		take(&f);
		if (!strstr(f.seen.said, "h1: the host is lost: "))
			fail_msg("case %zu: %s", i, f.seen.said);
		assert_int_equal(f.seen.records + f.seen.aggregates + f.seen.faults + f.seen.drops, 0);
		assert_false(fl_fleet_has_ended(f.fleet));
		put_aggregate(&f.hosts[1], 2, 2, "x", 8 + STRSIZE, 7, 8);
		say(&f.hosts[1], FL_AGGREGATES);
		take(&f);
		assert_int_equal(f.seen.aggregates, 1);
		fl_put_ended(&f.hosts[1].body, &(struct fl_ended){ .text = "" });
		say(&f.hosts[1], FL_ENDED);
		take(&f);
		assert_true(fl_fleet_has_ended(f.fleet));
		assert_false(fl_fleet_report(f.fleet, &report));
		assert_non_null(
		    strstr(ot_buf_str(&report), "hosts: 1 whole, 1 lost: h1, last heard 0 s ago"));
		ot_buf_deinit(&report);
		teardown(&f);
	}
}

/* Each beginning of each message, and each of its bytes changed, is taken or refused. */
static void damaged(enum fl_kind kind, void (*put)(struct canned *h))
{
	struct canned whole = { 0 };

	put(&whole);
	for (size_t i = 0; i < 2 * whole.body.len; i++) {
		struct fixture f;
		size_t at = i % whole.body.len;

		begin(&f, counting, 1);
		ot_buf_append(&f.hosts[0].body, whole.body.data, i < whole.body.len ? at : whole.body.len);
		if (i >= whole.body.len)
			f.hosts[0].body.data[at] ^= (char)(0x55 + at);
		say(&f.hosts[0], kind);
		take(&f);
		teardown(&f);
	}
	ot_buf_deinit(&whole.body);
}

static void good_aggregate(struct canned *h)
{
	put_aggregate(h, 2, 2, "x", 8 + STRSIZE, 7, 8);
}

static void good_record(struct canned *h)
{
	put_clock(h);
	put_record(h, 1, 0, 1, 1, 24);
}

static void damaged_messages(void **state)
{
	(void)state;
	damaged(FL_AGGREGATES, good_aggregate);
	damaged(FL_RECORDS, good_record);
	damaged(FL_ENABLED, no_such_clause);
	damaged(FL_NAMES, name_again);
	damaged(FL_FAULTS, no_such_fault);
}

/* --- the end -------------------------------------------------------------------------------------------- */

static void the_end(void **state)
{
	struct ot_buf report = { 0 };
	struct fixture f;
	bool exited;
	int status;

	(void)state;
	begin(&f, counting, 1);
	fl_put_ended(&f.hosts[0].body, &(struct fl_ended){ .exited = true, .status = 7, .text = "" });
	say(&f.hosts[0], FL_ENDED);
	assert_null(fl_fleet_take(f.fleet, &exited, &status));
	assert_true(exited);
	assert_int_equal(status, 7);
	assert_null(fl_fleet_stop(f.fleet, NULL, NULL));
	assert_true(fl_fleet_report(f.fleet, &report));
	assert_int_equal(report.len, 0);
	teardown(&f);
	/* its connection ends, and so does what is waited for */
	begin(&f, counting, 1);
	say_record(&f.hosts[0], 1, 5);
	fl_link_destroy(f.hosts[0].link);
	f.hosts[0].link = NULL;
	assert_null(fl_fleet_stop(f.fleet, NULL, NULL));
	assert_int_equal(f.seen.records, 1);
	assert_false(fl_fleet_report(f.fleet, &report));
	ot_buf_deinit(&report);
	teardown(&f);
	/* a session there that fails */
	begin(&f, counting, 1);
	fl_put_ended(&f.hosts[0].body, &(struct fl_ended){ .failed = true, .text = "no memory" });
	say(&f.hosts[0], FL_ENDED);
	take(&f);
	assert_non_null(strstr(f.seen.said, "h1: no memory"));
	assert_false(fl_fleet_report(f.fleet, &report));
	assert_string_equal(ot_buf_str(&report), "hosts: 0 whole, 1 failed");
	ot_buf_deinit(&report);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_reaches_the_sink),
		cmocka_unit_test(guests_names_have_their_hosts),
		cmocka_unit_test(numbers_are_the_operators),
		cmocka_unit_test(faults_drops_and_guests),
		cmocka_unit_test(sentences_are_said_once),
		cmocka_unit_test(addresses_have_names),
		cmocka_unit_test(records_of_hosts_are_in_order),
		cmocka_unit_test(order_waits_for_so_long),
		cmocka_unit_test(times_are_this_hosts),
		cmocka_unit_test(refusals_are_errors),
		cmocka_unit_test(specs),
		cmocka_unit_test(programs_do_what_the_text_says),
		cmocka_unit_test(functions_must_agree),
		cmocka_unit_test(hostile_hosts_are_lost),
		cmocka_unit_test(damaged_messages),
		cmocka_unit_test(the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
