/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine with a guest's agent in use: what is asked of it, and what its records become. */
#include "tests/unit/engine_agent_fixture.h"

#include <string.h>

#include "vmm-probe/engine/service/agent.h"

static void owned_while_in_use(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	const struct ga_want *want = &g->control->slots[EA_SLOT];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	ea_enable(f, c);
	assert_int_equal(g->control->owner, EA_TOKEN); /* not before it starts */
	ef_start(f);
	assert_int_equal(g->control->owner & ~0xffull, EA_TOKEN);
	assert_int_not_equal(g->control->owner, EA_TOKEN);
	assert_int_equal(want->kind, GA_TRACEPOINT);
	assert_int_equal(want->address, EA_TP);
	assert_int_equal(want->nargs, 2);
	assert_int_equal(__atomic_load_n(&g->header->applied, __ATOMIC_ACQUIRE), g->control->generation);

	uint64_t beat = __atomic_load_n(&g->control->beat, __ATOMIC_RELAXED);
	for (int i = 0; i < 10000 && __atomic_load_n(&g->control->beat, __ATOMIC_RELAXED) == beat; i++)
		ea_nap();
	assert_int_not_equal(__atomic_load_n(&g->control->beat, __ATOMIC_RELAXED), beat);
	EF_OK(vp_engine_session_stop(f->es));
	assert_int_equal(g->control->owner, EA_TOKEN);
	assert_int_equal(want->kind, GA_OFF);
	ea_destroy(g);
}

/* What the clause sees is the event's, not the vCPU's. */
static void records_fire(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	struct ef_record r[8];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_pid));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_tid));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg2)); /* not among nargs: 0 */
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_execname));
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_view));
	ef_open(f);
	uint32_t epid = ea_enable(f, c);
	ef_start(f);
	for (uint64_t i = 0; i < 3; i++) {
		struct ga_record rec = ea_record(10 * i);
		assert_true(ea_emit(g, 1, &rec));
	}
	ea_wait_for(&g->rings[1]->tail, 3);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 8), 0);
	assert_int_equal(ef_records(f, 1, r, 8), 3);
	for (uint64_t i = 0; i < 3; i++) {
		const uint8_t *data = r[i].data + 16;
		assert_int_equal(r[i].epid, epid);
		assert_int_equal(ef_u64(data), 4200);
		assert_int_equal(ef_u64(data + 8), 4242);
		assert_int_equal(ef_u64(data + 16), 10 * i);
		assert_int_equal(ef_u64(data + 24), 10 * i + 1);
		assert_int_equal(ef_u64(data + 32), 0);
		assert_string_equal((const char *)data + 40, "inside");
		assert_string_equal((const char *)data + 72, "inside");
		assert_true(i == 0 || r[i].time_ns >= r[i - 1].time_ns);
	}
	ea_destroy(g);
}

/* Earlier inside events of a vCPU precede an outside clause of the same vCPU. */
static void inside_comes_first(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	struct ef_record r[8];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_view));
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ea_enable(f, c);
	ef_start(f);
	ea_pause(g);
	struct ga_record rec = ea_record(1);
	assert_true(ea_emit(g, 0, &rec));
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 8), 2);
	assert_string_equal((const char *)r[0].data + 16, "inside");
	assert_string_equal((const char *)r[1].data + 16, "outside");
	ea_play(g);
	ea_destroy(g);
}

static void count_views(struct dif_object *(*make_key)(struct ef *f))
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	const uint64_t *words;
	const uint8_t *key;
	uint64_t counted[2] = { 0 };

	uint32_t c = ef_clause(f, NULL);
	if (make_key)
		ef_key(f, c, make_key(f));
	ef_agg(f, c, DIF_AGG_count, NULL, make_key != NULL);
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ea_enable(f, c);
	ef_start(f);
	ea_pause(g);
	struct ga_record rec = ea_record(1);
	for (int i = 0; i < 3; i++)
		assert_true(ea_emit(g, 0, &rec));
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ef_switch(f);
	for (uint32_t n = 0; n < 2; n++) {
		uint32_t id;
		assert_true(ef_agg_entry(f, 0, n, &key, &words));
		memcpy(&id, key - sizeof(id), sizeof(id));
		assert_int_equal(id & ~VP_AGG_INSIDE, 1);
		counted[!!(id & VP_AGG_INSIDE)] += words[0];
	}
	assert_int_equal(counted[0], 1);
	assert_int_equal(counted[1], 3);
	ea_play(g);
	ea_destroy(g);
}

