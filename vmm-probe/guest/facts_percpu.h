/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The per-CPU area of each vCPU. */
#ifndef VP_GUEST_FACTS_PERCPU_H
#define VP_GUEST_FACTS_PERCPU_H

#include "vmm-probe/arch/regs.h"
#include "vmm-probe/guest/guest.h"

/** A CPU of the kernel: its number and the base of its area (the GS base in kernel mode). */
struct vp_percpu {
	uint32_t cpu;
	uint64_t base;
};

/** Assign the bases to @p n vCPUs: first to those whose registers show it, then by number, then in order; 0:
 * none is left. See vp_facts_read(). A pure function. */
void vp_percpu_assign(const struct vp_percpu *areas, size_t nareas, const struct vp_regs *regs, uint32_t n,
		      uint64_t *ret_bases);

/** The same for a guest: areas from __per_cpu_offset[], each verified by its own this_cpu_off. On an error,
 * the areas found before it are assigned nevertheless. */
OT_MUST_CHECK struct ot_err *vp_facts_percpu_bases(struct vp_guest *guest, const struct vp_regs *regs,
						   uint32_t n, uint64_t *ret_bases);

#endif
