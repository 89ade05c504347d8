/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where each vCPU's per-CPU area is. */
#ifndef VP_GUEST_FACTS_PERCPU_H
#define VP_GUEST_FACTS_PERCPU_H

#include "vmm-probe/engine/wire/regs.h"
#include "vmm-probe/guest/guest.h"

/** A CPU of the kernel's: its number and the base of its area (what GS holds in the kernel). */
struct vp_percpu {
	uint32_t cpu;
	uint64_t base;
};

/** Which base belongs to which of @p n vCPUs: first those whose registers show it, then by number, then in
 * order; 0: none left. Pure; vp_facts_read()'s contract says how. */
void vp_percpu_assign(const struct vp_percpu *areas, size_t nareas, const struct vp_regs *regs, uint32_t n,
		      uint64_t *ret_bases);

/** The same for a guest: areas from __per_cpu_offset[], each proven by its own this_cpu_off. */
void vp_facts_percpu_bases(struct vp_guest *guest, const struct vp_regs *regs, uint32_t n,
			   uint64_t *ret_bases);

#endif