static struct dif_object *number_key(struct ef *f)
{
	return ef_int(f, 5);
}

static struct dif_object *string_key(struct ef *f)
{
	return ef_string(f, "of any length");
}

/* One key on two views is two entries, and the client can distinguish them. */
static void views_are_kept_apart(void **state)
{
	(void)state;
	count_views(NULL);
	count_views(number_key);
	count_views(string_key);
}

/* What a function returned is arg1. */
static void return_values(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	struct ef_record r[2];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	ef_open(f);
	uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_FBT_RETURN, "f", "return");
	ef_agent_probe(f, probe, GA_TRACEPOINTS, EF_FUNC_A, 1, GA_KRETPROBE);
	ef_ecb(f, probe, c);
	ef_enable(f);
	ef_start(f);
	struct ga_record rec = ea_record(77);
	rec.slot = GA_TRACEPOINTS;
	rec.nargs = 1;
	assert_true(ea_emit(g, 0, &rec));
	ea_wait_for(&g->rings[0]->tail, 1);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 2), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 0);
	assert_int_equal(ef_u64(r[0].data + 24), 77);
	ea_destroy(g);
}

/* One tracepoint, probes for some of its events: by a word of them, by who did it. Their arguments begin
 * further on. */
static void which_events(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	uint32_t c[4];
	struct ef_record r[16];
	unsigned seen[4] = { 0 };
	(void)state;

	for (unsigned i = 0; i < 4; i++) {
		c[i] = ef_clause(f, NULL);
		ef_action(f, c[i], DIF_ACT_difexpr, ef_int(f, i));
		ef_action(f, c[i], DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	}
	ef_open(f);
	ea_probe(f, c[0]);
	ea_probe(f, c[1])->agent.when = VP_WHEN_FIRST;
	struct vp_batch_probe *p = ea_probe(f, c[2]);
	p->agent.when = VP_WHEN_WORD;
	p->agent.when_word = 1;
	p->agent.when_mask = 0xff;
	p->agent.when_value = 11;
	p = ea_probe(f, c[3]);
	p->agent.skip = 1;
	ef_enable(f);
	ef_start(f);
	struct ga_record rec = ea_record(10), first = ea_record(0x500);
	first.pid = first.tgid;
	assert_true(ea_emit(g, 0, &rec));
	assert_true(ea_emit(g, 0, &first));
	ea_wait_for(&g->rings[0]->tail, 2);
	ef_switch(f);
	size_t n = ef_records(f, 0, r, 16);
	for (size_t i = 0; i < n; i++) {
		uint64_t clause = ef_u64(r[i].data + 16), arg0 = ef_u64(r[i].data + 24);
		bool second = clause == 1 || (clause != 2 && seen[clause]);
		assert_true(clause < 4);
		assert_int_equal(arg0, (second ? 0x500 : 10) + (clause == 3));
		seen[clause]++;
	}
	assert_int_equal(n, 6);
	assert_int_equal(seen[0] * 1000 + seen[1] * 100 + seen[2] * 10 + seen[3], 2112);
	ea_destroy(g);
}

/* Numbers of calls of 32 bits are other calls'. */
static void calls_of_32_bits(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	struct ef_record r[4];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_open(f);
	struct vp_batch_probe *p = ea_probe(f, c);
	p->args = VP_ARGS_SYSCALL_ENTRY;
	p->agent.syscall = 64 + 1;
	p->agent.flags = GA_WANT_SYSCALL;
	p->agent.nargs = GA_ARGS;
	ef_enable(f);
	ef_start(f);
	for (uint16_t i = 0; i < 4; i++) {
		struct ga_record rec = ea_record(64);
		rec.nargs = GA_ARGS;
		rec.args[1] = 64;
		rec.args[2] = i;
		rec.flags = i & 1 ? GA_RECORD_32BIT : 0;
		assert_true(ea_emit(g, 0, &rec));
	}
	ea_wait_for(&g->rings[0]->tail, 4);
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 4), 2);
	assert_int_equal(ef_u64(r[0].data + 16), 0);
	assert_int_equal(ef_u64(r[1].data + 16), 2);
	ea_destroy(g);
}

