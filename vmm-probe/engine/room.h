/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is anything of the guest in the room of its resident probes? A task that was interrupted in a trampoline
 * returns there whenever it runs again, so the room may be used again, or taken away, only if nothing on any
 * kernel stack could be an address in it, and no vCPU is there.
 *
 * The stacks of interrupts and exceptions are not read: a vCPU is only taken for outside if it is in user
 * mode, or uses the stack of its task, from which the kernel has then not switched to another one.
 *
 * By the facts of a session that may have ended, and without a cache: any thread.
 */
#ifndef VP_ENGINE_ROOM_H
#define VP_ENGINE_ROOM_H

#include "vmm-probe/engine/backend.h"
#include "vmm-probe/engine/wire/facts.h"

/* All members but the first five are the search's own. */
struct vp_room_search {
	const struct vp_facts *facts;
	void *(*gpa_to_host)(void *backend, uint64_t gpa, uint64_t *ret_len);
	void *backend;
	uint64_t from, size; /* the room's code, by guest address */
	uint64_t end_ns;
	uint32_t tasks;
};

/** Is enough known of the kernel for that? Without it nothing is ever taken for outside. */
bool vp_room_can_search(const struct vp_facts *facts);
/** Is @p vcpu outside, with @p regs, and nothing of its task's stack leads there? Takes microseconds. */
bool vp_room_vcpu_is_out(struct vp_room_search *s, uint32_t vcpu, const struct vp_regs *regs);
/** Are all vCPUs, which are held, and all tasks? @p n registers, by vCPU. Takes 50 ms at most. */
bool vp_room_is_empty(struct vp_room_search *s, const struct vp_regs *regs, uint32_t n);

#endif
