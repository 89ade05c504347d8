/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compiled definitions (definition.h) of a registry: one compiler of our own for all of them, whose
 * variables no program can name, and the resulting site programs. Nothing is compiled before a description
 * matches a probe that needs it. Operator's process, one thread.
 */
#ifndef VP_PROVIDER_DERIVATION_H
#define VP_PROVIDER_DERIVATION_H

#include "base/arena.h"
#include "vmm-probe/provider/definition.h"
#include "vmm-probe/provider/provider.h"

struct vp_derivation;

/** @p probes is borrowed, and queried at each compilation. */
OT_MUST_CHECK struct ot_err *vp_derivation_create(struct vp_probes *probes, struct vp_derivation **ret);
void vp_derivation_destroy(struct vp_derivation *d);

/** As vp_probes_set_guest(). */
void vp_derivation_set_guest(struct vp_derivation *d, unsigned guest);

/** Memory that lives as long as @p d. */
struct ot_arena *vp_derivation_arena(struct vp_derivation *d);

/** As vp_probes_add_program() and vp_probes_program(). */
OT_MUST_CHECK struct ot_err *vp_derivation_add_program(struct vp_derivation *d,
						       const struct dif_clause *program, uint32_t *ret);
const struct dif_clause *vp_derivation_program(const struct vp_derivation *d, uint32_t number);

/** Compile declarations. UNSUPPORTED: this guest lacks names or types that they need; the message is the
 * compiler's. */
OT_MUST_CHECK struct ot_err *vp_derivation_declare(struct vp_derivation *d, const char *name,
						   const char *text);

/** Compile clauses, in which `$1` is @p value (NULL: it has none); *ret are copies that live as long as @p d.
 * UNSUPPORTED: as above. */
OT_MUST_CHECK struct ot_err *vp_derivation_compile(struct vp_derivation *d, const char *name,
						   const char *value, const struct vp_text_part *text,
						   struct dif_clause **ret, uint32_t *ret_count);

/** The guest's type of that name: "struct bio *", "int", "unsigned long". NULL: it has none, or there is no
 * memory. */
struct dif_type *vp_derivation_type(struct vp_derivation *d, const char *name);

#endif
