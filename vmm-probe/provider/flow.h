/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow inside a function of the guest while a static key is off: the instructions that it can reach. The
 * targets of branches on other keys are part of it, and so is the function's unlikely part (NAME.cold).
 */
#ifndef VP_PROVIDER_FLOW_H
#define VP_PROVIDER_FLOW_H

#include "vmm-probe/guest/static_keys.h"
#include "vmm-probe/guest/symtab.h"
#include "vmm-probe/provider/text.h"

enum vp_reach {
	VP_REACH_NO,
	VP_REACH_YES,
	VP_REACH_UNKNOWN, /* the function jumps by a table, or can't be decoded */
};

struct vp_flow_env {
	const struct vp_symtab *symtab;
	struct vp_text *text;
	const struct vp_static_keys *keys;
};

/** Does the flow from @p from (0: from the entry) reach @p goal, in the same function, without taking a
 * branch on @p key? Errors are those of this process. */
OT_MUST_CHECK struct ot_err *vp_flow_reaches(const struct vp_flow_env *env, uint64_t key, uint64_t from,
					     uint64_t goal, enum vp_reach *ret);

/** Is the function at @p gva called or jumped to directly from anywhere in the core kernel's text except the
 * @p n places @p from? Bytes in the middle of an instruction that decode as a call count as one. */
bool vp_flow_has_other_callers(const struct vp_text *text, uint64_t gva, const uint64_t *from, size_t n);

#endif
