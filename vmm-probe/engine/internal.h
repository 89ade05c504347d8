/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's parts, shared by the files of this folder only.
 *
 *   engine ─┬─ vcpus[]     sequence words: odd while that vCPU is in a probe
 *           ├─ plan        what the backend watches now
 *           └─ sessions ─┬─ program, clauses (compiled to steps), variable layout
 *                        ├─ batches: probes, sites, ECBs (only ever added while it lives)
 *                        └─ vcpus[]: virtual machine, buffers, TLB, the firing in progress
 *
 * Threads. A vCPU thread touches its own vp_vcpu and vp_es_vcpu, and reads what was published
 * before it went odd. The service thread changes the rest; before it takes anything away that a vCPU
 * may still see, it calls vp_quiesce(). Words that both touch are accessed with __atomic_*.
 */
#ifndef VP_ENGINE_INTERNAL_H
#define VP_ENGINE_INTERNAL_H

#include <string.h>

#include "base/compiler.h"
#include "dif/obj/layout.h"
#include "dif/obj/program.h"
#include "dif/vm/agg.h"
#include "dif/vm/dynvar.h"
#include "dif/vm/vm.h"
#include "vmm-probe/engine/backend.h"
#include "vmm-probe/engine/service/private_memory.h"
#include "vmm-probe/engine/service/session.h"
#include "vmm-probe/engine/wire/orc_table.h"

#define VP_SESSIONS_MAX 32
#define VP_FRAMES_MAX   1024 /* of one stack() or ustack() */
#define VP_STRSIZE_MAX  (1u << 20)
#define VP_SCRATCH_MAX  (4u << 20) /* of one vCPU of one session */
#define VP_TUPLE_MAX    (16u << 20)
#define VP_TLB_ENTRIES  64

struct vp_vcpu {
	_Alignas(64) uint64_t seq; /* odd: in a probe */
	const struct vp_engine *engine;
	/* which hits the guard times: see guard.c */
	uint64_t timed_at_ns;
	uint32_t until_timed, every, random;
};

/* What enablings have cost a vCPU. Written by its thread, read by the service thread. */
struct vp_load {
	uint64_t outside_ns;      /* vp_site.cost_ns of each hit */
	uint64_t fired;           /* times that they fired */
	uint64_t timed, timed_ns; /* how many of those were timed, and how long those took */
};

struct vp_guard;
struct vp_server;
struct vp_profile;
struct vp_agent;
struct ga_record;

struct vp_engine {
	const struct vp_backend_ops *ops;
	void *backend;
	char guest_name[VP_GUEST_NAME];
	uint32_t guest_id;
	bool host;
	bool fence;  /* no membarrier(2) here: the hit path has a fence of its own */
	bool replan; /* the plan in force is not what the sessions want: the backend was busy */

	struct vp_ram_range *ram;
	const int *ram_fds;
	uint32_t nram, nram_fds;

	struct vp_vcpu *vcpus;
	uint32_t nvcpus;
	uint32_t nsessions;
	uint32_t guarded;                        /* sessions with a guard */
	struct vp_es *sessions[VP_SESSIONS_MAX]; /* in order of opening */
	struct vp_plan *plan;                    /* in force; NULL: nothing */
	uint64_t fence_word;
	uint64_t mem_gen;  /* bumped when guest RAM changed */
	uint64_t nbatches; /* ever */

	uint8_t *slot_used; /* by counter slot */
	uint32_t nslots, nslots_used;

	struct vp_vm_table *vm;     /* vm probes in force, seen by vCPUs; NULL: none */
	struct vp_profile *profile; /* in force, seen by vCPUs and the timer thread; NULL: none */
	struct vp_agent *agent;     /* of the guest, in use; NULL: none. See agent.h */
	struct vp_server *server;
	uint32_t guest_end; /* enum vp_guest_end that the sessions are to be told */
	uint32_t slot_hint; /* where the search for a free one begins */
};

/* --- what a session runs ----------------------------------------------------------- */

/* Where an action's value goes. */
enum vp_dest { VP_TO_NOTHING, VP_TO_RECORD, VP_TO_TUPLE, VP_TO_INCREMENT };

