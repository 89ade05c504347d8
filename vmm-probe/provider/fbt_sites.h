/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites of a function in the guest's kernel; fbt's, and whatever is built on functions. */
#ifndef VP_PROVIDER_FBT_SITES_H
#define VP_PROVIDER_FBT_SITES_H

#include "vmm-probe/provider/provider.h"

/** Where function probe->gva is entered. *ret is owned by the caller (free()). */
OT_MUST_CHECK struct ot_err *vp_fbt_entry_site(struct vp_probes *probes, const struct vp_probe *probe,
					       struct vp_batch_site **ret, uint32_t *ret_count);

/**
 * Where it is left, its .cold part included; none for a function that never returns. At a tail jump the
 * callee has not run yet: rax, and so a return probe's arg1, is what it happens to be there.
 * Conditional tail jumps, which no C compiler makes for a kernel, are not among the sites.
 */
OT_MUST_CHECK struct ot_err *vp_fbt_return_sites(struct vp_probes *probes, const struct vp_probe *probe,
						 struct vp_batch_site **ret, uint32_t *ret_count);

/**
 * The same of a system call's function, which in a third of all cases ends by a tail call: __x64_sys_read
 * jumps to ksys_read. Followed, if the probe has a number: the sites are the ends of what is jumped to,
 * with the condition (vp_batch_site.syscall) that tells them from other uses of that code.
 */
OT_MUST_CHECK struct ot_err *vp_syscall_return_sites(struct vp_probes *probes, const struct vp_probe *probe,
						     struct vp_batch_site **ret, uint32_t *ret_count);

#endif
