/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of the guest for each of which a definition `probe *:NAME` makes a probe (definition.h). */
#ifndef VP_PROVIDER_MEMBERS_H
#define VP_PROVIDER_MEMBERS_H

#include "vmm-probe/provider/registry.h"

struct vp_member {
	const char *name;  /* the probe's function */
	const char *value; /* `$1` in its definition */
};

struct vp_members {
	struct vp_member *list; /* all of it lives as long as the registry */
	size_t count;
};

/** The guest's slab caches by name, `$1` being the address of their struct kmem_cache; none if the guest has
 * no list of them that can be read. Characters that a description can't contain are `_`. */
OT_MUST_CHECK struct ot_err *vp_members_slab_caches(struct vp_probes *probes, struct vp_members *ret);

#endif
