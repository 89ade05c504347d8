/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of resident probes, which the test puts into the rings in place of trampolines: what fires, when,
 * in which session, and what a guest that writes there itself can do. */
#include "tests/unit/engine_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "vmm-probe/engine/backend.h"
#include "vmm-probe/engine/service/engine_session.h"
#include "vmm-probe/engine/service/records.h"

#define CPUS      2u
#define APART     0x4000u /* between the per-CPU areas, and so of data */
#define CODE_SIZE 16384u
#define COUNT     16u /* of a ring's records */
#define CODE_GVA  (EF_TEXT + 0x1000000)
#define THIRD     ((1ull << 32) / 3 + 1) /* ns for 2^32 ticks of the fake's counter */
#define MANY      64u

static _Alignas(64) uint8_t code[CODE_SIZE];
static _Alignas(64) uint8_t data[CPUS * APART];

static void make_area(struct ef *f, uint32_t cpu)
{
	uint64_t area = EF_PERCPU + (uint64_t)cpu * APART, task = EF_TASKS + cpu * VP_FAKE_PAGE;

	if (cpu)
		vp_fake_map(f->fake, f->kernel_root, area, vp_fake_page(f->fake), 0, 12);
	vp_fake_write(f->fake, f->kernel_root, area + EF_PERCPU_CURRENT, &task, 8);
	f->facts.percpu_base[cpu] = area;
}

static struct ef *guest_that(bool samples)
{
	static struct vp_resident_room room;
	const struct vp_fake_config config = {
		.nvcpus = CPUS, .ram_size = 8u << 20, .levels = 4, .can_profile = samples, .room = &room
	};

	memset(code, 0xcc, sizeof(code));
	memset(data, 0x5a, sizeof(data)); /* whatever was there before */
	room = (struct vp_resident_room){ .code = code,
					  .code_gva = CODE_GVA,
					  .code_size = CODE_SIZE,
					  .data = data,
					  .data_gva = CODE_GVA + CODE_SIZE,
					  .lowest = EF_PERCPU,
					  .data_size = APART,
					  .port = 0x98 };
	struct ef *f = ef_create_with(&config);
	for (uint32_t i = 0; i < CPUS; i++)
		make_area(f, i);
	f->open.flags = VP_OPEN_RESIDENT;
	f->open.ring_size = COUNT * sizeof(struct ga_record);
	return f;
}

static struct ef *guest(void)
{
	return guest_that(false);
}

static struct vp_engine *engine(struct ef *f)
{
	return vp_fake_engine(f->fake);
}

static struct ga_ring *ring(uint32_t cpu)
{
	return (struct ga_ring *)(void *)(data + (cpu + 1) * APART - sizeof(struct ga_ring) -
					  COUNT * sizeof(struct ga_record));
}

/* From here on times are exact. */
static void know_clock(struct ef *f)
{
	for (uint32_t i = 0; i < CPUS; i++) {
		struct vp_record_ring *r = &engine(f)->records->rings[i];
		uint64_t now = ot_now_ns();

		r->first = r->last = (struct vp_record_mark){ vp_fake_counter(i, now), now };
		r->mult = THIRD;
	}
}

/* A session with @clause at EF_FUNC_A, which writes records. */
static void trace(struct ef *f, uint32_t clause)
{
	ef_trace(f, clause);
	assert_int_not_equal(vp_fake_site(f->fake, EF_FUNC_A)->jump, 0);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_A)->exit, 0);
	know_clock(f);
}

/* As a trampoline on @cpu: false, and counted, if the ring is full. */
static bool emit(uint32_t cpu, uint32_t slot, uint64_t when, uint64_t arg)
{
	struct ga_ring *r = ring(cpu);
	uint64_t n = __atomic_load_n(&r->reserved[0], __ATOMIC_RELAXED);
	struct ga_record *rec = &r->records[n % COUNT];

	if (n - r->tail >= COUNT) {
		r->lost++;
		return false;
	}
	__atomic_store_n(&r->reserved[0], n + 1, __ATOMIC_RELAXED);
	*rec = (struct ga_record){ .tsc = vp_fake_counter(cpu, when),
				   .task = 0x1000 + arg,
				   .pid = 500 + (uint32_t)arg,
				   .tgid = 400 + (uint32_t)arg,
				   .comm = "traced",
				   .slot = slot,
				   .preempt = 1u << 16, /* in a hard interrupt */
				   .nargs = 1,
				   .args = { arg } };
	__atomic_store_n(&rec->seq, n + 1, __ATOMIC_RELEASE);
	return true;
}

