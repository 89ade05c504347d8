/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was found out about a kernel, kept by its build id: symbols relative to the KASLR base, and where
 * their tables are. (BTF and ORC tables lie in the guest as they are; reading them there costs what a
 * file would, and can't be forged for another guest.) An entry only holds for a guest whose RAM has the very
 * same tables: the entry carries a keyed hash of them, compared with the guest's at every use. A guest that
 * forges another kernel's build id can therefore not poison what another guest gets.
 */
#ifndef VP_GUEST_CACHE_H
#define VP_GUEST_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/kallsyms.h"

#define VP_CACHE_REGIONS 4

/* A piece of the image whose bytes are the same at every boot of that kernel. */
struct vp_cache_region {
	uint64_t offset; /* from the KASLR base */
	uint64_t size;
};

struct vp_cache_entry {
	struct vp_cache_region regions[VP_CACHE_REGIONS]; /* what the symbols were made from */
	size_t nregions;
	uint64_t hash; /* of the regions' bytes, keyed; vp_cache_hash() */
	/* Symbols as decoded, addresses relative to the base (absolute and per-CPU ones as they are). */
	struct vp_kallsym *syms;
	size_t nsyms;
	char *names;
	size_t names_size;
};

struct vp_cache;

/** Open the cache in @p dir (an absolute path; made with mode 0700 if it is not there), or, with NULL, in
 * ${XDG_CACHE_HOME:-~/.cache}/outsight. PERMISSION when it belongs to someone else or others may write. */
OT_MUST_CHECK struct ot_err *vp_cache_open(const char *dir, struct vp_cache **ret);
void vp_cache_close(struct vp_cache *cache);

/** A hash (SipHash-2-4 under this cache's secret key), fed in pieces. */
struct vp_cache_hash {
	uint64_t v[4];
	uint64_t total;
	uint8_t tail[8];
};
void vp_cache_hash_init(const struct vp_cache *cache, struct vp_cache_hash *hash);
void vp_cache_hash_add(struct vp_cache_hash *hash, const void *data, size_t len);
uint64_t vp_cache_hash_end(struct vp_cache_hash *hash);

/** The entry of a build id, owned by the caller. NOT_FOUND when there is none or it is broken. */
OT_MUST_CHECK struct ot_err *vp_cache_load(const struct vp_cache *cache, const uint8_t *build_id, size_t len,
					   struct vp_cache_entry *ret);
/** Write it, replacing what is there at once or not at all. */
OT_MUST_CHECK struct ot_err *vp_cache_store(const struct vp_cache *cache, const uint8_t *build_id, size_t len,
					    const struct vp_cache_entry *entry);
void vp_cache_entry_deinit(struct vp_cache_entry *entry);

#endif
