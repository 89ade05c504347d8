/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An architecture without instructions: no function has a place for a trampoline. */
#include "vmm-probe/arch/trampoline.h"

struct ot_err *vp_trampoline_emit(const struct vp_tramp_op *ops, uint32_t nops,
				  const struct vp_tramp_world *world, uint64_t at, uint64_t back,
				  struct vp_tramp_code *code)
{
	(void)ops;
	(void)nops;
	(void)world;
	(void)at;
	(void)back;
	(void)code;
	return ot_err_new(OT_ERR_UNSUPPORTED, "this architecture has no trampolines");
}

bool vp_trampoline_fits(const uint8_t *code)
{
	(void)code;
	return false;
}

bool vp_trampoline_jump(uint64_t site, uint64_t at, uint8_t ret[VP_TRAMP_SITE])
{
	(void)site;
	(void)at;
	(void)ret;
	return false;
}
