/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which sites a jump to a trampoline may replace, by the guest's bytes. At a function's entry these say it
 * alone. At a return they don't: a jump to a return thunk looks like one that calls another function in this
 * one's place, whose arguments are then in registers that a trampoline changes; and these registers are dead
 * only in functions that were compiled for tracing.
 */
#include "vmm-probe/arch/return_thunk.h"
#include "vmm-probe/engine/hit/walk.h"
#include "vmm-probe/engine/service/resident.h"
#include "vmm-probe/engine/wire/patches.h"

#define STEPS 4u /* jumps and calls of a thunk, at most */

static bool is_named_thunk(const struct vp_resident_facts *facts, uint64_t address)
{
	for (unsigned i = 0; i < VP_RETURN_THUNKS && facts->thunks[i]; i++)
		if (facts->thunks[i] == address)
			return true;
	return false;
}

/* The facts are the client's word, which the guest's text must bear out: it returns at once. */
static bool is_thunk(struct vp_engine_session *es, const struct vp_patches *patches, uint64_t address)
{
	enum vp_thunk what = VP_THUNK_GOES_ON;

	if (!is_named_thunk(&es->facts.resident, address))
		return false;
	for (unsigned i = 0; i < STEPS && what >= VP_THUNK_GOES_ON; i++) {
		uint8_t bytes[VP_THUNK_BYTES];
		if (!vp_load_kernel(es->spare, address, bytes, sizeof(bytes)))
			return false;
		vp_patches_undo(patches, address, bytes, sizeof(bytes));
		what = vp_return_thunk(bytes, address, what == VP_THUNK_CALLS, &address);
	}
	return what == VP_THUNK_RETURNS;
}

/* A trap or a jump of ours may be at its entry. */
static bool is_traced(struct vp_engine_session *es, const struct vp_patches *patches, uint64_t function)
{
	uint8_t bytes[VP_TRAMP_TRACED];

	if (!vp_load_kernel(es->spare, function, bytes, sizeof(bytes)))
		return false;
	vp_patches_undo(patches, function, bytes, sizeof(bytes));
	return vp_trampoline_is_traced(bytes, sizeof(bytes));
}

static const char *find_return(struct vp_engine_session *es, const struct vp_patches *patches,
			       struct vp_enabled_site *site)
{
	uint64_t to;

	if (!vp_trampoline_returns(site->bytes, site->room, site->gva, &to))
		return "its return has less than the five bytes that a jump takes";
	if (to && !is_thunk(es, patches, to))
		return "it is left by a jump that is no return: another function is called in its place";
	if (!is_traced(es, patches, site->func_gva))
		return "its function has no nop for tracing: it may use registers by rules of its own";
	site->end = (struct vp_tramp_end){ VP_TRAMP_AT_RETURN, to };
	return NULL;
}

void vp_resident_place(struct vp_engine_session *es, const struct vp_patches *patches,
		       struct vp_enabled_site *site)
{
	if (!(es->open.flags & VP_OPEN_RESIDENT))
		return;
	if (site->args == VP_ARGS_FBT_RETURN)
		site->no_place = find_return(es, patches, site);
	else if (site->length == VP_TRAMP_SITE && vp_trampoline_fits(site->bytes))
		site->end = (struct vp_tramp_end){ VP_TRAMP_AT_ENTRY, site->gva + VP_TRAMP_SITE };
	else
		site->no_place = "its place is no beginning of a function with a nop for tracing";
}
