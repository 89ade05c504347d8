/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tcg backend: a QEMU plugin that hosts the engine. This header is the folder's own.
 *
 *   plugin.c  loading, arguments, the ops table, the end
 *   api.c     the plugin API's versions
 *   machine.c QEMU's command line: the guest's name, the machine
 * layout.c the places of guest RAM in this process
 * ram.c the same by a guess, in a QEMU that can't be queried
 *   vcpu.c    registers, halted vCPUs, samples, snapshots
 *   cpu_state.c registers without the API
 *   sites.c   the translation callback: instrumenting sites
 *   breakpoint.c the guest's own breakpoints that have gone
 *   user_sites.c the same for sites in processes
 *   change.c  putting another plan in force while the guest runs
 *   counters.c inline counters
 *
 * Threads: "vCPU" is the thread of a vCPU, "service" the engine's service thread, "timer" its
 * sampling thread. Callbacks carry no pointer of ours before version 7 of QEMU's API, so
 * there is one backend per process, vp_tcg.
 */
#ifndef VP_TCG_TCG_H
#define VP_TCG_TCG_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "vmm-probe/backend/tcg/qemu_api.h"
#include "vmm-probe/engine/backend.h"
#include "vmm-probe/engine/wire/protocol.h"
#include "vmm-probe/machines/qemu_machine.h"

#define VP_TCG_RANGES          2
#define VP_TCG_SLOTS_PER_CHUNK 1024u
#define VP_TCG_CHUNKS          64u
#define VP_TCG_NO_FD           (-1)

/* Guest RAM, guessed; constant once found. */
struct vp_tcg_ram {
	struct vp_ram_range ranges[VP_TCG_RANGES];
	uint32_t nranges;
	int fd;                 /* backs all of it, borrowed from QEMU; VP_TCG_NO_FD: none */
	_Atomic uint32_t proof; /* bit N: range N was found at the expected address; VP_TCG_RAM_* */
	/* Of vp_tcg_ram_check(), under its lock: */
	struct vp_tcg_vcpu *reader; /* for reading registers */
	uint32_t checks;
	uint32_t mismatches; /* consecutive */
};

#define VP_TCG_RAM_SETTLED 0x40000000u /* no more checking */
#define VP_TCG_RAM_WRONG   0x80000000u /* the map is wrong: nothing is readable */

/* A vCPU's state, for sampling it from another thread. */
enum vp_tcg_where {
	VP_TCG_RUNS,    /* its own thread may touch regs */
	VP_TCG_HALTED,  /* regs are those of the halt; the thread that sets SAMPLED may use them */
	VP_TCG_SAMPLED, /* the timer thread uses them; the vCPU's thread waits to continue */
};

struct vp_tcg_vcpu {
	struct vp_regs regs; /* cache of the hit, sample or halt that this vCPU is in */
	struct vp_gbytes *buf;
	struct qemu_plugin_register *handles[VP_NREGS];
	pid_t tid;
	/* See cpu_state.h. The vCPU's own thread's: */
	const uint64_t *state;   /* the address at which its registers were found; NULL: none */
	const uint64_t *current; /* the same while they are those of the hit that it is in, else NULL */
	uint32_t trials;         /* that found nothing */
	_Atomic uint32_t where;  /* enum vp_tcg_where */
	/* True while the engine runs on the vCPU's own thread: the end waits for it. */
	_Atomic bool in_engine;
	/* Snapshot: requested by the service thread, answered by the vCPU's thread. */
	_Atomic uint32_t snapshot_wanted;
	struct vp_regs snapshot;
	_Atomic bool visit; /* requested: vp_engine_visit() at the next poll point */
};

/* The plan in force, indexed by page of host memory. Immutable. */
struct vp_tcg_index;
/* Its sites in processes, by their offset in the page. Immutable. */
struct vp_tcg_users;

/* The states of a change of plan. */
enum vp_tcg_change_state {
	VP_TCG_QUIET,
	VP_TCG_REQUESTED, /* waits for a vCPU thread to take it */
	VP_TCG_RESETTING, /* taken; QEMU drops callbacks and translations */
};

