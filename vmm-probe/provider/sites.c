/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding entries and exits: a linear sweep from the function's start, as kernel functions have no data
 * between their instructions.
 */
#include "vmm-probe/provider/sites.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/search.h"
#include "vmm-probe/arch/arch.h"

static bool may_leave(const struct vp_exits *exits, enum vp_branch_kind kind)
{
	return kind != VP_BRANCH_NONE && kind != VP_BRANCH_CALL &&
	       (kind != VP_BRANCH_TABLE || exits->want_tables);
}

static struct ot_err *add(struct vp_exits *exits, const struct vp_exit *e)
{
	if (!ot_grow(&exits->list, &exits->cap, exits->count + 1, sizeof(*exits->list)))
		return ot_err_nomem();
	exits->list[exits->count++] = *e;
	return NULL;
}

static struct ot_err *add_target(struct vp_exits *exits, uint64_t offset)
{
	if (!exits->want_targets)
		return NULL;
	if (!ot_grow(&exits->targets, &exits->targets_cap, exits->ntargets + 1, sizeof(*exits->targets)))
		return ot_err_nomem();
	exits->targets[exits->ntargets++] = (uint32_t)offset;
	return NULL;
}

static int by_offset(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool vp_exits_has_target(const struct vp_exits *exits, uint32_t from, uint32_t to)
{
	size_t n = OT_COUNT_BEFORE(exits->ntargets, i, exits->targets[i] < from);

	return n < exits->ntargets && exits->targets[n] < to;
}

struct ot_err *vp_exits_find(uint64_t gva, const uint8_t *bytes, uint32_t len, struct vp_exits *exits)
{
	const struct vp_code_ops *code;

	OT_TRY(vp_arch_code(&vp_arch_native, &code));
	exits->count = exits->ntargets = 0;
	exits->incomplete = false;
	for (uint32_t at = 0; at < len;) {
		/* Padding; and after jumps and returns, against straight-line speculation. */
		uint8_t padding = code->breakpoint(bytes + at, len - at);
		if (padding) {
			at += padding;
			continue;
		}

		uint8_t n = code->length(bytes + at, len - at);
		struct vp_exit e = { .offset = at, .length = n };

		if (!n) {
			exits->incomplete = true;
			break;
		}
		e.branch = code->branch(bytes + at, n, gva + at);
		at += n;
		if (!may_leave(exits, e.branch.kind))
			continue;
		if (vp_exit_is_direct(&e) && e.branch.target - gva < len)
			OT_TRY(add_target(exits, e.branch.target - gva));
		else
			OT_TRY(add(exits, &e));
	}
	if (exits->ntargets)
		qsort(exits->targets, exits->ntargets, sizeof(*exits->targets), by_offset);
	return NULL;
}

void vp_exits_deinit(struct vp_exits *exits)
{
	free(exits->list);
	free(exits->targets);
	*exits = (struct vp_exits){ 0 };
}

uint32_t vp_entry_offset(const uint8_t *bytes, uint64_t len)
{
	const struct vp_code_ops *code = vp_arch_native.code;

	return code ? code->entry(bytes, len) : 0;
}
