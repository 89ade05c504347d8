/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions with which a guest's kernel looks at and patches its own text, and where they begin and end.
 */
#ifndef VP_PROVIDER_SENTINELS_H
#define VP_PROVIDER_SENTINELS_H

#include "vmm-probe/provider/provider.h"

/**
 * Sentinels for all of those functions that this kernel has; none: it has nothing that patches. @p traps
 * (VP_TRAPS_*) is what the engine can plant. *ret is owned by the caller (free()).
 * UNSUPPORTED: the kernel can patch itself in a way that would go unnoticed; says which function it is.
 */
OT_MUST_CHECK struct ot_err *vp_sentinels_find(struct vp_probes *probes, uint32_t traps,
					       struct vp_batch_site **ret, uint32_t *ret_count);

#endif