/* An action, with all that can be known before it runs. */
struct vp_step {
	const struct dif_action *action;
	const struct dif_agg_layout *agg; /* of an aggregating action, else NULL */
	enum vp_dest dest;
	uint32_t offset, size; /* in the record or tuple */
	uint32_t gap;          /* bytes before `offset` that are padding */
};

/* Registers and arguments that an expression reads. */
struct vp_needs {
	uint64_t regs;
	uint32_t args; /* bit n: argn */
};

struct vp_counter;

struct vp_clause {
	const struct dif_clause *source;
	struct dif_clause_layout layout;
	struct vp_step *steps; /* one for each action */
	uint32_t tail;         /* bytes of padding at the record's end */
	struct vp_needs needs;
	bool counts_only;           /* one count() with a key that is constant per probe, and nothing else */
	bool counts_per_probe;      /* … and its key depends on the probe */
	struct vp_counter *counter; /* … and if not, the counter of all its ECBs; NULL: none yet */
};

struct vp_probe_rt {
	uint32_t id;
	enum vp_probe_kind kind;
	enum vp_args args;
	const char *provider, *module, *function, *name;
	uint64_t func_gva; /* of its sites */
	uint64_t interval_ns;
	uint32_t event;   /* of a vm probe */
	uint64_t address; /* AGENT */
	uint32_t slot, nargs, want, flags, syscall, skip;
	enum vp_agent_when when;
	uint32_t when_word;
	uint64_t when_mask, when_value;
	uint32_t first_site, nsites;
	struct vp_ecb *first, *last; /* its ECBs, in order */
};

struct vp_ecb {
	struct vp_es *es;
	const struct vp_clause *clause;
	const struct vp_probe_rt *probe;
	struct vp_ecb *next;        /* on the same probe */
	struct vp_ecb *next_error;  /* of the session's ERROR ECBs */
	struct vp_counter *counter; /* counted inline, never fired; NULL: fired */
	struct vp_load *loads;      /* by vCPU, load_stride apart; NULL: nobody asks */
	uint32_t load_stride;
	uint32_t epid;
	uint32_t order; /* of enabling, within the session */
	bool out;       /* the guard took it out */
};

struct vp_site_rt {
	uint64_t gva, host;
	uint64_t owner, owner_host; /* as in struct vp_batch_site; 0: nobody */
	uint32_t syscall;           /* as in struct vp_batch_site */
	uint8_t length, room, bytes[15];
	uint8_t trap, sentinel, agent; /* as in struct vp_batch_site */
	uint16_t pushed;
	bool stale; /* stale.c's */
	struct vp_probe_rt *probe;
};

/* What one ENABLE brought. Immutable once linked in, but for the service thread's `stale`. */
struct vp_batch_rt {
	struct vp_batch_rt *next;
	uint64_t number; /* in the engine, from 1 */
	char *strings;
	struct vp_probe_rt *probes;
	struct vp_site_rt *sites;
	struct vp_ecb *ecbs;
	struct vp_load *loads; /* by vCPU and ECB; NULL: no guard */
	uint32_t nprobes, nsites, necbs;
};

/* A slot of the backend's that counts for an ECB, or for all ECBs of a clause. */
struct vp_counter {
	struct vp_counter *next;
	const struct vp_ecb *ecb; /* its EPID and key are used */
	uint32_t slot;
	uint64_t *last;    /* by vCPU: what was counted when last looked */
	uint64_t *pending; /* by vCPU: counted, not yet in a half */
	uint64_t cost_ns;  /* the guard's: what it had cost when last looked */
};

/* Sizes of records by EPID: how the ring finds the record behind the oldest. */
struct vp_epid_sizes {
	uint32_t n;
	uint32_t size[];
};

/* --- a vCPU of a session ------------------------------------------------------------- */

struct vp_tlb_entry {
	uint64_t page; /* virtual address >> 12 */
	uint64_t root;
	uint64_t stamp; /* valid while it equals the TLB's `firing` or `stable` */
	const uint8_t *host;
	bool writable;
};

/* `firing` grows by 1 a firing; `stable` (with bit 63 set) at a switch, every so many firings, and when RAM
 * changed. */
struct vp_tlb {
	uint64_t firing, stable;
	uint64_t mem_gen;
	struct vp_tlb_entry entries[VP_TLB_ENTRIES];
};

