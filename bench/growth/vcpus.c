/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hit against vCPUs. Each is a thread; more of them than CPUs take turns, so that what is measured then is
 * not how they run at once, but how the shared structures bear so many users, and one that is preempted in
 * the middle.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/growth/count_cas.h"
#include "bench/growth/growth.h"
#include "vmm-probe/engine/backend.h"

#define HITS     128000u /* of all vCPUs */
#define SLICE    500u
#define KEYS     8u
#define CLEAN_US 1000u /* some ten times as often as cleanrate: these vCPUs do nothing else */

_Thread_local uint64_t growth_cas_failed;

struct vcpu {
	struct growth_traced *t;
	pthread_barrier_t *start;
	pthread_t thread;
	uint32_t number, nslices;
	double *slices;
	uint64_t retries;
	uint32_t *running; /* threads that are not done yet */
};

static void *run(void *arg)
{
	struct vcpu *v = arg;
	struct bench_lab *lab = &v->t->lab;
	struct vp_engine *engine = vp_fake_engine(lab->fake);
	void *ctx = vp_fake_ctx(lab->fake, v->number);

	pthread_barrier_wait(v->start);
	for (uint32_t s = 0; s < v->nslices; s++) {
		double start = bench_cpu_ns();
		for (uint32_t i = 0; i < SLICE; i++) {
			vp_fake_set_reg(lab->fake, v->number, VP_RDI, i % KEYS);
			vp_engine_hit(engine, v->number, v->t->sites[0], ctx);
		}
		v->slices[s] = (bench_cpu_ns() - start) / SLICE;
	}
	v->retries = growth_cas_failed;
	__atomic_sub_fetch(v->running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* The session's cleaner runs meanwhile. */
static void run_all(struct growth_traced *t, struct vcpu *vcpus, uint32_t n)
{
	pthread_barrier_t start;
	uint32_t running = n;

	pthread_barrier_init(&start, NULL, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		vcpus[i] = (struct vcpu){ .t = t,
					  .start = &start,
					  .number = i,
					  .nslices = HITS / SLICE / n,
					  .slices = t->slices + i * (HITS / SLICE / n),
					  .running = &running };
		if (pthread_create(&vcpus[i].thread, NULL, run, &vcpus[i]))
			bench_must(ot_err_new(OT_ERR_OS, "no thread for vCPU %u", i));
	}
	pthread_barrier_wait(&start);
	while (t->session.dynvars && __atomic_load_n(&running, __ATOMIC_ACQUIRE)) {
		dif_dynvars_clean(t->session.dynvars);
		usleep(CLEAN_US);
	}
	for (uint32_t i = 0; i < n; i++)
		pthread_join(vcpus[i].thread, NULL);
	pthread_barrier_destroy(&start);
}

/* The median of all vCPUs' slices: what they do to each other is in it. */
static double measure(const char *text, uint64_t dynvars, uint32_t n, struct growth_counts *ret)
{
	const struct bench_sizes sizes = { .bufsize = 64u << 10, .aggsize = 64u << 10, .dynvars = dynvars };
	struct vcpu vcpus[BENCH_VCPUS];
	struct growth_traced t;

	growth_trace(&t, text, n, 1, &sizes);
	t.slices = bench_need(calloc(HITS / SLICE, sizeof(*t.slices)));
	run_all(&t, vcpus, n);
	for (uint32_t i = 0; i < n; i++)
		ret->retries += vcpus[i].retries;
	ret->hits += HITS / SLICE / n * n * SLICE;
	ret->lost += ret->hits - bench_session_counts(&t.session).fired;
	t.nslices = HITS / SLICE / n * n;
	qsort(t.slices, t.nslices, sizeof(*t.slices), bench_by_value);
	double ns = t.slices[t.nslices / 2];
	growth_untrace(&t, ret);
	return ns;
}

/* Each vCPU has a table of its own. */
static double aggregation(uint32_t n, struct growth_counts *ret)
{
	return measure("fbt:::entry { @[arg0] = count(); }", 0, n, ret);
}

/* One table, keys of their own. */
static double thread_local(uint32_t n, struct growth_counts *ret)
{
	return measure("fbt:::entry { self->t = 1; self->t = 0; }", 64u << 20, n, ret);
}

/* The same keys for all: they are found, and written. */
static double same_keys(uint32_t n, struct growth_counts *ret)
{
	return measure("fbt:::entry { a[arg0]++; }", 64u << 20, n, ret);
}

/* The same keys for all: they come and go. */
static double contended(uint32_t n, struct growth_counts *ret)
{
	return measure("fbt:::entry { a[arg0] = 1; a[arg0] = 0; }", 64u << 20, n, ret);
}

#define VCPUS                          \
	{                              \
		1, 2, 4, 8, 16, 32, 64 \
	}

const struct growth_series growth_vcpus[] = { { "vcpus.aggregation", NULL, aggregation, VCPUS },
					      { "vcpus.thread-local", NULL, thread_local, VCPUS },
					      { "vcpus.same-keys", NULL, same_keys, VCPUS },
					      { "vcpus.contended", NULL, contended, VCPUS },
					      { 0 } };
