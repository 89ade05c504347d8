/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of probes. The first of its kind is reported at once; equal ones that follow within a second are
 * counted and reported together, so that a clause that fails at each hit doesn't flood the output. Faults are
 * equal if they are of one enabling and differ in their addresses only.
 */
#ifndef CONSUMER_FAULTS_H
#define CONSUMER_FAULTS_H

#include "base/map.h"
#include "vmm-probe/session/session.h"

struct con_faults {
	struct ot_map runs; /* struct fault_run by what makes faults equal */
	struct ot_arena arena;
	bool each; /* none is counted, each is reported */
	void (*report)(void *arg, const struct vp_fault_info *fault, uint64_t count, bool same_address);
	void *arg;
};

/** @p report gets the faults to show: a fault as it occurred (@p count 1), or the number of those that
 * followed it and the last of them. @p each: report every fault, for tools that compare messages. */
void con_faults_init(struct con_faults *faults, bool each,
		     void (*report)(void *arg, const struct vp_fault_info *fault, uint64_t count,
				    bool same_address),
		     void *arg);
void con_faults_deinit(struct con_faults *faults);

/** A fault occurred; @p now_ns is ot_now_ns(). It is reported at once if it is the first for a second, else
 * counted. Its ecb is borrowed. */
void con_faults_add(struct con_faults *faults, const struct vp_fault_info *fault, uint64_t now_ns);

/** Report those that were counted for a second; with @p all, all that were counted. */
void con_faults_flush(struct con_faults *faults, uint64_t now_ns, bool all);

#endif
