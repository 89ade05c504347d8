/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events switch|tcp|io|pace ROUNDS N [FILE]: N operations, ROUNDS times over, on one CPU; prints nanoseconds
 * an operation, a line a round.
 *
 *   switch   two threads that do nothing but yield to each other: two context switches
 *   tcp      a byte from one end of a loopback connection to the other
 *   io       4 KiB read from the block device FILE, past the page cache
 *   pace     a byte to another thread and back, through two pipes; 10 of them every 10 ms: 2,000 switches a
 *            second and more
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK    4096
#define BLOCKS   256
#define BATCH    10
#define BATCH_NS 10000000

static int there[2], back[2]; /* pipes */
static int client, server;    /* ends of a connection */
static int disk;
static void *block;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void *yield_for_ever(void *unused)
{
	for (;;)
		sched_yield();
	return unused;
}

/* Threads of one process: under TCG a change of address space costs a hundred times what is measured. */
static void switch_open(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, yield_for_ever, NULL))
		fail("pthread_create");
}

static void switch_once(long i)
{
	(void)i;
	sched_yield();
}

static void *answer(void *unused)
{
	char byte;

	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return unused;
}

static void pace_open(void)
{
	pthread_t thread;

	if (pipe(there) < 0 || pipe(back) < 0)
		fail("pipe");
	if (pthread_create(&thread, NULL, answer, NULL))
		fail("pthread_create");
}

static void pace_once(long i)
{
	static double due;
	char byte = (char)i;

	if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
		fail("pipe");
	if (i % BATCH)
		return;
	double now = now_ns();
	if (!i || due < now)
		due = now;
	due += BATCH_NS;
	struct timespec rest = { .tv_nsec = (long)(due - now) };
	nanosleep(&rest, NULL);
}

static void tcp_open(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	client = socket(AF_INET, SOCK_STREAM, 0);
	if (listening < 0 || client < 0 || bind(listening, (struct sockaddr *)&address, size) < 0 ||
	    listen(listening, 1) < 0 || getsockname(listening, (struct sockaddr *)&address, &size) < 0 ||
	    connect(client, (struct sockaddr *)&address, size) < 0)
		fail("loopback");
	server = accept(listening, NULL, NULL);
	if (server < 0)
		fail("accept");
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void tcp_once(long i)
{
	int from = i & 1 ? server : client, to = i & 1 ? client : server;
	char byte = (char)i;

	if (send(from, &byte, 1, 0) != 1 || recv(to, &byte, 1, 0) != 1)
		fail("loopback");
}

static void io_open(const char *file)
{
	disk = open(file, O_RDONLY | O_DIRECT);
	if (disk < 0)
		fail(file);
	block = aligned_alloc(BLOCK, BLOCK);
}

static void io_once(long i)
{
	if (pread(disk, block, BLOCK, i % BLOCKS * BLOCK) != BLOCK)
		fail("pread");
}

int main(int argc, char **argv)
{
	void (*once)(long) = NULL;
	cpu_set_t cpu;

	if (argc < 4)
		return 2;
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) < 0)
		fail("sched_setaffinity");
	if (strcmp(argv[1], "switch") == 0) {
		switch_open();
		once = switch_once;
	} else if (strcmp(argv[1], "pace") == 0) {
		pace_open();
		once = pace_once;
	} else if (strcmp(argv[1], "tcp") == 0) {
		tcp_open();
		once = tcp_once;
	} else if (strcmp(argv[1], "io") == 0 && argc == 5) {
		io_open(argv[4]);
		once = io_once;
	} else {
		return 2;
	}
	long rounds = atol(argv[2]), operations = atol(argv[3]);
	for (long r = 0; r < rounds; r++) {
		double start = now_ns();
		for (long i = 0; i < operations; i++)
			once(i);
		printf("%.2f\n", (now_ns() - start) / (double)operations);
	}
	return 0;
}