static void emit_now(uint32_t cpu, uint32_t slot, uint64_t arg)
{
	assert_true(emit(cpu, slot, ot_now_ns(), arg));
}

static uint32_t clause_tracing(struct ef *f, uint32_t var)
{
	uint32_t c = ef_clause(f, NULL);

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, var));
	return c;
}

/* The values that vCPU @cpu has traced since the last exchange, in their order. */
static uint32_t traced(struct ef *f, uint32_t cpu, uint64_t ret[MANY])
{
	struct ef_record records[MANY];

	ef_switch(f);
	uint32_t n = ef_records(f, cpu, records, MANY);
	for (uint32_t i = 0; i < n; i++) {
		ret[i] = ef_u64(records[i].data + 16);
		assert_true(!i || records[i].time_ns >= records[i - 1].time_ns);
	}
	return n;
}

/* --- what fires ---------------------------------------------------------------------------------- */

/* In their order; the predicate is not evaluated again: the record has no arg1. */
static void fires(void **state)
{
	struct ef *f = guest();
	uint64_t values[MANY];
	char said[256];
	(void)state;

	uint32_t c = ef_clause(f, ef_var_eq(f, DIF_VAR_arg1, 7));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	trace(f, c);
	vp_resident_describe(f->es, said, sizeof(said));
	assert_string_equal(said, "resident probes: 1 places, 1 of which write records");
	for (uint64_t i = 0; i < COUNT; i++)
		emit_now(0, 0, 10 + i);
	emit_now(1, 0, 99);
	vp_engine_visit(engine(f), 0);
	assert_int_equal(traced(f, 0, values), COUNT);
	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(values[i], 10 + i);
	vp_engine_visit(engine(f), 1);
	assert_int_equal(traced(f, 1, values), 1);
	assert_int_equal(values[0], 99);
	assert_int_equal(ring(0)->tail, COUNT);
	emit_now(0, 0, 3);
	vp_engine_visit(engine(f), 0);
	assert_int_equal(traced(f, 0, values), 1);
	assert_int_equal(values[0], 3);
	ef_destroy(f);
}

/* What it was when the function was called, not what it is now. */
static void values_of_the_record(void **state)
{
	static const struct {
		uint32_t var;
		uint64_t value;
	} all[] = {
		{ DIF_VAR_arg0, 5 },           { DIF_VAR_pid, 405 }, { DIF_VAR_tid, 505 },
		{ DIF_VAR_curthread, 0x1005 }, { DIF_VAR_ipl, 2 },   { DIF_VAR_cpu, 1 },
	};
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		struct ef *f = guest();
		uint64_t values[MANY];

		trace(f, clause_tracing(f, all[i].var));
		emit_now(1, 0, 5);
		vp_engine_visit(engine(f), 1);
		assert_int_equal(traced(f, 1, values), 1);
		assert_int_equal(values[0], all[i].value);
		ef_destroy(f);
	}
}

/* A key of several elements; its row is that of hits that exit. */
static void aggregates(void **state)
{
	struct ef *f = guest();
	const uint64_t *words;
	const uint8_t *key;
	uint32_t id;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_var(f, DIF_VAR_pid));
	ef_key(f, c, ef_var(f, DIF_VAR_arg0));
	ef_key(f, c, ef_var(f, DIF_VAR_tid)); /* four: too many for a table */
	ef_key(f, c, ef_var(f, DIF_VAR_arg0));
	ef_agg(f, c, DIF_AGG_count, NULL, 4);
	trace(f, c);
	for (unsigned i = 0; i < 3; i++)
		emit_now(0, 0, 5);
	vp_engine_visit(engine(f), 0);
	ef_switch(f);
	assert_true(ef_agg_entry(f, 0, 0, &key, &words));
	memcpy(&id, key - 4, sizeof(id));
	assert_int_equal(id & VP_AGG_INSIDE, 0);
	assert_int_equal(ef_u64(key + 4), 405);
	assert_int_equal(ef_u64(key + 12), 5);
	assert_int_equal(words[0], 3);
	assert_false(ef_agg_entry(f, 0, 1, &key, &words));
	ef_destroy(f);
}

