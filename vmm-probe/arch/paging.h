/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page tables of any architecture: a format as data, and one walk for all readers of guest memory, in a VMM
 * and in the operator's process. Plain arithmetic: no allocation, lock or system call, so the hit path uses
 * it too. Where the format is a constant (vp_native_paging) compilers fold it into the walk.
 */
#ifndef VP_ARCH_PAGING_H
#define VP_ARCH_PAGING_H

#include <stdbool.h>
#include <stdint.h>

/* A radix tree of tables, each with 1 << index_bits entries of 8 bytes. A mask of 0: the architecture has no
 * such bit. */
struct vp_paging {
	bool identity; /* no tables: each virtual address is the physical one. The fields below do not matter,
			* but for page_shift */
	uint8_t page_shift;   /* log2 of the smallest page */
	uint8_t index_bits;   /* of the address, for each level */
	uint8_t large_levels; /* an entry of levels 2 to this one may be a page; the lowest level is 1 */
	uint64_t address;     /* the physical address in an entry and in the root's register */
	uint64_t present;
	uint64_t writable;
	uint64_t user;
	uint64_t large;
	uint64_t no_execute;
	uint64_t
	    kernel_half; /* bits that are set in every address of the kernel, with any number of levels */
};

/* Where a vCPU's page tables begin. */
struct vp_page_root {
	uint64_t gpa;    /* of the top table */
	unsigned levels; /* 0: unknown */
};

/* The result of a walk; of an absent page, only `size`. */
struct vp_page {
	uint64_t gpa;    /* of its first byte */
	uint64_t size;   /* bytes that the last entry covers */
	bool writable;   /* at every level */
	bool executable; /* at every level */
};

enum vp_walk {
	VP_WALK_PAGE,
	VP_WALK_ABSENT,
	VP_WALK_UNREADABLE, /* a table could not be read, or there are no levels */
};

/** Read entry @p index of the table of @p level (the lowest is 1) at guest physical @p table; false:
 * unreadable. The address is the guest's, and so hostile. */
typedef bool vp_read_entry(void *arg, unsigned level, uint64_t table, uint64_t index, uint64_t *ret);

/**
 * Walk from the top table at @p root (bits that are no address are ignored) to the page of @p va. @p levels
 * is what the format has, at most 5, and bounds the number of entries that are read. @p need: bits without
 * all of which an entry counts as absent; `present` is among them. Any thread.
 */
static inline __attribute__((always_inline)) enum vp_walk
vp_page_walk(const struct vp_paging *p, uint64_t root, unsigned levels, uint64_t va, uint64_t need,
	     vp_read_entry *read, void *arg, struct vp_page *ret)
{
	uint64_t table = root & p->address, entry, every = ~0ull, any = 0;
	unsigned shift = p->page_shift + p->index_bits * levels;

	if (p->identity) {
		*ret = (struct vp_page){ va & ~((1ull << shift) - 1), 1ull << shift, true, true };
		return VP_WALK_PAGE;
	}
	for (unsigned level = levels; level > 0; level--) {
		shift -= p->index_bits;
		if (!read(arg, level, table, va >> shift & ((1ull << p->index_bits) - 1), &entry))
			return VP_WALK_UNREADABLE;
		if ((entry & need) != need) {
			ret->size = 1ull << shift;
			return VP_WALK_ABSENT;
		}
		every &= entry;
		any |= entry;
		table = entry & p->address;
		/* In other levels' entries the bit means something else, or is reserved. */
		if (level == 1 || (level <= p->large_levels && entry & p->large)) {
			ret->size = 1ull << shift;
			ret->gpa = table & ~(ret->size - 1);
			ret->writable = (every & p->writable) != 0;
			ret->executable = !(any & p->no_execute);
			return VP_WALK_PAGE;
		}
	}
	return VP_WALK_UNREADABLE;
}

/** Bits of a virtual address that are translated; the rest of a canonical one repeats the highest of them. */
static inline unsigned vp_address_bits(const struct vp_paging *p, unsigned levels)
{
	return p->identity ? 64 : p->page_shift + p->index_bits * levels;
}

/** Is [@p va, @p va + @p len) canonical and all in the half of the address space that bit 63 = @p high names?
 * An empty range is. */
static inline bool vp_is_in_half(const struct vp_paging *p, unsigned levels, uint64_t va, uint64_t len,
				 bool high)
{
	unsigned bits = vp_address_bits(p, levels) - 1;
	uint64_t last = va + len - 1;

	if (!len)
		return true;
	if (last < va)
		return false;
	if (p->identity)
		return true;
	return high ? va >> bits == ~0ull >> bits : last >> bits == 0;
}

/** Is @p va canonical? */
static inline bool vp_is_canonical(const struct vp_paging *p, unsigned levels, uint64_t va)
{
	unsigned shift = 64 - vp_address_bits(p, levels);

	return (uint64_t)((int64_t)(va << shift) >> shift) == va;
}

#endif