/* One struct with many fields: the data that exists once a process. */
struct vp_tcg {
	uint64_t id; /* of the plugin, QEMU's number */
	char name[VP_GUEST_NAME];
	char socket[108];
	uint32_t nvcpus;                    /* possible at most; up to VP_VCPUS_MAX */
	_Atomic(struct vp_engine *) engine; /* NULL before the first vCPU and at the end */
	pthread_mutex_t setup;              /* of the engine, by the first vCPUs: down to `broken` */
	uint32_t wait_vcpus;                /* vCPUs that must have started before it is created */
	uint32_t started_vcpus;
	pid_t vcpu_tid;         /* of the one that started last */
	bool broken;            /* no engine, now or later */
	_Atomic bool hands_off; /* nothing may be instrumented */
	struct vp_tcg_ram ram;
	_Atomic(const struct vp_tcg_layout *) layout; /* in force; NULL: none, or `ram` is */
	_Atomic(struct vp_tcg_vcpu *) vcpus[VP_VCPUS_MAX];

	/* Per-vCPU words that generated code tests: if not 0, it calls back. */
	struct qemu_plugin_u64 poll;
	struct qemu_plugin_u64 sample;

	pthread_mutex_t lock; /* of the fields down to `pending` */
	pthread_cond_t changed;
	_Atomic uint32_t state; /* enum vp_tcg_change_state; written with the lock held */
	bool translated;        /* some block was translated already */
	bool exiting;
	struct vp_tcg_index *pending;         /* the next one */
	_Atomic bool started;                 /* `translated`, without the lock */
	_Atomic uint32_t held;                /* vCPUs that wait at a module */
	_Atomic uint32_t translating;         /* translation callbacks in progress */
	_Atomic(struct vp_tcg_index *) index; /* in force; changed only while no vCPU runs */

	_Atomic(struct qemu_plugin_scoreboard *) counters[VP_TCG_CHUNKS]; /* made by the service thread */
};

extern struct vp_tcg vp_tcg;

/* plugin.c */
void vp_tcg_on_init(unsigned int vcpu);
void vp_tcg_on_exit(void);

/* api.c */
/** Register every callback of the plugin (again). */
void vp_tcg_register_callbacks(void);
/** Have QEMU drop the plugin's callbacks and all translations, and then call vp_tcg_on_reset(). vCPU, with or
 * without QEMU's big lock. */
void vp_tcg_reset(void);
/** Wake every vCPU thread that sleeps, so that its resume callback runs. Any thread. */
void vp_tcg_kick(void);

/* layout.c */
struct vp_tcg_layout;
/** Can this QEMU be queried for it? */
bool vp_tcg_layout_can_find(void);
extern const struct vp_backend_ram vp_tcg_layouts;
/** See vp_backend_ops.gpa_to_host. Any thread. */
void *vp_tcg_layout_host(const struct vp_tcg_layout *layout, uint64_t gpa, uint64_t *ret_len);

/* ram.c */
/** Find guest RAM in this process. NOT_FOUND: no mapping fits. */
OT_MUST_CHECK struct ot_err *vp_tcg_ram_find(const struct vp_qemu_machine *machine, struct vp_tcg_ram *ret);
/** See vp_backend_ops.gpa_to_host. Any thread. */
void *vp_tcg_ram_host(const struct vp_tcg_ram *ram, uint64_t gpa, uint64_t *ret_len);
/** Compare our map of RAM with QEMU's, which has the instruction at @p vaddr at @p host. Translation. */
void vp_tcg_ram_check(struct vp_tcg_ram *ram, uint64_t vaddr, const void *host);

