/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of keys that trampolines look up (arch/trampoline.h). A hit whose key is not in the table exits. It
 * is aggregated as any other hit, its key is added here, and the next hit with that key stays in the guest.
 * Keys are never changed or removed, so a key's place stays valid. Any thread; hit path.
 *
 * The engine knows a key by the words of its elements, in their order (vp_vcpu_session.key); the table has
 * execname's first, or the first number and 0, and no probe's names (struct vp_tramp_table).
 */
#ifndef VP_ENGINE_HIT_KEYED_H
#define VP_ENGINE_HIT_KEYED_H

#include "vmm-probe/arch/trampoline.h"
#include "vmm-probe/engine/hit/hit_session.h"

#define VP_KEYED_NONE 0xffu

struct vp_keyed {
	uint64_t *keys;           /* the guest reads them */
	uint8_t nwords, sets_log; /* of a key; 2^n sets */
	uint8_t name; /* the first word of the engine's key that is execname's; NONE: it has none */
	uint8_t from[VP_TRAMP_KEY_WORDS]; /* the engine's word that is the table's; NONE: 0, or the name's */
	uint8_t taken[VP_TRAMP_ENTRIES];  /* set by the thread that writes the key */
};

/** Every entry of @p k, whose other members are set, becomes free; no trampoline uses it yet. */
void vp_keyed_init(struct vp_keyed *k);

/** Does entry @p i have a key? Then it is in @p ret, as the engine knows it; a name with the bytes behind its
 * NUL, and 0 for a probe's name. */
bool vp_keyed_get(const struct vp_keyed *k, uint32_t i, uint64_t ret[VP_KEY_WORDS]);

/** Add a key by the table's words, unless it is there or its set is full. */
void vp_keyed_add(struct vp_keyed *k, const uint64_t words[VP_TRAMP_KEY_WORDS]);

/** Add the key of the hit that vCPU session @p v has just aggregated, v->key. */
void vp_keyed_learn(struct vp_vcpu_session *v, struct vp_keyed *k);

#endif
