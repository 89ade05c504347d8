/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of events inside the guest: its counter on the host's clock, by the marks of its agent. */
#include "tests/unit/engine_agent_fixture.h"

#include "base/clock.h"
#include "vmm-probe/engine/service/agent.h"

/* A session of one clause with the time of each event, and the guest's call for the time trapped. The test is
 * the guest's vCPUs from here on; 5 ms have passed since it was started. */
static struct ea *start_timing(struct ef *f)
{
	struct ea *g = ea_create(f);
	uint32_t c = ef_clause(f, NULL);

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_timestamp));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_open(f);
	ef_probe(f, VP_PROBE_AGENT_CALL, VP_ARGS_NONE, "", "");
	ef_site(f, EF_FUNC_B, EF_FUNC_B);
	((struct vp_batch_site *)(void *)f->sites.data)->agent = VP_AGENT_CALL_MARK;
	ea_enable(f, c);
	ef_start(f);
	ea_pause(g);
	g->still = true;
	ea_play(g);
	for (int i = 0; i < 10; i++)
		ea_nap();
	return g;
}

static void end_timing(struct ea *g)
{
	ea_pause(g);
	g->still = false;
	ea_play(g);
	ea_destroy(g);
}

/* The guest takes the time: its counter stood at @p tsc, @p width ticks to and fro. The agent's thread has
 * polled at least once. */
static void mark(struct ea *g, uint64_t tsc, uint64_t width)
{
	uint32_t seq = g->header->clock_seq;

	assert_true(vp_fake_hit(g->f->fake, 0, EF_FUNC_B));
	__atomic_store_n(&g->header->clock_seq, seq + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&g->header->clock_before, tsc - width, __ATOMIC_RELEASE);
	__atomic_store_n(&g->header->clock_after, tsc + width, __ATOMIC_RELEASE);
	__atomic_store_n(&g->header->clock_seq, seq + 2, __ATOMIC_RELEASE);
	for (int i = 0; i < 100; i++)
		ea_nap();
}

/* The first mark, which is waited for: its time. */
static uint64_t first_mark(struct ea *g, uint64_t tsc, uint64_t width)
{
	struct vp_msg_switch_reply reply = { 0 };

	mark(g, tsc, width);
	for (int i = 0; i < 10000 && !reply.agent_bound_ns; i++) {
		ea_nap();
		reply = ef_switch(g->f);
	}
	assert_int_equal(reply.agent_bound_ns, width + 1); /* reported rounded up */
	assert_int_equal(reply.agent_tsc, tsc);
	return reply.agent_ns;
}

/* The times of the events that have fired since the last call. */
static size_t times(struct ea *g, uint64_t ret[8])
{
	struct ef_record r[8];
	size_t n;

	vp_engine_visit(vp_fake_engine(g->f->fake), 0);
	ef_switch(g->f);
	n = ef_records(g->f, 0, r, 8);
	for (size_t i = 0; i < n; i++) {
		ret[i] = ef_u64(r[i].data + 16);
		assert_int_equal(ret[i], r[i].time_ns);
	}
	return n;
}

enum { MS = 1000000 };

static const uint64_t tsc0 = 5000000000ull; /* the guest's counter, of a nanosecond a tick */

/* A mark is a moment between two readings of the guest's counter: from then on its times are ours, to half
 * their distance. */
static void clock_is_mapped(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = start_timing(f);
	uint64_t when[8], now, at;
	(void)state;

	assert_int_equal(ef_switch(f).agent_bound_ns, 0);
	now = ot_now_ns();
	at = first_mark(g, tsc0, 1000);
	assert_true(at >= now && at <= ot_now_ns());
	ea_emit_at(g, tsc0 - 3 * MS, 1);
	assert_int_equal(times(g, when), 1);
	assert_int_equal(when[0], at - 3 * MS);
	end_timing(g);
}

/* What happens before the first mark waits for it, and so has the time that it was. */
static void first_mark_is_waited_for(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = start_timing(f);
	uint64_t when[8], at;
	(void)state;

	ea_emit_at(g, tsc0 - 3 * MS, 1);
	ea_emit_at(g, tsc0 - 1 * MS, 2);
	assert_int_equal(times(g, when), 0);
	at = first_mark(g, tsc0, 1000);
	assert_int_equal(times(g, when), 2);
	assert_int_equal(when[0], at - 3 * MS);
	assert_int_equal(when[1], at - 1 * MS);
	end_timing(g);
}

/* … and for one that is exact: what the host ran in the middle of the first would be in the times of all
 * before the second. */
static void wide_first_mark_is_not_enough(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = start_timing(f);
	uint64_t when[8], tsc, at = first_mark(g, tsc0, 200 * MS);
	struct vp_msg_switch_reply reply;
	(void)state;

	/* It was hit at its beginning: by it alone, all times are 200 ms too early. */
	ea_emit_at(g, tsc0 - 190 * MS, 1);
	assert_int_equal(times(g, when), 0);
	tsc = tsc0 - 200 * MS + (ot_now_ns() - at);
	mark(g, tsc, 1000);
	ea_emit_at(g, tsc + 2 * MS, 2);
	reply = ef_switch(f);
	assert_int_equal(reply.agent_tsc, tsc);
	assert_int_equal(times(g, when), 2);
	assert_int_equal(when[0], reply.agent_ns - (tsc - (tsc0 - 190 * MS)));
	assert_int_equal(when[1], reply.agent_ns + 2 * MS);
	end_timing(g);
}

