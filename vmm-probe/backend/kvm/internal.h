/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The KVM backend, as its files share it. */
#ifndef VP_KVM_INTERNAL_H
#define VP_KVM_INTERNAL_H

#include <linux/kvm.h>
#include <pthread.h>
#include <stdatomic.h>

#include "vmm-probe/arch/x86/insn/insn.h"
#include "vmm-probe/backend/kvm/keys.h"
#include "vmm-probe/backend/kvm/kvm.h"
#include "vmm-probe/backend/kvm/patching.h"
#include "vmm-probe/backend/kvm/resident.h"
#include "vmm-probe/backend/kvm/state.h"

/* The ports of traps. Adjacent sites use different ones: then port and RIP identify the trap, on hosts that
 * leave RIP at the `out` and on those that move it after it. */
#define VP_KVM_PORT_A 0x98u
#define VP_KVM_PORT_B 0x99u

#define VP_KVM_COUNTERS 16u

enum vp_trap_kind {
	VP_TRAP_OUT,   /* exits */
	VP_TRAP_COUNT, /* KVM counts it, without an exit */
	VP_TRAP_INT3,  /* of one byte, where no `out` fits */
	VP_TRAP_HW,    /* a debug register; memory is unchanged */
	VP_TRAP_JUMP,  /* to the trampoline of a resident probe */
};

struct vp_kvm_trap {
	const struct vp_site *site;
	uint8_t *host;
	struct vp_insn insn;
	uint8_t kind; /* enum vp_trap_kind */
	bool stepped; /* the CPU executes the instruction under it, in a step; `insn` is not set */
	uint8_t len;
	uint16_t port; /* OUT, COUNT: which of the next two is in `now` */
	uint16_t hit_port;
	uint16_t count_port;      /* 0: does not only count, or KVM lacks ioeventfds */
	uint8_t old[15], now[15]; /* the original bytes; our bytes. The undo record */
	bool planted;
	bool lost;    /* the guest has changed the bytes: not planted until they match again */
	bool patched; /* the guest is patching this branch on a static key: not planted until it has (keys.h)
		       */
	bool gone;    /* its address is no longer mapped there, or the instruction can't be executed under a
		       * trap: not planted until a re-request, see vp_site.batch */
};

/* In order of host address, with a hash table by virtual address. Immutable while vCPUs may read it, except
 * `planted`. */
struct vp_kvm_traps {
	const struct vp_plan *plan;
	struct vp_kvm_trap *list;
	uint32_t n, mask;
	uint32_t *slots;              /* index + 1; 0: empty */
	uint32_t *exits;              /* the same by vp_site.exit; NULL: no site has one */
	bool int3;                    /* some are */
	bool jumps;                   /* some are */
	bool sentinels;               /* some are */
	uint64_t hw[VP_HW_SITES];     /* addresses of sites with a debug register; 0: none */
	const struct vp_site **users; /* in processes, by address: one register for each (users.c) */
	uint32_t nusers;
	struct vp_kvm_meter *meters[VP_CPC_MAX]; /* of plan->cpcs */
	uint32_t nmeters;
};

/*
 * A step: one instruction that a vCPU executes with its trap removed (step.c). Its thread's own; a holder
 * finds no step on but its own.
 */
struct vp_kvm_step {
	bool on;
	bool holds;     /* the trap is in memory: the other vCPUs are held */
	bool masked;    /* interrupts are off for it only */
	bool traced;    /* the guest single-steps there too: it gets its own trap afterwards */
	bool passed_on; /* the last exit went to the VMM, which may emulate the instruction */
	uint16_t cs;
	uint32_t exits;
	uint64_t since_ns; /* start of the time charged to the guest */
	uint64_t gva;
	uint64_t handlers[VP_HW_SITES]; /* of exceptions that end it; 0: none */
};

struct vp_kvm_vcpu {
	_Alignas(64) int fd;
	_Atomic uint32_t running; /* between before() and after() */
	struct kvm_run *run;
	_Atomic uint32_t sample;        /* requested */
	_Atomic clockid_t thread_clock; /* CPU time of the thread that runs it; 0: none yet */
	uint64_t settle_from_ns;        /* of that clock, when the first sentinels were planted */
	struct vp_kvm_step step;
	struct {
		uint64_t in_ns, out_ns; /* of the last entry, exit; CLOCK_MONOTONIC; 0: none */
		bool asked;             /* the current exit went to the VMM, which may have answered a read */
	} vm;
	int stats_fd;   /* KVM's statistics; -1: none */
	uint32_t tries; /* consecutive steps that did not complete their instruction */
	_Atomic uint64_t counts[VP_KVM_COUNTERS];
	_Atomic uint64_t step_ns[VP_KVM_COUNTERS]; /* time of steps after those hits, of all vCPUs */
};

