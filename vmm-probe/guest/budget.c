/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Budgets of memory, CPU time and wall time, scaled on hosts that read memory slowly. */
#include "vmm-probe/guest/budget.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define MS  1000000ull
#define MIB (1ull << 20)

/* Reading another process's memory takes about a microsecond; ten on an emulated host. */
#define READS   200u
#define READ_NS 2500u
#define SLOWEST 16u

#define READING(name, ...) [VP_READ_##name] = { __VA_ARGS__ },
const struct vp_reading vp_readings[VP_READINGS_N] = { VP_READINGS(READING) };
#undef READING

static _Thread_local struct vp_budget *current;
static bool wall_is_left; /* to the parent */

/* The time for which this thread was runnable but did not run, the second number of its schedstat (the
 * kernel's Documentation/scheduler/sched-stats.rst). On a busy host this time is not the guest's. 0:
 * unknown. */
static uint64_t waited_ns(void)
{
	ot_auto_close int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	unsigned long long ran, waited;
	char text[80];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = '\0';
	return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? waited : 0;
}

/* The same, with this maximum age: an attach begins a thousand budgets. */
static uint64_t waited_lately_ns(void)
{
	static _Thread_local uint64_t known, until_ns;
	uint64_t now = ot_now_ns();

	if (now >= until_ns) {
		known = waited_ns();
		until_ns = now + 10 * MS;
	}
	return known;
}

/* CPU time of one read through /proc/PID/mem, measured on this process's own memory. */
static uint64_t measure_read(void)
{
	ot_auto_close int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	uint64_t from = ot_thread_cpu_ns(), word = 0;

	for (unsigned i = 0; fd >= 0 && i < READS; i++)
		if (pread(fd, &word, sizeof(word), (off_t)(uintptr_t)&from) != sizeof(word))
			return 0;
	return fd < 0 ? 0 : (ot_thread_cpu_ns() - from) / READS;
}

/* From the measured cost of a read. */
uint32_t vp_budget_slowness(void)
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

static void begin_part(struct vp_budget *b, const struct vp_reading *reading)
{
	b->reading = reading;
	b->memory = (uint64_t)reading->memory_mib * MIB;
	b->guest = (uint64_t)reading->guest_mib * MIB;
	b->has_read_all = b->has_taken_all = false;
	b->cpu_end_ns += (uint64_t)reading->cpu_ms * vp_budget_slowness() * MS;
}

static void begin_wall(struct vp_budget *b)
{
	b->wall_ms = b->patient || wall_is_left ? 0 : (uint64_t)b->reading->wall_ms * vp_budget_slowness();
	b->wall_end_ns = b->wall_ms ? ot_now_ns() + b->wall_ms * MS : 0;
	b->waited_ns = b->wall_ms ? waited_lately_ns() : 0;
}

static void enter(struct vp_budget *budget)
{
	static _Atomic uint64_t last;

	if (!budget->number)
		budget->number = atomic_fetch_add(&last, 1) + 1;
	budget->outer = current;
	current = budget;
}

void vp_budget_begin(struct vp_budget *budget, const struct vp_reading *first, bool is_patient)
{
	*budget = (struct vp_budget){ .cpu_end_ns = ot_thread_cpu_ns(), .patient = is_patient };
	begin_part(budget, first);
	begin_wall(budget);
	enter(budget);
}

void vp_budget_leave_wall(void)
{
	wall_is_left = true;
}

void vp_budget_end(struct vp_budget *budget)
{
	current = budget->outer;
}

void vp_budget_part(const struct vp_reading *reading)
{
	if (current)
		begin_part(current, reading);
}

void vp_budget_pause(struct vp_budget *budget)
{
	uint64_t now = ot_thread_cpu_ns();

	budget->cpu_end_ns = budget->cpu_end_ns > now ? budget->cpu_end_ns - now : 0;
	vp_budget_end(budget);
}

