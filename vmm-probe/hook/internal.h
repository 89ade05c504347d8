/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The KVM engine in a VMM that is not ours: around its ioctl(KVM_RUN), by LD_PRELOAD from its start or put in
 * while it runs. There is one hook in a process, as there is one ioctl().
 *
 *   ioctl.c     what the VMM asks of KVM comes by here; seen and passed on
 *   machine.c   what was seen: the VM, its vCPUs, its memory slots
 *   run.c       a vCPU's KVM_RUN, with the engine around it; keeping all vCPUs out
 *   tracing.c   the engine: made when the machine is known, unmade when it changes
 *   service.c   a thread of our own: starts the engine, answers the operator's process (control.h)
 *   control.c   its requests
 *   live.c      put in later: finding out what was not seen (descriptors; qemu.c: slots)
 *   got.c       and the redirection
 *
 * Threads. The VMM's threads come through ioctl(). KVM_RUN takes no lock; everything else that is ours is
 * under `lock`, which may be taken while the VMM's own locks are held, so whoever has it never waits for the
 * VMM to do something other than to leave KVM_RUN. Our own threads have all signals blocked.
 */
#ifndef VP_HOOK_INTERNAL_H
#define VP_HOOK_INTERNAL_H

#include <linux/kvm.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "vmm-probe/backend/kvm/kvm.h"

#define VP_HOOK_VCPUS_MAX   VP_VCPUS_MAX
#define VP_HOOK_SLOTS_MAX   512u
#define VP_HOOK_SLOT_FOUND  0x80000000u /* slots that we were told of, not saw: numbered from here */
#define VP_HOOK_RAM_FDS_MAX 16u
#define VP_HOOK_FDS_MAX     65536u /* a vCPU's descriptor is below this */

/* Where a vCPU's thread is. */
enum vp_hook_where {
	VP_HOOK_OUT,
	VP_HOOK_IN,     /* between its look at the gate and its return; it may have seen no engine */
	VP_HOOK_TRACED, /* the same, with the engine */
};

/* What a reset makes them; and then something else, as a state that was saved does. */
enum { VP_HOOK_STATE_RESET = 1, VP_HOOK_STATE_LOADED = 2 };

struct vp_hook_vcpu {
	_Alignas(64) int fd;
	uint32_t id;    /* KVM's, the x86 APIC id */
	uint32_t index; /* the engine's */
	struct kvm_run *run;
	pthread_t thread;       /* that runs it, once seen; its own */
	_Atomic int tid;        /* the same for kicks; 0: none has yet */
	_Atomic uint32_t where; /* enum vp_hook_where */
	_Atomic uint32_t seen;  /* came by here since the hook was put in */
	/* KVM_SET_GUEST_DEBUG as the VMM and as the engine want it. Under `debug`. */
	pthread_mutex_t debug;
	struct kvm_guest_debug theirs, ours;
	_Atomic uint32_t vmm_debugs;
	_Atomic uint32_t
	    state;       /* VP_HOOK_STATE_*: what the VMM has made of its registers since it last ran */
	uint64_t out_ns; /* since when it has been out because of a kick of ours; its own thread */
};

/* KVM_SET_USER_MEMORY_REGION, as the VMM last gave it. */
struct vp_hook_slot {
	uint32_t number, flags;
	uint64_t gpa, size, host;
};

struct vp_hook {
	pthread_mutex_t lock;
	int kvm, vm; /* the VMM's descriptors of /dev/kvm and of its VM; -1: not seen */
	size_t run_size;
	bool confidential; /* its memory is encrypted */
	struct vp_hook_vcpu *vcpus[VP_HOOK_VCPUS_MAX];
	uint32_t nvcpus;
	struct vp_hook_slot slots[VP_HOOK_SLOTS_MAX];
	uint32_t nslots;
	int faults;       /* a userfaultfd(2) that writes to guest RAM were to be reported by; -1: none */
	bool slots_lost;  /* there were more */
	bool live;        /* put in while the VMM ran: RAM is the slots that were found */
	bool slots_stale; /* they are to be asked for again */

	/* the engine */
	bool wanted; /* it is to be there whenever the machine allows it */
	bool probed;
	struct vp_kvm_host host;
	struct vp_ram_range ram[VP_HOOK_SLOTS_MAX], now[VP_HOOK_SLOTS_MAX];
	uint32_t nram;
	int ram_fds[VP_HOOK_RAM_FDS_MAX];
	uint32_t nram_fds;
	int listen_fd; /* given by the operator's process; -1: a path of our own */
	_Atomic(struct vp_kvm *) engine;
	_Atomic uint32_t gate; /* 1: no vCPU gets into the guest */

	/* waiting at the gate */
	pthread_mutex_t gate_lock;
	pthread_cond_t gate_changed;

	int kick_signal;
	int wake;                 /* eventfd: the service thread has something to look at */
	_Atomic uint32_t service; /* it was started */
	bool preloaded;           /* in front of libc from the start */
	_Atomic uint64_t held_ns; /* the longest that anything of the guest had to wait for an engine */
};

extern struct vp_hook vp_hook;

/* --- ioctl.c ----------------------------------------------------------------------------------------- */

