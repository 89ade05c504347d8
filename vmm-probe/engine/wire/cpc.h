/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event that a performance counter counts for a vCPU, as ENABLE and CPC carry it. */
#ifndef VP_ENGINE_WIRE_CPC_H
#define VP_ENGINE_WIRE_CPC_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* The mode of the CPU in which the event counts. */
enum vp_cpc_mode {
	VP_CPC_ALL,
	VP_CPC_USER,
	VP_CPC_KERNEL,
	VP_CPC_MODES,
};

struct vp_cpc_event {
	uint64_t config; /* as in struct perf_event_attr */
	uint64_t period; /* the counter overflows each time that it has counted so many */
	uint32_t type;   /* HARDWARE, SOFTWARE, HW_CACHE or RAW of enum perf_type_id */
	uint32_t mode;   /* enum vp_cpc_mode */
};

/* Of all sessions at once. A CPU has fewer counters, and the kernel shares them out in time. */
#define VP_CPC_MAX 32u

/* DTrace's default minimum; for the clocks, which count nanoseconds, the shortest interval of profile
 * probes. */
#define VP_CPC_LEAST    5000u
#define VP_CPC_LEAST_NS 200000u
/* The kernel's limit. */
#define VP_CPC_MOST     (UINT64_MAX >> 1)

static inline uint64_t vp_cpc_least(const struct vp_cpc_event *e)
{
	bool clock = e->type == PERF_TYPE_SOFTWARE &&
		     (e->config == PERF_COUNT_SW_CPU_CLOCK || e->config == PERF_COUNT_SW_TASK_CLOCK);

	return clock ? VP_CPC_LEAST_NS : VP_CPC_LEAST;
}

/** Is it an event that may be counted at all, whether or not this host can? */
static inline bool vp_cpc_is_valid(const struct vp_cpc_event *e)
{
	bool known = e->type == PERF_TYPE_HARDWARE || e->type == PERF_TYPE_SOFTWARE ||
		     e->type == PERF_TYPE_HW_CACHE || e->type == PERF_TYPE_RAW;

	return known && e->mode < VP_CPC_MODES && e->period >= vp_cpc_least(e) && e->period <= VP_CPC_MOST;
}

static inline bool vp_cpc_is_same(const struct vp_cpc_event *a, const struct vp_cpc_event *b)
{
	return a->config == b->config && a->period == b->period && a->type == b->type && a->mode == b->mode;
}

#endif