struct vp_kvm_counter {
	int fd; /* eventfd; -1: not bound */
	uint64_t total;
};

/* One struct with many fields: the data that exists once a backend. */
struct vp_kvm {
	struct vp_kvm_config config;
	struct vp_engine *engine;
	struct vp_kvm_vcpu *vcpus;
	struct vp_ram_range *ram;
	_Atomic(struct vp_kvm_traps *) traps;
	_Atomic uint32_t vm_events; /* as in struct vp_plan */
	struct vp_kvm_stat stats[VP_VM_STATS_MAX];
	_Atomic uint32_t nstats;
	bool stats_open;             /* were requested; service thread */
	_Atomic uint64_t valid_regs; /* registers that KVM must sync at each exit */
	_Atomic uint32_t held;
	uint64_t held_since_ns;   /* the holder's */
	_Atomic uint64_t held_ns; /* in all, until the last release */
	struct vp_kvm_counter counters[VP_KVM_COUNTERS];
	bool int3;                 /* int3s exit to us */
	uint64_t hw[VP_HW_SITES];  /* debug registers; this and int3 change while the vCPUs are held */
	struct vp_kvm_redo *redo;  /* hits that will occur again (redo.c) */
	_Atomic uint32_t stepper;  /* vCPU + 1 that holds the others for a step; 0: none */
	_Atomic uint64_t step_end; /* when a waiter may end it, CLOCK_MONOTONIC in ns */
	struct vp_kvm_patching patching;
	struct vp_kvm_keys keys;
	struct vp_kvm_resident *resident; /* config.resident, or &own */
	struct vp_kvm_resident own;
	bool resident_opened; /* by this engine */
	pthread_mutex_t lock; /* only for waiting: held and running are atomics */
	pthread_cond_t changed;
};

/** As the backend operation. kvm.c */
void *vp_kvm_gpa_to_host(void *backend, uint64_t gpa, uint64_t *ret_len);

/** Get every vCPU out of the guest and keep it out. Service thread; not nested. */
void vp_kvm_hold(struct vp_kvm *kvm);
/** The same on a vCPU's thread, within vp_kvm_after(): the others are out when it returns. While it waits for
 * its turn this vCPU counts as out, and another may exchange or free the plan, its sites and traps: pointers
 * to them are invalid afterwards. */
void vp_kvm_hold_as_vcpu(struct vp_kvm *kvm, uint32_t vcpu);
uint64_t vp_kvm_held_ns(void *backend);
/** Wait until no thread holds the vCPUs, then count this one as running. On its thread. */
void vp_kvm_come_in(struct vp_kvm *kvm, uint32_t vcpu);
/** A vCPU is at a VP_SENTINEL_MODULE_*, and has executed the instruction there: vp_engine_module(), and wait.
 * On its thread, within vp_kvm_after(). It counts as out meanwhile: see vp_kvm_hold_as_vcpu(). */
void vp_kvm_at_module(struct vp_kvm *kvm, uint32_t vcpu, enum vp_sentinel kind, uint64_t module);
/** End either; on the thread that began it. */
void vp_kvm_release(struct vp_kvm *kvm);

/* traps.c */
/** Of the tables of traps, by guest address. */
static inline uint32_t vp_kvm_hash(uint64_t gva)
{
	return (uint32_t)(gva * 0x9e3779b97f4a7c15ull >> 32);
}
OT_MUST_CHECK struct ot_err *vp_kvm_traps_create(struct vp_kvm *kvm, const struct vp_plan *plan,
						 struct vp_kvm_traps **ret);
void vp_kvm_traps_destroy(struct vp_kvm_traps *traps);
/** The trap at @p gva; NULL: none. Hit path. */
struct vp_kvm_trap *vp_kvm_traps_find(const struct vp_kvm_traps *traps, uint64_t gva);
/** Is it in guest text? */
static inline bool vp_kvm_trap_in_text(const struct vp_kvm_trap *t)
{
	return t->len != 0;
}
/** Remove one from guest text, plant it; false: not done, because the guest has changed the bytes, and the
 * site is lost for now. The vCPUs are held. */
