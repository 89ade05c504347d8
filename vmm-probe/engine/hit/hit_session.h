/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session as a hit reads it, and its state on each vCPU.
 *
 *   session ─┬─ clauses, ECBs      clause.h
 *            ├─ vcpus[]            virtual machine, buffers, TLB, the firing in progress
 *            └─ service            all that only the service thread uses (service/engine_session.h)
 */
#ifndef VP_ENGINE_HIT_HIT_SESSION_H
#define VP_ENGINE_HIT_HIT_SESSION_H

#include "dif/vm/agg.h"
#include "dif/vm/dynvar.h"
#include "dif/vm/vm.h"
#include "vmm-probe/engine/hit/clause.h"
#include "vmm-probe/engine/hit/hit_engine.h"
#include "vmm-probe/engine/wire/orc_table.h"
#include "vmm-probe/engine/wire/protocol.h"
#include "vmm-probe/engine/wire/shared.h"

#define VP_FRAMES_MAX 1024 /* of one stack() or ustack() */
#define VP_TLB_SETS   32
#define VP_TLB_WAYS   2

struct ga_record;
struct vp_user_frames;
struct vp_engine_session_service;

/* Cost of enablings on a vCPU. Written by its thread, read by the service thread. */
struct vp_load {
	uint64_t outside_ns;      /* vp_site.cost_ns of each hit */
	uint64_t fired;           /* number of firings */
	uint64_t timed, timed_ns; /* those that were timed, and their time */
};

struct vp_tlb_entry {
	uint64_t page; /* virtual address >> 12 */
	uint64_t root;
	uint64_t stamp; /* valid while it equals the TLB's `firing` or `stable` */
	const uint8_t *host;
	bool writable;
};

/* `firing` increases at each firing; `stable` (with bit 63 set) at a switch, once in a number of firings, and
 * when RAM changes. A page has two places, so that two that a hit reads do not push each other out. */
struct vp_tlb {
	uint64_t firing, stable;
	uint64_t mem_gen;
	struct vp_tlb_entry sets[VP_TLB_SETS][VP_TLB_WAYS]; /* the first is the most recent one */
};

/* The principal halves. All private: shared memory is only written. */
struct vp_pbuf {
	uint8_t *mem[2];
	uint64_t size;
	uint64_t used[2]; /* ring: offset of the next record */
	uint64_t dropped[2];
	uint64_t oldest[2]; /* ring: VP_NOT_WRAPPED if it has not wrapped */
};

struct vp_specbuf {
	uint8_t *mem; /* specsize bytes, allocated at open */
	uint64_t used;
};

#define VP_KNOWN_SITES 8

/*
 * The results of a site's programs in the firing in progress. They are valid until the firing ends: the
 * clauses that keep values for a probe run before or after all others of their place (session/programs.c),
 * and changes by a user's clause do not change the event.
 */
struct vp_known {
	const struct vp_enabled_site *at;
	bool decided, fires; /* by the conditions; undecided: not evaluated yet, or a fault */
	uint32_t args;       /* bit n: arg[n] is evaluated */
	uint32_t in_scratch; /* … and lies in scratch memory, which is the clause's */
	uint64_t arg[VP_SITE_ARGS];
};

/* The difference of the host's clock and a run queue's, for vtimestamp. */
struct vp_guest_clock {
	uint64_t since_ns; /* start of the window of least[0] */
	uint64_t least[2]; /* in this window, and in the one before */
};

/* One struct despite its many fields: a firing reads and writes most of them, and they are in the order of
 * access. */
struct vp_vcpu_session {
	_Alignas(64) struct vp_engine_session *es;
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
	uint64_t key[VP_KEY_WORDS]; /* of the aggregation that is next, instead of the tuple */

	/* the firing in progress */
	uint64_t hit;                  /* sequence word of the hit in which it began */
	struct vp_vcpu_session *chain; /* the next session that this hit has entered */
	uint32_t half;
	void *ctx;                     /* the backend's; NULL: fired by hand, without registers */
	uint64_t site_gva;             /* 0: no site */
	const uint64_t *fired_args;    /* of a probe without site; NULL */
	const struct ga_record *event; /* of the guest's agent or a resident probe; NULL: it happens now */
	uint64_t event_ns;             /* … and its time */
	bool resident; /* … and it is a resident probe's, whose predicate was true when it happened */
	const struct vp_ecb *ecb;
	const struct vp_enabled_site *at; /* where the ECB is enabled; NULL: its probe has no site */
	unsigned level;                   /* of the site program that is being evaluated; 0: none is */
	struct vp_known *known;           /* of `at`; NULL: that has no programs */
	uint32_t nknown;
	struct vp_known
	    known_sites[VP_KNOWN_SITES]; /* those that this firing has met; the last one is reused */
	bool in_error;
	bool exited; /* a clause of this firing called exit() */
	uint64_t error_args[10];
	const struct vp_enabled_probe *error_probe; /* the probe that faulted, for errprov etc. */
	uint64_t time_ns, wall_ns;                  /* of the clause; 0: not read yet */
	struct vp_running *running;                 /* the vCPU's, or `alone` */
	struct vp_running alone;
	bool file_known, in_file; /* is it of the site's file? */
	struct vp_guest_clock clock;
	uint64_t chill_since_ns, chilled_ns; /* chill() in this interval, as requested */
	uint64_t waited_ns;                  /* … in all, as measured */
	struct vp_load load;                 /* of all of the session's ECBs; outside_ns: once a hit */
	uint64_t increment;                  /* quantize's third argument */
	bool depth_known, caller_known;
	uint64_t depth, caller;
	uint8_t *record;         /* being written; NULL: the clause records nothing */
	struct vp_specbuf *spec; /* the record is in this buffer, not in the principal half */
	struct vp_tlb tlb;
};

enum vp_activity { VP_INACTIVE, VP_ACTIVE, VP_DRAINING, VP_STOPPED };

struct vp_engine_session {
	struct vp_engine *engine;
	struct vp_msg_open open;
	struct vp_facts facts;
	uint64_t kernel;           /* equal: the running task is read by equal facts */
	uint32_t activity;         /* enum vp_activity */
	uint32_t filled;           /* fill policy: a buffer was full */
	uint64_t since_ns;         /* time of the start; set before it is active */
	uint64_t exit_pending;     /* status + 1 of the exit() that won */
	uint64_t exited_ns;        /* time of the first exit(); atomic, 0: none */
	uint64_t end_reserve;      /* fill policy: bytes that only END may use */
	const uint64_t *orc_addrs; /* ascending, unless the sender is hostile */
	const struct vp_orc_rule *orc_rules;
	uint32_t norc;
	struct vp_user_frames *frames; /* rules for the stacks of processes; NULL: none */
	struct dif_dynvars *dynvars;
	struct vp_ecb *errors; /* ERROR's ECBs */
	struct vp_epid_sizes *sizes;
	uint64_t *spec_state; /* by id - 1, in shared memory: see speculation.c. NULL: no ids */
	struct vp_vcpu_session *vcpus;
	struct vp_vcpu_session
	    *spare; /* after the last one, without buffers: the service thread reads and evaluates with it */
	struct vp_engine_session_service *service;
};

/* Does the guest's agent report this event, and not the host's view of the guest? */
static inline bool vp_seen_inside(const struct vp_vcpu_session *v)
{
	return v->event && !v->resident;
}

static inline uint32_t vp_engine_session_activity(const struct vp_engine_session *es)
{
	return __atomic_load_n(&es->activity, __ATOMIC_ACQUIRE);
}

#endif
