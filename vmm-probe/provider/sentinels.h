/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sentinels: the functions with which a guest's kernel reads and patches its own text, and their entries and
 * exits; and those in which it is seen what the guest loads and maps. */
#ifndef VP_PROVIDER_SENTINELS_H
#define VP_PROVIDER_SENTINELS_H

#include "vmm-probe/provider/provider.h"

/* The purposes of sentinels. */
struct vp_sentinels_wish {
	bool text;    /* traps will be in the guest's text */
	bool keys;    /* … and on branches on static keys */
	bool modules; /* modules that come and go are reported; no sites if this kernel can't be watched */
	bool maps;    /* what processes map is reported; the same */
};

/**
 * Sentinels for all of those functions that this kernel has; none: it has no function that patches text. @p
 * traps (VP_TRAPS_*): the traps that the engine can plant; 0: it changes no text. *ret is owned by the caller
 * (free()). UNSUPPORTED: the kernel can patch itself undetected; the message names the function.
 */
OT_MUST_CHECK struct ot_err *vp_sentinels_find(struct vp_probes *probes, uint32_t traps,
					       const struct vp_sentinels_wish *wish,
					       struct vp_batch_site **ret, uint32_t *ret_count);

/** Can traps be on branches on static keys? UNSUPPORTED: no, with the reason. */
OT_MUST_CHECK struct ot_err *vp_sentinels_check_keys(struct vp_probes *probes, uint32_t traps);

#endif
