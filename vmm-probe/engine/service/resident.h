/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest-resident probes (docs/design/017-resident-probes.md), the engine's part: it decides which sites jump
 * to a trampoline instead of trapping, compiles the trampolines, and collects their counts. The backend owns
 * the memory and plants the jumps (backend.h: struct vp_backend_resident).
 *
 *   plan ─────► resident.c         compiles a trampoline for each site whose sessions all request it
 *   exchange ─► resident_words.c   adds the trampolines' counts to the halves
 *               resident_table.c   … by keys that differ
 *   visits ───► records.h          records, which fire their clauses on the host
 *
 * A task that was interrupted in a trampoline may resume there at any later time. So no part of the room is
 * used again while any is in use; it fills up, and later sites are trapped. Once nothing uses it and no task
 * is in it, it is given back whole (resident_reclaim.c).
 *
 * Service thread.
 */
#ifndef VP_ENGINE_SERVICE_RESIDENT_H
#define VP_ENGINE_SERVICE_RESIDENT_H

#include "vmm-probe/arch/trampoline.h"
#include "vmm-probe/engine/backend.h"

#define VP_RESIDENT_WHY   200u
#define VP_RESIDENT_FIRST 8u /* offset of the first words in data: before them is vp_tramp_world.lost */

struct dif_clause;
struct vp_engine_session;
struct vp_enabled_batch;
struct vp_records_owner;
struct vp_enabled_site;
struct vp_patches;
struct vp_resident_site;
struct vp_resident_table;
struct vp_site;
struct vp_trampoline;

/* One for each engine. */
struct vp_resident {
	struct vp_resident_room room;
	uint64_t kernel;                  /* that has the room mapped (vp_engine_session.kernel); 0: none */
	uint64_t tried;                   /* the kernel for which mapping was last tried */
	char why[VP_RESIDENT_WHY];        /* … and the reason why that failed */
	uint32_t code_used, data_used;    /* bytes; they only grow */
	uint32_t keys_used;               /* the same, from the code's end down */
	struct vp_tramp_ring ring;        /* for records, in each vCPU's data; count 0: there is none yet */
	uint32_t slots;                   /* of records, in use; it only grows */
	struct vp_records_owner *records; /* NULL: there are no rings */
	/* The resident sites of the last plan, by host address; the ECBs of all of them. */
	struct vp_resident_site *sites;
	struct vp_ecb **ecbs;
	uint32_t nsites;
	struct vp_trampoline *compiled; /* the compiler's output; too large for the stack */
};

/* The words in which trampolines aggregate one action of an ECB. A clause whose keys do not depend on the
 * probe has one such record for all of its ECBs. */
struct vp_resident_words {
	struct vp_resident_words *next; /* in vp_resident_session.words */
	const struct vp_ecb *ecb;
	uint32_t action;                       /* VP_TRAMP_FIRED: how often the clause has fired */
	uint32_t at, nwords;                   /* offset in each vCPU's data */
	const struct vp_resident_words *fired; /* the record whose first word changes at each hit */
	uint64_t *last;                        /* by vCPU: the words at the last fold */
	uint64_t *taken;                       /* FIRED, by vCPU: the word when this fold began */
};

/* A session's. */
struct vp_resident_session {
	/* Its sites in the plan: with a trampoline, those of them that write records, those that may exit,
	 * and trapped ones. */
	uint32_t sites, records, filters, traps;
	bool has_slots;            /* some of its ECBs have one */
	char why[VP_RESIDENT_WHY]; /* the reason why the first trapped one has no trampoline */
	struct vp_resident_words *words;
	struct vp_resident_table *tables;
};

static inline uint32_t vp_resident_code_left(const struct vp_resident *r)
{
	return r->room.code_size - r->code_used - r->keys_used;
}

/** Compile trampolines for the sites of @p plan (NULL: there are none). A site that can't have one is
 * trapped, so this does not fail. */
