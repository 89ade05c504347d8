/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of cpc's probes: EVENT-MODE-COUNT. */
#ifndef VP_PROVIDER_CPC_NAME_H
#define VP_PROVIDER_CPC_NAME_H

#include <stddef.h>

#include "base/buf.h"
#include "vmm-probe/engine/wire/cpc.h"

/** The event that probe @p name fires on. False: it is not a name of this provider. */
bool vp_cpc_parse(const char *name, struct vp_cpc_event *ret);

/** Append the error in @p name. False: it does not resemble a name of this provider. */
bool vp_cpc_hint(const char *name, struct ot_buf *out);

/** The name of the @p i-th event; NULL: there are no more. */
const char *vp_cpc_event_name(size_t i);

#endif
