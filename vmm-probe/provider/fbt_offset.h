/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fbt::FUNCTION:OFFSET: one instruction of a function, by its offset in hexadecimal digits, as the pid
 * provider of DTrace names instructions. It has no arguments; regs[] are as before the instruction. */
#ifndef VP_PROVIDER_FBT_OFFSET_H
#define VP_PROVIDER_FBT_OFFSET_H

#include "vmm-probe/provider/registry.h"

/** As a provider's provide(): for a description with a function's name and such an offset, a probe of each
 * function of that name. An offset inside an instruction is refused; the reason names the nearest valid
 * ones. */
OT_MUST_CHECK struct ot_err *vp_fbt_provide(struct vp_probes *probes, const struct vp_provider *self,
					    const struct dif_probedesc *desc);

/** Is it such a probe? */
bool vp_fbt_is_offset(const struct vp_probe *probe);

/** As a provider's sites(), of such a probe. BAD_DATA: the text has changed. */
OT_MUST_CHECK struct ot_err *vp_fbt_offset_site(struct vp_probes *probes, const struct vp_probe *probe,
						struct vp_batch_site **ret, uint32_t *ret_count);

#endif
