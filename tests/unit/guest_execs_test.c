/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which process has begun to run a program: by its memory, by the kernel's count of exec()s, by its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "process_fixture.h"
#include "vmm-probe/guest/process/execs.h"

#define OTHER_MM (PF_BASE + 0x0b00u)
#define POLLS    100 /* with 1 ms between: 5 times as long as its mappings must stay the same */

static int setup(void **state)
{
	*state = process_guest_create(true);
	return 0;
}

static int teardown(void **state)
{
	process_guest_destroy(*state);
	return 0;
}

static void poll_execs(struct vp_execs *e, struct vp_guest_process *ret, bool *ret_found)
{
	struct ot_err *err = vp_execs_poll(e, ret, ret_found);

	if (err)
		fail_msg("%s", ot_err_message(err));
}

/* Is the process taken? One that is has mapped all that it will: it is given after some looks. */
static bool is_taken(struct vp_execs *e)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct vp_guest_process p = { 0 };
	bool found = false;

	for (unsigned i = 0; i < POLLS && !found; i++) {
		poll_execs(e, &p, &found);
		nanosleep(&pause, NULL);
	}
	assert_true(!found || p.pid == PF_PID);
	return found;
}

static struct vp_execs *opened(struct process_guest *pg, const char *name)
{
	struct vp_guest_process p;
	struct vp_execs *e;
	bool found;

	assert_null(vp_execs_open(process_guest_kernel(pg), name, &e));
	poll_execs(e, &p, &found); /* those that are there */
	assert_false(found);
	return e;
}

static void call_exec(struct process_guest *pg)
{
	memcpy(process_word(pg, OTHER_MM), process_word(pg, PF_MM), 64);
	*process_word(pg, PF_TASK + PF_TASK_MM) = OTHER_MM;
}

/* Another process has the number. */
static void replace(struct process_guest *pg, uint32_t own, uint32_t parent)
{
	*process_word(pg, PF_TASK + PF_START) += 1;
	*process_word(pg, PF_TASK + PF_EXEC_IDS) = own | (uint64_t)parent << 32;
}

static void by_memory(void **state)
{
	struct process_guest *pg = *state;
	struct vp_execs *e = opened(pg, "prog");

	assert_false(is_taken(e));
	call_exec(pg);
	assert_true(is_taken(e));
	vp_execs_close(e);
}

static void by_count(void **state)
{
	struct process_guest *pg = *state;
	struct vp_execs *e = opened(pg, "prog");

	replace(pg, 3, 3); /* forked */
	assert_false(is_taken(e));
	replace(pg, 4, 3);
	assert_true(is_taken(e));
	vp_execs_close(e);
}

/* A poll between the two steps of exec(): it has its memory already, and is counted afterwards. */
static void counted_later(void **state)
{
	struct process_guest *pg = *state;
	struct vp_execs *e = opened(pg, "prog");

	replace(pg, 3, 3);
	assert_false(is_taken(e));
	*process_word(pg, PF_TASK + PF_EXEC_IDS) = 4 | 3ull << 32;
	assert_true(is_taken(e));
	vp_execs_close(e);
}

static void by_path(void **state)
{
	static const struct {
		const char *name;
		bool is;
	} names[] = { { "prog", true },   { "/srv/data/prog", true }, { "data/prog", false },
		      { "script", true }, { "scrip", false },         { "script2", false } };
	struct process_guest *pg = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct vp_execs *e = opened(pg, names[i].name);

		memcpy(process_word(pg, PF_TASK + PF_COMM), "script", 7);
		*process_word(pg, PF_MM + PF_EXE_FILE) = PF_FILE;
		call_exec(pg);
		if (is_taken(e) != names[i].is)
			fail_msg("%s", names[i].name);
		vp_execs_close(e);
		process_guest_reset(pg);
	}
}

/* A poll that can't read the process. */
static void poll_without(struct process_guest *pg, struct vp_execs *e)
{
	uint64_t *number = process_word(pg, PF_NODE(0) + PF_XA_SLOTS + 8 * PF_PID), was = *number;
	struct vp_guest_process p;
	bool found;

	*number = 0;
	poll_execs(e, &p, &found);
	assert_false(found);
	*number = was;
}

/* One that can't be read for a moment was there before. */
static void missed(void **state)
{
	struct process_guest *pg = *state;
	struct vp_execs *e = opened(pg, "prog");

	*process_word(pg, PF_TASK + PF_EXEC_IDS) = 4;
	poll_without(pg, e);
	assert_false(is_taken(e));
	vp_execs_close(e);
}

/* The chosen one can't be read for longer than it is young: it is still the one. */
static void unreadable(void **state)
{
	const struct timespec pause = { .tv_nsec = 300000000 };
	struct process_guest *pg = *state;
	struct vp_execs *e = opened(pg, "prog");
	struct vp_guest_process p;
	bool found;

	replace(pg, 4, 3);
	poll_execs(e, &p, &found);
	assert_false(found);
	for (unsigned i = 0; i < 5; i++) {
		poll_without(pg, e);
		nanosleep(&pause, NULL);
		poll_execs(e, &p, &found);
		assert_false(found); /* its mappings have to stay the same again */
	}
	assert_true(is_taken(e));
	vp_execs_close(e);
}

/* The one that was chosen has ended before it had mapped all: the next one is awaited. */
static void ended(void **state)
{
	struct process_guest *pg = *state;
	struct vp_execs *e = opened(pg, "prog");
	struct vp_guest_process p;
	bool found;

	replace(pg, 4, 3);
	poll_execs(e, &p, &found);
	assert_false(found);
	replace(pg, 3, 3);
	assert_false(is_taken(e));
	replace(pg, 4, 3);
	assert_true(is_taken(e));
	vp_execs_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(by_count, setup, teardown),
		cmocka_unit_test_setup_teardown(counted_later, setup, teardown),
		cmocka_unit_test_setup_teardown(unreadable, setup, teardown),
		cmocka_unit_test_setup_teardown(by_path, setup, teardown),
		cmocka_unit_test_setup_teardown(missed, setup, teardown),
		cmocka_unit_test_setup_teardown(ended, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
