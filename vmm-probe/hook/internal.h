/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The KVM engine in another project's VMM: it wraps ioctl(KVM_RUN), either by LD_PRELOAD or injected into the
 * running VMM. There is one hook in a process, as there is one ioctl().
 *
 *   ioctl.c     the VMM's calls of ioctl(): observed and passed on
 *   machine.c   the state that was observed: the VM, its vCPUs, its memory slots
 *   run.c       a vCPU's KVM_RUN, wrapped by the engine; keeping all vCPUs out of the guest
 *   tracing.c   the engine's lifetime: created when the machine is known, destroyed when it changes
 *   service.c   our own thread: creates the engine, serves the operator's process (control.h)
 *   control.c   its requests
 *   live.c      injected: discovering what LD_PRELOAD would have observed (descriptors; qemu.c: slots)
 *   got.c       the redirection of ioctl()
 *   place.c     where memory of resident probes goes
 *   run_on.c    no vCPU is given to the VMM while it is in code of these
 *
 * Threads. The VMM's threads enter through ioctl(). KVM_RUN takes no lock. All other state is protected by
 * `lock`, which may be taken while the VMM's own locks are held. So its holder may wait for vCPUs to leave
 * KVM_RUN, but for nothing else in the VMM. Our own threads block all signals.
 */
#ifndef VP_HOOK_INTERNAL_H
#define VP_HOOK_INTERNAL_H

#include <linux/kvm.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/err.h"
#include "vmm-probe/backend/kvm/kvm.h"
#include "vmm-probe/backend/kvm/resident.h"

#define VP_HOOK_VCPUS_MAX   VP_VCPUS_MAX
#define VP_HOOK_SLOTS_MAX   512u
#define VP_HOOK_SLOT_FOUND  0x80000000u /* first number of slots from QEMU's monitor */
#define VP_HOOK_RAM_FDS_MAX 16u
#define VP_HOOK_FDS_MAX     65536u /* a vCPU's descriptor is below this */

/* The state of a vCPU's thread. */
enum vp_hook_where {
	VP_HOOK_OUT,
	VP_HOOK_IN,     /* from its check of the gate to KVM_RUN's return, perhaps without the engine */
	VP_HOOK_TRACED, /* the same, with the engine */
};

/* The events of a vCPU since it last ran. */
enum {
	VP_HOOK_STATE_CHANGED = 1, /* its machine was given other memory or vCPUs */
	VP_HOOK_STATE_RESET,       /* its registers are those of a reset */
	VP_HOOK_STATE_LOADED,      /* they were, before other values were set, as loading a state does */
};

struct vp_hook_vcpu {
	_Alignas(64) int fd;
	uint32_t id;    /* KVM's, the x86 APIC id */
	uint32_t index; /* the engine's */
	struct kvm_run *run;
	pthread_t thread;       /* that runs it; written by that thread only */
	_Atomic int tid;        /* of that thread, for kicks; 0: it has not run yet */
	_Atomic uint32_t where; /* enum vp_hook_where */
	_Atomic uint32_t seen;  /* it has called KVM_RUN through the hook since the redirection */
	/* KVM_SET_GUEST_DEBUG as requested by the VMM and by the engine. Under `debug`. */
	pthread_mutex_t debug;
	struct kvm_guest_debug theirs, ours;
	_Atomic uint32_t vmm_debugs;
	_Atomic uint32_t state; /* VP_HOOK_STATE_*; 0: nothing happened */
	uint64_t out_ns;        /* time of the exit caused by our kick; 0: none; its own thread */
	uint32_t moments;       /* for which it has run on after the VMM's kick (run_on.c), by this … */
	timer_t timer;          /* … which exists unless that is 0; its own thread */
};

/* The VMM's last KVM_SET_USER_MEMORY_REGION for a slot. */
struct vp_hook_slot {
	uint32_t number, flags;
	uint64_t gpa, size, host;
};

/* One struct with many fields: the data that exists once a process. */
struct vp_hook {
	pthread_mutex_t lock;
	int kvm, vm; /* the VMM's descriptors of /dev/kvm and of its VM; -1: unknown */
	size_t run_size;
	bool confidential; /* guest memory is encrypted */
	struct vp_hook_vcpu *vcpus[VP_HOOK_VCPUS_MAX];
	uint32_t nvcpus;
	struct vp_hook_slot slots[VP_HOOK_SLOTS_MAX];
	uint32_t nslots;
	int faults;       /* a userfaultfd(2) that write-protects guest RAM; -1: none */
	bool slots_lost;  /* there were more than VP_HOOK_SLOTS_MAX */
	bool live;        /* injected while the VMM ran: RAM is the slots from QEMU's monitor */
	bool slots_stale; /* query them again */

