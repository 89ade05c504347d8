/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of fbt's args[], by the function's prototype in the guest's BTF. */
#ifndef VP_PROVIDER_FBT_ARGS_H
#define VP_PROVIDER_FBT_ARGS_H

#include "vmm-probe/provider/provider.h"

/** entry: args[n] is the n-th parameter. return: args[0] the offset in the function, args[1] its result
 * (void functions have none). As vp_probes_arg() and vp_probes_nargs(). */
bool vp_fbt_arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
		struct dif_type **ret_type, unsigned *ret_mapping);
int vp_fbt_nargs(struct vp_probes *probes, const struct vp_probe *probe);

#endif
