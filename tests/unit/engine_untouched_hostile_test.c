/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that a process has not touched yet, in a guest that changes it meanwhile, or has made trees that
 * lead anywhere. */
#include "tests/unit/untouched_fixture.h"

#include <stdlib.h>

#include "vmm-probe/engine/hit/hit_engine.h"

/* --- changes meanwhile --------------------------------------------------------------------------------- */

/* While a page is looked for, one page of RAM is asked for several times: at one of these, something changes.
 */
static struct {
	struct untouched *w;
	struct vp_backend_ops ops;
	const struct vp_backend_ops *own;
	uint64_t gpa;
	unsigned reads, at;
	void (*change)(struct untouched *w);
} meanwhile;

static void *changing_ram(void *backend, uint64_t gpa, uint64_t *ret_len)
{
	if (gpa == meanwhile.gpa && ++meanwhile.reads == meanwhile.at)
		meanwhile.change(meanwhile.w);
	return meanwhile.own->gpa_to_host(backend, gpa, ret_len);
}

static void expect_with(struct untouched *w, uint64_t gpa, unsigned at, void (*change)(struct untouched *w),
			uint64_t want)
{
	struct vp_engine *e = vp_fake_engine(w->f->fake);

	meanwhile.w = w;
	meanwhile.own = e->ops;
	meanwhile.ops = *e->ops;
	meanwhile.ops.gpa_to_host = changing_ram;
	meanwhile.gpa = gpa;
	meanwhile.reads = 0;
	meanwhile.at = at;
	meanwhile.change = change;
	e->ops = &meanwhile.ops;
	untouched_expect(w, want);
	assert_true(meanwhile.reads >= at);
	e->ops = meanwhile.own;
}

/* The kernel moves the page and uses its memory for something else. */
static void move(struct untouched *w)
{
	untouched_put_folio(w, untouched_page_struct(w->far), 16);
	untouched_poke(w, UT_XA(1) + UT_XA_SLOTS + 8 * 16, untouched_page_struct(w->far));
	untouched_poke(w, untouched_page_struct(w->single) + UT_F_MAPPING, 0);
}

/* Another thread writes to its private copy. */
static void touch(struct untouched *w)
{
	vp_fake_map(w->f->fake, w->f->user_root, UT_AT(16), w->group, 4, 12);
}

/* … and maps another file there: the same address, another page. */
static void remap(struct untouched *w)
{
	untouched_poke(w, UT_VMA(0) + UT_PGOFF, UT_FIRST + 6);
}

/* The top page table is asked for by the walk that finds nothing, then three times when the page is looked
 * for, and three times when that is done once more, behind the copy. */
static void changed_meanwhile(void **state)
{
	static const struct {
		void (*change)(struct untouched *w);
		unsigned page;
	} changes[] = { { move, 70 }, { touch, 20 }, { remap, 22 } };
	struct untouched w;
	(void)state;

	for (unsigned i = 0; i < OT_ARRAY_SIZE(changes); i++)
		for (unsigned at = 2; at <= 7; at++) {
			untouched_set_up(&w, true, UT_AT(16));
			vp_fake_map(w.f->fake, w.f->user_root, UT_AT(0x100), w.single, 4, 12); /* a table */
			/* the page table is not looked at again */
			expect_with(
			    &w, w.f->user_root, at, changes[i].change,
			    untouched_content(changes[i].change == touch && at > 5 ? 16 : changes[i].page));
			untouched_tear_down(&w);
		}
}

/* The entry is of the file's tree as it was, the struct page of what it is now. */
static void moved_between_tree_and_folio(void **state)
{
	struct untouched w;
	(void)state;

	untouched_set_up(&w, true, UT_AT(16));
	uint64_t *entry = vp_fake_entry(w.f->fake, w.f->kernel_root, untouched_page_struct(w.single));

	expect_with(&w, *entry & ~(VP_FAKE_PAGE - 1), 1, move, untouched_content(70));
	untouched_tear_down(&w);
}

/* --- hostile trees --------------------------------------------------------------------------------------- */

