/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sorting [N | fork]
 *
 * A program without frame pointers. At each SIGUSR1 it sorts a few numbers by qsort(), which calls compare()
 * from within the C library, and raises a signal. In both it passes a static probe, compare() also makes a
 * system call; then it says its stack as the compiler's own unwinder sees it, from the function that has the
 * probe on, in hexadecimal:
 *
 *     compare ADDRESS …
 *     signal ADDRESS …
 *     done
 *
 * With N, it sorts many numbers N times instead, and says nothing of it but "done". With fork it has a child
 * that does the same, and says "forked PID" first. It prints "ready" before the first SIGUSR1.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "note.h"

#define FRAMES  64
#define NUMBERS 5
#define MANY    200

static int is_quiet;

struct stack {
	unsigned long pcs[FRAMES];
	int n;
};

static _Unwind_Reason_Code take(struct _Unwind_Context *context, void *arg)
{
	struct stack *s = arg;

	if (s->n < FRAMES && _Unwind_GetIP(context))
		s->pcs[s->n++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* Without its own frame. */
__attribute__((noipa)) static void say(const char *where)
{
	struct stack s = { .n = 0 };
	char line[FRAMES * 20];
	int len = snprintf(line, sizeof(line), "%s", where);

	_Unwind_Backtrace(take, &s);
	for (int i = 1; i < s.n; i++)
		len += snprintf(line + len, sizeof(line) - (size_t)len, " %lx", s.pcs[i]);
	dprintf(1, "%s\n", line);
}

__attribute__((noipa)) static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	NOTE("sorting", "compare", "0", "8@%%rdi", "D"(x));
	if (!is_quiet) {
		getppid();
		say("compare");
	}
	return (x > y) - (x < y);
}

static void on_signal(int number)
{
	(void)number;
	NOTE("sorting", "signal", "0", "");
	say("signal");
	__asm__ volatile(""); /* a call that is not the last thing, or its frame would be gone */
}

/* Its frame has a size that the compiler does not know, so that it needs a register for it. */
__attribute__((noipa)) static long sort(size_t n)
{
	long numbers[n];

	for (size_t i = 0; i < n; i++)
		numbers[i] = (long)(i * 7 % n);
	qsort(numbers, n, sizeof(*numbers), compare);
	return numbers[0];
}

/* A large frame. */
__attribute__((noipa)) static long work(size_t n)
{
	char text[70000];

	snprintf(text, sizeof(text), "%ld", sort(n));
	if (!is_quiet)
		raise(SIGUSR2);
	return (long)strlen(text);
}

int main(int argc, char **argv)
{
	long rounds;
	sigset_t signals;
	int number;
	long sum = 0;

	if (argc > 1 && !strcmp(argv[1], "fork")) {
		if (!fork())
			dprintf(1, "forked %d\n", getpid());
		argc = 1;
	}
	is_quiet = argc > 1;
	rounds = is_quiet ? atol(argv[1]) : 1;
	signal(SIGUSR2, on_signal);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	dprintf(1, "ready\n");
	while (!sigwait(&signals, &number)) {
		for (long i = 0; i < rounds; i++)
			sum += work(is_quiet ? MANY : NUMBERS);
		dprintf(1, "done\n");
	}
	return sum > 0;
}
