/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoded symbols of kernels, stored by build id: addresses relative to the KASLR base, and the location of
 * the tables that they were decoded from. (BTF and ORC tables need no decoding; reading them from the guest
 * costs as much as from a file and can't be forged for another guest.) An entry is used only for a guest
 * whose RAM contains the same tables: it has a keyed hash of them, which is compared with the guest's at
 * every use. So a guest that forges another kernel's build id can't poison the entries of other guests.
 *
 * What came of a file that the operator named is stored beside them, by the file's build id.
 */
#ifndef VP_GUEST_CACHE_H
#define VP_GUEST_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "vmm-probe/guest/kallsyms.h"

#define VP_CACHE_REGIONS 4

/* A part of the image whose bytes are the same at every boot of that kernel. */
struct vp_cache_region {
	uint64_t offset; /* from the KASLR base */
	uint64_t size;
};

struct vp_cache_entry {
	struct vp_cache_region regions[VP_CACHE_REGIONS]; /* from which the symbols were decoded */
	size_t nregions;
	uint64_t hash; /* of the regions' bytes, keyed; vp_cache_hash_init() */
	/* Decoded symbols, addresses relative to the base (absolute and per-CPU ones unchanged). */
	struct vp_kallsym *syms;
	size_t nsyms;
	char *names;
	size_t names_size;
};

struct vp_cache;

/** Open the cache in @p dir (an absolute path; created with mode 0700 if absent), or, with NULL, in
 * ${XDG_CACHE_HOME:-~/.cache}/outsight. PERMISSION: another user owns it, or others may write to it. */
OT_MUST_CHECK struct ot_err *vp_cache_open(const char *dir, struct vp_cache **ret);
void vp_cache_close(struct vp_cache *cache);

/** Begin a hash with this cache's secret key. */
void vp_cache_hash_init(const struct vp_cache *cache, struct ot_siphash24 *hash);

/** The entry of a build id, owned by the caller. NOT_FOUND: there is none, or it is invalid. */
OT_MUST_CHECK struct ot_err *vp_cache_load(const struct vp_cache *cache, const uint8_t *build_id, size_t len,
					   struct vp_cache_entry *ret);
/** Write an entry; an existing one is replaced atomically. */
OT_MUST_CHECK struct ot_err *vp_cache_store(const struct vp_cache *cache, const uint8_t *build_id, size_t len,
					    const struct vp_cache_entry *entry);
void vp_cache_entry_deinit(struct vp_cache_entry *entry);

/** A file of another kind about the kernel of that build id: @p kind is its name's suffix ("syms" are the
 * entries above). What is read is what this user's outsight has written. *ret is owned by the caller.
 * NOT_FOUND: there is none, or it is invalid. */
OT_MUST_CHECK struct ot_err *vp_cache_read(const struct vp_cache *cache, const uint8_t *build_id, size_t len,
					   const char *kind, char **ret, size_t *ret_len);
OT_MUST_CHECK struct ot_err *vp_cache_write(const struct vp_cache *cache, const uint8_t *build_id, size_t len,
					    const char *kind, const void *data, size_t data_len);

#endif
