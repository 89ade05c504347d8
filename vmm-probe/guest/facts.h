/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The constants of a guest that an engine needs (struct vp_facts), from the guest's types and symbols. By
 * presence: an offset that this kernel lacks is VP_NO_OFFSET.
 */
#ifndef VP_GUEST_FACTS_H
#define VP_GUEST_FACTS_H

#include "vmm-probe/arch/regs.h"
#include "vmm-probe/engine/wire/facts.h"
#include "vmm-probe/guest/guest.h"

/**
 * Fill *ret (guest_id and guest_name are unchanged). @p regs: register snapshots of the guest's @p nvcpus
 * vCPUs, in order, with valid == 0 for those that could not be read. May be NULL.
 *
 * percpu_base[n] belongs to vCPU n, that is, to the kernel's CPU whose per-CPU area the vCPU's GS base (in
 * user mode: its kernel GS base) points to; if the registers don't show it, to the CPU of the same number,
 * unless another vCPU is that CPU.
 *
 * UNSUPPORTED: no BTF, so only the page table and the text are known; these are filled in nevertheless, so a
 * caller may continue with a warning.
 */
OT_MUST_CHECK struct ot_err *vp_facts_read(struct vp_guest *guest, const struct vp_regs *regs,
					   uint32_t nvcpus, struct vp_facts *ret);

/** Facts without a guest: everything absent. */
void vp_facts_none(struct vp_facts *ret);

#endif
