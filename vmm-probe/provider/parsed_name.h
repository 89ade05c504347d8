/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Common code of providers whose probes have no place and take parameters from the name in a description:
 * profile, cpc. */
#ifndef VP_PROVIDER_PARSED_NAME_H
#define VP_PROVIDER_PARSED_NAME_H

#include "vmm-probe/provider/registry.h"

/** A decimal number at *text, which is advanced behind it. False: there is none, or it is too large. */
bool vp_parsed_name_number(const char **text, uint64_t *ret);

/** Does @p desc have a name, but no module and no function, and has @p self no probe of that name yet? */
bool vp_parsed_name_is_new(struct vp_probes *probes, const struct vp_provider *self,
			   const struct dif_probedesc *desc);

#endif
