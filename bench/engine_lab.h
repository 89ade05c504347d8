/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest that benchmarks of the engine trace, on the fake backend: page tables like a kernel's (large
 * pages for the direct map), so that loads cost as much as in a guest; on each vCPU a task of its own runs.
 */
#ifndef BENCH_ENGINE_LAB_H
#define BENCH_ENGINE_LAB_H

#include "base/buf.h"
#include "bench/engine_clauses.h"
#include "dif/vm/dynvar.h"
#include "vmm-probe/backend/fake/fake.h"
#include "vmm-probe/engine/service/session.h"
#include "vmm-probe/engine/wire/shared.h"

#define BENCH_TEXT   0xffffffff81000000ull
#define BENCH_DIRECT 0xffff888000000000ull
#define BENCH_PERCPU (BENCH_DIRECT + 0x400000)
#define BENCH_TASK   (BENCH_DIRECT + 0x523000) /* vCPU 0's */
#define BENCH_VCPUS  64u

struct bench_lab {
	struct vp_fake *fake;
	struct vp_facts facts;
	uint32_t nvcpus;
};

/** @p room: for resident probes; NULL: none. */
void bench_lab_open(struct bench_lab *lab, uint32_t nvcpus, const struct vp_resident_room *room);
void bench_lab_close(struct bench_lab *lab);

/** Where function @p i begins. */
static inline uint64_t bench_function(uint32_t i)
{
	return BENCH_TEXT + 16ull * i;
}

/* Of one half, bytes; and of the table of dynamic variables. */
struct bench_sizes {
	uint64_t bufsize, aggsize, dynvars;
	uint32_t flags; /* VP_OPEN_* */
};

struct bench_session {
	struct vp_engine_session *es;
	struct vp_msg_open open;
	uint8_t *shared;
	uint64_t size;
	struct dif_dynvars *dynvars; /* the session's own handle, for its cleaner; NULL: no such variables */
};

/** Like one that a client has opened, with nothing enabled. @p prog is copied. */
void bench_session_open(struct bench_lab *lab, const struct dif_program *prog,
			const struct bench_sizes *sizes, struct bench_session *ret);
void bench_session_close(struct bench_session *s);
/** Enable @p batch, and start. */
void bench_session_trace(struct bench_session *s, const struct ot_buf *batch);
/** Exchange the halves, so that the next ones are empty. */
void bench_session_switch(struct bench_session *s);

/* What a session has counted, all vCPUs together. */
struct bench_counts {
	uint64_t fired, dropped; /* firings of ECBs; aggregations, records and variables without room */
};
struct bench_counts bench_session_counts(const struct bench_session *s);

/** The entries of functions 0 to @p n - 1, each with @p necbs ECBs: of clause 0, 1 … The names are as long as
 * a kernel's. @p resident: where each begins is the nop of function tracing. */
void bench_batch(struct bench_lab *lab, uint32_t n, uint32_t necbs, bool resident, struct ot_buf *out);

/** CPU time of this thread, ns. */
double bench_cpu_ns(void);
int bench_by_value(const void *a, const void *b); /* for qsort() of double */

#endif
