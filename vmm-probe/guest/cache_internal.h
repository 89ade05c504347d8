/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by cache.c and cache_hash.c. */
#ifndef VP_GUEST_CACHE_INTERNAL_H
#define VP_GUEST_CACHE_INTERNAL_H

#include "vmm-probe/guest/cache.h"

void vp_cache_hash_key(struct vp_cache_hash *hash, const uint64_t key[2]);

#endif
