/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest memory by virtual address: page walks by the session's facts, and registers. */
#ifndef VP_ENGINE_HIT_WALK_H
#define VP_ENGINE_HIT_WALK_H

#include "vmm-probe/engine/hit/hit_session.h"

/** A register of the vCPU that is in the hit; 0: the firing has no registers. */
static inline uint64_t vp_reg(const struct vp_vcpu_session *v, enum vp_reg reg)
{
	const struct vp_engine *e = v->es->engine;

	return v->ctx ? e->ops->reg(e->backend, v->ctx, reg) : 0;
}

/** Guest memory, bounded and checked; false: not readable. Any length. Memory of a process includes pages
 * that it has not touched yet (untouched.h). */
bool vp_load_kernel(struct vp_vcpu_session *v, uint64_t gva, void *dst, uint64_t len);
bool vp_load_user(struct vp_vcpu_session *v, uint64_t gva, void *dst, uint64_t len);

/** Host address of guest physical memory, NULL: there are not @p need bytes of RAM in one piece. */
const uint8_t *vp_ram(const struct vp_vcpu_session *v, uint64_t gpa, uint64_t need);

static inline bool vp_load_u64(struct vp_vcpu_session *v, uint64_t gva, uint64_t *ret)
{
	return vp_load_kernel(v, gva, ret, sizeof(*ret));
}

/** The guest physical address of a byte of the running process's, by its page table; false: it is not there.
 */
bool vp_user_gpa(struct vp_vcpu_session *v, uint64_t gva, uint64_t *ret);

/** Host address of a byte of the kernel's, 0: not mapped or not RAM. Service thread. */
uint64_t vp_kernel_host(struct vp_engine_session *es, uint64_t gva);
/** The same by the page table as it is now, not cached. Any thread. */
uint64_t vp_kernel_host_now(const struct vp_engine_session *es, uint64_t gva);

#endif
