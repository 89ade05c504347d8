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

#endif
