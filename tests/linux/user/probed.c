/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probed N [on] [copy]
 * probed N once
 *
 * A program with static probes, whose notes have each form of an argument. At each SIGUSR1 it goes N times
 * past each, and then prints how often it has passed each in all, and the sum of each argument's values, as
 * it knows them itself:
 *
 *     NAME COUNT SUM0 SUM1 …
 *     semaphore VALUE
 *     done
 *
 * It prints "ready" before the first SIGUSR1. At each SIGUSR2 it becomes two: the child prints "child PID",
 * and at its SIGUSR1 goes N times past the probe with the semaphore, prints "child's VALUE", and ends.
 * "once": it does all that at once, with a child that does so too, and ends.
 *
 * "on": it wants its own probe with a semaphore, as programs do whose tracing was switched on. "copy": a
 * child has its own copy of the semaphore's page.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "note.h"

#define ARGS 5
#define WORD 0x1234567887654321ul

/* What notes name: a semaphore, and objects whose addresses arguments have. */
__attribute__((section(".probes"))) volatile uint16_t probed_semaphore;
static __attribute__((section(".probes"))) volatile uint16_t touched; /* its neighbour */
int probed_buffers = -77;
struct {
	char before[40];
	int value;
} probed_stats = { .value = 4000 };

enum row { REGISTERS, HALVES, MEMORY, CONSTANTS, SYMBOLS, PARTLY, PLACES, INLINED, TEXT, GUARDED, ROWS };
static const char *const names[ROWS] = { "registers", "halves", "memory",  "constants", "symbols",
					 "partly",    "places", "inlined", "text",      "guarded" };
static struct {
	long count, sum[ARGS];
} rows[ROWS];

static void passed(enum row row, const long *values, size_t n)
{
	rows[row].count++;
	for (size_t i = 0; i < n; i++)
		rows[row].sum[i] += values[i];
}

#define PASSED(row, ...) \
	passed(row, (const long[]){ __VA_ARGS__ }, sizeof((long[]){ __VA_ARGS__ }) / sizeof(long))

__attribute__((noipa)) static void registers(long i)
{
	register long c __asm__("r13") = i ^ 0x55;
	long a = i * 1000003, b = -i, d = 3 * i;

	NOTE("probed", "registers", "0", "8@%%rdi -4@%%esi 8@%%r13 -8@%%rdx -4@%%r13d", "D"(a), "S"(b),
	     "r"(c), "d"(d));
	PASSED(REGISTERS, a, (int)b, c, d, (int)c);
}

__attribute__((noipa)) static void halves(long i)
{
	uint64_t a = WORD + (uint64_t)i, c = WORD * (uint64_t)(i + 1);

	NOTE("probed", "halves", "0", "1@%%al 2@%%ax 1@%%ah -1@%%cl 4@%%ecx", "a"(a), "c"(c));
	PASSED(HALVES, (uint8_t)a, (uint16_t)a, (uint8_t)(a >> 8), (int8_t)c, (uint32_t)c);
}

__attribute__((noipa)) static void memory(long i)
{
	int table[8] = { (int)i, -1, (int)-i, 7, 1 << 30, (int)(i * i), 0x8001, 9 };
	long at = 5;

	NOTE("probed", "memory", "0", "-4@(%%rdi) 4@4(%%rdi) -4@(%%rdi,%%rsi,4) -2@24(%%rdi) 8@-8(%%rdx)",
	     "D"(table), "S"(at), "d"(table + 6));
	PASSED(MEMORY, table[0], (unsigned)table[1], table[5], (int16_t)table[6],
	       (long)((uint64_t)(unsigned)table[5] << 32 | (unsigned)table[4]));
}

__attribute__((noipa)) static void constants(void)
{
	NOTE("probed", "constants", "0", "-4@$-5 4@$7 -8@$-1234567890123 1@$255 4@$-1", "i"(0));
	PASSED(CONSTANTS, -5, 7, -1234567890123, 255, 0xffffffffl);
}

