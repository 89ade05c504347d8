/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selfpatch ROUNDS CALLS
 *
 * Has the kernel patch its own text around getppid, ROUNDS times, and counts by the kernel's own means what
 * this program runs meanwhile. In each round, one after the other:
 *   function  the function tracer on __x64_sys_getppid
 *   kprobe    kprobes on its entry and on the instruction behind the fentry nop, and a kretprobe
 *   event     static keys: the system call's trace event, and the scheduler's statistics
 * is turned on, CALLS calls are made, and it is turned off. Prints "calls N function N kprobe N behind N
 * return N event N": all of them are equal when nothing was lost.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

#define TRACING  "/sys/kernel/tracing/"
#define FUNCTION "__x64_sys_getppid"
#define PATTERN  "*_sys_getppid" /* the tracer knows the function by one of its names */
#define TRIES    200

/* Write text to a file below TRACING, or to an absolute path; what is busy is tried again. 0 or an errno. */
static int try_put(const char *name, const char *text, int flags)
{
	char path[256];
	struct timespec pause = { .tv_nsec = 5000000 };

	snprintf(path, sizeof(path), "%s%s", *name == '/' ? "" : TRACING, name);
	for (int try = 0;; try++) {
		int fd = open(path, O_WRONLY | flags);
		ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
		int err = errno;
		if (fd >= 0)
			close(fd);
		if (n >= 0 || err != EBUSY || try == TRIES)
			return n >= 0 ? 0 : err;
		nanosleep(&pause, NULL);
	}
}

static void put(const char *name, const char *text, int flags)
{
	errno = try_put(name, text, flags);
	if (errno)
		die(name);
}

static void set(const char *name, const char *text)
{
	put(name, text, O_TRUNC);
}

static void add(const char *name, const char *text)
{
	put(name, text, O_APPEND);
}

/* Lines of the trace that are about this process and contain text. Empties it. By its number: its name is
 * <...> now and then, when the tracer could not note it. */
static long trace_lines(const char *text)
{
	char line[512], self[32];
	long n = 0;
	FILE *fp = fopen(TRACING "trace", "r");

	if (!fp)
		die(TRACING "trace");
	snprintf(self, sizeof(self), "-%d ", (int)getpid());
	while (fgets(line, sizeof(line), fp)) {
		if (*line != '#' && strstr(line, self) && strstr(line, text))
			n++;
	}
	fclose(fp);
	set("trace", "");
	return n;
}

static long kprobe_hits(const char *probe)
{
	char line[512], name[128];
	long n = 0, hits;
	FILE *fp = fopen(TRACING "kprobe_profile", "r");

	if (!fp)
		die(TRACING "kprobe_profile");
	while (fgets(line, sizeof(line), fp)) {
		if (sscanf(line, "%127s %ld", name, &hits) == 2 && !strcmp(name, probe))
			n = hits;
	}
	fclose(fp);
	return n;
}

static void make_calls(long calls)
{
	for (long i = 0; i < calls; i++) {
		if (syscall(SYS_getppid) <= 0)
			die("getppid");
	}
}

static long by_function_tracer(long calls)
{
	set("current_tracer", "function");
	make_calls(calls);
	long n = trace_lines("_sys_getppid"); /* before another tracer empties it */
	set("current_tracer", "nop");
	return n;
}

/* The kprobe behind the fentry nop. Behind an endbr64 that is 4 bytes farther on, and what is no
 * instruction's beginning is EILSEQ. */
static const char *probe_behind(void)
{
	static const char near[] = "p:sp_behind " FUNCTION "+5", far[] = "p:sp_behind " FUNCTION "+9";
	int err = try_put("kprobe_events", near, O_TRUNC);

	set("kprobe_events", "");
	return err == EILSEQ ? far : near;
}

/* Adds to hits[]: entry, behind it, return. */
static void by_kprobes(long calls, const char *behind, long hits[3])
{
	static const char *const names[] = { "sp_entry", "sp_behind", "sp_return" };

	set("kprobe_events", "p:sp_entry " FUNCTION);
	add("kprobe_events", behind);
	add("kprobe_events", "r:sp_return " FUNCTION);
	set("events/kprobes/enable", "1");
	make_calls(calls);
	set("events/kprobes/enable", "0");
	for (int i = 0; i < 3; i++)
		hits[i] += kprobe_hits(names[i]);
	set("kprobe_events", "");
	set("trace", "");
}

static long by_static_keys(long calls)
{
	set("events/syscalls/sys_enter_getppid/enable", "1");
	set("/proc/sys/kernel/sched_schedstats", "1");
	make_calls(calls);
	set("/proc/sys/kernel/sched_schedstats", "0");
	set("events/syscalls/sys_enter_getppid/enable", "0");
	return trace_lines("sys_getppid");
}

int main(int argc, char **argv)
{
	long function = 0, event = 0, hits[3] = { 0 };

	if (argc != 3) {
		fprintf(stderr, "usage: selfpatch ROUNDS CALLS\n");
		return 2;
	}
	long rounds = number_arg(argv[1], 100000), calls = number_arg(argv[2], 1000);
	set("trace", "");
	set("set_ftrace_filter", PATTERN);
	const char *behind = probe_behind();
	for (long i = 0; i < rounds; i++) {
		function += by_function_tracer(calls);
		by_kprobes(calls, behind, hits);
		event += by_static_keys(calls);
	}
	set("set_ftrace_filter", "");
	printf("calls %ld function %ld kprobe %ld behind %ld return %ld event %ld\n", rounds * calls,
	       function, hits[0], hits[1], hits[2], event);
	return 0;
}
