/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trampolines that are interrupted: at each of their instructions comes a hit of an interrupt on the same
 * CPU, or the task goes on on the other CPU and someone else hits where it was. Nothing is lost or counted
 * twice, and no instruction is executed again.
 */
#include "tests/unit/trampoline_cases.h"

struct shape {
	const char *name;
	enum dif_agg_kind kind;
	uint64_t outer, inner; /* arg0 of the hit, and of the one between */
};

static const struct shape shapes[] = {
	{ "count", DIF_AGG_count, 1, 1 },
	{ "sum", DIF_AGG_sum, 5, 70 },
	{ "avg", DIF_AGG_avg, 5, 70 },
	{ "min, the outer is less", DIF_AGG_min, 5, 70 },
	{ "min, the inner is less", DIF_AGG_min, 70, 5 },
	{ "max, the outer is greater", DIF_AGG_max, 70, 5 },
	{ "max, the inner is greater", DIF_AGG_max, 5, 70 },
	{ "quantize", DIF_AGG_quantize, 5, 5 },
};

/* What happens before instruction number `when`. */
struct event {
	unsigned when;
	bool migrates, done;
	uint64_t inner, rip;
	unsigned hits;
};

static bool may_migrate(const struct tf_machine *m)
{
	uint32_t preempt;

	memcpy(&preempt, m->percpu + (size_t)m->cpu * TF_SPACING + TF_PREEMPT, sizeof(preempt));
	return !preempt;
}

static void on_step(struct tf_machine *m, unsigned step, uint64_t rip)
{
	struct event *e = m->arg;
	struct tf_regs regs = { .r[VP_RDI] = e->inner };

	if (rip <= e->rip && step)
		abort(); /* an instruction again */
	e->rip = rip;
	if (step != e->when || (e->migrates && !may_migrate(m)))
		return;
	tf_hit(m, &regs);
	e->done = true;
	if (e->migrates)
		tf_set_cpu(m, 1);
}

/* The same task runs on either CPU. */
static void share_task(struct tf_machine *m)
{
	memcpy(m->percpu + TF_SPACING + TF_CURRENT, m->percpu + TF_CURRENT, 8);
}

/* One hit with what @e says between. False: there are no more instructions. */
static bool interrupted(struct tf_machine *m, struct event *e, uint64_t outer)
{
	struct tf_regs before = { .r[VP_RDI] = outer }, after = before;

	e->done = false;
	e->rip = 0;
	m->step = on_step;
	m->arg = e;
	m->cpu = 0;
	tf_fill_stack(m);
	tf_hit_stepped(m, &after);
	m->cpu = 0;
	const char *wrong = tf_intact(m, &before, &after);
	if (wrong)
		fail_msg("%s, interrupted at instruction %u", wrong, e->when);
	return e->when < m->steps;
}

/* --- words ----------------------------------------------------------------------------------- */

static void check_words(struct tf_machine *m, const struct shape *s, const struct event *e)
{
	const uint32_t at = m->t.cells[0].at, n = m->t.cells[0].nwords;
	uint64_t expected[127], seen[127];

	dif_agg_init(s->kind, 0, expected);
	dif_agg_init(s->kind, 0, seen);
	dif_agg_update(s->kind, 0, expected, s->outer, 1);
	if (e->done)
		dif_agg_update(s->kind, 0, expected, s->inner, 1);
	for (unsigned cpu = 0; cpu < TF_CPUS; cpu++)
		dif_agg_merge(s->kind, seen, tf_word(m, cpu, at));
	if (memcmp(expected, seen, n * sizeof(*seen)) || *tf_word(m, 0, TF_LOST) || *tf_word(m, 1, TF_LOST))
		fail_msg("%s: interrupted at instruction %u%s", s->name, e->when,
			 e->migrates ? ", migrated" : "");
}

