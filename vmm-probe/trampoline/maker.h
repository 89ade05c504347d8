/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of the compiler. While a list is made its operations name virtual registers: one for
 * each of DIF's, one for an object's value and one for 0. vp_tramp_registers() turns them into real ones when
 * the operations that use a value are there.
 */
#ifndef VP_TRAMPOLINE_MAKER_H
#define VP_TRAMPOLINE_MAKER_H

#include "dif/obj/opcodes.h"
#include "vmm-probe/trampoline/trampoline.h"

/* Virtual registers; those between are DIF's, whose first one is always 0. */
#define VP_TRAMP_RESULT   0u
#define VP_TRAMP_ZERO     ((unsigned)DIF_NREGS)
#define VP_TRAMP_WORD     (DIF_NREGS + 1u) /* a key's words: VP_TRAMP_KEY_WORDS */
#define VP_TRAMP_ENTRY    (VP_TRAMP_WORD + VP_TRAMP_KEY_WORDS)
#define VP_TRAMP_VIRTUALS (VP_TRAMP_ENTRY + 1u)

/* The target of a jump that leaves its clause, until the clause's end is known; that of one for a key that is
 * not in the table, until there is an exit. */
#define VP_TRAMP_SKIP 0xffffu
#define VP_TRAMP_MISS 0xfffeu

struct vp_tramp_maker {
	const struct vp_tramp_guest *guest;
	const struct vp_tramp_site *site;
	const struct vp_tramp_clause *clause; /* the one that is being compiled */
	struct vp_trampoline *out;
	uint8_t entry;             /* the register that keeps VP_TRAMP_ENTRY; 0: there is no entry */
	bool full;                 /* there were more operations than a list has room for */
	struct vp_tramp_op beyond; /* where those go */
};

/** Append an operation, all of whose members but `kind` are 0. */
struct vp_tramp_op *vp_tramp_add(struct vp_tramp_maker *m, enum vp_tramp_kind kind);

/** Append operations that leave the object's value in VP_TRAMP_RESULT. UNSUPPORTED, LIMIT. */
OT_MUST_CHECK struct ot_err *vp_tramp_object(struct vp_tramp_maker *m, const struct dif_object *obj);

/** Operations from @p first on, behind whose end no value of theirs is read: leave out tests whose result is
 * known. */
void vp_tramp_thread(struct vp_tramp_maker *m, uint32_t first);

/** Operations from @p first on: leave out those whose result is not used, and choose registers. No value
 * outlives them. LIMIT: too many values at a time. */
OT_MUST_CHECK struct ot_err *vp_tramp_registers(struct vp_tramp_maker *m, uint32_t first);

/** Go on at VP_TRAMP_SKIP if the clause's predicate is false (@p when EQUAL), or if it is true. Nothing, if
 * it has none. */
OT_MUST_CHECK struct ot_err *vp_tramp_predicate(struct vp_tramp_maker *m, enum vp_tramp_cond when);

/** VP_TRAMP_SKIP, for the operations from @p first on, is here. */
void vp_tramp_land(struct vp_tramp_maker *m, uint32_t first);

/* The keys of an aggregation. */
struct vp_tramp_tuple {
	const struct dif_action *keys;
	uint32_t n;
};

/** Those of aggregating action @p action. */
struct vp_tramp_tuple vp_tramp_tuple_of(const struct dif_clause *clause, uint32_t action);

/** Are they the same each time the probe fires? */
bool vp_tramp_is_constant(const struct vp_tramp_tuple *tuple);

/** Are all of the clause's actions aggregations of the kinds that are done in place, and keys? UNSUPPORTED.
 */
OT_MUST_CHECK struct ot_err *vp_tramp_check_actions(const struct dif_clause *clause);

/** Has an aggregation of that kind a word that differs after each hit? */
bool vp_tramp_counts_hits(unsigned kind);

/** Append the clause's aggregations; those whose key is not constant are done by m->entry. LIMIT: no room. */
OT_MUST_CHECK struct ot_err *vp_tramp_aggregations(struct vp_tramp_maker *m);

/** The same where all keys must be constant. */
OT_MUST_CHECK struct ot_err *vp_tramp_words(struct vp_tramp_maker *m);

/** Append all of the site's clauses, which aggregate by a key that the table of keys may have: VP_TRAMP_MISS
 * where it has not. */
OT_MUST_CHECK struct ot_err *vp_tramp_keyed(struct vp_tramp_maker *m);

/** Append a record with all that the clause's actions read. */
OT_MUST_CHECK struct ot_err *vp_tramp_record(struct vp_tramp_maker *m);

#endif