/* The principal halves. All private: shared memory is only written. */
struct vp_pbuf {
	uint8_t *mem[2];
	uint64_t size;
	uint64_t used[2]; /* ring: where the next record goes */
	uint64_t dropped[2];
	uint64_t oldest[2]; /* ring: ~0 when it has not wrapped */
};

struct vp_specbuf {
	uint8_t *mem; /* specsize bytes, allocated at open */
	uint64_t used;
};

/* How far the host's clock is ahead of a run queue's, for vtimestamp. */
struct vp_guest_clock {
	uint64_t since_ns; /* when least[0] was begun */
	uint64_t least[2]; /* since then, and in the window before */
};

struct vp_es_vcpu {
	_Alignas(64) struct vp_es *es;
	uint32_t vcpu;
	uint32_t active; /* half in use; set by the service thread */
	struct dif_vm vm;
	struct vp_pbuf principal;
	struct dif_aggtab aggs[2];
	uint64_t agg_dropped[2];
	struct vp_specbuf *specs;      /* by id - 1; NULL: nothing speculates */
	struct vp_vcpu_status *status; /* shared, only written */
	struct vp_vcpu_status counts;  /* its counters, private */
	uint8_t *tuple;

	/* the firing in progress */
	uint64_t hit;             /* sequence word of the hit in which it began */
	struct vp_es_vcpu *chain; /* sessions that this hit has entered */
	uint32_t half;
	void *ctx;                     /* the backend's; NULL: fired by hand, without registers */
	uint64_t site_gva;             /* 0: no site */
	const uint64_t *fired_args;    /* of a probe without site; NULL */
	const struct ga_record *event; /* of the guest's agent, checked; NULL: the probe fires outside */
	uint64_t event_ns;             /* … and when it was */
	const struct vp_ecb *ecb;
	bool in_error;
	bool exited; /* a clause of this firing called exit() */
	uint64_t error_args[10];
	const struct vp_probe_rt *error_probe; /* what faulted, for errprov and its like */
	uint64_t time_ns, wall_ns;             /* of the clause; 0: not asked for yet */
	uint64_t task;
	bool task_known;
	struct vp_guest_clock clock;
	uint64_t chill_since_ns, chilled_ns; /* chill() in this interval, as asked for */
	uint64_t waited_ns;                  /* … in all, as it took */
	struct vp_load load;                 /* of all of the session's ECBs; outside_ns: once a hit */
	uint64_t increment;                  /* quantize's third argument */
	bool depth_known, caller_known;
	uint64_t depth, caller;
	uint8_t *record;         /* being written; NULL: the clause records nothing */
	struct vp_specbuf *spec; /* the record lies here, not in the principal half */
	struct vp_tlb tlb;
};

enum vp_activity { VP_INACTIVE, VP_ACTIVE, VP_DRAINING, VP_STOPPED };

struct vp_es {
	struct vp_engine *engine;
	struct vp_msg_open open;
	struct vp_facts facts;
	uint32_t activity;           /* enum vp_activity */
	uint32_t filled;             /* fill policy: a buffer was full */
	bool planned;                /* its sites belong into the plan */
	bool ended;                  /* END has fired here (host engine) */
	enum vp_guest_end guest_end; /* not 0: stopped because of that */
	bool closing;                /* gone but for sites that could not be taken out yet */
	bool speculates;             /* some clause does: buffers are needed */
	uint32_t tuple_max;          /* bytes of the longest aggregation key */
	struct vp_private_parts parts;
	uint64_t since_ns;     /* set before it is active: when it was started */
	uint64_t exit_pending; /* status + 1 of the exit() that won */

	struct dif_program prog;
	struct ot_arena arena; /* layouts and steps */
	struct dif_layout_opts layout_opts;
	struct dif_var_layout vars;
	struct vp_clause *clauses;

	uint8_t *shared;
	size_t shared_size;
	const uint64_t *orc_addrs; /* ascending, if the sender is honest */
	const struct vp_orc_rule *orc_rules;
	uint32_t norc;
	struct dif_dynvars *dynvars;

