/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Constants for code that the guest executes itself. */
#ifndef VP_GUEST_FACTS_RESIDENT_H
#define VP_GUEST_FACTS_RESIDENT_H

#include "vmm-probe/engine/wire/facts.h"
#include "vmm-probe/guest/guest.h"

/** All of these constants, or none: then ret->image_end is 0. */
void vp_facts_resident(struct vp_guest *guest, struct vp_resident_facts *ret);

#endif