bool vp_kvm_trap_out(struct vp_kvm *kvm, struct vp_kvm_trap *t);
bool vp_kvm_trap_in(struct vp_kvm *kvm, struct vp_kvm_trap *t);
/* The last page of guest text that was translated: sites are in order of address. */
struct vp_kvm_page_cache {
	uint64_t gva, host;
};

/** Plant it unless it is kept out, or its address is no longer mapped there: then it is gone. The vCPUs are
 * held, and no window is open. */
void vp_kvm_put_back(struct vp_kvm *kvm, struct vp_kvm_trap *t, struct vp_kvm_page_cache *cache);
/** The text where it is, as long as the instruction and the trap, then zeros. False: it is gone. */
bool vp_kvm_trap_text(const struct vp_kvm_trap *t, uint8_t ret[15]);
/** Are its bytes in the text? */
bool vp_kvm_trap_is_there(const struct vp_kvm_trap *t);
/** Could it be planted? */
bool vp_kvm_trap_fits(const struct vp_kvm_trap *t);
void vp_kvm_trap_lost(struct vp_kvm *kvm, struct vp_kvm_trap *t);
/** Change guest text from @p from to @p to (either may be NULL), without the traps that a window keeps out.
 * The vCPUs are held. */
void vp_kvm_traps_exchange(struct vp_kvm *kvm, struct vp_kvm_traps *from, struct vp_kvm_traps *to);

/** As the backend operation. */
uint32_t vp_kvm_patches(void *backend, struct vp_patch *ret, uint32_t max);

/** Have a debug register stop at @p gva, if none does yet. UNSUPPORTED: this host has none; LIMIT: they are
 * all in use. */
OT_MUST_CHECK struct ot_err *vp_kvm_add_hw(const struct vp_kvm *kvm, struct vp_kvm_traps *traps,
					   uint64_t gva);

/* users.c: sites in processes */
/** Fill traps->users, which traps_destroy() frees, with those of traps->plan. Errors as vp_kvm_add_hw()'s. */
OT_MUST_CHECK struct ot_err *vp_kvm_users_add(const struct vp_kvm *kvm, struct vp_kvm_traps *traps);
/** A debug register has stopped @p vcpu. True: at the address of sites in processes; it has fired those of
 * its own process, and executes the instruction next. Hit path. */
bool vp_kvm_at_user(struct vp_kvm *kvm, struct vp_kvm_vcpu *v, uint32_t vcpu,
		    const struct vp_kvm_traps *traps);

/* counters.c */
void vp_kvm_counters_init(struct vp_kvm *kvm);
void vp_kvm_counters_deinit(struct vp_kvm *kvm);
uint32_t vp_kvm_counter_slots(void *backend);
uint64_t vp_kvm_counter_read(void *backend, uint32_t slot, uint32_t vcpu);
uint64_t vp_kvm_counter_cost_ns(void *backend, uint32_t slot);
/** The port that counts for @p slot without an exit; 0: there is none. Service thread. */
uint16_t vp_kvm_counter_port(struct vp_kvm *kvm, uint32_t slot);
/** Count a hit that exited. Hit path. */
void vp_kvm_count(struct vp_kvm_vcpu *v, const struct vp_site *site);
/** Its step took @p ns. */
void vp_kvm_count_step(struct vp_kvm_vcpu *v, const struct vp_site *site, uint64_t ns);

/* cpc.c: counters of the vCPUs' threads */
/** Open the counters of traps->plan, except those that the traps in force have too. BUSY: a vCPU has not run
 * yet. Service thread. */
OT_MUST_CHECK struct ot_err *vp_kvm_meters_open(const struct vp_kvm *kvm, struct vp_kvm_traps *traps);
/** Close those that no other traps have. No vCPU may take overflows of @p traps any more. */
void vp_kvm_meters_close(struct vp_kvm_traps *traps);
/** Start those that do not count yet. The vCPUs are held. */
void vp_kvm_meters_start(const struct vp_kvm_traps *traps);
/** Report this vCPU's overflows to the engine; false: there were none. On its thread, between before() and
 * after(). Hit path. */
bool vp_kvm_meters_take(struct vp_kvm *kvm, uint32_t vcpu);
/** As the backend operation. */
OT_MUST_CHECK struct ot_err *vp_kvm_cpc_test(void *backend, const struct vp_cpc_event *event);

