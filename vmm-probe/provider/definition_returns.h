/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clauses of a `return` that keeps the arguments of its `entry` (definition.h). */
#ifndef VP_PROVIDER_DEFINITION_RETURNS_H
#define VP_PROVIDER_DEFINITION_RETURNS_H

#include <stdbool.h>

#include "vmm-probe/provider/definition.h"

/** The end of the comment or constant that begins at @p p; NULL: none begins there. */
const char *vp_definition_behind_quoted(const char *p);

/**
 * Make the alternative of the return. @p entry has the places of the entry, whose arguments are kept in the
 * thread's variables FUNCTION_kept and FUNCTION_kept0 …; @p returns has the places where they end, clauses
 * without predicates that trace() the further arguments. False: memory ran out.
 */
bool vp_definition_returns(const char *function, unsigned nkept, const struct vp_text_part *entry,
			   const struct vp_text_part *returns, struct ot_arena *arena,
			   struct vp_alternative *ret);

#endif
