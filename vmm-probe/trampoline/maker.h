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
#define VP_TRAMP_FIRST    (DIF_NREGS + 1u) /* a key's words */
#define VP_TRAMP_SECOND   (DIF_NREGS + 2u)
#define VP_TRAMP_ENTRY    (DIF_NREGS + 3u)
#define VP_TRAMP_VIRTUALS (DIF_NREGS + 4u)

/* The target of a jump that leaves its clause, until the clause's end is known; that of one for a key that is
 * not in the table, until there is an exit. */
#define VP_TRAMP_SKIP 0xffffu
#define VP_TRAMP_MISS 0xfffeu

struct vp_tramp_maker {
	const struct vp_tramp_guest *guest;
	const struct vp_tramp_site *site;
	const struct vp_tramp_clause *clause; /* the one that is being compiled */
	struct vp_trampoline *out;
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

/** Append the clause's actions, which must all be aggregations that can be done in place. */
OT_MUST_CHECK struct ot_err *vp_tramp_words(struct vp_tramp_maker *m);

/** Append the clause's only aggregation, by a key that the table of keys may have: VP_TRAMP_MISS where it has
 * not. */
OT_MUST_CHECK struct ot_err *vp_tramp_keyed(struct vp_tramp_maker *m);

/** Append a record with all that the clause's actions read. */
OT_MUST_CHECK struct ot_err *vp_tramp_record(struct vp_tramp_maker *m);

#endif
