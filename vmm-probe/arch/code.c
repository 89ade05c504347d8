/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Refusing operations that need an architecture's instructions, if there is no table of them. */
#include "vmm-probe/arch/arch.h"

struct ot_err *vp_arch_code(const struct vp_arch_ops *arch, const struct vp_code_ops **ret)
{
	if (!arch->code)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "no probe can be placed in the guest's code: Outsight does not know the "
				  "instructions of the architecture %s",
				  arch->name);
	*ret = arch->code;
	return NULL;
}
