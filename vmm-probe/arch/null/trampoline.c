/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An architecture without instructions: no function has a place for a trampoline. */
#include "vmm-probe/arch/trampoline.h"
#include "vmm-probe/arch/return_thunk.h"

struct ot_err *vp_trampoline_emit(const struct vp_tramp_op *ops, uint32_t nops,
				  const struct vp_tramp_world *world, uint64_t at,
				  const struct vp_tramp_end *end, struct vp_tramp_code *code)
{
	(void)ops;
	(void)nops;
	(void)world;
	(void)at;
	(void)end;
	(void)code;
	return ot_err_new(OT_ERR_UNSUPPORTED, "this architecture has no trampolines");
}

bool vp_trampoline_fits(const uint8_t *code)
{
	(void)code;
	return false;
}

bool vp_trampoline_is_traced(const uint8_t *code, uint64_t len)
{
	(void)code;
	(void)len;
	return false;
}

bool vp_trampoline_returns(const uint8_t *code, uint8_t room, uint64_t site, uint64_t *ret_to)
{
	(void)code;
	(void)room;
	(void)site;
	(void)ret_to;
	return false;
}

enum vp_thunk vp_return_thunk(const uint8_t code[VP_THUNK_BYTES], uint64_t at, bool called,
			      uint64_t *ret_next)
{
	(void)code;
	(void)at;
	(void)called;
	(void)ret_next;
	return VP_THUNK_NONE;
}

bool vp_trampoline_jump(uint64_t site, uint64_t at, uint8_t ret[VP_TRAMP_SITE])
{
	(void)site;
	(void)at;
	(void)ret;
	return false;
}
