/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callers
 *
 * main() calls outer(), that inner(), and that leaf(), every 10 ms until it is killed. With frame pointers,
 * so that the stack is known.
 */
#include <unistd.h>

long leaf(void);

__attribute__((noinline)) static long inner(long n)
{
	return leaf() + n;
}

__attribute__((noinline)) static long outer(long n)
{
	return inner(n + 1) * 3;
}

int main(void)
{
	volatile long sum = 0;

	for (;;) {
		sum += outer(sum);
		usleep(10000);
	}
}
