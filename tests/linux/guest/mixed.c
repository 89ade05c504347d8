/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mixed SECONDS
 *
 * A steady load under several names: "writer" makes, fills and removes files, "reader"
 * reads and stats them, "looper" makes cheap calls and sleeps, "spawner" starts this
 * program again as "child", which ends at once. Ends after SECONDS with "mixed done".
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

#define CHUNK 4096

static char chunk[CHUNK];

static void pause_ms(long ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000 };

	nanosleep(&t, NULL);
}

static void writer(void)
{
	char path[64];

	for (unsigned int i = 0;; i++) {
		snprintf(path, sizeof(path), "/tmp/mixed.%u", i % 8);
		int fd = openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd < 0)
			die(path);
		for (unsigned int k = 0; k <= i % 4; k++) {
			if (write(fd, chunk, sizeof(chunk)) != CHUNK)
				die("write");
		}
		close(fd);
		pause_ms(2);
	}
}

static void reader(void)
{
	char path[64];
	struct stat st;

	for (unsigned int i = 0;; i++) {
		snprintf(path, sizeof(path), "/tmp/mixed.%u", i % 8);
		int fd = openat(AT_FDCWD, path, O_RDONLY);
		if (fd >= 0) {
			while (read(fd, chunk, sizeof(chunk) >> (i % 4)) > 0)
				;
			close(fd);
		}
		stat(path, &st);
		pause_ms(1);
	}
}

static void looper(void)
{
	for (;;) {
		for (int i = 0; i < 200; i++) {
			getppid();
			sched_yield();
		}
		pause_ms(5);
	}
}

static void spawner(void)
{
	for (;;) {
		pid_t pid = fork();
		if (pid == 0) {
			execl("/proc/self/exe", "child", "child", (char *)NULL);
			_exit(127);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		pause_ms(100);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "writer", writer }, { "reader", reader }, { "looper", looper }, { "spawner", spawner }
	};
	pid_t pids[4];

	if (argc == 2 && !strcmp(argv[1], "child"))
		return 0;
	if (argc != 2) {
		fprintf(stderr, "usage: mixed SECONDS\n");
		return 2;
	}
	long seconds = number_arg(argv[1], 100000);
	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			prctl(PR_SET_NAME, parts[i].name);
			parts[i].run();
		}
	}
	sleep((unsigned int)seconds);
	for (int i = 0; i < 4; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i < 4; i++)
		waitpid(pids[i], NULL, 0);
	puts("mixed done");
	return 0;
}
