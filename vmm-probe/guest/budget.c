/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Budgets of memory, CPU time and wall time, scaled on hosts that read memory slowly. */
#include "vmm-probe/guest/budget.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define MS 1000000ull

/* Reading another process's memory takes about a microsecond; ten on an emulated host. */
#define READS   200u
#define READ_NS 2500u
#define SLOWEST 16u

static _Thread_local struct vp_budget *current;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* CPU time of one read through /proc/PID/mem, measured on this process's own memory. */
static uint64_t measure_read(void)
{
	ot_auto_close int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	uint64_t from = cpu_ns(), word = 0;

	for (unsigned i = 0; fd >= 0 && i < READS; i++)
		if (pread(fd, &word, sizeof(word), (off_t)(uintptr_t)&from) != sizeof(word))
			return 0;
	return fd < 0 ? 0 : (cpu_ns() - from) / READS;
}

/* The factor for times, from the measured cost of a read. Measured once. */
static uint32_t slowness(void)
{
	static _Atomic uint32_t known;
	uint32_t times = atomic_load(&known);

	if (times)
		return times;
	uint64_t measured = measure_read() / READ_NS;
	times = measured < 1 ? 1 : measured > SLOWEST ? SLOWEST : (uint32_t)measured;
	atomic_store(&known, times);
	return times;
}

void vp_budget_begin(struct vp_budget *budget, uint32_t wall_ms)
{
	wall_ms *= slowness();
	*budget = (struct vp_budget){ .part = "the guest",
				      .cpu_end_ns = cpu_ns(),
				      .wall_end_ns = wall_ms ? ot_now_ns() + wall_ms * MS : 0,
				      .wall_ms = wall_ms,
				      .outer = current };
	current = budget;
}

void vp_budget_end(struct vp_budget *budget)
{
	current = budget->outer;
}

void vp_budget_part(const char *part, uint32_t memory_mib, uint32_t cpu_ms)
{
	if (!current)
		return;
	cpu_ms *= slowness();
	current->part = part;
	current->memory = (uint64_t)memory_mib << 20;
	current->memory_mib = memory_mib;
	current->cpu_end_ns += cpu_ms * MS;
	current->cpu_ms = cpu_ms;
}

struct ot_err *vp_budget_take(uint64_t bytes)
{
	if (!current)
		return NULL;
	if (bytes > current->memory)
		return ot_err_new(OT_ERR_LIMIT, "reading %s takes more than its %llu MiB of memory",
				  current->part, (unsigned long long)current->memory_mib);
	current->memory -= bytes;
	return NULL;
}

void vp_budget_give(uint64_t bytes)
{
	if (current)
		current->memory += bytes;
}

static bool wall_is_over(void)
{
	return current->wall_end_ns && ot_now_ns() > current->wall_end_ns;
}

bool vp_budget_is_over(void)
{
	return current && !current->patient && (cpu_ns() > current->cpu_end_ns || wall_is_over());
}

struct ot_err *vp_budget_check(void)
{
	if (!vp_budget_is_over())
		return NULL;
	if (wall_is_over())
		return ot_err_new(OT_ERR_LIMIT, "reading the guest was given up at %s, after %llu s",
				  current->part, (unsigned long long)(current->wall_ms / 1000));
	return ot_err_new(OT_ERR_LIMIT, "reading %s takes more than its %llu ms of CPU time", current->part,
			  (unsigned long long)current->cpu_ms);
}
