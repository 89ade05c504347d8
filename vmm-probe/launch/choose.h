/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice of the VMM for a guest to trace on this host. */
#ifndef VP_LAUNCH_CHOOSE_H
#define VP_LAUNCH_CHOOSE_H

#include "vmm-probe/launch/launch.h"

enum vp_vmm {
	VP_VMM_AUTO, /* the best for this host */
	VP_VMM_BUILTIN,
	VP_VMM_QEMU,
};

/**
 * Set opts->builtin, with the reason in @p why: "kvm: …" or "tcg: …". AUTO is the builtin monitor where this
 * host's KVM, tried out with a tiny guest, is good for a stock kernel and no option was given that only QEMU
 * has; else QEMU's translator; without a QEMU, KVM if a probe can be planted there at all. vp_launch() then
 * reports the missing parts. UNSUPPORTED: the builtin monitor was requested, and this host's KVM, tried out,
 * can't run such a kernel.
 */
OT_MUST_CHECK struct ot_err *vp_launch_choose(enum vp_vmm asked, struct vp_launch_opts *opts, char *why,
					      size_t size);

#endif
