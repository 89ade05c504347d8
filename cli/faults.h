/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of probes, as they are told. The first of its kind is a line at once; equal ones that follow within
 * a second become one line with their number, so that a clause that fails at each hit does not hide what else
 * is said. Equal are those of one enabling that differ in nothing but the address.
 */
#ifndef CLI_FAULTS_H
#define CLI_FAULTS_H

#include "base/map.h"
#include "vmm-probe/session/session.h"

struct cli_faults {
	struct ot_map runs; /* struct fault_run by what makes faults equal */
	struct ot_arena arena;
	bool each; /* none is counted, all are told */
};

/** @p each: for who compares messages. */
void cli_faults_init(struct cli_faults *faults, bool each);
void cli_faults_deinit(struct cli_faults *faults);

/** A fault came; @p now_ns is ot_now_ns(). It is told at once if it is the first for a second, else counted.
 * Its ecb is borrowed. */
void cli_faults_add(struct cli_faults *faults, const struct vp_fault_info *fault, uint64_t now_ns);

/** Tell the numbers of those that were counted for a second; with @p all, of all. */
void cli_faults_flush(struct cli_faults *faults, uint64_t now_ns, bool all);

#endif
