/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine as a hit reads it, and how a vCPU marks that it is in a probe.
 *
 *   engine ─┬─ vcpus[]     sequence words: odd while that vCPU is in a probe
 *           ├─ vm, profile, agent   tables of probes without a site, published by the service thread
 *           ├─ records              what resident probes have written
 *           └─ service     all that only the service thread uses
 *
 * Threads. A vCPU thread touches its own vp_vcpu and vp_vcpu_session, and reads what was published before it
 * went odd. The service thread changes the rest; before it frees memory that a vCPU may still use, it calls
 * vp_quiesce(). Words that both touch are accessed with __atomic_*.
 *
 * Nothing in this folder takes a lock, allocates, formats or makes a system call:
 * tests/layering/hit_symbols.py checks the functions that its objects refer to. The backend's operations
 * (struct vp_backend_ops) are called through pointers, which that test cannot follow.
 */
#ifndef VP_ENGINE_HIT_HIT_ENGINE_H
#define VP_ENGINE_HIT_HIT_ENGINE_H

#include <string.h>

#include "base/compiler.h"
#include "vmm-probe/engine/backend.h"
#include "vmm-probe/engine/hit/clause.h"

#define VP_SESSIONS_MAX 32

struct vp_service;
struct vp_vm_table;
struct vp_samples;
struct vp_agent;
struct vp_early;
struct vp_records;

/* The data of the running task that was read in the firing in progress. Bits of `known`: */
enum { VP_RUNNING_TASK = 1, VP_RUNNING_PID = 2, VP_RUNNING_TID = 4, VP_RUNNING_NAME = 8 };
struct vp_running {
	uint64_t hit;    /* the sequence word of the hit, where sessions share it … */
	uint64_t kernel; /* … and the kernel by whose facts it was read: vp_engine_session.kernel */
	uint32_t known;
	uint32_t pid, tid; /* as D has them: the process's, the thread's */
	uint64_t task;     /* 0: can't be read */
	uint64_t name[VP_NAME_WORDS];
};

struct vp_vcpu {
	_Alignas(64) uint64_t seq; /* odd: in a probe */
	const struct vp_engine *engine;
	/* the hits that the guard times: see guard.c */
	uint64_t timed_at_ns;
	uint32_t until_timed, every, random;
	struct vp_running running; /* at the hit in progress, for all sessions with the same kernel */
};

struct vp_engine {
	const struct vp_backend_ops *ops;
	void *backend;
	bool host;
	bool fence; /* no membarrier(2): the hit path executes a fence */
	struct vp_vcpu *vcpus;
	uint32_t nvcpus;
	uint32_t guarded;           /* sessions with a guard */
	uint64_t mem_gen;           /* generation of guest RAM; increases when it changes */
	struct vp_vm_table *vm;     /* vm probes in force; NULL: none */
	struct vp_samples *profile; /* in force; read by the timer thread too; NULL: none */
	struct vp_agent *agent;     /* of the guest, in use; NULL: none. See agent.h */
	struct vp_early *early;     /* early.h; NULL: no plan has needed it. It stays */
	struct vp_records *records; /* of resident probes; NULL: none. See records.h */
	struct vp_service *service;
};

/* A vCPU enters a probe. The store must be visible before any later load (of the activity, the active half
 * …). vp_quiesce()'s membarrier ensures that at no cost here; without membarrier a locked instruction does.
 */
static inline void vp_vcpu_enter(struct vp_vcpu *vcpu)
{
	if (ot_unlikely(vcpu->engine->fence))
		__atomic_exchange_n(&vcpu->seq, vcpu->seq + 1, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(&vcpu->seq, vcpu->seq + 1, __ATOMIC_RELAXED);
	OT_BARRIER();
}

/* Release: a reader that sees the even word sees all that the probe wrote. */
static inline void vp_vcpu_leave(struct vp_vcpu *vcpu)
{
	__atomic_store_n(&vcpu->seq, vcpu->seq + 1, __ATOMIC_RELEASE);
}

#endif