/* int3.c */
bool vp_kvm_is_int3(const struct kvm_run *run);
/** Return to the guest the int3 at which its vCPU exited, if it is still there; on that vCPU's thread. False:
 * KVM refused. */
bool vp_kvm_give_back_int3(const struct vp_kvm *kvm, uint32_t vcpu);

/* debug.c: KVM_SET_GUEST_DEBUG */
/** For one vCPU, out of the guest: int3s, debug registers and its step, as they are in @p kvm and @p v, and
 * @p inject (KVM_GUESTDBG_INJECT_*). 0 or an errno. */
int vp_kvm_debug_vcpu(const struct vp_kvm *kvm, const struct vp_kvm_vcpu *v, uint32_t inject);
/** Set what @p traps (NULL: none) need on all vCPUs, which are held. UNSUPPORTED: nothing has changed. */
OT_MUST_CHECK struct ot_err *vp_kvm_debug_all(struct vp_kvm *kvm, const struct vp_kvm_traps *traps);
/** Return to the guest a #DB of its own, with DR6 bits @p dr6. False: KVM refused. */
bool vp_kvm_give_back_db(const struct vp_kvm *kvm, const struct vp_kvm_vcpu *v, uint64_t dr6);

/* step.c */
/** May the CPU execute this instruction in a step? Not if it would expose the trace flag, or wait. */
bool vp_kvm_may_step(const uint8_t *bytes, unsigned len);
/** Have @p vcpu, which exited at the trap at @p gva, execute the instruction under it. @p in_text: the trap
 * is in memory; then this waits for its turn to hold the others, and pointers to traps and sites are invalid
 * afterwards. Within vp_kvm_after(). */
void vp_kvm_step_begin(struct vp_kvm *kvm, uint32_t vcpu, uint64_t gva, bool in_text);
/** After KVM_RUN, while a step is on. True: the exit was the step's. */
bool vp_kvm_step_exit(struct vp_kvm *kvm, uint32_t vcpu, int err);
/** Before KVM_RUN, while a step is on: did the VMM emulate the instruction? */
void vp_kvm_step_entry(struct vp_kvm *kvm, uint32_t vcpu);
/** Its thread will not run this vCPU again. */
void vp_kvm_step_leave(struct vp_kvm *kvm, uint32_t vcpu);
/** Called while waiting for the holder: ends a step that takes too long. */
void vp_kvm_step_hurry(struct vp_kvm *kvm);

/* redo.c */
OT_MUST_CHECK struct ot_err *vp_kvm_redo_create(struct vp_kvm_redo **ret);
void vp_kvm_redo_destroy(struct vp_kvm_redo *redo);
/** A hit that was handled will occur again, with these registers. */
void vp_kvm_redo_expect(struct vp_kvm_redo *redo, const struct kvm_regs *regs);
/** Is this hit, at @p gva with @p regs, expected? Then it no longer is. Hit path. */
bool vp_kvm_redo_is(struct vp_kvm_redo *redo, const struct kvm_regs *regs, uint64_t gva);

/* regs.c */
uint64_t vp_kvm_reg(void *backend, void *ctx, enum vp_reg reg);
uint32_t vp_kvm_snapshot(void *backend, struct vp_regs *regs, uint32_t max);
/** The same while the vCPUs are held. */
uint32_t vp_kvm_held_regs(void *backend, struct vp_regs *regs, uint32_t max);
/** The same of one. */
bool vp_kvm_read_regs(const struct vp_kvm_vcpu *v, struct vp_regs *ret);
/** KVM_SYNC_X86_* that reading @p regs needs. */
uint64_t vp_kvm_sync_for(uint64_t regs);

/* vm.c: around KVM_RUN while vm_events is not 0, on the vCPU's thread */
/** Called first after KVM_RUN. */
void vp_kvm_vm_came_out(struct vp_kvm_vcpu *v);
/** @p ours: the exit was a hit, and has been handled. */
void vp_kvm_vm_exit(struct vp_kvm *kvm, uint32_t vcpu, int err, bool ours);
void vp_kvm_vm_entry(struct vp_kvm *kvm, uint32_t vcpu);
/* No vCPU runs any more. */
void vp_kvm_stats_deinit(struct vp_kvm *kvm);
uint32_t vp_kvm_stats(void *backend, char (*names)[VP_VM_STAT_NAME], uint32_t max);
uint64_t vp_kvm_vm_stat(void *backend, uint32_t vcpu, uint32_t index);

#endif