/* An event of one task about another task: each probe gets the task that the event is about. */
static void about_another_task(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	struct ef_record r[4];
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_pid));
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_tid));
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_execname));
	ef_open(f);
	struct vp_batch_probe *p = ea_probe(f, c);
	p->agent.flags = GA_TASK_FLAGS(2);
	p->agent.nargs = GA_ARGS;
	ea_probe(f, c);
	ef_enable(f);
	ef_start(f);
	assert_int_equal(g->control->slots[EA_SLOT].flags, GA_TASK_FLAGS(2));
	assert_int_equal(g->control->slots[EA_SLOT].nargs, GA_ARGS);
	struct ga_record rec = ea_record(1);
	rec.nargs = GA_ARGS;
	rec.args[5] = 70ull << 32 | 77;
	memcpy(&rec.args[6], "other-task-abcde", 16); /* as long as it can be */
	assert_true(ea_emit(g, 1, &rec));
	ea_wait_for(&g->rings[1]->tail, 1);
	ef_switch(f);
	assert_int_equal(ef_records(f, 1, r, 4), 2);
	assert_int_equal(ef_u64(r[0].data + 16), 70);
	assert_int_equal(ef_u64(r[0].data + 24), 77);
	assert_string_equal((const char *)r[0].data + 32, "other-task-abcde");
	assert_int_equal(ef_u64(r[1].data + 16), 4200);
	assert_int_equal(ef_u64(r[1].data + 24), 4242);
	assert_string_equal((const char *)r[1].data + 32, "inside");
	ea_destroy(g);
}

/* … with that task's thread-local variables and curthread, whichever of its probes came first. */
static void another_tasks_variables(void **state)
{
	enum { SELF = 0x501 };
	const uint64_t other = EF_TASKS + 4096;
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	struct ef_record r[8];
	(void)state;

	uint32_t on = ef_clause(f, NULL), off = ef_clause(f, NULL);
	ef_action(f, on, DIF_ACT_difexpr, ef_self_set(f, SELF, ef_var(f, DIF_VAR_arg0)));
	ef_action(f, on, DIF_ACT_difexpr, ef_var(f, DIF_VAR_curthread));
	ef_action(f, off, DIF_ACT_difexpr, ef_self(f, SELF));
	ef_action(f, off, DIF_ACT_difexpr, ef_var(f, DIF_VAR_curthread));
	f->open.dynvars_size = 65536;
	ef_open(f);
	struct vp_batch_probe *p = ea_probe(f, on);
	p->agent.flags = GA_TASK_FLAGS(2);
	p->agent.nargs = GA_ARGS;
	ea_probe(f, off);
	ef_enable(f);
	ef_start(f);
	/* From the one to the other at 10, and back at 20. */
	for (uint64_t i = 0; i < 2; i++) {
		struct ga_record rec = ea_record(10 + 10 * i);
		rec.nargs = GA_ARGS;
		rec.task = i ? other : EF_TASKS;
		rec.pid = i ? 77 : 4242;
		rec.args[2] = i ? EF_TASKS : other;
		rec.args[5] = i ? 4200ull << 32 | 4242 : 70ull << 32 | 77;
		assert_true(ea_emit(g, 1, &rec));
	}
	ea_wait_for(&g->rings[1]->tail, 2);
	ef_switch(f);
	assert_int_equal(ef_records(f, 1, r, 8), 4);
	const uint64_t seen[4][2] = { { 10, other }, { 0, EF_TASKS }, { 20, EF_TASKS }, { 10, other } };
	for (int i = 0; i < 4; i++) {
		assert_int_equal(ef_u64(r[i].data + 16), seen[i][0]);
		assert_int_equal(ef_u64(r[i].data + 24), seen[i][1]);
	}
	ea_destroy(g);
}

/* A thread that has moved has events in two rings: they never fire at one time, so that a clause finds its
 * thread-local variables as it has left them. */
