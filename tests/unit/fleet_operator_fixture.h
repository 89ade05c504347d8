/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An operator with canned hosts: each says what a test has it say. */
#ifndef TESTS_FLEET_OPERATOR_FIXTURE_H
#define TESTS_FLEET_OPERATOR_FIXTURE_H

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
	uint64_t follow_ns; /* how long a guest is looked for; 0: the default */
};

/* --- the sink ------------------------------------------------------------------------------------------- */

static inline struct ot_err *see_record(void *arg, const struct vp_record *r)
{
	struct seen *s = arg;

	s->record = *r;
	memcpy(s->data, r->data, r->size < sizeof(s->data) ? r->size : sizeof(s->data));
	if (s->records < OT_ARRAY_SIZE(s->times))
		s->times[s->records] = r->time_ns;
	s->records++;
	return NULL;
}

static inline struct ot_err *see_aggregate(void *arg, const struct vp_aggregate *agg)
{
	struct seen *s = arg;

	s->aggregates++;
	s->aggregate = *agg;
	s->word = agg->words[0];
	memcpy(s->tuple, agg->tuple, agg->layout->tuple_size < 64 ? agg->layout->tuple_size : 64);
	return NULL;
}

static inline struct ot_err *see_fault(void *arg, const struct vp_fault_info *fault)
{
	(void)fault;
	((struct seen *)arg)->faults++;
	return NULL;
}

static inline struct ot_err *see_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	(void)kind;
	(void)cpu;
	(void)count;
	((struct seen *)arg)->drops++;
	return NULL;
}

static inline struct ot_err *see_overload(void *arg, const struct vp_overload_info *overload)
{
	(void)overload;
	((struct seen *)arg)->overloads++;
	return NULL;
}

static inline void see_guest(void *arg, const struct vp_guest_news *news)
{
	(void)news;
	((struct seen *)arg)->news++;
}

static inline void see_said(void *arg, const char *text, const char *hint)
{
	struct seen *s = &((struct fixture *)arg)->seen;
	size_t len = strlen(s->said);

	(void)hint;
	snprintf(s->said + len, sizeof(s->said) - len, "%s\n", text);
}

/* --- a fleet with canned hosts -------------------------------------------------------------------------- */

static inline void add_host(struct fixture *f, unsigned i)
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

static inline void setup_for(struct fixture *f, const char *text, unsigned nhosts, uint64_t follow_ns)
{
	memset(f, 0, sizeof(*f));
	f->follow_ns = follow_ns;
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
		.texts = &f->texts, .opts = &f->lx.opts, .say = see_said, .arg = f, .follow_ns = f->follow_ns
	};
	assert_null(fl_fleet_create(&config, &f->fleet));
	for (unsigned i = 0; i < nhosts; i++)
		add_host(f, i);
}

static inline void setup(struct fixture *f, const char *text, unsigned nhosts)
{
	setup_for(f, text, nhosts, 0);
}

static inline void teardown(struct fixture *f)
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
static inline void say(struct canned *h, enum fl_kind kind)
{
	assert_null(fl_link_send(h->link, kind, h->body.data, h->body.len));
	ot_buf_clear(&h->body);
	ot_err_destroy(fl_link_poll(h->link));
}

static inline void say_hello(struct canned *h, uint32_t protocol)
{
	struct fl_hello hello = { .protocol = protocol, .name = "other" };

	fl_clock_now(&hello.clock);
	fl_put_hello(&h->body, &hello);
	say(h, FL_HELLO);
}

static inline void say_guest(struct canned *h, uint32_t guest, const char *name, bool joined)
{
	fl_put_guest(&h->body, &(struct fl_guest){ guest, name, joined, VP_GUEST_POWERED_OFF,
						   "guest web01 powered off", 0, "" });
	say(h, FL_GUEST);
}

static inline void say_program(struct canned *h, const struct dif_program *prog)
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

static inline void say_enabled(struct canned *h, uint32_t epid, uint32_t clause, uint32_t guest)
{
	fl_put_enabled(&h->body,
		       &(struct fl_enabled){ epid, clause, guest, 77, "fbt", "vmlinux", "do_exit", "entry" });
	say(h, FL_ENABLED);
}

static inline void say_ready(struct canned *h, uint64_t matched)
{
	fl_put_ready(&h->body, &(struct fl_ready){ .matched = matched, .ntexts = 1, .by_text = { matched } });
	say(h, FL_READY);
}

/* All that comes before START, for the program that the fixture has compiled; its clauses are enabled as
 * EPIDs from 1 on. */
static inline void say_all(struct fixture *f, unsigned i)
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
static inline void start(struct fixture *f, unsigned nhosts)
{
	for (unsigned i = 0; i < nhosts; i++)
		say_all(f, i);
	assert_null(fl_fleet_prepare(f->fleet, -1));
	assert_null(fl_fleet_bind(f->fleet, &f->lx.prog, &f->sink, 0));
	for (unsigned i = 0; i < nhosts; i++)
		say(&f->hosts[i], FL_STARTED);
	assert_null(fl_fleet_start(f->fleet));
}

static inline void begin(struct fixture *f, const char *text, unsigned nhosts)
{
	setup(f, text, nhosts);
	assert_true(lx_compile(&f->lx, text));
	start(f, nhosts);
}

static inline void take(struct fixture *f)
{
	bool exited;
	int status;

	for (unsigned i = 0; i < OT_ARRAY_SIZE(f->hosts); i++)
		if (f->hosts[i].link)
			ot_err_destroy(fl_link_poll(f->hosts[i].link));
	assert_null(fl_fleet_take(f->fleet, &exited, &status));
}

/* A record's bytes: a header, and this datum of 8 bytes behind it. */
static inline void put_record(struct canned *h, uint32_t epid, uint32_t cpu, uint64_t time, uint64_t value,
			      uint32_t size)
{
	uint8_t data[64] = { 0 };

	memcpy(data + 16, &value, sizeof(value));
	fl_put_record(&h->body, &(struct fl_record){ epid, cpu, time, { data, size } });
}

static inline void put_clock(struct canned *h)
{
	struct fl_clock clock;

	fl_clock_now(&clock);
	fl_put_clock(&h->body, &clock);
}

static inline void say_record(struct canned *h, uint32_t epid, uint64_t value)
{
	put_clock(h);
	put_record(h, epid, 1, ot_now_ns(), value, 24);
	say(h, FL_RECORDS);
}

static inline void put_aggregate(struct canned *h, uint32_t epid, uint32_t action, const char *key,
				 uint32_t size, uint64_t word, uint32_t words)
{
	uint8_t tuple[64] = { 0 }, odd[9];

	memcpy(tuple + 8, key, strlen(key));
	memcpy(odd + 1, &word, sizeof(word));
	fl_put_aggregate(&h->body,
			 &(struct fl_aggregate){ epid, action, { tuple, size }, { odd + 1, words } });
}

static const char counting[] = "fbt::do_exit:entry { trace(arg0); } fbt::do_exit:entry { @other = sum(arg0); "
			       "@a[probefunc] = count(); }";

#endif