/* What has happened before a trap fires before it. */
static void before_a_trap(void **state)
{
	struct ef *f = guest();
	uint64_t values[MANY];
	(void)state;

	uint32_t c = clause_tracing(f, DIF_VAR_arg0), outside = ef_clause(f, NULL);
	ef_action(f, outside, DIF_ACT_difexpr, ef_var(f, DIF_VAR_caller)); /* no record has it */
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_enable_entry(f, outside, EF_FUNC_B);
	ef_enable(f);
	ef_start(f);
	know_clock(f);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_B)->jump, 0);
	emit_now(0, 0, 7);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_B));
	assert_int_equal(traced(f, 0, values), 2);
	assert_int_equal(values[0], 7);
	ef_destroy(f);
}

/* The clauses of one place, some of which aggregate there. */
static void several_clauses(void **state)
{
	struct ef *f = guest();
	uint64_t values[MANY];
	(void)state;

	uint32_t counts = ef_clause(f, NULL), a = clause_tracing(f, DIF_VAR_arg0),
		 b = clause_tracing(f, DIF_VAR_tid);
	ef_agg(f, counts, DIF_AGG_count, NULL, 0);
	ef_open(f);
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "a", "entry");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	ef_ecb(f, probe, counts);
	ef_ecb(f, probe, a);
	ef_ecb(f, probe, b);
	ef_enable(f);
	ef_start(f);
	assert_int_not_equal(vp_fake_site(f->fake, EF_FUNC_A)->jump, 0);
	know_clock(f);
	emit_now(0, 1, 8);
	emit_now(0, 2, 8);
	vp_engine_visit(engine(f), 0);
	assert_int_equal(traced(f, 0, values), 2);
	assert_int_equal(values[0], 8);
	assert_int_equal(values[1], 508);
	ef_destroy(f);
}

/* arg0 / 0 */
static struct dif_object *division(struct ef *f)
{
	const uint32_t text[] = { dif_insn_index(DIF_OP_ldgs, DIF_VAR_arg0, 1), dif_insn(DIF_OP_mov, 0, 0, 2),
				  dif_insn(DIF_OP_udiv, 1, 2, 1), dif_insn(DIF_OP_ret, 0, 0, 1) };

	return ef_obj(f, text, OT_ARRAY_SIZE(text), ef_var(f, DIF_VAR_arg0)->ret);
}

/* A fault of an action fires ERROR's clauses, whose predicates are evaluated, of the record's task. */
static void faults(void **state)
{
	struct ef *f = guest();
	struct ef_record r[MANY];
	(void)state;

	uint32_t c = ef_clause(f, ef_var_eq(f, DIF_VAR_arg1, 7));
	uint32_t now = ef_clause(f, ef_var_eq(f, DIF_VAR_pid, 90));
	uint32_t then = ef_clause(f, ef_var_eq(f, DIF_VAR_pid, 406));
	ef_action(f, c, DIF_ACT_difexpr, division(f));
	ef_action(f, now, DIF_ACT_difexpr, ef_int(f, 1));
	ef_action(f, then, DIF_ACT_difexpr, ef_int(f, 2));
	ef_open(f);
	uint32_t error = ef_probe(f, VP_PROBE_ERROR, VP_ARGS_ERROR, "", "ERROR");
	ef_ecb(f, error, now);
	uint32_t epid = ef_ecb(f, error, then);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_enable(f);
	ef_start(f);
	know_clock(f);
	emit_now(0, 0, 6);
	vp_engine_visit(engine(f), 0);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MANY), 2);
	assert_int_equal(r[0].epid, VP_EPID_FAULT);
	assert_int_equal(r[1].epid, epid);
	ef_destroy(f);
}