static void interrupt_everywhere(struct tf_machine *m, struct tf_case *c, const struct shape *s,
				 bool migrates)
{
	struct event e = { .migrates = migrates, .inner = s->inner };
	unsigned done = 0;
	bool more = true;

	tf_case_make(c, NULL, s->kind, s->kind == DIF_AGG_count ? NULL : "ldgs " ARG0 " 1; ret 1");
	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));
	for (e.when = 0; more; e.when++) {
		tf_reset(m);
		for (unsigned cpu = 0; cpu < TF_CPUS; cpu++)
			dif_agg_init(s->kind, 0, tf_word(m, cpu, m->t.cells[0].at));
		more = interrupted(m, &e, s->outer);
		check_words(m, s, &e);
		done += e.done;
	}
	assert_true(done >= 3 && m->steps <= m->len);
}

static void test_words(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	(void)state;

	share_task(m);
	for (size_t i = 0; i < OT_ARRAY_SIZE(shapes); i++) {
		interrupt_everywhere(m, c, &shapes[i], false);
		interrupt_everywhere(m, c, &shapes[i], true);
	}
	free(c);
	tf_destroy(m);
}

/* --- records --------------------------------------------------------------------------------- */

static void check_ring(struct tf_machine *m, const struct event *e, uint64_t outer)
{
	uint64_t found = 0, records = 0;

	for (unsigned cpu = 0; cpu < TF_CPUS; cpu++) {
		const struct ga_ring *ring = tf_ring(m, cpu);
		const uint64_t head = ring->reserved[0];
		for (uint64_t n = 0; n < head; n++) {
			assert_int_equal(ring->records[n].seq, n + 1);
			found += ring->records[n].args[0];
			assert_int_equal(ring->records[n].nargs, 1);
		}
		records += head;
		assert_int_equal(ring->lost, 0);
	}
	if (records != 1u + e->done || found != outer + (e->done ? e->inner : 0))
		fail_msg("%u records, interrupted at instruction %u", (unsigned)records, e->when);
}

static void test_records(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	unsigned migrated = 0, hits = 0;
	(void)state;

	share_task(m);
	tf_case_traced(c, NULL, "ldgs " ARG0 " 1; ret 1");
	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));
	for (unsigned migrates = 0; migrates < 2; migrates++) {
		struct event e = { .migrates = migrates, .inner = 1000 };
		bool more = true;
		for (e.when = 0; more; e.when++) {
			tf_reset(m);
			more = interrupted(m, &e, 7);
			check_ring(m, &e, 7);
			*(migrates ? &migrated : &hits) += e.done;
		}
	}
	/* Preemption is off between reserving a record and publishing it. */
	assert_true(migrated >= 2 && migrated * 4 < hits);
	free(c);
	tf_destroy(m);
}

/* --- always between -------------------------------------------------------------------------- */

static void at_each_step(struct tf_machine *m, unsigned step, uint64_t rip)
{
	struct event *e = m->arg;
	struct tf_regs regs = { .r[VP_RDI] = e->inner-- };

	(void)step;
	(void)rip;
	tf_hit(m, &regs);
	e->hits++;
}

/* An interrupt before every instruction: what has to give up is counted, and it gives up once. */
static void test_gives_up(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	struct event e = { .inner = 1000000 };
	struct tf_regs regs = { .r[VP_RDI] = 5 };
	(void)state;

	m->step = at_each_step;
	m->arg = &e;
	tf_case_make(c, NULL, DIF_AGG_min, "ldgs " ARG0 " 1; ret 1");
	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));
	dif_agg_init(DIF_AGG_min, 0, tf_word(m, 0, m->t.cells[0].at));
	tf_hit_stepped(m, &regs);
	assert_int_equal(*tf_word(m, 0, TF_LOST), 1);
	assert_int_equal(*tf_word(m, 0, m->t.cells[0].at), e.inner + 1);

	e.hits = 0;
	tf_case_traced(c, NULL, "ldgs " ARG0 " 1; ret 1");
	m->guest.world.ring.count = 64;
	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));
	tf_hit_stepped(m, &regs);
	assert_int_equal(tf_ring(m, 0)->lost, 1);
	assert_int_equal(tf_ring(m, 0)->reserved[0], e.hits);
	assert_true(may_migrate(m));
	free(c);
	tf_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_gives_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
