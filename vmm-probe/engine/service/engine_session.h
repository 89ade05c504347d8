/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a session that only the service thread uses: its program, its batches, and its part in the
 * plan. */
#ifndef VP_ENGINE_SERVICE_ENGINE_SESSION_H
#define VP_ENGINE_SERVICE_ENGINE_SESSION_H

#include "vmm-probe/engine/service/service.h"
#include "vmm-probe/engine/wire/private_memory.h"

struct vp_guard;

/* The contents of one ENABLE. Immutable once linked in, but for the service thread's `stale`. */
struct vp_enabled_batch {
	struct vp_enabled_batch *next;
	uint64_t number; /* in the engine, from 1 */
	char *strings;
	struct vp_enabled_probe *probes;
	struct vp_enabled_site *sites;
	struct vp_ecb *ecbs;
	struct vp_load *loads;            /* by vCPU and ECB; NULL: no guard */
	struct dif_program dof;           /* of the sites' programs */
	struct vp_site_program *programs; /* a clause each */
	uint32_t nprobes, nsites, necbs;
};

/* Batches are only added while the session is open. */
struct vp_batches {
	struct vp_enabled_batch *first, *last;
	uint32_t necbs; /* of all */
};

/* A slot of the backend that counts for an ECB, or for all ECBs of a clause. */
struct vp_counter {
	struct vp_counter *next;
	const struct vp_ecb *ecb; /* its EPID and key are used */
	uint32_t slot;
	uint64_t *last;    /* by vCPU: value at the last collection */
	uint64_t *pending; /* by vCPU: counted, not yet in a half */
	uint64_t cost_ns;  /* the guard's: its cost at the last check */
};

/* One struct with many fields: each belongs to one request or one duty of the service thread. */
struct vp_engine_session_service {
	bool planned;                /* its sites belong in the plan */
	bool ended;                  /* END has fired here (host engine) */
	bool closing;                /* closed, except for sites that could not be removed yet */
	bool speculates;             /* some clause does: buffers are needed */
	enum vp_guest_end guest_end; /* the reason why it was stopped; 0: it was not */
	uint64_t ram;                /* number of the layout of guest RAM at its start */

	struct dif_program prog;
	struct ot_arena arena; /* layouts and steps */
	struct dif_layout_opts layout_opts;
	struct dif_var_layout vars;
	struct vp_clause *clauses;
	uint32_t tuple_max; /* bytes of the longest aggregation key */
	uint32_t nsingles;  /* steps that have a place in dif_aggtab.single */
	struct vp_private_parts parts;
	uint8_t *shared;
	size_t shared_size;

	struct vp_batch_agent *agent; /* as the operator's process found it; NULL: none */
	struct vp_batches batches;
	uint64_t frames_bytes;     /* of FRAMES that it has received */
	struct vp_ecb *last_error; /* of ERROR's ECBs */
	uint64_t error_regs;       /* that those may read */
	struct vp_counter *counters;
	struct vp_resident_session resident;
	struct vp_guard *guard; /* NULL: no limit of cost */
	struct vp_overload overload;

	bool follows;              /* it has sentinels of modules: its client is notified */
	uint64_t modules_reported; /* number of the last event that its client knows of */
	uint64_t modules_seen;     /* number of the last event that its client has handled */
	uint32_t modules_late;     /* as in struct vp_msg_modules_reply */
	uint64_t behind_ns;        /* time since which it has been behind; 0: it is not */

	uint64_t lost;                     /* sites of its probes that became stale */
	struct vp_patching patched_before; /* the backend's counts when this session was started */
	uint64_t *spec_seen;               /* by id - 1: its word at the last vp_spec_poll() */
};

/* A walk over probes, in order of enabling; begins with all zeroes. */
struct vp_probe_walk {
	struct vp_enabled_probe *probe; /* current probe */
	struct vp_enabled_batch *batch; /* … and its batch */
	struct vp_engine_session *es;   /* vp_next_planned(): … and its session */
	uint32_t left;                  /* probes after it in the batch */
	uint32_t session;               /* the next one */
};

/** Go to the first probe of the next batch of @p es; false: there is none. */
bool vp_next_batch(const struct vp_engine_session *es, struct vp_probe_walk *w);
/** The same in the sessions that are in the plan. */
bool vp_next_planned_batch(const struct vp_engine *engine, struct vp_probe_walk *w);

static inline bool vp_next_in_batch(struct vp_probe_walk *w)
{
	if (!w->left)
		return false;
	w->left--;
	w->probe++;
	return true;
}

/** Go to the next probe of @p es; false: there is none. */
static inline bool vp_next_probe(const struct vp_engine_session *es, struct vp_probe_walk *w)
{
	return vp_next_in_batch(w) || vp_next_batch(es, w);
}

/** Go to the next probe of the sessions that are in the plan; false: there is none. */
static inline bool vp_next_planned(const struct vp_engine *engine, struct vp_probe_walk *w)
{
	return vp_next_in_batch(w) || vp_next_planned_batch(engine, w);
}

#define vp_each_probe(w, es)       for (struct vp_probe_walk w = { 0 }; vp_next_probe(es, &(w));)
#define vp_each_planned(w, engine) for (struct vp_probe_walk w = { 0 }; vp_next_planned(engine, &(w));)

/* For each batch @p b of session @p es. */
#define vp_each_batch(b, es) for (struct vp_enabled_batch *b = (es)->service->batches.first; b; b = (b)->next)

/** Is an ECB of the probe still in force? */
bool vp_any_in(const struct vp_enabled_probe *probe);

/** LIMIT: a session of @p parts would take too much of the VMM's memory. */
OT_MUST_CHECK struct ot_err *vp_engine_session_check_memory(const struct vp_engine_session *es,
							    const struct vp_private_parts *parts);

/* Is it a statistic's probe, which a timer fires? */
static inline bool vp_vm_is_timed(const struct vp_enabled_probe *probe)
{
	return probe->kind == VP_PROBE_VM && probe->event >> 16 == VP_VM_STAT;
}

#endif