	/* the engine */
	bool wanted; /* create it whenever the machine allows it */
	bool probed;
	struct vp_kvm_host host;
	struct vp_ram_range ram[VP_HOOK_SLOTS_MAX], now[VP_HOOK_SLOTS_MAX];
	uint32_t nram;
	int ram_fds[VP_HOOK_RAM_FDS_MAX];
	uint32_t nram_fds;
	int listen_fd;                   /* from the operator's process; -1: listen on our own path */
	struct vp_kvm_resident resident; /* the engine's; without one, nothing leads there */
	_Atomic(struct vp_kvm *) engine;
	_Atomic uint32_t gate; /* 1: closed, no vCPU may enter the guest */

	/* for threads that wait at the gate */
	pthread_mutex_t gate_lock;
	pthread_cond_t gate_changed;

	int kick_signal;
	int wake;                 /* eventfd: the service thread must check the machine */
	_Atomic uint32_t service; /* the service thread was started */
	bool preloaded;           /* by LD_PRELOAD */
	_Atomic uint64_t held_ns; /* the longest time for which a vCPU or the main loop waited for us */
};

extern struct vp_hook vp_hook;

/* --- ioctl.c ----------------------------------------------------------------------------------------- */

/** The VMM's ioctl(). */
int vp_hook_ioctl(int fd, unsigned long request, ...);
/** The system call; returns as ioctl() does. */
int vp_hook_syscall(int fd, unsigned long request, void *arg);
/** @p v is about to run with the state that was set. Counts it if @p v is the first vCPU, and reports a reset
 * or a loaded state to the engine. */
void vp_hook_new_state(struct vp_hook_vcpu *v);
/** KVM_SET_GUEST_DEBUG with the combined requests of the VMM and the engine, and @p once, which is not kept.
 * With v->debug held. */
int vp_hook_set_debug(struct vp_hook_vcpu *v, uint32_t once);

/* --- machine.c; under the lock ----------------------------------------------------------------------- */

/** Add the vCPU of a descriptor; one with another @p id than before is a new vCPU. NULL: too many, or its
 * kvm_run can't be mapped. */
struct vp_hook_vcpu *vp_hook_add_vcpu(int fd, uint32_t id);
/** The vCPU of this descriptor, or NULL. Without the lock. */
struct vp_hook_vcpu *vp_hook_vcpu_of(int fd);
void vp_hook_add_slot(const struct vp_hook_slot *slot);
const struct vp_hook_slot *vp_hook_find_slot(uint32_t number);
/** Does [@p gpa, +@p size) overlap a slot from QEMU's monitor? */
bool vp_hook_touches_found(uint64_t gpa, uint64_t size);
/** Remove the slots from QEMU's monitor. */
void vp_hook_forget_slots(void);
/** Is the slot RAM to a kernel: writable, not logged, and not only the firmware's shadow? */
bool vp_hook_slot_is_ram(const struct vp_hook_slot *slot);
/** Guest RAM among the slots, by address, adjacent ranges merged. Returns their number, at most
 * VP_HOOK_SLOTS_MAX. */
uint32_t vp_hook_ram(struct vp_ram_range *ret);

/* --- run.c ------------------------------------------------------------------------------------------- */

/** KVM_RUN, on the vCPU's own thread. Returns as ioctl() does. */
int vp_hook_run(struct vp_hook_vcpu *v);
/** Select the signal for kicks. BUSY: the VMM uses all of them. */
OT_MUST_CHECK struct ot_err *vp_hook_kick_init(void);
/** Once, before all other functions of the gate. */
void vp_hook_gate_init(void);
/** Make @p v leave KVM_RUN soon. Any thread. */
void vp_hook_kick(struct vp_hook_vcpu *v);
/** After installing the engine: return when no vCPU is in the guest without it. With the lock. */
void vp_hook_await_engine(void);
/** Get all vCPUs out of the guest and keep them out; let them in again. With the lock. */
void vp_hook_close_gate(void);
void vp_hook_open_gate(void);

