/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Constants for finding the copies of a process's memory. */
#ifndef VP_GUEST_FACTS_FAMILIES_H
#define VP_GUEST_FACTS_FAMILIES_H

#include "vmm-probe/engine/wire/facts.h"
#include "vmm-probe/guest/guest.h"

/** All of these constants, or none: then ret->init_task is 0. */
void vp_facts_families(struct vp_guest *guest, struct vp_family_facts *ret);

#endif
