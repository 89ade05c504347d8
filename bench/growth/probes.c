/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Costs against the probes of a session: enabling and planting them, the same again in a second session, and
 * hits at each of them in turn. */
#include <stdlib.h>

#include "bench/growth/growth.h"
#include "vmm-probe/engine/backend.h"

#define HITS    400000u
#define BY_FUNC "fbt:::entry { @[probefunc] = count(); }"

static const struct bench_sizes sizes = { .bufsize = 1u << 20, .aggsize = 64u << 20 };

static double enable_with(uint32_t n, uint32_t before)
{
	struct bench_session s[2];
	struct dif_program prog;
	struct bench_lab lab;
	struct ot_buf batch;
	double took = 0;

	bench_lab_open(&lab, 1, NULL);
	growth_compile(BY_FUNC, &prog);
	ot_buf_init(&batch);
	bench_batch(&lab, n, 1, false, &batch);
	for (uint32_t i = 0; i <= before; i++) {
		bench_session_open(&lab, &prog, &sizes, &s[i]);
		double start = bench_cpu_ns();
		bench_session_trace(&s[i], &batch);
		took = bench_cpu_ns() - start;
	}
	for (uint32_t i = 0; i <= before; i++)
		bench_session_close(&s[i]);
	ot_buf_deinit(&batch);
	dif_program_deinit(&prog);
	bench_lab_close(&lab);
	return took;
}

static double enable(uint32_t n, struct growth_counts *ret)
{
	ret->calls++;
	return enable_with(n, 0);
}

static double enable_again(uint32_t n, struct growth_counts *ret)
{
	(void)ret;
	return enable_with(n, 1);
}

/* A table of as many keys is filled before. */
static double hit(uint32_t n, struct growth_counts *ret)
{
	struct growth_traced t;

	growth_trace(&t, BY_FUNC, 1, n, &sizes);
	growth_hits(&t, n, 1, ret);
	double ns = growth_hits(&t, HITS, 1, ret);
	growth_untrace(&t, ret);
	return ns;
}

#define PROBES                                              \
	{                                                   \
		1, 10, 100, 1000, 5000, 10000, 20000, 41760 \
	}

const struct growth_series growth_probes[] = { { "probes.enable", "bench_session_trace", enable, PROBES },
					       { "probes.enable-again", NULL, enable_again, PROBES },
					       { "probes.hit", "vp_engine_hit", hit, PROBES },
					       { 0 } };