/* vcpu.c */
/** State for reading registers on the calling vCPU thread; NULL: out of memory. */
struct vp_tcg_vcpu *vp_tcg_vcpu_create(void);
void vp_tcg_vcpu_add(unsigned int vcpu);
struct vp_tcg_vcpu *vp_tcg_vcpu_get(unsigned int vcpu); /* NULL: not known */
uint64_t vp_tcg_reg(struct vp_tcg_vcpu *v, enum vp_reg reg);
/** At a poll point: may the vCPU's registers be at @p state? Once they are found no other place is tried. */
void vp_tcg_try_state(struct vp_tcg_vcpu *v, const uint64_t *state);
void vp_tcg_on_idle(unsigned int vcpu);
void vp_tcg_on_sample(unsigned int vcpu, void *udata);
void vp_tcg_request_sample(void *backend, uint32_t vcpu);
void vp_tcg_request_visit(void *backend, uint32_t vcpu);
/** At a poll point: carry out the requested visit. */
void vp_tcg_visit(unsigned int vcpu, struct vp_tcg_vcpu *v);
/** As the backend operation. */
bool vp_tcg_paused(void *backend);
uint32_t vp_tcg_snapshot(void *backend, struct vp_regs *regs, uint32_t max);
/** Answer a requested snapshot. vCPU. @p rip: 0, or the vCPU's RIP. */
void vp_tcg_answer_snapshot(struct vp_tcg_vcpu *v, uint64_t rip);
/** The calling thread, the vCPU's own, takes its registers back from the halt. */
void vp_tcg_take_back(struct vp_tcg_vcpu *v);
/** The same at each callback: while a reset is under way, QEMU calls no resume callback. */
static inline void vp_tcg_is_here(struct vp_tcg_vcpu *v)
{
	if (ot_unlikely(atomic_load_explicit(&v->where, memory_order_relaxed) != VP_TCG_RUNS))
		vp_tcg_take_back(v);
}
/** The engine, if it may be entered on this vCPU's thread; then vp_tcg_leave() must follow. */
struct vp_engine *vp_tcg_enter(struct vp_tcg_vcpu *v);
void vp_tcg_leave(struct vp_tcg_vcpu *v);
/** Wait until no vCPU thread is in the engine or translates (a second at most). */
void vp_tcg_wait_left(void);

/* sites.c */
OT_MUST_CHECK struct ot_err *vp_tcg_index_create(const struct vp_plan *plan, struct vp_tcg_index **ret);
void vp_tcg_index_destroy(struct vp_tcg_index *index);
void vp_tcg_on_translate(struct qemu_plugin_tb *tb);

/* breakpoint.c */
/** Ensure that a breakpoint is executed only where there still is one. Translation, before any other callback
 * of the instruction is registered: it may not return. */
void vp_tcg_check_breakpoint(struct qemu_plugin_insn *insn);

/* user_sites.c */
/** The plan's sites in processes, which it must outlive; *ret NULL: it has none. */
OT_MUST_CHECK struct ot_err *vp_tcg_users_create(const struct vp_plan *plan, struct vp_tcg_users **ret);
void vp_tcg_users_destroy(struct vp_tcg_users *users);
/** Instrument an instruction that may be such a site. Translation. */
void vp_tcg_users_instrument(const struct vp_tcg_users *users, struct qemu_plugin_insn *insn);

/* change.c */
struct ot_err *vp_tcg_install(void *backend, const struct vp_plan *plan);
/** Carry out pending requests to vCPU threads. vCPU: at a poll point, and when it wakes from a halt. */
void vp_tcg_on_poll(unsigned int vcpu, void *udata);
/** The same as translated code calls it. */
void vp_tcg_on_poll_point(unsigned int vcpu, void *udata);
/** Keep this vCPU until event @p number of vp_engine_module() is done, or a change has to be made. vCPU, in
 * no engine. */
void vp_tcg_wait_module(struct vp_tcg_vcpu *v, uint64_t number);
/** QEMU calls this in the requested reset: no vCPU runs. */
void vp_tcg_on_reset(void);
/** Let generated code call vp_tcg_on_poll() at its next poll point. Any thread. */
void vp_tcg_raise_poll(void);

/* exclusive.c */
/** Does this QEMU export the functions that vp_tcg_exclusive() needs? */
bool vp_tcg_can_exclude(void);
/** As the backend operation. */
bool vp_tcg_exclusive(void *backend, void (*fn)(void *arg), void *arg);

/* counters.c */
OT_MUST_CHECK struct ot_err *vp_tcg_counters_reserve(uint32_t n);
bool vp_tcg_counter_entry(uint32_t slot, struct qemu_plugin_u64 *ret);
uint32_t vp_tcg_counter_slots(void *backend);
uint64_t vp_tcg_counter_read(void *backend, uint32_t slot, uint32_t vcpu);

#endif