/** What the VMM's calls of ioctl() come to. */
int vp_hook_ioctl(int fd, unsigned long request, ...);
/** The system call itself, as ioctl() is. */
int vp_hook_syscall(int fd, unsigned long request, void *arg);
/** The VMM has made other registers for the first vCPU, which is about to run with them. */
void vp_hook_new_state(struct vp_hook_vcpu *v);
/** KVM_SET_GUEST_DEBUG for what @p v's VMM and the engine want together. With v->debug. */
int vp_hook_set_debug(struct vp_hook_vcpu *v, uint32_t once);

/* --- machine.c; under the lock ----------------------------------------------------------------------- */

/** A vCPU's descriptor was seen. NULL: too many, or its kvm_run can't be mapped. */
struct vp_hook_vcpu *vp_hook_add_vcpu(int fd, uint32_t id);
/** The vCPU that has this descriptor; any time, no lock. */
struct vp_hook_vcpu *vp_hook_vcpu_of(int fd);
void vp_hook_add_slot(const struct vp_hook_slot *slot);
const struct vp_hook_slot *vp_hook_find_slot(uint32_t number);
/** Does a call for [@p gpa, +@p size) touch a slot that was found? */
bool vp_hook_touches_found(uint64_t gpa, uint64_t size);
/** Forget the slots that were found. */
void vp_hook_forget_slots(void);
/** A slot that a kernel has as memory: writable, not logged, not only firmware's shadow. */
bool vp_hook_slot_is_ram(const struct vp_hook_slot *slot);
/** Guest RAM among the slots, by address, neighbours joined: at most VP_HOOK_SLOTS_MAX. Returns how many. */
uint32_t vp_hook_ram(struct vp_ram_range *ret);

/** Fill in @p ram's files; new descriptors of them, at most @p max, go to @p fds. Returns how many. */
uint32_t vp_hook_ram_files(struct vp_ram_range *ram, uint32_t nram, int *fds, uint32_t max);

/* --- run.c ------------------------------------------------------------------------------------------- */

/** KVM_RUN on the vCPU's own thread. As ioctl() returns. */
int vp_hook_run(struct vp_hook_vcpu *v);
OT_MUST_CHECK struct ot_err *vp_hook_kick_init(void);
/** Once, before any of these. */
void vp_hook_gate_init(void);
void vp_hook_kick(struct vp_hook_vcpu *v);
/** Return when no vCPU is in the guest without the engine, which was just put there. With the lock. */
void vp_hook_await_engine(void);
/** All vCPUs out of the guest and kept out; and in again. With the lock. */
void vp_hook_close_gate(void);
void vp_hook_open_gate(void);

/* --- live.c, got.c, qemu.c; the service thread, without the lock ------------------------------------- */

/** Find the VM, redirect ioctl(), see every vCPU come by. An error leaves the VMM as it was. */
OT_MUST_CHECK struct ot_err *vp_hook_go_live(void);
/** The redirection undone. */
void vp_hook_go_back(void);

OT_MUST_CHECK struct ot_err *vp_hook_redirect(void *function);
void vp_hook_redirect_back(void);

bool vp_hook_is_qemu(void);
/** Has it stopped its guest (`stop`, a migration …)? Of one that does not say so: no. Any thread. */
bool vp_hook_paused(void);
/** Guest RAM as QEMU tells, into the slots. BUSY: its main loop does not answer, it is migrating, or, @p
 * first, somebody debugs the guest. UNSUPPORTED: its machine has a device on a port of ours. */
OT_MUST_CHECK struct ot_err *vp_hook_ask_slots(bool first);

/* --- control.c; the service thread ------------------------------------------------------------------- */

/** Our end of the control socket; -1: the control block says why. */
int vp_hook_control_open(void);
void vp_hook_control_fail(int error);
/** The guest runs another machine state from here on: reset, or loaded. Counts it. Under the lock. */
void vp_hook_count_state(enum vp_guest_end how);
/** From now on an engine is to be there whenever the machine allows it; or not. */
void vp_hook_want(bool wanted);
/** One request. */
void vp_hook_control_serve(int sock);

/* --- tracing.c; under the lock ----------------------------------------------------------------------- */

/** What this host's KVM does. Takes a while; the service thread, without the lock. */
OT_MUST_CHECK struct ot_err *vp_hook_probe_host(void);
/** Make the engine and serve. NULL also if it is there already. After vp_hook_probe_host(). */
OT_MUST_CHECK struct ot_err *vp_hook_trace(void);
/** Its sessions end, and are told @p why; every trap is taken out. */
void vp_hook_untrace(enum vp_guest_end why);
/** The machine is not what the engine was made for. */
bool vp_hook_changed(void);

/* --- service.c --------------------------------------------------------------------------------------- */

/** Start the thread. Once; more calls do nothing. */
void vp_hook_service_start(void);
/** Something of the guest has waited since then for us. Any thread. */
void vp_hook_held_since(uint64_t ns);
/** What is stale of the machine, anew; the service thread, without the lock. */
OT_MUST_CHECK struct ot_err *vp_hook_refresh(void);
/** Have it look again whether the engine suits the machine. Any thread. */
void vp_hook_wake(void);

#endif
