/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hosts/children: several at once, answers in order, and no child that is waited for without end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm-probe/hosts/children.h"

#define N 5u

/* Each says that it is there, and answers only when all are: they never would, one after another. */
struct meeting {
	int here[2], go[2];
};

static void meet(void *arg, size_t i, char ret[VP_CHILDREN_ANSWER])
{
	struct meeting *m = arg;
	char byte = 'h';

	if (write(m->here[1], &byte, 1) != 1)
		_exit(1);
	if (i == N - 1) {
		for (unsigned n = 0; n < N; n++)
			if (read(m->here[0], &byte, 1) != 1)
				_exit(1);
		if (write(m->go[1], "ggggg", N) != N)
			_exit(1);
	}
	if (read(m->go[0], &byte, 1) == 1)
		snprintf(ret, VP_CHILDREN_ANSWER, "answer %zu", i);
}

static void all_are_asked_at_once(void **state)
{
	char answers[N][VP_CHILDREN_ANSWER], want[32];
	struct meeting m;

	(void)state;
	assert_int_equal(pipe(m.here), 0);
	assert_int_equal(pipe(m.go), 0);
	vp_children_ask(N, N, 20000, meet, &m, answers);
	for (unsigned i = 0; i < N; i++) {
		snprintf(want, sizeof(want), "answer %u", i);
		assert_string_equal(answers[i], want);
	}
	for (unsigned i = 0; i < 2; i++) {
		close(m.here[i]);
		close(m.go[i]);
	}
}

static void some_hang(void *arg, size_t i, char ret[VP_CHILDREN_ANSWER])
{
	(void)arg;
	if (i == 1)
		pause();
	if (i == 3)
		abort();
	memset(ret, (int)('0' + i), i);
}

static void what_never_answers_is_ended(void **state)
{
	char answers[N][VP_CHILDREN_ANSWER];

	(void)state;
	vp_children_ask(N, 2, 300, some_hang, NULL, answers);
	assert_string_equal(answers[0], "");
	assert_string_equal(answers[1], "");
	assert_string_equal(answers[2], "22");
	assert_string_equal(answers[3], "");
	assert_string_equal(answers[4], "4444");
	assert_int_equal(waitpid(-1, NULL, 0), -1); /* none is left */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_asked_at_once),
		cmocka_unit_test(what_never_answers_is_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