/* --- when ------------------------------------------------------------------------------------------ */

static void times(void **state)
{
	const uint64_t tsc = 3000000000, ns = 1000000000, now = ns + 5000000;
	struct vp_record_ring r = { .last = { tsc, ns }, .mult = THIRD, .drained_ns = ns - 1000000 };
	(void)state;

	assert_int_equal(vp_record_time(&r, tsc - 3 * 1000, now), ns - 1000);
	assert_int_equal(vp_record_time(&r, tsc + 3 * 2000, now), ns + 2000);
	assert_int_equal(vp_record_time(&r, tsc, now), ns + 2000); /* in the order of the records */
	assert_int_equal(vp_record_time(&r, ~0ull >> 2, now), now);
	r.last_ns = 0;
	assert_int_equal(vp_record_time(&r, 1, now), ns - 1000000); /* after what was drained then */
	assert_int_equal(vp_record_time(&r, tsc + (1ull << 63), now), ns - 1000000);
	r.mult = 0;
	assert_int_equal(vp_record_time(&r, tsc, now), now); /* unknown */
}

/* Marks give the rate; one that is on another line begins anew. */
static void rates(void **state)
{
	struct ef *f = guest();
	struct vp_record_ring r = { 0 };
	const struct timespec nap = { .tv_nsec = 1000000 };
	(void)state;

	while (!r.mult) { /* two whose readings nothing interrupted */
		vp_record_mark(engine(f), 0, &r);
		nanosleep(&nap, NULL);
	}
	assert_in_range(r.mult, THIRD / 2, THIRD * 2);
	r.last.tsc += 3000000000ull; /* the guest has set its counter back by a second */
	r.last.ns -= 10000000;
	uint64_t before = r.first.ns;
	for (uint64_t last = r.last.ns; r.last.ns == last; nanosleep(&nap, NULL))
		vp_record_mark(engine(f), 0, &r);
	assert_true(r.first.ns > before);
	assert_int_equal(r.first.tsc, r.last.tsc);
	ef_destroy(f);
}

/* What was before the session is not its own; what was before its end is. */
static void while_active(void **state)
{
	struct ef *f = guest();
	uint64_t values[MANY];
	(void)state;

	trace(f, clause_tracing(f, DIF_VAR_arg0));
	emit(0, 0, f->es->since_ns - 1000, 1);
	emit_now(0, 0, 2);
	emit_now(1, 0, 3);
	EF_OK(vp_engine_session_stop(f->es)); /* no vCPU has come by */
	assert_int_equal(traced(f, 0, values), 1);
	assert_int_equal(values[0], 2);
	struct ef_record other;
	assert_int_equal(ef_records(f, 1, &other, 1), 1);
	emit_now(0, 0, 4); /* of a task that was in the trampoline */
	vp_engine_visit(engine(f), 0);
	assert_int_equal(traced(f, 0, values), 0);
	ef_destroy(f);
}

/* vCPUs that can't be stopped end no session's wait. */
static void unstoppable(void **state)
{
	struct ef *f = guest();
	uint64_t values[MANY];
	(void)state;

	trace(f, clause_tracing(f, DIF_VAR_arg0));
	emit_now(0, 0, 2);
	vp_fake_set_unstoppable(f->fake, true);
	EF_OK(vp_engine_session_stop(f->es));
	assert_int_equal(traced(f, 0, values), 0);
	ef_destroy(f);
}

/* exit() on one vCPU: what another one's ring has of before still fires. */
static void before_exit(void **state)
{
	struct ef *f = guest();
	uint64_t values[MANY];
	(void)state;

	uint32_t c = clause_tracing(f, DIF_VAR_arg0), ends = ef_clause(f, NULL);
	ef_action(f, ends, DIF_ACT_exit, ef_int(f, 0));
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_enable_entry(f, ends, EF_FUNC_B);
	ef_enable(f);
	ef_start(f);
	know_clock(f);
	emit_now(1, 0, 1);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_B));
	assert_int_equal(f->es->activity, VP_DRAINING);
	emit(1, 0, f->es->exited_ns + 1000, 2);
	nanosleep(&(struct timespec){ .tv_nsec = 10000 }, NULL); /* that is not in the future */
	EF_OK(vp_engine_session_stop(f->es));
	assert_int_equal(traced(f, 1, values), 1);
	assert_int_equal(values[0], 1);
	ef_destroy(f);
}

