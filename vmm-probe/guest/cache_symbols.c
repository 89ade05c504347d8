/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoded symbols as files of the cache. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/guest/cache.h"

#define MAGIC_CHARS 'O', 'T', 'S', 'Y', 'M', 'S', '0', '1'
#define SYMBOLS     "syms"
#define NAMES_MAX   (256u << 20)

/* The start of a file. Regions, symbols and names follow. */
struct header {
	char magic[8];
	uint64_t hash;
	uint64_t nregions, nsyms, names_size;
};

/* A symbol in a file. */
struct record {
	uint64_t addr;
	uint32_t name;
	uint32_t type;
};

/* The file's hash matches, so we wrote it; sizes are checked nevertheless. */
static struct ot_err *parse(const char *data, size_t len, struct vp_cache_entry *ret)
{
	struct vp_cache_entry entry = { 0 };
	static const char magic[8] = { MAGIC_CHARS };
	struct header head;
	size_t want;

	memcpy(&head, data, sizeof(head));
	if (memcmp(head.magic, magic, sizeof(magic)) != 0 || head.nregions > VP_CACHE_REGIONS ||
	    !head.nsyms || head.nsyms > VP_KALLSYMS_MAX || !head.names_size || head.names_size > NAMES_MAX)
		return ot_err_new(OT_ERR_NOT_FOUND, "a file of the cache is broken");
	want = sizeof(head) + head.nregions * sizeof(entry.regions[0]) + head.nsyms * sizeof(struct record) +
	       head.names_size;
	if (len != want || data[len - 1] != '\0')
		return ot_err_new(OT_ERR_NOT_FOUND, "a file of the cache is broken");
	entry.nregions = head.nregions;
	entry.hash = head.hash;
	entry.nsyms = head.nsyms;
	entry.names_size = head.names_size;
	data += sizeof(head);
	memcpy(entry.regions, data, head.nregions * sizeof(entry.regions[0]));
	data += head.nregions * sizeof(entry.regions[0]);
	entry.syms = calloc(head.nsyms, sizeof(*entry.syms));
	entry.names = malloc(head.names_size);
	if (!entry.syms || !entry.names) {
		vp_cache_entry_deinit(&entry);
		return ot_err_nomem();
	}
	for (size_t i = 0; i < head.nsyms; i++) {
		struct record r;

		memcpy(&r, data + i * sizeof(r), sizeof(r));
		if (r.name >= head.names_size)
			r.name = (uint32_t)head.names_size - 1; /* an empty name */
		entry.syms[i] = (struct vp_kallsym){ r.addr, r.name, (char)r.type };
	}
	memcpy(entry.names, data + head.nsyms * sizeof(struct record), head.names_size);
	*ret = entry;
	return NULL;
}

struct ot_err *vp_cache_load(const struct vp_cache *cache, const uint8_t *build_id, size_t len,
			     struct vp_cache_entry *ret)
{
	ot_auto_free char *data = NULL;
	size_t size;

	OT_TRY(vp_cache_read(cache, build_id, len, SYMBOLS, &data, &size));
	if (size < sizeof(struct header))
		return ot_err_new(OT_ERR_NOT_FOUND, "a file of the cache is broken");
	return parse(data, size, ret);
}

struct ot_err *vp_cache_store(const struct vp_cache *cache, const uint8_t *build_id, size_t len,
			      const struct vp_cache_entry *entry)
{
	ot_auto(ot_buf_deinit) struct ot_buf buf;
	struct header head = { .magic = { MAGIC_CHARS },
			       .hash = entry->hash,
			       .nregions = entry->nregions,
			       .nsyms = entry->nsyms,
			       .names_size = entry->names_size };

	ot_buf_init(&buf);
	ot_buf_append(&buf, &head, sizeof(head));
	ot_buf_append(&buf, entry->regions, entry->nregions * sizeof(entry->regions[0]));
	for (size_t i = 0; i < entry->nsyms; i++) {
		struct record r = { entry->syms[i].addr, entry->syms[i].name, (uint8_t)entry->syms[i].type };

		ot_buf_append(&buf, &r, sizeof(r));
	}
	ot_buf_append(&buf, entry->names, entry->names_size);
	if (buf.failed)
		return ot_err_nomem();
	return vp_cache_write(cache, build_id, len, SYMBOLS, buf.data, buf.len);
}

void vp_cache_entry_deinit(struct vp_cache_entry *entry)
{
	free(entry->syms);
	free(entry->names);
	memset(entry, 0, sizeof(*entry));
}
