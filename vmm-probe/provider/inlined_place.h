/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places of the providers defined in D (definition.h) that a kernel may have under another function's name:
 * its compiler has made the function a part of its only caller, or a configuration names it otherwise. Each
 * has a substitute that is called once for the same event, with the same parameters.
 */
#ifndef VP_PROVIDER_INLINED_PLACE_H
#define VP_PROVIDER_INLINED_PLACE_H

#include "base/arena.h"
#include "vmm-probe/guest/symtab.h"
#include "vmm-probe/provider/definition.h"

/** *ret: @p text, in which the functions that @p symtab lacks are those that it has instead; memory is of @p
 * arena, or
 * @p text's. False: out of memory. */
bool vp_inlined_places(const struct vp_symtab *symtab, struct ot_arena *arena,
		       const struct vp_text_part *text, struct vp_text_part *ret);

#endif
