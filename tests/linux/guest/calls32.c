/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program of 32 bits, without a libc: known numbers of system calls, by int $0x80 and as the vDSO makes
 * them (sysenter or syscall). tests/linux/counts_test.py has the numbers.
 */
#define AT_SYSINFO 32

enum {
	EXIT = 1,
	READ = 3,
	WRITE = 4,
	OPEN = 5,
	CLOSE = 6,
	LSEEK = 19,
	PIPE = 42,
	GETPPID = 64,
	OPENAT = 295
};

static unsigned long vdso_entry;

static long by_interrupt(long nr, long a, const void *b, long c)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return ret;
}

static long by_vdso(long nr, long a, const void *b, long c)
{
	long ret;

	__asm__ volatile("call *%1"
			 : "=a"(ret)
			 : "m"(vdso_entry), "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return ret;
}

static void times(int n, long (*call)(long, long, const void *, long), long nr, long a, const void *b, long c)
{
	while (n--)
		call(nr, a, b, c);
}

/* Behind the arguments and the environment on the stack are pairs of words. */
static unsigned long auxiliary(const unsigned long *stack, unsigned long key)
{
	const unsigned long *p = stack + 1 + stack[0] + 1;

	while (*p++)
		;
	for (; p[0]; p += 2)
		if (p[0] == key)
			return p[1];
	return 0;
}

__attribute__((used)) static void run(const unsigned long *stack)
{
	static int pipe[2];
	static char byte;

	vdso_entry = auxiliary(stack, AT_SYSINFO);
	by_interrupt(PIPE, (long)pipe, 0, 0);
	times(7, by_interrupt, WRITE, pipe[1], "x", 1);
	times(7, by_interrupt, READ, pipe[0], &byte, 1);
	times(3, by_interrupt, READ, -1, &byte, 1);
	times(4, by_interrupt, OPEN, (long)"/nosuch", 0, 0);
	times(5, by_interrupt, LSEEK, pipe[0], 0, 0);
	times(6, by_interrupt, CLOSE, -1, 0, 0);
	times(11, by_interrupt, GETPPID, 0, 0, 0);
	if (vdso_entry) {
		times(2, by_vdso, READ, -1, &byte, 1);
		times(8, by_vdso, OPENAT, -100, "/nosuch", 0);
		times(13, by_vdso, GETPPID, 0, 0, 0);
	}
	by_interrupt(EXIT, vdso_entry ? 0 : 1, 0, 0);
}

__asm__(".globl _start\n_start: mov %esp,%eax\n push %eax\n call run\n");