static void one_vcpu_a_thread(void **state)
{
	enum { SELF = 0x501 };
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	struct vp_agent *agent;
	uint32_t c = ef_clause(f, NULL);
	(void)state;

	ef_action(f, c, DIF_ACT_difexpr, ef_self_set(f, SELF, ef_var(f, DIF_VAR_arg0)));
	f->open.dynvars_size = 65536;
	ef_open(f);
	ea_enable(f, c);
	ef_start(f);
	ea_pause(g);
	agent = vp_fake_engine(f->fake)->agent;
	__atomic_store_n(&agent->hold_until, 0, __ATOMIC_RELEASE);
	ea_emit_at(g, 0, 1);
	/* As if the other vCPU fired for it, and every other. */
	for (uint32_t i = 0; i < VP_AGENT_CLAIMS; i++)
		__atomic_store_n(&agent->claims[i], 2, __ATOMIC_RELEASE);
	vp_engine_visit(vp_fake_engine(f->fake), 0);
	assert_int_equal(g->rings[0]->tail, 0);
	assert_int_equal(ef_status(f, 0)->hits, 0);
	for (uint32_t i = 0; i < VP_AGENT_CLAIMS; i++)
		__atomic_store_n(&agent->claims[i], 0, __ATOMIC_RELEASE);
	vp_engine_visit(vp_fake_engine(f->fake), 0);
	assert_int_equal(g->rings[0]->tail, 1);
	assert_int_equal(ef_status(f, 0)->hits, 1);
	for (uint32_t i = 0; i < VP_AGENT_CLAIMS; i++)
		assert_int_equal(agent->claims[i], 0);
	ea_play(g);
	ea_destroy(g);
}

/* Kprobes: who wants the same has the same slot, all others have their own. */
static void kprobe_slots(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	uint32_t on = 0;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_open(f);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t probe = ef_probe(f, VP_PROBE_AGENT, VP_ARGS_FBT_ENTRY, "f", "entry");
		ef_agent_probe(f, probe, GA_TRACEPOINTS, EF_FUNC_A + (i & 1) * 0x100, 6,
			       i < 3 ? GA_KPROBE : GA_KRETPROBE);
		ef_ecb(f, probe, c);
	}
	ef_enable(f);
	ef_start(f);
	for (uint32_t i = 0; i < GA_TRACEPOINTS; i++)
		assert_int_equal(g->control->slots[i].kind, GA_OFF);
	for (uint32_t i = GA_TRACEPOINTS; i < GA_SLOTS; i++)
		on += g->control->slots[i].kind != GA_OFF;
	assert_int_equal(on, 3); /* the first and the third are one */
	EF_OK(vp_engine_session_stop(f->es));
	ea_destroy(g);
}

/* What was in the rings when the session ends counts. */
static void stop_takes_all(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	(void)state;

	ea_start_counting(f);
	for (uint64_t i = 0; i < 50; i++) {
		struct ga_record rec = ea_record(i);
		assert_true(ea_emit(g, i & 1, &rec));
	}
	EF_OK(vp_engine_session_stop(f->es));
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 50);
	ea_destroy(g);
}

/* The VMM adds and removes memory elsewhere: the agent is where it was, and stays in use. */
static void memory_changes(void **state)
{
	struct ef *f = ef_create();
	struct ea *g = ea_create(f);
	(void)state;

	ea_start_counting(f);
	for (uint64_t i = 0; i < 3; i++) {
		struct ga_record rec = ea_record(i);
		vp_engine_memory_changed(vp_fake_engine(f->fake));
		assert_true(ea_emit(g, 0, &rec));
		ea_wait_for(&g->rings[0]->tail, i + 1);
	}
	assert_false(vp_agent_gone(f->es));
	EF_OK(vp_engine_session_stop(f->es));
	assert_int_equal(g->control->owner, EA_TOKEN);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 3);
	ea_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owned_while_in_use), cmocka_unit_test(records_fire),
		cmocka_unit_test(inside_comes_first), cmocka_unit_test(views_are_kept_apart),
		cmocka_unit_test(return_values),      cmocka_unit_test(which_events),
		cmocka_unit_test(about_another_task), cmocka_unit_test(another_tasks_variables),
		cmocka_unit_test(calls_of_32_bits),   cmocka_unit_test(kprobe_slots),
		cmocka_unit_test(stop_takes_all),     cmocka_unit_test(memory_changes),
		cmocka_unit_test(one_vcpu_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
