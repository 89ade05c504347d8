/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting for vCPUs to leave probes. The hit path pays one plain store for it: membarrier(2) executes the
 * barrier on every running thread of the process at the moment of the wait.
 */
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vmm-probe/engine/service/service.h"

/* A probe lasts microseconds; after this many checks its thread has been preempted. */
#define SPINS 1000

static long membarrier(int cmd)
{
	return syscall(SYS_membarrier, cmd, 0, 0);
}

void vp_quiesce_init(struct vp_engine *engine)
{
	engine->fence = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
}

static void wait_vcpu(const struct vp_vcpu *vcpu)
{
	uint64_t seq = __atomic_load_n(&vcpu->seq, __ATOMIC_ACQUIRE);
	const struct timespec pause = { .tv_nsec = 50000 };

	if (!(seq & 1))
		return;
	for (unsigned i = 0; __atomic_load_n(&vcpu->seq, __ATOMIC_ACQUIRE) == seq; i++) {
		if (i < SPINS)
			sched_yield();
		else
			nanosleep(&pause, NULL);
	}
}

/*
 * After the barrier each vCPU either has made its odd word visible, and we wait for it, or will become odd
 * later, and then sees the data published before.
 */
void vp_quiesce(struct vp_engine *engine)
{
	/* A locked instruction instead of a fence: ThreadSanitizer models only that. */
	if (engine->fence)
		__atomic_add_fetch(&engine->service->fence_word, 1, __ATOMIC_SEQ_CST);
	else
		membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	for (uint32_t i = 0; i < engine->nvcpus; i++)
		wait_vcpu(&engine->vcpus[i]);
}