/* … but not for ever: a guest whose time call is not trapped reports at least the records in between. */
static void without_a_mark(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = start_timing(f);
	uint64_t when[8];
	size_t n = 0;
	(void)state;

	ea_emit_at(g, tsc0 - 3 * MS, 1);
	ea_emit_at(g, tsc0 - 1 * MS, 2);
	for (int i = 0; i < 10000 && !n; i++) {
		ea_nap();
		n = times(g, when);
	}
	assert_int_equal(n, 2);
	assert_int_equal(when[1] - when[0], 2 * MS);
	end_timing(g);
}

/* The host ran something else between the two readings: such a mark is worth less than the one before. */
static void wide_marks_are_not_taken(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = start_timing(f);
	uint64_t when[8], at = first_mark(g, tsc0, 1000), tsc;
	(void)state;

	/* Of 40 ms, at the end of which it was hit. */
	tsc = tsc0 + (ot_now_ns() - at) - 20 * MS;
	mark(g, tsc, 20 * MS);
	ea_emit_at(g, tsc, 1);
	ea_emit_at(g, tsc + 1 * MS, 2);
	assert_int_equal(times(g, when), 2);
	assert_int_equal(when[0], at + (tsc - tsc0));
	assert_int_equal(when[1], at + (tsc - tsc0) + 1 * MS);
	assert_int_equal(ef_switch(f).agent_bound_ns, 1001);
	end_timing(g);
}

/* The guest's counter was set, or the guest stood still: from the next mark on times are by that, and what
 * happened before keeps its own. */
static void clock_moves(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = start_timing(f);
	uint64_t when[8], at = first_mark(g, tsc0, 1000);
	struct vp_msg_switch_reply reply;
	(void)state;

	mark(g, tsc0 + 2 * MS, 1000); /* 50 ms of ours have passed */
	ea_emit_at(g, tsc0 + 1 * MS, 1);
	ea_emit_at(g, tsc0 + 3 * MS, 2);
	reply = ef_switch(f);
	assert_int_equal(reply.agent_tsc, tsc0 + 2 * MS);
	assert_true(reply.agent_ns > at + 40 * MS);
	assert_int_equal(times(g, when), 2);
	assert_int_equal(when[0], at + 1 * MS);
	assert_int_equal(when[1], reply.agent_ns + 1 * MS);
	end_timing(g);
}

/* The first mark was hit at its very end, so the clock is ahead by half of it: the first event shows that,
 * and the distances of those after it are right, though all are taken at one moment. */
static void clock_ahead(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = start_timing(f);
	uint64_t when[8], at = first_mark(g, tsc0, 200 * MS), tsc, first;
	(void)state;

	__atomic_store_n(&vp_fake_engine(f->fake)->agent->hold_until, 0, __ATOMIC_RELEASE);
	tsc = tsc0 + 200 * MS + (ot_now_ns() - at);
	ea_emit_at(g, tsc, 1);
	assert_int_equal(times(g, when), 1);
	assert_true(when[0] <= ot_now_ns());
	first = when[0];
	ea_nap();
	ea_emit_at(g, tsc + 100000, 2);
	ea_emit_at(g, tsc + 150000, 3);
	assert_int_equal(times(g, when), 2);
	assert_int_equal(when[0], first + 100000);
	assert_int_equal(when[1] - when[0], 50000);
	end_timing(g);
}

/* Events from before a session are not delivered to it: those that the agent's last owner left in a ring, and
 * those of other sessions. */
static void older_events(void **state)
{
	struct ef *f = ef_create();
	struct ea *g;
	uint64_t when[8];
	(void)state;

	struct ga_record old = ea_record(7);
	g = ea_create(f);
	assert_true(ea_emit(g, 1, &old));
	ea_start_counting(f);
	assert_int_equal(g->rings[1]->tail, 1);
	EF_OK(vp_engine_session_stop(f->es));
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 0);
	ea_destroy(g);

	f = ef_create();
	g = start_timing(f);
	first_mark(g, tsc0, 1000);
	ea_emit_at(g, tsc0 - 4000ull * MS, 1);
	ea_emit_at(g, tsc0, 2);
	assert_int_equal(times(g, when), 1);
	end_timing(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clock_is_mapped),
		cmocka_unit_test(first_mark_is_waited_for),
		cmocka_unit_test(wide_first_mark_is_not_enough),
		cmocka_unit_test(without_a_mark),
		cmocka_unit_test(wide_marks_are_not_taken),
		cmocka_unit_test(clock_moves),
		cmocka_unit_test(clock_ahead),
		cmocka_unit_test(older_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