__attribute__((noipa)) static void symbols(long i)
{
	probed_stats.value = (int)(i - 10);
	NOTE("probed", "symbols", "0", "-4@40+probed_stats(%%rip) -4@probed_buffers(%%rip) 8@%%rdi", "D"(i));
	PASSED(SYMBOLS, probed_stats.value, probed_buffers, i);
}

/* Of these only the last can be had. */
__attribute__((noipa)) static void partly(long i)
{
	NOTE("probed", "partly", "0", "8f@%%xmm0 8@%%fs:0 -4@no_such_object(%%rip) 8@%%rdi", "D"(i));
	PASSED(PARTLY, 0, 0, 0, i);
}

/* One probe in two places, with other forms in each. */
__attribute__((noipa)) static void places(long i)
{
	int less = (int)-i;

	if (i % 3) {
		NOTE("probed", "places", "0", "8@%%rdi", "D"(i));
		PASSED(PLACES, i);
	} else {
		NOTE("probed", "places", "0", "-4@(%%rsi)", "S"(&less));
		PASSED(PLACES, less);
	}
}

/* One note each in the two functions that it becomes a part of: two probes of a name. */
__attribute__((always_inline)) static inline void inlined(long i)
{
	NOTE("probed", "twice__inlined", "0", "8@%%rdi", "D"(i));
	PASSED(INLINED, i);
}

__attribute__((noipa)) static void left(long i)
{
	inlined(i);
}

__attribute__((noipa)) static void right(long i)
{
	inlined(-i);
}

__attribute__((noipa)) static void text(const char *words)
{
	NOTE("probed", "text", "0", "8@%%rdi", "D"(words));
	PASSED(TEXT, 0);
}

__attribute__((noipa)) static void guarded(long i)
{
	if (probed_semaphore)
		NOTE("probed", "guarded", "probed_semaphore", "8@%%rdi", "D"(i));
	PASSED(GUARDED, i);
}

static void pass(long i)
{
	registers(i);
	halves(i);
	memory(i);
	constants();
	symbols(i);
	partly(i);
	places(i);
	i % 2 ? left(i) : right(i);
	text("words of the program");
	guarded(i);
}

static void pass_all(long n)
{
	for (long i = 0; i < n; i++)
		pass(i);
}

static void report(void)
{
	for (int r = 0; r < ROWS; r++) {
		dprintf(1, "%s %ld", names[r], rows[r].count);
		for (int i = 0; i < ARGS; i++)
			dprintf(1, " %ld", rows[r].sum[i]);
		dprintf(1, "\n");
	}
	dprintf(1, "semaphore %d\n", probed_semaphore);
	dprintf(1, "done\n");
}

static void be_two(const sigset_t *signals, long n, bool copy)
{
	int signal;

	if (fork())
		return;
	if (copy)
		touched++;
	dprintf(1, "child %d\n", getpid());
	sigwait(signals, &signal);
	for (long i = 0; i < n; i++)
		guarded(i);
	dprintf(1, "child's %d\n", probed_semaphore);
	exit(0);
}

/* The child has passed nothing before. */
static int pass_once(long n)
{
	pid_t child = fork();
	int status = 0;

	pass_all(n);
	if (child && waitpid(child, &status, 0) != child)
		return 1;
	if (child)
		report();
	return status != 0;
}

static bool has_word(char **argv, const char *word)
{
	while (*argv)
		if (!strcmp(*argv++, word))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	sigset_t signals;
	int signal;

	if (has_word(argv, "once"))
		return pass_once(n);
	if (has_word(argv, "on"))
		probed_semaphore++;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	dprintf(1, "ready\n");
	for (;;) {
		if (sigwait(&signals, &signal))
			return 1;
		if (signal == SIGUSR2) {
			be_two(&signals, n, has_word(argv, "copy"));
			continue;
		}
		pass_all(n);
		report();
	}
}
