/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stopper PID ADDRESS N
 *
 * A debugger: it puts a breakpoint (int3) at the hexadecimal address in the process, as gdb does, and prints
 * "set". When the process has stopped there, it puts the instruction back, has it executed by a single step,
 * and puts the breakpoint there again. After N stops it takes the breakpoint away, leaves the process, and
 * prints "stopped N". Signals that the process gets are passed on.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>

#define INT3 0xccul

static pid_t pid;
static unsigned long at, word; /* what is there without the breakpoint */

static void check(long result)
{
	if (result >= 0)
		return;
	perror("stopper");
	exit(1);
}

static void set(int there)
{
	check(ptrace(PTRACE_POKETEXT, pid, (void *)at, (void *)(there ? (word & ~0xfful) | INT3 : word)));
}

/* The signal that it stopped with. */
static int wait_stop(void)
{
	int status;

	check(waitpid(pid, &status, 0));
	if (!WIFSTOPPED(status))
		exit(1);
	return WSTOPSIG(status);
}

static int is_there(void)
{
	struct user_regs_struct regs;

	check(ptrace(PTRACE_GETREGS, pid, NULL, &regs));
	if (regs.rip != at + 1)
		return 0;
	regs.rip = at;
	check(ptrace(PTRACE_SETREGS, pid, NULL, &regs));
	return 1;
}

/* A signal that comes meanwhile is kept for afterwards. */
static int step(void)
{
	int signal, kept = 0;

	set(0);
	do {
		check(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL));
		signal = wait_stop();
		kept = signal == SIGTRAP ? kept : signal;
	} while (signal != SIGTRAP);
	return kept;
}

int main(int argc, char **argv)
{
	long n = argc == 4 ? atol(argv[3]) : 0;
	int signal = 0;

	if (n <= 0)
		return 1;
	pid = (pid_t)atol(argv[1]);
	at = strtoul(argv[2], NULL, 16);
	check(ptrace(PTRACE_ATTACH, pid, NULL, NULL));
	wait_stop();
	word = (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, (void *)at, NULL);
	set(1);
	puts("set");
	fflush(stdout);
	for (long stops = 0; stops < n;) {
		check(ptrace(PTRACE_CONT, pid, NULL, (void *)(long)signal));
		signal = wait_stop();
		if (signal != SIGTRAP || !is_there())
			continue;
		stops++;
		signal = step();
		set(stops < n);
	}
	check(ptrace(PTRACE_DETACH, pid, NULL, (void *)(long)signal));
	printf("stopped %ld\n", n);
	return 0;
}
