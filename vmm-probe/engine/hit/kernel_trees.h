/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-ups in the kernel's trees (engine/wire/kernel_trees.h), by vp_facts.mappings. Hit path. A tree is the
 * guest's, and may change while it is read: each walk ends after a bounded number of loads, and its result
 * may be any number. The caller checks it.
 */
#ifndef VP_ENGINE_HIT_KERNEL_TREES_H
#define VP_ENGINE_HIT_KERNEL_TREES_H

#include "vmm-probe/engine/hit/hit_session.h"

/** The entry of @p index in the xarray whose member xa_head is at @p head. False: there is none, or it is not
 * an address. */
bool vp_xarray_find(struct vp_vcpu_session *v, uint64_t head, uint64_t index, uint64_t *ret);

/** The entry of @p key in the maple tree whose root is at @p root. False: there is none, or it is no address.
 */
bool vp_maple_find(struct vp_vcpu_session *v, uint64_t root, uint64_t key, uint64_t *ret);

/** The struct vm_area_struct of @p gva in the red-black tree whose root is at @p root. False: there is none.
 */
bool vp_rb_find_vma(struct vp_vcpu_session *v, uint64_t root, uint64_t gva, uint64_t *ret);

#endif
