/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's entry and exits, from its bytes.
 *
 * Exits are `ret`; a direct jump out of the function (a tail call, or the kernel's return thunk); an indirect
 * jump, unless it is a jump table's. A jump to another part of the same function (GCC's NAME.cold) is not an
 * exit; the exits of that part are the function's own.
 */
#ifndef VP_PROVIDER_SITES_H
#define VP_PROVIDER_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/arch/code.h"

struct vp_exit {
	uint32_t offset; /* from the start of the code */
	uint8_t length;
	struct vp_branch branch; /* RETURN, JUMP, JUMP_IF, which leaves only when taken, or INDIRECT */
};

struct vp_exits {
	struct vp_exit *list;
	size_t count, cap;
	bool want_tables; /* includes jumps by a table, which stay in the function if the table is the
			     function's */
	bool incomplete;  /* some bytes are not an instruction: the bytes after them were not examined */
	/* Targets of branches inside the code, as offsets, ascending; only with `want_targets`. */
	bool want_targets;
	uint32_t *targets;
	size_t ntargets, targets_cap;
};

void vp_exits_deinit(struct vp_exits *exits);

/** Find the exits of the @p len bytes of code at @p gva; the lists of *exits are emptied first.
 * UNSUPPORTED: vp_arch_code(). */
OT_MUST_CHECK struct ot_err *vp_exits_find(uint64_t gva, const uint8_t *bytes, uint32_t len,
					   struct vp_exits *exits);

static inline bool vp_exit_is_direct(const struct vp_exit *e)
{
	return e->branch.kind == VP_BRANCH_JUMP || e->branch.kind == VP_BRANCH_JUMP_IF;
}

/** Does a branch inside the code target one of the offsets [@p from, @p to)? Needs want_targets. */
bool vp_exits_has_target(const struct vp_exits *exits, uint32_t from, uint32_t to);

/** Offset of the entry site: after `endbr64` if there is one, else 0. */
uint32_t vp_entry_offset(const uint8_t *bytes, uint64_t len);

#endif
