/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of keys that trampolines look up (arch/trampoline.h). A hit whose key is not in the table exits. It
 * is aggregated as any other hit, its key is added here, and the next hit with that key stays in the guest.
 * Keys are never changed or removed, so a key's place stays valid. Any thread; hit path.
 */
#ifndef VP_ENGINE_HIT_KEYED_H
#define VP_ENGINE_HIT_KEYED_H

#include "vmm-probe/arch/trampoline.h"
#include "vmm-probe/engine/hit/hit_session.h"

struct vp_keyed {
	uint64_t (*keys)[2]; /* VP_TRAMP_ENTRIES; the guest reads them */
	bool names;          /* keys are a task's name, with the bytes behind its NUL; else a number and 0 */
	uint8_t taken[VP_TRAMP_ENTRIES]; /* set by the thread that writes the key */
};

/** Every entry of @p keys becomes free; no trampoline uses it yet. */
void vp_keyed_init(struct vp_keyed *k, void *keys, bool names);

/** Does entry @p i have a key? Then it is in @p ret. */
bool vp_keyed_get(const struct vp_keyed *k, uint32_t i, uint64_t ret[2]);

/** Add a key, unless it is there or its set is full. */
void vp_keyed_add(struct vp_keyed *k, uint64_t first, uint64_t second);

/** Add the key of the hit that vCPU session @p v has just aggregated; @p number: its key, if it is one. */
void vp_keyed_learn(struct vp_vcpu_session *v, struct vp_keyed *k, uint64_t number);

#endif