	struct vp_batch_agent *agent; /* as the operator's process found it; NULL */
	struct vp_batch_rt *batches, *last_batch;
	struct vp_ecb *errors, *last_error; /* ERROR's ECBs */
	uint32_t necbs;
	uint64_t error_regs;  /* that ERROR's ECBs may read */
	uint64_t end_reserve; /* fill policy: bytes that only END may use */
	struct vp_epid_sizes *sizes;
	struct vp_counter *counters;
	struct vp_guard *guard; /* NULL: it may cost what it will */
	struct vp_overload overload;

	uint64_t lost;                     /* sites of its probes that went stale */
	struct vp_patching patched_before; /* what the backend had counted when this session was started */
	uint64_t *spec_state;              /* by id - 1, in shared memory: see speculation.c. NULL: no ids */
	uint64_t *spec_seen;               /* … when the service thread last looked */
	struct vp_es_vcpu *vcpus;
	struct vp_es_vcpu
	    *service; /* behind the last: without buffers, for reading and evaluating constants */
};

/* --- quiesce.c ------------------------------------------------------------------------ */

void vp_quiesce_init(struct vp_engine *engine);

/** Wait until every vCPU that was in a probe has left it. What was published before is then
 * seen by all. Service thread; never from a probe. */
void vp_quiesce(struct vp_engine *engine);

/* A vCPU enters a probe. The store must be seen before any load that follows (of the activity, the
 * active half …). vp_quiesce()'s membarrier makes it so at no cost here; without that, a locked
 * instruction does. */
