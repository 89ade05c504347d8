/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calling a function while no vCPU executes, by QEMU's own mechanism (async_safe_run_on_cpu(), cpu-common.c).
 * A waiting vCPU is waited for, but not for ever: QEMU may be about to end.
 */
#include "vmm-probe/backend/tcg/tcg.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#define WAIT_S 2

enum { QUEUED, TAKEN, GIVEN_UP };

struct job {
	void (*fn)(void *arg);
	void *arg;
	_Atomic int state;
	sem_t done;
};

static void destroy(struct job *job)
{
	sem_destroy(&job->done);
	free(job);
}

static void run(struct qemu_cpu *cpu, uint64_t data)
{
	struct job *job = (struct job *)(uintptr_t)data;
	int queued = QUEUED;

	(void)cpu;
	if (!atomic_compare_exchange_strong(&job->state, &queued, TAKEN)) {
		destroy(job);
		return;
	}
	job->fn(job->arg);
	sem_post(&job->done);
}

bool vp_tcg_can_exclude(void)
{
	return async_safe_run_on_cpu && qemu_get_cpu;
}

/* False: it will not run. */
static bool wait_for(struct job *job)
{
	struct timespec until;
	int queued = QUEUED;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	while (sem_timedwait(&job->done, &until)) {
		if (errno != ETIMEDOUT)
			continue;
		if (atomic_compare_exchange_strong(&job->state, &queued, GIVEN_UP))
			return false;
		until.tv_sec += WAIT_S; /* it is running */
	}
	return true;
}

bool vp_tcg_exclusive(void *backend, void (*fn)(void *arg), void *arg)
{
	struct qemu_cpu *cpu = qemu_get_cpu(0);
	struct job *job = cpu ? calloc(1, sizeof(*job)) : NULL;

	(void)backend;
	if (!job || sem_init(&job->done, 0, 0)) {
		free(job);
		return false;
	}
	job->fn = fn;
	job->arg = arg;
	async_safe_run_on_cpu(cpu, run, (uint64_t)(uintptr_t)job);
	if (!wait_for(job))
		return false;
	destroy(job);
	return true;
}
