/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timing N FILE
 *
 * A program without frame pointers that asks for the time, by the code that the kernel has mapped into it
 * (the vdso). It writes that code to FILE, which is an ELF file then, and prints "ready". At each SIGUSR1
 * by_call() asks N times for a clock for which the vdso makes a system call, and at each SIGUSR2 by_vdso()
 * N × 20000 times for one that it reads itself; then it prints "done".
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul

__attribute__((noipa)) static long by_call(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_nsec;
}

__attribute__((noipa)) static long by_vdso(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_nsec;
}

static int write_vdso(const char *path)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (!h || fd < 0)
		return 1;
	size_t size = (h->e_shoff + (size_t)h->e_shnum * h->e_shentsize + PAGE - 1) & ~(PAGE - 1);

	return write(fd, h, size) != (ssize_t)size || close(fd);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	volatile long sum = 0;
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (argc < 3 || write_vdso(argv[2]))
		return 1;
	dprintf(1, "ready\n");
	while (!sigwait(&signals, &signal)) {
		for (long i = 0; signal == SIGUSR1 && i < n; i++)
			sum += by_call();
		for (long i = 0; signal == SIGUSR2 && i < 20000 * n; i++)
			sum += by_vdso();
		dprintf(1, "done\n");
	}
	return 1;
}
