/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program with known inlined copies, for dwarf_copies_test: compiled with -O2 and debugging information,
 * and run by it. Each call of note() below is inlined, and the test knows with which values, in which order.
 */

long table[4] = { 10, 20, 30, 40 };
volatile long sink;
volatile long seed = 7;

long _start(void);

/* The first statement changes a parameter: its value where the copy begins is the one before. */
static inline __attribute__((always_inline)) void note(long value, const long *from, unsigned what,
						       long unused)
{
	value += 1000;
	what ^= 0xff;
	sink = value + *from;
	sink = what;
}

/* Inlined into nothing that runs. */
static inline __attribute__((always_inline)) void never(int x)
{
	sink = x;
}

static __attribute__((noinline)) void by_registers(long a, const long *b, unsigned c)
{
	note(a, b, c, a * 3);
}

static __attribute__((noinline)) void by_constants(void)
{
	note(77, &table[2], 5, 0);
}

static __attribute__((noinline)) void in_loop(long n)
{
	for (long i = 0; i < n; i++)
		note(i, &table[i], (unsigned)n, sink);
}

static __attribute__((noinline)) void on_stack(long x)
{
	long local[64];

	local[x & 63] = x;
	__asm__ volatile("" : : "r"(local) : "memory");
	note(local[x & 63], &local[3], 9, x);
	if (__builtin_expect(x == 123456, 0)) {
		never((int)x);
		note(x, table, 1, x);
	}
}

/* By the linker's name; it ends by a breakpoint, where the test kills it. */
long _start(void)
{
	by_registers(seed, &table[1], 3);
	by_constants();
	in_loop(3);
	on_stack(3);
	by_registers(seed + 1, &table[3], 4);
	__builtin_trap();
}
