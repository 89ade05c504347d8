/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What costs grow with. A series measures one cost at several sizes of one thing; growth_bench.py runs it in
 * rounds, all sizes in each, fits a slope, and has callgrind count the instructions of one function.
 */
#ifndef BENCH_GROWTH_GROWTH_H
#define BENCH_GROWTH_GROWTH_H

#include "bench/engine_lab.h"

/* What happened meanwhile; exact, whatever else the machine does. */
struct growth_counts {
	uint64_t calls; /* of the counted function */
	uint64_t hits;
	uint64_t lost;    /* hits whose clauses did not fire, or twice */
	uint64_t dropped; /* as in struct bench_counts */
	uint64_t retries; /* compare-and-exchange operations that another vCPU forestalled */
};

struct growth_series {
	const char *name;    /* TABLE.COST */
	const char *counted; /* the function whose instructions are the cost; NULL: they are not */
	/** @p size is one of the sizes. Returns ns of CPU time: for each hit or key, or for all of it. */
	double (*measure)(uint32_t size, struct growth_counts *ret);
	uint32_t sizes[24]; /* ends with 0 */
};

extern const struct growth_series growth_vcpus[], growth_clauses[], growth_probes[], growth_keys[],
    growth_consumer[];

/* Only enough is done to count instructions, which are the same each time, but take callgrind long. */
extern bool growth_counting;

/** Compile @p text; its probes are those that a description names, each of them a function's entry. */
void growth_compile(const char *text, struct dif_program *prog);
/** @p n clauses "fbt:::entry @p body" with numbers of their own for %u. */
char *growth_repeat(const char *body, uint32_t n);

/* --- one vCPU that hits ----------------------------------------------------------------------------------- */

/* A session of a program on some functions' entries. */
struct growth_traced {
	struct bench_lab lab;
	struct bench_session session;
	const struct vp_site **sites;
	uint32_t nsites;
	double *slices; /* of all vCPUs, growth_median()'s */
	uint32_t nslices;
};

void growth_trace(struct growth_traced *t, const char *text, uint32_t nvcpus, uint32_t nsites,
		  const struct bench_sizes *sizes);
/** Adds what the session has counted to @p ret. */
void growth_untrace(struct growth_traced *t, struct growth_counts *ret);

/** @p hits of vCPU 0, or fewer when growth_counting, at the sites in turn, with arg0 from 0 to @p keys - 1 in
 * turn; ns each. */
double growth_hits(struct growth_traced *t, uint32_t hits, uint32_t keys, struct growth_counts *ret);

/** The lowest decile of some slices: what nothing else on the machine has lengthened. Sorts them. */
double growth_low(double *values, uint32_t n);

#endif