/* --- run_on.c; the vCPU's own thread ----------------------------------------------------------------- */

/** The VMM has kicked @p v, which is in code of resident probes. True: run again, for a moment. False: it has
 * been there for too long. */
bool vp_hook_runs_on(struct vp_hook_vcpu *v);
/** That ends: KVM_RUN returns to the VMM. */
void vp_hook_ran_on(struct vp_hook_vcpu *v);

/* --- place.c ------------------------------------------------------------------------------------------ */

/** As vp_kvm_config has it. */
OT_MUST_CHECK struct ot_err *vp_hook_place(void *arg, uint32_t bits, uint64_t size, uint64_t *ret_gpa,
					   uint32_t *ret_slot);
/** Answer it, if it asks. The service thread, without the lock. */
void vp_hook_place_answer(void);
/** Does the VMM set a slot whose number or memory was handed out? */
bool vp_hook_wants_place(uint32_t slot, uint64_t gpa, uint64_t size);

/* --- live.c, got.c, qemu.c; the service thread, without the lock ------------------------------------- */

/** Find the VM, redirect ioctl(), and wait until every vCPU has passed through it. On failure the redirection
 * is undone. */
OT_MUST_CHECK struct ot_err *vp_hook_go_live(void);
/** Undo the redirection. */
void vp_hook_go_back(void);

OT_MUST_CHECK struct ot_err *vp_hook_redirect(void *function);
void vp_hook_redirect_back(void);

bool vp_hook_is_qemu(void);
/** Has the VMM paused its guest (`stop`, a migration …)? False if that is unknown. Any thread. */
bool vp_hook_paused(void);
/** Query guest RAM from QEMU's monitor and store it as slots. BUSY: its main loop does not answer, it is
 * migrating, or, with @p first, a debugger is connected. UNSUPPORTED: its machine has a device on a trap
 * port. */
OT_MUST_CHECK struct ot_err *vp_hook_ask_slots(bool first);
/** Where a guest with @p bits of physical address has and will have nothing for @p size bytes. BUSY: its main
 * loop does not answer. UNSUPPORTED: there is no such place, or it is not known. */
OT_MUST_CHECK struct ot_err *vp_hook_ask_place(uint32_t bits, uint64_t size, uint64_t *ret);

/* --- control.c; the service thread ------------------------------------------------------------------- */

/** Create the control socket; our end. -1: failed, the control block has the errno. */
int vp_hook_control_open(void);
void vp_hook_control_fail(int error);
/** Count a reset, a load of a saved state, or another change of the machine. Under the lock. */
void vp_hook_count_state(enum vp_guest_end how);
/** Set whether an engine is wanted whenever the machine allows it. */
void vp_hook_want(bool wanted);
/** Serve one request. */
void vp_hook_control_serve(int sock);

/* --- tracing.c; under the lock ----------------------------------------------------------------------- */

/** Probe this host's KVM, once. Slow; on the service thread, without the lock. */
OT_MUST_CHECK struct ot_err *vp_hook_probe_host(void);
/** Create the engine and serve; does nothing if it exists. After vp_hook_probe_host(). */
OT_MUST_CHECK struct ot_err *vp_hook_trace(void);
/** Destroy the engine: remove every trap and end its sessions with the reason @p why. */
void vp_hook_untrace(enum vp_guest_end why);
/** The kernel that was traced has ended with its VM's registers. The engine learns of it; with resident
 * probes it ends too, as their memory was that kernel's. */
void vp_hook_kernel_ended(enum vp_guest_end how);
/** The VMM uses the place of the memory of resident probes next: withdraw that. */
void vp_hook_give_place(void);
/** Has the machine changed since the engine was created? */
bool vp_hook_changed(void);

/* --- service.c --------------------------------------------------------------------------------------- */

/** Start the thread; further calls do nothing. */
void vp_hook_service_start(void);
/** Record that a vCPU, or the main loop, has waited for us since @p ns. Any thread. */
void vp_hook_held_since(uint64_t ns);
/** Query the stale parts of the machine again. On the service thread, without the lock. */
OT_MUST_CHECK struct ot_err *vp_hook_refresh(void);
/** Make the service thread check the machine again. Any thread. */
void vp_hook_wake(void);

#endif