void vp_resident_plan(struct vp_engine *engine, struct vp_plan *plan);
void vp_resident_deinit(struct vp_engine *engine);

/** Does each of @p ecb's sites qualify for a trampoline? Then it needs no inline counter. */
bool vp_resident_qualifies(const struct vp_enabled_batch *batch, const struct vp_ecb *ecb);

/** Does a key of the clause's aggregations depend on the probe? Then its ECBs don't share words. */
bool vp_resident_is_per_probe(const struct dif_clause *clause);

/** For the operator: how many of the session's sites have a trampoline, and why the others are trapped; "" if
 * the session did not ask for any. */
void vp_resident_describe(const struct vp_engine_session *es, char *ret, size_t size);

/* --- resident_place.c ---------------------------------------------------------------------------- */

/** Set @p site's `end` and `no_place`, if the session wants trampolines; its bytes are those that are in
 * guest memory. @p patches: the backend's. */
void vp_resident_place(struct vp_engine_session *es, const struct vp_patches *patches,
		       struct vp_enabled_site *site);

/* --- resident_room.c ----------------------------------------------------------------------------- */

/** Does this session's kernel have the room mapped? Mapping is tried once for each kernel. */
bool vp_resident_has_room(struct vp_engine *engine, struct vp_engine_session *es);
/** Has the plan sentinels where a kernel with these facts writes its memory to a disk, or starts another one?
 */
bool vp_resident_is_watched(const struct vp_plan *plan, const struct vp_facts *facts);
/** A session starts: try again to map the room, if that failed, or to have it reclaimed. */
void vp_resident_begin(struct vp_engine_session *es);

/* --- resident_reclaim.c -------------------------------------------------------------------------- */

/** If half of the room is used, or @p es asks for larger rings, and nothing uses the room any more and no
 * task of @p es's kernel is in it: reuse it. Holds the vCPUs for some milliseconds, at most eight times. */
void vp_resident_reclaim(struct vp_engine_session *es);

/* --- resident_words.c ---------------------------------------------------------------------------- */

/** Register and initialise the words of @p t, which was compiled for @p ecbs of one site. NO_MEMORY: none is
 * registered. */
OT_MUST_CHECK struct ot_err *vp_resident_add_words(const struct vp_trampoline *t, struct vp_ecb *const *ecbs);

/** Counting starts from the present values. */
void vp_resident_base(struct vp_engine_session *es);
/** Add the counts since then to the halves just handed over; @p stopped as for vp_counters_fold(). */
void vp_resident_fold(struct vp_engine_session *es, bool stopped);
void vp_resident_free(struct vp_engine_session *es);

/* --- resident_table.c ---------------------------------------------------------------------------- */

/** Register the table of trampoline @p code, compiled for @p site, whose keys are at @p keys (which the guest
 * can only read) and whose words begin at @p from in data. Hits of the site's clauses add to the keys from
 * now on. */
OT_MUST_CHECK struct ot_err *vp_resident_add_table(const struct vp_trampoline *code,
						   const struct vp_site *site, void *keys, uint32_t from);
/** The table that a trampoline for @p site may use, as it has the same clauses as others; NULL: none does. */
struct vp_resident_table *vp_resident_table_of(const struct vp_site *site);
/** It does: hits of the site's clauses add to its keys. */
void vp_resident_table_join(struct vp_resident_table *t, const struct vp_site *site);
/** Where its keys are in the guest, and its words begin in data. */
uint32_t vp_resident_table_place(const struct vp_resident_table *t, uint64_t *ret_keys, uint64_t *ret_end);
/** The same as vp_resident_base(), vp_resident_fold() and vp_resident_free(), for tables. */
void vp_resident_tables_base(struct vp_engine_session *es);
void vp_resident_tables_fold(struct vp_engine_session *es, uint32_t vcpu, uint32_t half);
void vp_resident_tables_free(struct vp_engine_session *es);

#endif
