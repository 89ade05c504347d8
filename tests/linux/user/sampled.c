/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampled HERTZ SECONDS
 *
 * Has the kernel take samples of every CPU by its clock, HERTZ a second, each with the chain of callers that
 * the kernel's unwinder finds; and prints "samples N frames N" when that time is over: those that it has
 * read, and the kernel's frames in their chains. It prints "sampling" once all CPUs are sampled.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CPUS  64
#define PAGES 64 /* of a ring: a power of two */

struct ring {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t size;
};

static unsigned long samples, frames;

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct ring open_ring(int cpu, unsigned long hertz)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_freq = hertz,
					.freq = 1,
					.sample_type = PERF_SAMPLE_CALLCHAIN,
					.exclude_callchain_user = 1 };
	const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);

	if (fd < 0)
		die("perf_event_open");
	uint8_t *at = mmap(NULL, bytes * (1 + PAGES), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		die("mmap");
	return (struct ring){ (void *)at, at + bytes, bytes * PAGES };
}

static uint64_t word(const struct ring *r, uint64_t at)
{
	uint64_t value;

	memcpy(&value, r->data + at % r->size, sizeof(value));
	return value;
}

/* Records are multiples of eight bytes, so no word is divided at the ring's end. */
static void drain(struct ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE), at = r->page->data_tail;

	while (at < head) {
		const uint64_t header = word(r, at);
		const uint32_t type = (uint32_t)header;
		const uint16_t size = (uint16_t)(header >> 48);
		if (!size)
			break;
		if (type == PERF_RECORD_SAMPLE) {
			samples++;
			frames += word(r, at + 8);
		}
		at += size;
	}
	__atomic_store_n(&r->page->data_tail, at, __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
	static struct ring rings[CPUS];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct timespec now;

	if (argc != 3 || cpus > CPUS) {
		fprintf(stderr, "usage: sampled HERTZ SECONDS\n");
		return 2;
	}
	for (int i = 0; i < cpus; i++)
		rings[i] = open_ring(i, strtoul(argv[1], NULL, 10));
	puts("sampling");
	fflush(stdout);
	clock_gettime(CLOCK_MONOTONIC, &now);
	for (time_t end = now.tv_sec + atol(argv[2]); now.tv_sec < end;
	     clock_gettime(CLOCK_MONOTONIC, &now)) {
		poll(NULL, 0, 20);
		for (int i = 0; i < cpus; i++)
			drain(&rings[i]);
	}
	printf("samples %lu frames %lu\n", samples, frames);
	return 0;
}
