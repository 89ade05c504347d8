/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The aggregation table of one half of a vCPU's buffer. Slots are private and open-addressed; entries are
 * appended to shared memory. If the peer overwrites an entry, a lookup may miss, or an update may change
 * wrong words of this buffer, but never memory outside it.
 */
#include <string.h>

#include "dif/vm/agg.h"
#include "dif/vm/hash.h"

#define ENTRY_HEADER 16
#define PROBES_MAX   256 /* slots visited by a lookup; then it is a drop */

struct entry_header {
	uint32_t epid;
	uint32_t tuple_size;
	uint32_t nwords;
	uint32_t shape;
};
_Static_assert(sizeof(struct entry_header) == ENTRY_HEADER, "described in agg.h");

void dif_aggtab_reset(struct dif_aggtab *tab)
{
	if (tab->nentries)
		memset(tab->slots, 0, tab->nslots * sizeof(*tab->slots));
	tab->nentries = 0;
	tab->used = 0;
	memset(tab->single, 0, sizeof(tab->single));
	memset(tab->recent, 0, sizeof(tab->recent));
}

/* Append an entry; returns its words; NULL: no room. */
static uint64_t *append(struct dif_aggtab *tab, const struct dif_agg_layout *layout, const void *tuple,
			uint32_t epid)
{
	size_t need = ENTRY_HEADER + (size_t)layout->data_offset + 8 * (size_t)layout->nwords;
	struct entry_header head = { epid, layout->tuple_size, layout->nwords, layout->shape };

	if (need > tab->size - tab->used || tab->nentries >= tab->nslots - tab->nslots / 8)
		return NULL;
	uint8_t *at = tab->mem + tab->used;
	memcpy(at, &head, sizeof(head));
	memcpy(at + ENTRY_HEADER, tuple, layout->tuple_size);
	memset(at + ENTRY_HEADER + layout->tuple_size, 0, layout->data_offset - layout->tuple_size);
	tab->used += need;
	tab->nentries++;
	return (uint64_t *)(void *)(at + ENTRY_HEADER + layout->data_offset);
}

/* The words of the entry at @offset if it is @tuple's, else NULL. Sizes are taken from the layout; those in
 * the entry are only compared. */
static uint64_t *match(const struct dif_aggtab *tab, size_t offset, const struct dif_agg_layout *layout,
		       const void *tuple)
{
	size_t need = ENTRY_HEADER + (size_t)layout->data_offset + 8 * (size_t)layout->nwords;
	struct entry_header head;

	if (need > tab->used - offset)
		return NULL;
	uint8_t *at = tab->mem + offset;
	memcpy(&head, at, sizeof(head));
	if (head.tuple_size != layout->tuple_size || head.nwords != layout->nwords ||
	    head.shape != layout->shape || memcmp(at + ENTRY_HEADER, tuple, layout->tuple_size) != 0)
		return NULL;
	return (uint64_t *)(void *)(at + ENTRY_HEADER + layout->data_offset);
}

uint64_t *dif_aggtab_lookup(struct dif_aggtab *tab, const struct dif_agg_layout *layout,
			    enum dif_agg_kind kind, uint64_t arg, const void *tuple, uint32_t epid)
{
	uint64_t wide = dif_hash64(tuple, dif_bytes_in_use(tuple, layout->tuple_size), tab->seed);
	uint32_t hash = (uint32_t)wide, i = (uint32_t)(wide >> 32) & (tab->nslots - 1);

	for (unsigned n = 0; n < PROBES_MAX; n++, i = (i + 1) & (tab->nslots - 1)) {
		struct dif_aggtab_slot *slot = &tab->slots[i];
		if (!slot->offset) {
			size_t offset = tab->used;
			uint64_t *words = append(tab, layout, tuple, epid);
			if (!words)
				return NULL;
			*slot = (struct dif_aggtab_slot){ hash, (uint32_t)(offset / 8) + 1 };
			dif_agg_init(kind, arg, words);
			return words;
		}
		if (slot->hash == hash) {
			uint64_t *words = match(tab, ((size_t)slot->offset - 1) * 8, layout, tuple);
			if (words)
				return words;
		}
	}
	return NULL;
}

bool dif_aggtab_next(const void *mem, size_t used, size_t *pos, struct dif_aggtab_entry *ret)
{
	struct entry_header head;

	if (*pos > used || used - *pos < ENTRY_HEADER)
		return false;
	const uint8_t *at = (const uint8_t *)mem + *pos;
	size_t left = used - *pos - ENTRY_HEADER;
	memcpy(&head, at, sizeof(head));
	uint64_t data = ((uint64_t)head.tuple_size + 7) & ~7ull, bytes = data + 8ull * head.nwords;
	if (head.tuple_size < 4 || !head.nwords || bytes > left)
		return false;
	ret->epid = head.epid;
	ret->tuple_size = head.tuple_size;
	ret->nwords = head.nwords;
	ret->shape = head.shape;
	ret->tuple = at + ENTRY_HEADER;
	ret->words = (const uint64_t *)(const void *)(at + ENTRY_HEADER + data);
	*pos += ENTRY_HEADER + (size_t)bytes;
	return true;
}
