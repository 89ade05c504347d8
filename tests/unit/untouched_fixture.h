/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of the engine fixture with mappings, and a file with pages in a made-up page cache, for tests of
 * engine/hit/untouched.c. Its page table has none of it.
 *
 *   task 90 ── MM ── mappings: a file, memory without a file, the kernel's own
 *   FILE ── MAPPING ── pages 16, 20 to 23 (one folio) and 70, in a tree of two levels
 */
#ifndef TESTS_UNIT_UNTOUCHED_FIXTURE_H
#define TESTS_UNIT_UNTOUCHED_FIXTURE_H

#include "tests/unit/engine_fixture.h"

#define UT_DATA       0xffff888000300000ull /* of the kernel's: two pages of structures */
#define UT_NODES      0xffff888000310000ull /* four pages of trees' nodes */
#define UT_PGD        0xffff888000320000ull /* the process's page table, as the kernel has it mapped */
#define UT_PAGES      0xffffea0000000000ull /* struct page, of all RAM */
#define UT_MM         (UT_DATA + 0x100)
#define UT_FILE_AT    (UT_DATA + 0x200)
#define UT_MAPPING    (UT_DATA + 0x300)
#define UT_VMA(n)     (UT_DATA + 0x400 + 0x80 * (n))
#define UT_MAPLE(n)   (UT_NODES + 0x100 * (n)) /* 0: the top, 1 and 2: leaves */
#define UT_XA(n)      (UT_NODES + 0x1000 + 0x400 * (n))
#define UT_OF_FILE    0x500000ull /* from page 16 of the file on */
#define UT_OF_NOTHING 0x600000ull
#define UT_OF_KERNEL  0x700000ull
#define UT_LENGTH     0x80000ull
#define UT_FIRST      16u /* page of the file */
#define UT_AT(page)   (UT_OF_FILE + ((page)-UT_FIRST) * VP_FAKE_PAGE)

enum { UT_MM_PGD = 0, UT_MM_TREE = 8, UT_MM_RB = 16 };
enum {
	UT_START = 0,
	UT_END = 8,
	UT_FLAGS = 16,
	UT_PGOFF = 24,
	UT_FILE_OF = 32,
	UT_OPS = 40,
	UT_UFFD = 48,
	UT_RB = 56,
	UT_ANON = 80
};
enum { UT_RIGHT = 8, UT_LEFT = 16, UT_FILE_MAPPING = 8, UT_XA_HEAD = 8, UT_XA_SHIFT = 0, UT_XA_SLOTS = 16 };
enum { UT_PAGE_STRUCT = 64, UT_F_FLAGS = 0, UT_F_MAPPING = 24, UT_F_INDEX = 32, UT_UPTODATE = 2 };
enum { UT_LEAF = 1, UT_RANGE = 2, UT_ARANGE = 3, UT_NODE = 2, UT_LARGE_PAGES = 4 };

struct untouched {
	struct ef *f;
	uint64_t single, group, far; /* guest physical pages: 16; 20 to 23; 70 */
};

/** The process; a clause records the word at @p address at EF_FUNC_A. @p maple: mappings are in a maple tree,
 * else in a red-black tree. */
void untouched_set_up(struct untouched *w, bool maple, uint64_t address);
void untouched_tear_down(struct untouched *w);
/** All structures as they were at first. */
void untouched_put(struct untouched *w);
/** The facts that describe them. */
void untouched_set_facts(struct ef *f, bool maple);

/** Write a word of the kernel's memory. */
void untouched_poke(struct untouched *w, uint64_t va, uint64_t value);
/** The struct page of a physical page. */
uint64_t untouched_page_struct(uint64_t gpa);
/** Make the struct page at @p folio the file's, from its page @p index on. */
void untouched_put_folio(struct untouched *w, uint64_t folio, uint64_t index);
/** The words in a page of the file. */
uint64_t untouched_content(unsigned page);

/** What the clause records at a hit; false: it faulted. */
bool untouched_read(struct untouched *w, uint64_t *ret);
void untouched_expect(struct untouched *w, uint64_t want);
void untouched_expect_nothing(struct untouched *w);

#endif
