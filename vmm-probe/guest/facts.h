/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an engine must know of a guest (struct vp_facts), found from the guest's types and symbols.
 * By presence: whatever this kernel does not have stays VP_NO_OFFSET.
 */
#ifndef VP_GUEST_FACTS_H
#define VP_GUEST_FACTS_H

#include "vmm-probe/engine/wire/facts.h"
#include "vmm-probe/engine/wire/regs.h"
#include "vmm-probe/guest/guest.h"

/**
 * Fill *ret (guest_id and guest_name stay as they are). @p regs: snapshots of the guest's @p nvcpus
 * vCPUs, in order; an entry with valid == 0 could not be had. May be NULL.
 *
 * percpu_base[n] belongs to vCPU n. Which of the kernel's CPUs that is: the one whose per-CPU area
 * the vCPU's GS base (or, in user mode, its kernel GS base) points at; else the one of the same
 * number, unless another vCPU is known to be it.
 *
 * UNSUPPORTED: no BTF, so nothing is known but the page table and the text; those are filled all the
 * same, so a caller may go on with a warning.
 */
OT_MUST_CHECK struct ot_err *vp_facts_read(struct vp_guest *guest, const struct vp_regs *regs,
					   uint32_t nvcpus, struct vp_facts *ret);

/** Facts of no guest at all: everything absent. */
void vp_facts_none(struct vp_facts *ret);

#endif