static inline void vp_vcpu_enter(struct vp_vcpu *vcpu)
{
	if (ot_unlikely(vcpu->engine->fence))
		__atomic_exchange_n(&vcpu->seq, vcpu->seq + 1, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(&vcpu->seq, vcpu->seq + 1, __ATOMIC_RELAXED);
	OT_BARRIER();
}

/* Release: all that the probe wrote is seen by who sees the even word. */
static inline void vp_vcpu_leave(struct vp_vcpu *vcpu)
{
	__atomic_store_n(&vcpu->seq, vcpu->seq + 1, __ATOMIC_RELEASE);
}

/* --- stale.c ---------------------------------------------------------------------------- */

/** May the guest's page table be looked at now and then? Not where each look costs the guest time. */
bool vp_stale_can_look(const struct vp_engine *engine);
/** Find the sites of planned sessions that are no longer mapped where they were; they are in no plan from the
 * next one on. True: some are. Service thread. */
bool vp_stale_look(struct vp_engine *engine);

/* --- plan.c ---------------------------------------------------------------------------- */

/** Make the backend watch what the sessions want now. BUSY leaves the old plan in force and
 * engine->replan set. On return no vCPU is in a probe that the old plan started. */
OT_MUST_CHECK struct ot_err *vp_replan(struct vp_engine *engine);

/* --- session.c ------------------------------------------------------------------------- */

/** Try again what a busy backend put off; frees sessions that waited for it. */
void vp_engine_retry(struct vp_engine *engine);

/** LIMIT: a session of @p parts would take too much of the VMM's memory. */
OT_MUST_CHECK struct ot_err *vp_es_check_memory(const struct vp_es *es, const struct vp_private_parts *parts);

static inline uint32_t vp_es_activity(const struct vp_es *es)
{
	return __atomic_load_n(&es->activity, __ATOMIC_ACQUIRE);
}

/* --- clause.c -------------------------------------------------------------------------- */

/** Compile @p source into steps; memory from es->arena. UNSUPPORTED, PERMISSION for actions that
 * can't or may not be. */
OT_MUST_CHECK struct ot_err *vp_clause_compile(struct vp_es *es, const struct dif_clause *source,
					       struct vp_clause *ret);

/** Registers that an ECB of @p clause on a probe with @p args may read. */
uint64_t vp_clause_regs(const struct vp_clause *clause, enum vp_args args);

/* --- fire.c, action.c: the hit path ------------------------------------------------------ */

/** A session is entered by a hit (@p ctx, @p gva) or by hand (@p args). */
void vp_firing_begin(struct vp_es_vcpu *v, void *ctx, uint64_t gva, const uint64_t *args);
void vp_firing_end(struct vp_es_vcpu *v);

/** Run one ECB. */
void vp_fire_ecb(struct vp_es_vcpu *v, const struct vp_ecb *ecb);

/** Run one step: NULL fault: done. VP_STEP_DROP: the clause is to end without record. */
enum vp_step_result { VP_STEP_DONE, VP_STEP_DROP, VP_STEP_FAULT };
enum vp_step_result vp_run_step(struct vp_es_vcpu *v, const struct vp_step *step, enum dif_fault *fault);

/** Store the value of a key or datum. */
enum dif_fault vp_store_datum(struct vp_es_vcpu *v, const struct vp_step *step, uint8_t *base);

/** Put the header and padding on the record under way and count it in; the clause may go on
 * (after commit()). */
void vp_record_finish(struct vp_es_vcpu *v);

/** Now, constant within a clause. */
uint64_t vp_clause_time(struct vp_es_vcpu *v);
uint64_t vp_now(void);

/* A counter that the consumer sees at once; one writer. */
static inline void vp_count(uint64_t *private_word, uint64_t *shared_word)
{
	__atomic_store_n(shared_word, ++*private_word, __ATOMIC_RELAXED);
}
#define VP_COUNT(v, field) vp_count(&(v)->counts.field, &(v)->status->field)

/* --- buffer.c --------------------------------------------------------------------------- */

OT_MUST_CHECK struct ot_err *vp_buffers_init(struct vp_es_vcpu *v);
void vp_buffers_deinit(struct vp_es_vcpu *v);

/** Room for a record in the half in use, or NULL: dropped, and counted. @p keep bytes at the end
 * stay free. It is not in the buffer until vp_buffer_commit(). */
uint8_t *vp_buffer_reserve(struct vp_es_vcpu *v, uint32_t size, uint32_t align, uint64_t keep);
void vp_buffer_commit(struct vp_es_vcpu *v, const uint8_t *record, uint32_t size);

/** The same in half @p half, by the service thread once that is handed over. */
uint8_t *vp_buffer_append(struct vp_es_vcpu *v, uint32_t half, uint32_t size, uint32_t align);

/** Exchange the halves of every vCPU and stamp what they cover. */
void vp_buffers_switch(struct vp_es *es, uint64_t now);

/** Empty half @p half, which nobody uses. */
void vp_buffer_reset(struct vp_es_vcpu *v, uint32_t half);

void vp_buffer_stamp_start(struct vp_es *es, uint64_t now);

/* --- counters.c -------------------------------------------------------------------------- */

/** Give @p ecb a slot when it only counts and the backend has one left. */
OT_MUST_CHECK struct ot_err *vp_counter_assign(struct vp_es *es, struct vp_ecb *ecb);

/** The value now is where counting starts. */
void vp_counters_base(struct vp_es *es);
/** Take what was counted until now into `pending`. */
void vp_counters_collect(struct vp_es *es);
/** Put `pending` into the halves just handed over; @p stopped: into those that the vCPUs do not write any
 * more. */
void vp_counters_fold(struct vp_es *es, bool stopped);
void vp_counters_free(struct vp_es *es);

/* --- guard.c ------------------------------------------------------------------------------ */

OT_MUST_CHECK struct ot_err *vp_guard_create(struct vp_es *es);
void vp_guard_destroy(struct vp_es *es);

/** Give the ECBs of a batch something to keep their load in. */
OT_MUST_CHECK struct ot_err *vp_guard_add(struct vp_es *es, struct vp_batch_rt *batch);

/** Has a session cost too much at time @p now_ns? Then its most expensive probes go out. May be called as
 * often as one likes, and must be every VP_GUARD_NS while engine->guarded. Service thread. */
void vp_guard_check(struct vp_engine *engine, uint64_t now_ns);
#define VP_GUARD_NS 250000000ull

/* The rest: hit path. */
uint64_t vp_guard_next(struct vp_vcpu *me);
void vp_guard_timed(struct vp_es_vcpu *v, const struct vp_ecb *ecb, uint64_t *clock);

static inline void vp_load_add(uint64_t *word, uint64_t n)
{
	__atomic_store_n(word, *word + n, __ATOMIC_RELAXED);
}

/** A hit begins: the time, if what it fires is to be timed; else 0. */
static inline uint64_t vp_guard_begin(struct vp_vcpu *me)
{
	if (ot_likely(!__atomic_load_n(&me->engine->guarded, __ATOMIC_RELAXED)) || --me->until_timed)
		return 0;
	return vp_guard_next(me);
}

/** A hit that cost @p cost_ns to come here has come to @p ecb. */
static inline void vp_guard_hit(const struct vp_ecb *ecb, uint32_t vcpu, uint64_t cost_ns)
{
	if (ecb->loads)
		vp_load_add(&ecb->loads[(size_t)vcpu * ecb->load_stride].outside_ns, cost_ns);
}

/** Fire @p ecb. @p clock: what vp_guard_begin() said. */
static inline void vp_guard_fire(struct vp_es_vcpu *v, const struct vp_ecb *ecb, uint64_t *clock)
{
	if (!ecb->loads) {
		vp_fire_ecb(v, ecb);
		return;
	}
	vp_load_add(&ecb->loads[(size_t)v->vcpu * ecb->load_stride].fired, 1);
	vp_load_add(&v->load.fired, 1);
	if (ot_unlikely(*clock != 0))
		vp_guard_timed(v, ecb, clock);
	else
		vp_fire_ecb(v, ecb);
}

/* --- speculation.c ------------------------------------------------------------------------ */

OT_MUST_CHECK struct ot_err *vp_spec_init(struct vp_es *es);
void vp_spec_deinit(struct vp_es *es);
uint64_t vp_spec_new(struct vp_es_vcpu *v);
enum vp_step_result vp_spec_speculate(struct vp_es_vcpu *v, uint64_t id);
enum vp_step_result vp_spec_commit(struct vp_es_vcpu *v, uint64_t id, enum dif_fault *fault);
enum vp_step_result vp_spec_discard(struct vp_es_vcpu *v, uint64_t id, enum dif_fault *fault);

/** Before the vCPUs are made quiescent: which ids are being committed or discarded. */
void vp_spec_look(struct vp_es *es);
/** After: move what other vCPUs speculated under those committed, and free the ids. */
void vp_spec_clean(struct vp_es *es, uint64_t now);

/* --- builtin.c, task.c, walk.c, unwind.c, ustack.c ------------------------------------------ */

extern const struct dif_vm_ops vp_vm_ops;

static inline uint64_t vp_reg(const struct vp_es_vcpu *v, enum vp_reg reg)
{
	const struct vp_engine *e = v->es->engine;

	return v->ctx ? e->ops->reg(e->backend, v->ctx, reg) : 0;
}

/** Guest memory, bounded and checked; false: not readable. Any length. */
bool vp_load_kernel(struct vp_es_vcpu *v, uint64_t gva, void *dst, uint64_t len);
bool vp_load_user(struct vp_es_vcpu *v, uint64_t gva, void *dst, uint64_t len);

static inline bool vp_load_u64(struct vp_es_vcpu *v, uint64_t gva, uint64_t *ret)
{
	return vp_load_kernel(v, gva, ret, sizeof(*ret));
}

/** Host address of a byte of the kernel's, 0: not mapped or not RAM. Service thread. */
uint64_t vp_kernel_host(struct vp_es *es, uint64_t gva);
/** The same as the page table has it now, remembered nowhere. Any thread. */
uint64_t vp_kernel_host_now(const struct vp_es *es, uint64_t gva);

/** The running task's address, 0: unknown. */
uint64_t vp_task(struct vp_es_vcpu *v);
/** A field of @p task of @p size (4 or 8) bytes; 0 when the kernel has none. BADADDR in *fault. */
uint64_t vp_task_field(struct vp_es_vcpu *v, uint64_t task, uint32_t offset, uint32_t size,
		       enum dif_fault *fault);
uint32_t vp_interrupt_level(struct vp_es_vcpu *v);
/** Where the registers lie with which the task whose stack this is entered the kernel: at its top. Just a
 * guest address, whatever the facts say. */
static inline uint64_t vp_user_regs(const struct vp_facts *f, uint64_t stack)
{
	return stack + f->stack_size - f->stack_padding - f->ptregs_size;
}

/** Is the condition of a site (vp_batch_site.syscall, not 0) met? Of a number: the task is in that call, and
 * the function at whose end it is goes back to the dispatcher of system calls. What can't be known is taken
 * to be: of a number, that it is not; of the ABI, that it is the kernel's own. */
bool vp_in_syscall(struct vp_es_vcpu *v, uint32_t condition);
uint64_t vp_task_id(struct vp_es_vcpu *v, uint32_t var, enum dif_fault *fault);
uint64_t vp_vtimestamp(struct vp_es_vcpu *v, enum dif_fault *fault);
bool vp_progenyof(struct vp_es_vcpu *v, uint64_t pid);
void vp_thread_key(struct vp_es_vcpu *v, struct dif_thread_key *ret);

/** argN of the probe that fires. */
uint64_t vp_arg(struct vp_es_vcpu *v, unsigned n, enum dif_fault *fault);

/** Kernel return addresses, innermost (the probed place itself) first, at most @p max (up to
 * VP_FRAMES_MAX); returns how many. @p pcs may be NULL. */
uint32_t vp_unwind_kernel(struct vp_es_vcpu *v, uint64_t *pcs, uint32_t max);
uint64_t vp_caller(struct vp_es_vcpu *v);
/** The same of the process. */
uint32_t vp_unwind_user(struct vp_es_vcpu *v, uint64_t *pcs, uint32_t max);

/* --- profile.c ----------------------------------------------------------------------------- */

/** Set timers for the profile probes of all active sessions. */
OT_MUST_CHECK struct ot_err *vp_profile_update(struct vp_engine *engine);
void vp_profile_stop(struct vp_engine *engine);
bool vp_profile_wanted(const struct vp_engine *engine);

/* --- vm.c ---------------------------------------------------------------------------------- */

/** Have the vm probes of all sessions fire. */
OT_MUST_CHECK struct ot_err *vp_vm_update(struct vp_engine *engine);
void vp_vm_stop(struct vp_engine *engine);
/** As in struct vp_plan. */
uint32_t vp_vm_events(const struct vp_engine *engine);
/** Is it a statistic's probe, which a timer has fire? */
static inline bool vp_vm_is_timed(const struct vp_probe_rt *probe)
{
	return probe->kind == VP_PROBE_VM && probe->event >> 16 == VP_VM_STAT;
}
/** Are some of a probe's ECBs not out of force? */
bool vp_any_in(const struct vp_probe_rt *probe);

/* --- agent.c, agent_drain.c: the guest's agent ------------------------------------------------ */

/** Have the agent turn on what the sessions want, and nothing else; let go of it when that is nothing. Waits
 * a little for the guest to have done so. Service thread. */
OT_MUST_CHECK struct ot_err *vp_agent_update(struct vp_engine *engine);
void vp_agent_stop(struct vp_engine *engine);

/** Give each kprobe of @p b, not linked in yet, a slot: the one that all others have who want the same.
 * LIMIT: there is none left. */
OT_MUST_CHECK struct ot_err *vp_agent_place_probes(const struct vp_engine *engine, struct vp_batch_rt *b);

/** @p b, not linked in yet, brings another agent: what the session has of the one before is there now. */
void vp_agent_moved(struct vp_es *es, const struct vp_batch_rt *b);

/** By how much a time that the agent's clock gives may be off, at the last mark; 0: not known. With it, that
 * mark on the guest's counter and on the host's clock, else unchanged. */
uint64_t vp_agent_bound(const struct vp_es *es, uint64_t *ret_tsc, uint64_t *ret_ns);

/** Has the agent that the session uses been unloaded? */
bool vp_agent_gone(const struct vp_es *es);

/** Have every vCPU take what is in its ring, and wait a little for that. Service thread. */
void vp_agent_flush(struct vp_engine *engine);

/** What is older than this has been taken from every ring; @p now without an agent. */
uint64_t vp_agent_covered(const struct vp_engine *engine, uint64_t now);

/** Fire for what is in this vCPU's ring. It has been entered. Unless @p at_once (something is about to fire
 * from outside, and this comes before it) records may stay there for the next time: before the clock is
 * known, or while another vCPU fires for the same thread. Hit path. */
void vp_agent_drain(struct vp_engine *engine, uint32_t vcpu, bool at_once);

/** The agent takes the time. Hit path. */
void vp_agent_mark(struct vp_engine *engine);

/* --- server.c ------------------------------------------------------------------------------- */

void vp_server_stop(struct vp_engine *engine);

/** Tell the sessions what vp_engine_guest_ended() said. Service thread. */
void vp_engine_tell_end(struct vp_engine *engine);

#endif
