/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each bomb is read in a child of its own, which has 256 MiB and 5 s of processor time for it and must end
 * with at most one line. `bombs --table` prints the rows of docs/reliability.md; `bombs NAME…` reads only
 * these.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "bombs.h"
#include "consumer/terminal.h"

#define MEMORY_MIB 256u
#define CPU_S      5u
#define LINE_MAX_  600u

/* What the child reports of itself. */
struct result {
	uint64_t cpu_us;
	uint64_t kib; /* of memory, at most, beside the guest's */
	char line[1024];
};

static uint64_t status_kib(const char *field)
{
	char line[256];
	uint64_t kib = 0;
	FILE *fp = fopen("/proc/self/status", "re");

	while (fp && fgets(line, sizeof(line), fp))
		if (!strncmp(line, field, strlen(field)))
			kib = strtoull(line + strlen(field), NULL, 10);
	if (fp)
		fclose(fp);
	return kib;
}

/* VmHWM counts from here. */
static void forget_peak(void)
{
	FILE *fp = fopen("/proc/self/clear_refs", "we");

	if (!fp || fputs("5", fp) < 0 || fclose(fp) != 0)
		exit(3);
}

static uint64_t cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000u +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void limit(__rlimit_resource_t what, uint64_t value)
{
	const struct rlimit l = { value, value + (what == RLIMIT_CPU) };

	if (setrlimit(what, &l) < 0)
		exit(3);
}

static void child(const struct bomb *bomb, int out)
{
	struct result r = { 0 };
	void *made = bomb->make();
	struct ot_err *err;

	forget_peak();
	uint64_t before = status_kib("VmRSS:"), from = cpu_us();

	limit(RLIMIT_AS, (status_kib("VmSize:") << 10) + ((uint64_t)MEMORY_MIB << 20));
	limit(RLIMIT_CPU, from / 1000000u + 1 + CPU_S);
	err = bomb->read(made);
	r.cpu_us = cpu_us() - from;
	r.kib = status_kib("VmHWM:");
	r.kib = r.kib > before ? r.kib - before : 0;
	snprintf(r.line, sizeof(r.line), "%s", err ? ot_err_message(err) : "");
	_exit(write(out, &r, sizeof(r)) == sizeof(r) ? 0 : 3);
}

/* False, with a reason: the child did not live to tell. */
static bool explode(const struct bomb *bomb, struct result *ret)
{
	int fds[2], status = 0;

	if (pipe(fds) < 0)
		return false;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		child(bomb, fds[1]);
	close(fds[1]);
	bool whole = pid > 0 && read(fds[0], ret, sizeof(*ret)) == sizeof(*ret);
	close(fds[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFSIGNALED(status))
		print_error("%s: killed by %s\n", bomb->name, strsignal(WTERMSIG(status)));
	return whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* What an operator's terminal gets of the line. */
static void shown(const char *line, char ret[LINE_MAX_])
{
	FILE *fp = tmpfile();
	FILE *guard = fp ? con_terminal_guard_test(dup(fileno(fp)), true) : NULL;
	size_t n;

	assert_non_null(guard);
	fputs(line, guard);
	fclose(guard);
	rewind(fp);
	n = fread(ret, 1, LINE_MAX_ - 1, fp);
	ret[n] = '\0';
	fclose(fp);
}

static void a_bomb_costs_little(void **state)
{
	const struct bomb *bomb = *state;
	struct result r;
	char line[LINE_MAX_];

	if (!explode(bomb, &r))
		fail_msg("%s: no result", bomb->name);
	shown(r.line, line);
	print_message("%s: %llu ms, %llu MiB: %s\n", bomb->name, (unsigned long long)r.cpu_us / 1000,
		      (unsigned long long)r.kib >> 10, line);
	assert_true(r.cpu_us <= CPU_S * 1000000ull);
	assert_true(r.kib <= MEMORY_MIB << 10);
	/* a busy host may take the reading's time before the bomb takes what it is to take */
	if (bomb->says && !strstr(line, bomb->says) && !strstr(line, "reading the guest was given up at ") &&
	    !strstr(line, " ms of CPU time: "))
		fail_msg("%s: no \"%s\"", bomb->name, bomb->says);
	if (strpbrk(line, "\n\r\033") || strlen(line) > 500 || strstr(line, "out of memory"))
		fail_msg("%s: not one line, or one about this process", bomb->name);
}

static const struct bomb *const all[] = { bombs_types, bombs_memory, bombs_lists, bombs_views };

static int table(void)
{
	for (size_t k = 0; k < OT_ARRAY_SIZE(all); k++)
		for (const struct bomb *b = all[k]; b->name; b++) {
			struct result r;
			char line[LINE_MAX_];

			if (!explode(b, &r))
				return 1;
			shown(r.line, line);
			printf("| %s | %.2f s | %llu MiB | %s |\n", b->what, (double)r.cpu_us / 1e6,
			       (unsigned long long)r.kib >> 10, *line ? line : "(read)");
		}
	return 0;
}

static bool is_wanted(const struct bomb *b, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], b->name))
			return true;
	return argc == 1;
}

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[64];
	size_t n = 0;

	if (argc == 2 && !strcmp(argv[1], "--table"))
		return table();
	for (size_t k = 0; k < OT_ARRAY_SIZE(all); k++)
		for (const struct bomb *b = all[k]; b->name && n < OT_ARRAY_SIZE(tests); b++)
			if (is_wanted(b, argc, argv))
				tests[n++] = (struct CMUnitTest){ .name = b->name,
								  .test_func = a_bomb_costs_little,
								  .initial_state = (void *)(uintptr_t)b };
	return n ? _cmocka_run_group_tests("bombs", tests, n, NULL, NULL) : 1;
}
