/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of the fake backend. */
#ifndef VP_BACKEND_FAKE_INTERNAL_H
#define VP_BACKEND_FAKE_INTERNAL_H

#include <pthread.h>

#include "vmm-probe/backend/fake/fake.h"
#include "vmm-probe/engine/backend.h"

struct vp_fake_vcpu {
	struct vp_regs regs;
	uint64_t *counters;
	uint32_t sample_wanted;
	uint64_t ticks; /* a statistic, for vm:::stat */
};

struct vp_fake {
	struct vp_fake_config config;
	struct vp_backend_ops ops; /* those that this configuration has */
	uint8_t *ram;
	uint64_t next_page;
	struct vp_fake_vcpu *vcpus;
	struct vp_engine *engine;
	/* Readers are hits, the writer is install(): so no hit begins on a plan that was replaced. */
	pthread_rwlock_t lock;
	const struct vp_plan *plan;
	bool busy, unstoppable;
	unsigned fail_install;
};

#endif