/* The thread has a vCPU with records visited; until it came, the session's data is not complete. */
static void visited(void **state)
{
	struct ef *f = guest_that(true);
	const struct timespec nap = { .tv_nsec = 500000 };
	uint64_t values[MANY];
	(void)state;

	trace(f, clause_tracing(f, DIF_VAR_arg0));
	emit_now(0, 0, 6);
	uint64_t since = ot_now_ns();
	assert_true(ef_switch(f).now_ns < since);
	uint32_t n = 0;
	for (; !n; nanosleep(&nap, NULL))
		if (vp_fake_sample(f->fake, 0))
			n = traced(f, 0, values);
	assert_int_equal(n, 1);
	assert_int_equal(values[0], 6);
	while (ef_switch(f).now_ns < since)
		nanosleep(&nap, NULL); /* vCPU 1 has none, which the thread sees by itself */
	ef_destroy(f);
}

/* --- a full ring, and a hostile guest --------------------------------------------------------------- */

static void lost(void **state)
{
	struct ef *f = guest();
	uint64_t values[MANY];
	(void)state;

	trace(f, clause_tracing(f, DIF_VAR_arg0));
	for (uint64_t i = 0; i < COUNT + 5; i++)
		assert_int_equal(emit(1, 0, ot_now_ns(), i), i < COUNT);
	vp_engine_visit(engine(f), 0);
	assert_int_equal(ef_status(f, 0)->records_lost, 0);
	vp_engine_visit(engine(f), 1);
	assert_int_equal(ef_status(f, 1)->records_lost, 5);
	assert_int_equal(traced(f, 1, values), COUNT);
	vp_engine_visit(engine(f), 1);
	assert_int_equal(ef_status(f, 1)->records_lost, 5);
	assert_true(emit(1, 0, ot_now_ns(), 1));
	ef_destroy(f);
}

static void hostile(void **state)
{
	struct ef *f = guest();
	uint64_t values[MANY];
	struct ga_ring *r;
	(void)state;

	trace(f, clause_tracing(f, DIF_VAR_arg0));
	r = ring(0);
	/* slots that no one has, more words than there are, and more records than the ring has */
	for (uint32_t i = 0; i < COUNT; i++) {
		memset(&r->records[i], 0xff, sizeof(r->records[i]));
		r->records[i].slot = i == 3 ? 0 : ~0u - i;
		r->records[i].seq = i + 1;
		r->records[i].tsc = i == 3 ? ~0ull >> 1 : 0;
	}
	__atomic_store_n(&r->reserved[0], 1ull << 63, __ATOMIC_RELAXED);
	r->tail = 77;
	vp_engine_visit(engine(f), 0);
	assert_int_equal(traced(f, 0, values), 1);
	assert_int_equal(values[0], ~0ull);
	assert_int_equal(r->tail, COUNT);
	/* a ring whose numbers lead nowhere: nothing fires, and the session ends all the same */
	r->records[0].seq = 5;
	r->lost = 3;
	vp_engine_visit(engine(f), 0);
	EF_OK(vp_engine_session_stop(f->es));
	assert_int_equal(traced(f, 0, values), 0);
	ef_destroy(f);
}

/* --- sessions ----------------------------------------------------------------------------------------- */

/* The records of a session that is gone are no other's. */
static void next_session(void **state)
{
	struct ef *f = guest();
	uint64_t values[MANY];
	(void)state;

	uint32_t c = clause_tracing(f, DIF_VAR_arg0);
	trace(f, c);
	emit_now(0, 0, 1);
	ef_close(f);
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_enable(f);
	ef_start(f);
	know_clock(f);
	emit_now(0, 0, 2); /* a task goes on in the first one's trampoline */
	emit_now(0, 1, 3);
	vp_engine_visit(engine(f), 0);
	assert_int_equal(traced(f, 0, values), 1);
	assert_int_equal(values[0], 3);
	ef_destroy(f);
}

