/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The task that runs, as several sessions at one site have it: read once for all with the same kernel. */
#include "tests/unit/engine_fixture.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RECORDS 16
#define SESSIONS    3

/* Sessions of one engine, each of which records pid, tid and execname at function A. */
struct sessions {
	struct ef *f;
	uint32_t clause;
	struct vp_engine_session *es[SESSIONS];
	uint8_t *shared[SESSIONS];
};

static void begin(struct sessions *s)
{
	s->f = ef_create();
	s->clause = ef_clause(s->f, NULL);
	ef_action(s->f, s->clause, DIF_ACT_difexpr, ef_var(s->f, DIF_VAR_pid));
	ef_action(s->f, s->clause, DIF_ACT_difexpr, ef_var(s->f, DIF_VAR_tid));
	ef_action(s->f, s->clause, DIF_ACT_difexpr, ef_string_var(s->f, DIF_VAR_execname));
}

/* By the facts that the fixture has now. */
static void open_session(struct sessions *s, unsigned i)
{
	s->f->es = NULL;
	s->f->shared = NULL;
	ef_trace(s->f, s->clause);
	s->es[i] = s->f->es;
	s->shared[i] = s->f->shared;
}

static void select_session(struct sessions *s, unsigned i)
{
	s->f->es = s->es[i];
	s->f->shared = s->shared[i];
}

static void close_session(struct sessions *s, unsigned i)
{
	select_session(s, i);
	ef_close(s->f);
	free(s->shared[i]);
	s->f->shared = NULL;
}

/* Sessions from @first on are still open. */
static void end(struct sessions *s, unsigned first, unsigned n)
{
	for (unsigned i = first; i + 1 < n; i++)
		close_session(s, i);
	select_session(s, n - 1);
	ef_destroy(s->f);
}

static void put(struct sessions *s, uint64_t at, const void *bytes, size_t len)
{
	vp_fake_write(s->f->fake, s->f->kernel_root, at, bytes, len);
}

static void set_task(struct sessions *s, uint32_t pid, uint32_t tid, const char *name)
{
	char comm[16] = { 0 };

	memcpy(comm, name, strlen(name));
	put(s, EF_TASKS + EF_TASK_TGID, &pid, sizeof(pid));
	put(s, EF_TASKS + EF_TASK_PID, &tid, sizeof(tid));
	put(s, EF_TASKS + EF_TASK_COMM, comm, sizeof(comm));
}

/* The records of a session: the @n-th has these. */
static void expect(struct sessions *s, unsigned session, unsigned n, uint64_t pid, uint64_t tid,
		   const char *name)
{
	struct ef_record r[MAX_RECORDS];

	select_session(s, session);
	assert_true(n < ef_records(s->f, 0, r, MAX_RECORDS));
	assert_int_equal(ef_u64(r[n].data + 16), pid);
	assert_int_equal(ef_u64(r[n].data + 24), tid);
	assert_string_equal((const char *)r[n].data + 32, name);
}

static void switch_session(struct sessions *s, unsigned i)
{
	select_session(s, i);
	ef_switch(s->f);
}

static void hit(struct sessions *s)
{
	assert_true(vp_fake_hit(s->f->fake, 0, EF_FUNC_A));
}

/* Each hit is of the task that runs then. */
static void task_changes_between_hits(void **state)
{
	struct sessions s;
	(void)state;

	begin(&s);
	for (unsigned i = 0; i < 2; i++)
		open_session(&s, i);
	set_task(&s, 1, 2, "first");
	hit(&s);
	set_task(&s, 3, 4, "second");
	hit(&s);
	for (unsigned i = 0; i < 2; i++) {
		switch_session(&s, i);
		expect(&s, i, 0, 1, 2, "first");
		expect(&s, i, 1, 3, 4, "second");
	}
	end(&s, 0, 2);
}

/* A client that has other facts gets what these lead to, wherever it stands among the others. */
static void facts_of_another_kernel(void **state)
{
	(void)state;
	for (unsigned other = 0; other < SESSIONS; other++) {
		struct sessions s;
		begin(&s);
		struct vp_facts facts = s.f->facts;
		for (unsigned i = 0; i < SESSIONS; i++) {
			s.f->facts = facts;
			if (i == other) {
				s.f->facts.task_tgid = EF_TASK_PID;
				s.f->facts.task_pid = EF_TASK_TGID;
				s.f->facts.task_comm = EF_TASK_COMM + 1;
				s.f->facts.task_comm_size = 3;
			}
			open_session(&s, i);
		}
		set_task(&s, 1, 2, "abcdef");
		hit(&s);
		for (unsigned i = 0; i < SESSIONS; i++) {
			switch_session(&s, i);
			if (i == other)
				expect(&s, i, 0, 2, 1, "bcd");
			else
				expect(&s, i, 0, 1, 2, "abcdef");
		}
		end(&s, 0, SESSIONS);
	}
}

/* The second session has read nothing of the task, so it has no translation of the page where that was. */
static void read_once_for_all(void **state)
{
	struct sessions s;
	(void)state;

	begin(&s);
	for (unsigned i = 0; i < 2; i++)
		open_session(&s, i);
	set_task(&s, 1, 2, "first");
	hit(&s);
	/* Elsewhere, and no one has said so. */
	vp_fake_map(s.f->fake, s.f->kernel_root, EF_TASKS, vp_fake_page(s.f->fake), 0, 12);
	set_task(&s, 3, 4, "second");
	hit(&s);
	close_session(&s, 0);
	hit(&s);
	switch_session(&s, 1);
	expect(&s, 1, 0, 1, 2, "first");
	expect(&s, 1, 1, 1, 2, "first");
	expect(&s, 1, 2, 3, 4, "second");
	end(&s, 1, 2);
}

/* What can't be read is an error of each session's, and the next hit's own matter. */
static void task_that_is_not_there(void **state)
{
	const uint64_t nowhere = EF_TASKS + 0x100000, there = EF_TASKS;
	struct ef_record r[MAX_RECORDS];
	struct sessions s;
	(void)state;

	begin(&s);
	for (unsigned i = 0; i < 2; i++)
		open_session(&s, i);
	put(&s, EF_PERCPU + EF_PERCPU_CURRENT, &nowhere, sizeof(nowhere));
	hit(&s);
	put(&s, EF_PERCPU + EF_PERCPU_CURRENT, &there, sizeof(there));
	set_task(&s, 3, 4, "there");
	hit(&s);
	for (unsigned i = 0; i < 2; i++) {
		switch_session(&s, i);
		assert_int_equal(ef_records(s.f, 0, r, MAX_RECORDS), 2);
		assert_int_equal(r[0].epid, VP_EPID_FAULT);
		expect(&s, i, 1, 3, 4, "there");
	}
	end(&s, 0, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(task_changes_between_hits),
		cmocka_unit_test(facts_of_another_kernel),
		cmocka_unit_test(read_once_for_all),
		cmocka_unit_test(task_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