void vp_budget_resume(struct vp_budget *budget)
{
	budget->cpu_end_ns += ot_thread_cpu_ns();
	begin_wall(budget);
	enter(budget);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void vp_budget_share(struct vp_budget *share, const struct vp_reading *reading)
{
	const struct vp_budget *whole = current;
	uint64_t cpu_ns = (uint64_t)reading->cpu_ms * vp_budget_slowness() * MS;

	*share = (struct vp_budget){
		.reading = reading,
		.shared_memory = least((uint64_t)reading->memory_mib * MIB, whole->memory),
		.shared_guest = least((uint64_t)reading->guest_mib * MIB, whole->guest),
		.cpu_end_ns = least(ot_thread_cpu_ns() + cpu_ns, whole->cpu_end_ns),
		.wall_end_ns = whole->wall_end_ns,
		.wall_ms = whole->wall_ms,
		.waited_ns = whole->waited_ns,
		.patient = whole->patient,
	};
	share->memory = share->shared_memory;
	share->guest = share->shared_guest;
	enter(share);
}

bool vp_budget_share_end(struct vp_budget *share)
{
	struct vp_budget *whole = share->outer;
	bool over = vp_budget_is_over();

	/* More may have been returned than taken. */
	whole->memory -= share->shared_memory - share->memory;
	whole->guest -= share->shared_guest - share->guest;
	whole->wall_end_ns = share->wall_end_ns;
	whole->waited_ns = share->waited_ns;
	whole->has_read_all |=
	    share->has_read_all && share->shared_guest < (uint64_t)share->reading->guest_mib * MIB;
	whole->has_taken_all |=
	    share->has_taken_all && share->shared_memory < (uint64_t)share->reading->memory_mib * MIB;
	vp_budget_end(share);
	return over && !vp_budget_is_over();
}

static struct ot_err *too_much_memory(void)
{
	return ot_err_new(OT_ERR_LIMIT, "reading %s takes more than its %u MiB of memory: %s",
			  current->reading->what, current->reading->memory_mib, current->reading->without);
}

struct ot_err *vp_budget_take(uint64_t bytes)
{
	if (!current)
		return NULL;
	if (bytes > current->memory)
		return too_much_memory();
	current->memory -= bytes;
	return NULL;
}

bool vp_budget_take_or_end(uint64_t bytes)
{
	struct ot_err *err = vp_budget_take(bytes);
	bool over = err != NULL;

	ot_err_destroy(err);
	if (over)
		current->has_taken_all = true;
	return !over;
}

uint64_t vp_budget_number(void)
{
	return current ? current->number : 0;
}

void vp_budget_give(uint64_t bytes)
{
	if (current)
		current->memory += bytes;
}

static struct ot_err *has_read_all(void)
{
	return ot_err_new(OT_ERR_LIMIT, "reading %s takes more than its %u MiB of the guest's memory: %s",
			  current->reading->what, current->reading->guest_mib, current->reading->without);
}

struct ot_err *vp_budget_read(uint64_t bytes)
{
	if (!current)
		return NULL;
	if (bytes > current->guest) {
		current->has_read_all = true;
		return has_read_all();
	}
	current->guest -= bytes;
	return NULL;
}

static bool wall_is_over(void)
{
	struct vp_budget *b = current;

	if (!b->wall_end_ns || ot_now_ns() <= b->wall_end_ns)
		return false;
	uint64_t waited = waited_ns();
	b->wall_end_ns += waited - b->waited_ns;
	b->waited_ns = waited;
	return ot_now_ns() > b->wall_end_ns;
}

static bool cpu_is_over(void)
{
	return !current->patient && ot_thread_cpu_ns() > current->cpu_end_ns;
}

bool vp_budget_is_over(void)
{
	return current &&
	       (current->has_read_all || current->has_taken_all || cpu_is_over() || wall_is_over());
}

struct ot_err *vp_budget_check(void)
{
	if (!vp_budget_is_over())
		return NULL;
	if (current->has_read_all)
		return has_read_all();
	if (current->has_taken_all)
		return too_much_memory();
	if (wall_is_over())
		return ot_err_new(OT_ERR_LIMIT, "reading the guest was given up at %s, after %llu s: %s",
				  current->reading->what, (unsigned long long)(current->wall_ms / 1000),
				  current->reading->without);
	return ot_err_new(
	    OT_ERR_LIMIT, "reading %s takes more than its %llu ms of CPU time: %s", current->reading->what,
	    (unsigned long long)current->reading->cpu_ms * vp_budget_slowness(), current->reading->without);
}