/* -x injectsize: what is asked for, if there is room; without, the place is trapped. */
static void sizes(void **state)
{
	static const struct {
		uint64_t size;
		uint32_t count;
	} all[] = { { 0, 0 }, { 1000, 0 }, { 1024, 8 }, { 4095, 16 }, { 8192, 64 }, { ~0ull, 64 } };
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		struct ef *f = guest();

		f->open.ring_size = all[i].size;
		ef_trace(f, clause_tracing(f, DIF_VAR_arg0));
		assert_int_equal(vp_fake_site(f->fake, EF_FUNC_A)->jump != 0, all[i].count != 0);
		assert_int_equal(engine(f)->records ? engine(f)->records->count : 0, all[i].count);
		ef_destroy(f);
	}
}

#define TASK_SIGNAL 0x700u /* in a task: offsets of what finds all of them */
#define TASK_NODE   0x710u
#define TASK_THREAD 0x720u

/* One process with one thread, which the search for tasks in the room finds elsewhere. */
static void link_task(struct ef *f)
{
	const uint64_t task = EF_TASKS, node = task + TASK_NODE, thread = task + TASK_THREAD;
	const uint64_t signal = task + TASK_THREAD - 0x10, head = signal + 8;

	vp_fake_write(f->fake, f->kernel_root, node, &node, 8);
	vp_fake_write(f->fake, f->kernel_root, task + TASK_SIGNAL, &signal, 8);
	vp_fake_write(f->fake, f->kernel_root, head, &thread, 8);
	vp_fake_write(f->fake, f->kernel_root, thread, &head, 8);
	f->facts.resident.init_task = task;
	f->facts.resident.tasks = TASK_NODE;
	f->facts.resident.signal = TASK_SIGNAL;
	f->facts.resident.thread_node = TASK_THREAD;
	f->facts.resident.thread_head = 8;
}

/* Who asks for more once no session uses the rings has them made again; their slots begin at 0 again. */
static void larger(void **state)
{
	struct ef *f = guest();
	uint64_t values[MANY];
	(void)state;

	link_task(f);
	f->open.ring_size = 1024;
	uint32_t c = clause_tracing(f, DIF_VAR_arg0);
	ef_trace(f, c);
	assert_int_equal(engine(f)->records->count, 8);
	ef_close(f);
	f->open.ring_size = COUNT * sizeof(struct ga_record);
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_enable(f);
	ef_start(f);
	assert_int_equal(engine(f)->records->count, COUNT);
	know_clock(f);
	emit_now(0, 0, 4);
	vp_engine_visit(engine(f), 0);
	assert_int_equal(traced(f, 0, values), 1);
	ef_destroy(f);
}

/* Places that need no records do not have rings made. */
static void only_words(void **state)
{
	struct ef *f = guest();
	(void)state;

	uint32_t c = ef_clause(f, ef_var_eq(f, DIF_VAR_pid, 90)), counts = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_stack, NULL)->arg = 4;
	ef_agg(f, counts, DIF_AGG_count, NULL, 0);
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_enable_entry(f, counts, EF_FUNC_B);
	ef_enable(f);
	ef_start(f);
	assert_int_not_equal(vp_fake_site(f->fake, EF_FUNC_A)->exit, 0);
	assert_int_not_equal(vp_fake_site(f->fake, EF_FUNC_B)->jump, 0);
	assert_null(engine(f)->records);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires),
		cmocka_unit_test(values_of_the_record),
		cmocka_unit_test(aggregates),
		cmocka_unit_test(before_a_trap),
		cmocka_unit_test(several_clauses),
		cmocka_unit_test(faults),
		cmocka_unit_test(times),
		cmocka_unit_test(rates),
		cmocka_unit_test(while_active),
		cmocka_unit_test(unstoppable),
		cmocka_unit_test(before_exit),
		cmocka_unit_test(visited),
		cmocka_unit_test(lost),
		cmocka_unit_test(hostile),
		cmocka_unit_test(next_session),
		cmocka_unit_test(sizes),
		cmocka_unit_test(larger),
		cmocka_unit_test(only_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
