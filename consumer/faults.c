/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the faults that are reported at once, and those that are counted. */
#include "consumer/faults.h"

#include <string.h>

#include "base/units.h"

/* A program with a clause on each function can fail in as many ways; beyond this each is reported. */
#define RUNS_MAX 4096

/* A key of the map: without padding. */
struct kind {
	uint64_t ecb;
	uint32_t action;
	int32_t offset;
	uint64_t fault;
};

struct fault_run {
	struct vp_fault_info last;
	uint64_t reported_ns; /* the last report */
	uint64_t count;       /* since then */
	bool same_address;
};

void con_faults_init(struct con_faults *faults, bool each,
		     void (*report)(void *arg, const struct vp_fault_info *fault, uint64_t count,
				    bool same_address),
		     void *arg)
{
	*faults = (struct con_faults){ .each = each, .report = report, .arg = arg };
	ot_map_init(&faults->runs);
	ot_arena_init(&faults->arena);
}

void con_faults_deinit(struct con_faults *faults)
{
	ot_map_deinit(&faults->runs);
	ot_arena_deinit(&faults->arena);
}

/* NULL: a new one, and there is no room for it. */
static struct fault_run *run_of(struct con_faults *faults, const struct vp_fault_info *fault)
{
	const struct kind kind = { (uintptr_t)fault->ecb, fault->action, fault->offset, fault->fault };
	struct fault_run *run = ot_map_get(&faults->runs, &kind, sizeof(kind));

	if (run || faults->runs.count >= RUNS_MAX)
		return run;
	run = ot_arena_new(&faults->arena, struct fault_run);
	return run && ot_map_put(&faults->runs, &kind, sizeof(kind), run) ? run : NULL;
}

void con_faults_add(struct con_faults *faults, const struct vp_fault_info *fault, uint64_t now_ns)
{
	struct fault_run *run = faults->each ? NULL : run_of(faults, fault);

	if (!run) {
		faults->report(faults->arg, fault, 1, true);
		return;
	}
	if (!run->count && (!run->reported_ns || now_ns - run->reported_ns >= OT_NS_PER_SEC)) {
		faults->report(faults->arg, fault, 1, true);
		run->reported_ns = now_ns;
		return;
	}
	run->same_address = run->count ? run->same_address && run->last.address == fault->address : true;
	run->last = *fault;
	run->count++;
}

void con_faults_flush(struct con_faults *faults, uint64_t now_ns, bool all)
{
	for (size_t i = 0; i < faults->runs.count; i++) {
		struct fault_run *run = faults->runs.entries[i]->value;
		if (!run->count || (!all && now_ns - run->reported_ns < OT_NS_PER_SEC))
			continue;
		faults->report(faults->arg, &run->last, run->count, run->same_address);
		run->reported_ns = now_ns;
		run->count = 0;
	}
}
