/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest-resident probes (docs/design/017-resident-probes.md), the engine's part: which sites lead to code of
 * ours in place of a trap, that code, and what it has counted. A backend has the memory and the jumps
 * (backend.h: struct vp_backend_resident).
 *
 *   plan.c ──► resident.c         a trampoline for each site whose sessions all want it and that has one
 *   exchange ► resident_words.c   what the trampolines' words say, into the halves
 *
 * A trampoline and its words are used once: a task that was interrupted in it may go on there at any later
 * time. So the room fills, and sites that find none are trapped.
 *
 * Service thread.
 */
#ifndef VP_ENGINE_SERVICE_RESIDENT_H
#define VP_ENGINE_SERVICE_RESIDENT_H

#include "vmm-probe/engine/backend.h"

#define VP_RESIDENT_WHY 200u

struct vp_engine_session;
struct vp_enabled_batch;
struct vp_resident_site;
struct vp_trampoline;

/* An engine's. */
struct vp_resident {
	struct vp_resident_room room;
	uint64_t kernel;               /* vp_engine_session.kernel for which it is mapped; 0: none */
	uint64_t tried;                /* … for which that was tried */
	char why[VP_RESIDENT_WHY];     /* … and why it failed */
	uint32_t code_used, data_used; /* bytes, in the room's life */
	/* Those of the last plan, by address, and the ECBs of each, one list behind the other. */
	struct vp_resident_site *sites;
	struct vp_ecb **ecbs;
	uint32_t nsites;
	struct vp_trampoline *compiled; /* the one in the making */
};

/* What a trampoline keeps for an aggregating action of an ECB; of a clause whose keys do not depend on the
 * probe, for all of its ECBs. */
struct vp_resident_words {
	struct vp_resident_words *next; /* of the session */
	const struct vp_ecb *ecb;
	uint32_t action; /* VP_TRAMP_FIRED: how often the clause has fired */
	uint32_t at, nwords;
	const struct vp_resident_words *fired; /* whose first word differs after each hit */
	uint64_t *last;                        /* by vCPU: the words as they were taken */
	uint64_t *taken;                       /* FIRED, by vCPU: the word, while others are taken */
};

/** Give the sites of @p plan (NULL: none) their trampolines. What can't have one is trapped, so this does not
 * fail. */
void vp_resident_plan(struct vp_engine *engine, struct vp_plan *plan);
/** A session begins: where a room could not be had, it is tried again. */
void vp_resident_retry(struct vp_engine *engine);
void vp_resident_deinit(struct vp_engine *engine);

/** Will @p ecb be done by trampolines only, as far as its sites tell? Then it needs no counter. */
bool vp_resident_means(const struct vp_enabled_batch *batch, const struct vp_ecb *ecb);

/** How many of the session's sites lead to trampolines, and why others do not, for the operator; "" if it did
 * not ask for any. */
void vp_resident_describe(const struct vp_engine_session *es, char *ret, size_t size);

/* --- resident_words.c ---------------------------------------------------------------------------- */

/** Keep account of the words of @p t, compiled for @p ecbs of one site, which are in their initial state
 * then. NO_MEMORY: of none of them. */
OT_MUST_CHECK struct ot_err *vp_resident_add_words(const struct vp_trampoline *t, struct vp_ecb *const *ecbs);

/** Counting starts from the present values. */
void vp_resident_base(struct vp_engine_session *es);
/** Add what was counted since to the halves just handed over; @p stopped as for vp_counters_fold(). */
void vp_resident_fold(struct vp_engine_session *es, bool stopped);
void vp_resident_free(struct vp_engine_session *es);

#endif