static void trees_with_loops(void **state)
{
	static const struct {
		bool maple;
		uint64_t at, value;
	} loops[] = {
		{ true, UT_MAPLE(0) + 80, UT_MAPLE(0) | UT_ARANGE << 3 | 4 },
		{ true, UT_MAPLE(0) + 80, UT_MAPLE(1) | 7 << 3 | 4 }, /* no such type */
		{ true, UT_MAPLE(0) + 80, ~0ull },
		{ true, UT_MM + UT_MM_TREE, UT_VMA(0) }, /* no node */
		{ true, UT_MM + UT_MM_TREE, 0x402 },
		{ true, UT_MAPLE(1) + 128 + 8, UT_VMA(0) | 2 },       /* a mark of the kernel's */
		{ true, UT_XA(0) + UT_XA_SLOTS, UT_XA(0) + UT_NODE }, /* itself */
		{ true, UT_XA(0) + UT_XA_SHIFT, 61 },
		{ true, UT_XA(1) + UT_XA_SHIFT, 6 },                          /* as its parent */
		{ true, UT_XA(1) + UT_XA_SLOTS + 8 * 16, 16 << 2 | UT_NODE }, /* its own sibling */
		{ true, UT_XA(1) + UT_XA_SLOTS + 8 * 16, 20 << 2 | UT_NODE },
		{ true, UT_XA(1) + UT_XA_SLOTS + 8 * 16, 0x402 }, /* being changed */
		{ true, UT_XA(1) + UT_XA_SLOTS + 8 * 16, 0xfffffffffffffff0 },
		{ true, UT_MAPPING + UT_XA_HEAD, 0x1234567890a },
		{ false, UT_VMA(1) + UT_RB + UT_LEFT, UT_VMA(1) + UT_RB },
		{ false, UT_VMA(0) + UT_START, UT_AT(17) },
		{ false, UT_MM + UT_MM_RB, 0 },
		{ false, UT_MM + UT_MM_RB, ~0ull },
	};
	struct untouched w;
	(void)state;

	for (unsigned i = 0; i < OT_ARRAY_SIZE(loops); i++) {
		untouched_set_up(&w, loops[i].maple, UT_AT(16));
		untouched_poke(&w, loops[i].at, loops[i].value);
		untouched_expect_nothing(&w);
		untouched_put(&w);
		untouched_poke(&w, UT_XA(1) + UT_XA_SHIFT, 0);
		untouched_expect(&w, untouched_content(16));
		untouched_tear_down(&w);
	}
}

static uint64_t evil_word(struct untouched *w, unsigned *seed)
{
	const uint64_t words[] = { 0,
				   ~0ull,
				   2,
				   UT_DATA + (uint64_t)rand_r(seed) % 0x2000,
				   UT_NODES + (uint64_t)rand_r(seed) % 0x4000,
				   UT_MAPLE((uint64_t)rand_r(seed) % 3) | (uint64_t)rand_r(seed) % 64,
				   UT_XA((uint64_t)rand_r(seed) % 3) + UT_NODE,
				   untouched_page_struct((uint64_t)rand_r(seed) % w->f->config.ram_size),
				   (uint64_t)rand_r(seed) << 32 | (uint32_t)rand_r(seed),
				   (uint64_t)rand_r(seed) % 64 << 2 | UT_NODE,
				   UT_AT(16) + (uint64_t)rand_r(seed) % 0x2000 };

	return words[(unsigned)rand_r(seed) % OT_ARRAY_SIZE(words)];
}

/* Whatever words are there: each hit ends, and reads RAM or nothing. */
static void damaged_trees(void **state)
{
	uint64_t value;
	unsigned seed = 7, read = 0;
	struct untouched w;
	(void)state;

	for (unsigned maple = 0; maple < 2; maple++) {
		untouched_set_up(&w, maple, UT_AT(16));
		for (unsigned round = 0; round < 3000; round++) {
			for (unsigned n = 1 + (unsigned)rand_r(&seed) % 4; n; n--) {
				bool data = rand_r(&seed) % 2;
				uint64_t at = (uint64_t)rand_r(&seed) % (data ? 0x600 : 0x1c00) & ~7ull;

				untouched_poke(&w, (data ? UT_DATA : UT_NODES) + at, evil_word(&w, &seed));
			}
			read += untouched_read(&w, &value);
			if (round % 8 == 7)
				untouched_put(&w);
		}
		untouched_tear_down(&w);
	}
	assert_true(read > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_meanwhile),
		cmocka_unit_test(moved_between_tree_and_folio),
		cmocka_unit_test(trees_with_loops),
		cmocka_unit_test(damaged_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
