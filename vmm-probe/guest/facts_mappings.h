/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Constants for finding a process's mappings and the pages of their files at a hit. */
#ifndef VP_GUEST_FACTS_MAPPINGS_H
#define VP_GUEST_FACTS_MAPPINGS_H

#include "vmm-probe/engine/wire/facts.h"
#include "vmm-probe/guest/guest.h"

/** All of these constants, or none: then ret->vmemmap is 0. */
void vp_facts_mappings(struct vp_guest *guest, struct vp_mapping_facts *ret);

#endif
