/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The external sampler, as its files share it. */
#ifndef VP_BACKEND_PEEK_INTERNAL_H
#define VP_BACKEND_PEEK_INTERNAL_H

#include <linux/kvm.h>
#include <pthread.h>
#include <stdatomic.h>

#include "vmm-probe/backend/kvm/state.h"
#include "vmm-probe/backend/peek/peek.h"

/* The registers requested of KVM for a sample. */
#define VP_PEEK_SYNC (KVM_SYNC_X86_REGS | KVM_SYNC_X86_SREGS)

/* Since Linux 6.9; api.rst 5, KVM_RUN's flags. */
#ifndef KVM_RUN_X86_GUEST_MODE
#define KVM_RUN_X86_GUEST_MODE (1 << 2)
#endif

/* Requests to a vCPU. */
enum { VP_PEEK_SAMPLE = 1, VP_PEEK_REGS = 2 };

/* A vCPU's registers, copied out of the shared page. */
struct vp_peek_state {
	struct kvm_regs regs;
	struct kvm_sregs sregs;
	uint16_t flags; /* KVM_RUN_X86_* */
};

struct vp_peek_vcpu {
	int id;              /* KVM's; vCPUs are sorted by it */
	unsigned mapped;     /* number of its mappings in the process */
	pid_t tid;           /* its thread's; 0: not known */
	int stats_fd;        /* -1: none */
	struct kvm_run *run; /* shared with KVM and the VMM: hostile, each word read once */
	_Atomic uint32_t wanted;
	/* the sampler thread's */
	uint64_t armed_ns; /* when registers were requested; 0: they are not */
	uint32_t wants;    /* … for these */
	bool all_kicked;   /* no registers arrived, so every thread was kicked */
	struct vp_peek_state state;
};

/* memory.c: the place of guest RAM, and the kernel's mapping of it. */
struct vp_peek_memory {
	enum vp_peek_seen seen;
	struct vp_ram_range ram[2];
	uint32_t nram;
	int ram_fd; /* of the file that holds RAM; -1: private memory */
	const struct vp_phys *phys;
	struct vp_mmu kernel, user;
};

/* sampler.c: the thread that takes samples. */
struct vp_peek_sampler {
	pthread_t thread;
	bool running;
	int wake_fd;
	atomic_bool stopping;
	struct vp_regs *read; /* vp_peek_read()'s, with the lock */
	pthread_mutex_t lock;
	pthread_cond_t was_read;
	const struct vp_peek_vcpu *current; /* whose sample is firing */
	_Atomic uint64_t kicks, answers, dropped;
};

struct vp_peek {
	pid_t pid;
	int pidfd, claim_fd;
	char name[VP_GUEST_NAME];
	int kick; /* signal */
	struct vp_peek_vcpu *vcpus;
	uint32_t nvcpus;
	unsigned libraries; /* of Outsight's, dormant, that also map vCPUs */
	pid_t *threads;     /* that run vCPUs; at least one a vCPU */
	uint32_t nthreads;
	struct vp_kvm_stat stats[VP_VM_STATS_MAX];
	uint32_t nstats;

	/* undo.c */
	pid_t undo_pid;
	int undo_fd;

	struct vp_peek_memory memory;
	struct vp_peek_sampler sampler;

	_Atomic(struct vp_engine *) engine;
	int listening;
	char address[16];
};

/* vmm.c */
/** Find the process's name, kick, vCPUs (mapped) and threads. As vp_peek_open(). */
OT_MUST_CHECK struct ot_err *vp_peek_find(struct vp_peek *peek);
/** Text of a file of /proc/PID; *ret is the caller's. */
OT_MUST_CHECK struct ot_err *vp_peek_proc(const struct vp_peek *peek, const char *name, char **ret,
					  size_t *ret_len);
/** Are all threads that could run a vCPU in another system call than KVM_RUN? */
bool vp_peek_is_paused(const struct vp_peek *peek);
/** Does the VMM still run? */
bool vp_peek_alive(const struct vp_peek *peek);

/* sample.c: the sampler thread, and before there is one */
/** Request a vCPU's registers. False: the VMM is using the same words itself. */
bool vp_peek_arm(struct vp_peek_vcpu *v);
/** End the request: they are no longer needed, or have arrived. */
void vp_peek_disarm(struct vp_peek_vcpu *v);
/** Have they arrived? Then they are in v->state, and the VMM's page is as it was. */
bool vp_peek_take(struct vp_peek_vcpu *v);
/** Kick the vCPU's thread, or every one. */
void vp_peek_kick(struct vp_peek *peek, const struct vp_peek_vcpu *v, bool all);

/* sampler.c */
OT_MUST_CHECK struct ot_err *vp_peek_sampler_start(struct vp_peek *peek);
void vp_peek_sampler_stop(struct vp_peek *peek);
void vp_peek_want(struct vp_peek *peek, uint32_t vcpu, uint32_t what);

/* memory.c */
/** Find RAM. @p regs as from vp_peek_read(). Finding none is no error. */
OT_MUST_CHECK struct ot_err *vp_peek_find_ram(struct vp_peek *peek, const struct vp_regs *regs);
/** Guest memory as it is for the vCPU whose sample is firing. Sampler thread. */
bool vp_peek_load(void *backend, uint64_t gva, void *dst, uint32_t len, bool user);

/* undo.c */
OT_MUST_CHECK struct ot_err *vp_peek_undo_start(struct vp_peek *peek);
/** On return all is undone. */
void vp_peek_undo_end(struct vp_peek *peek);

#endif
