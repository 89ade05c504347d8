/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that a process has mapped, and that its page table does not have: what is read there, and what is
 * not. */
#include "tests/unit/untouched_fixture.h"

#include "vmm-probe/engine/hit/hit_session.h"

static void reads(bool maple, uint64_t address, uint64_t want)
{
	struct untouched w;

	untouched_set_up(&w, maple, address);
	untouched_expect(&w, want);
	untouched_tear_down(&w);
}

static void reads_nothing(bool maple, uint64_t address)
{
	struct untouched w;

	untouched_set_up(&w, maple, address);
	untouched_expect_nothing(&w);
	untouched_tear_down(&w);
}

/* --- what is there ------------------------------------------------------------------------------------ */

static void pages_of_a_file(void **state)
{
	(void)state;
	for (unsigned maple = 0; maple < 2; maple++) {
		reads(maple, UT_AT(16), untouched_content(16));
		reads(maple, UT_AT(16) + 0xff8, untouched_content(16));
		for (unsigned i = 0; i < UT_LARGE_PAGES; i++)
			reads(maple, UT_AT(20 + i) + 0x100, untouched_content(20 + i));
		reads(maple, UT_AT(70), untouched_content(70));
		/* over a border */
		reads(maple, UT_AT(21) - 4, untouched_content(20) >> 32 | untouched_content(21) << 32);
	}
}

static void memory_without_a_file(void **state)
{
	(void)state;
	for (unsigned maple = 0; maple < 2; maple++) {
		reads(maple, UT_OF_NOTHING, 0);
		reads(maple, UT_OF_NOTHING + UT_LENGTH - 8, 0);
		reads_nothing(maple, UT_OF_NOTHING - 8);
		reads_nothing(maple, UT_OF_NOTHING + UT_LENGTH - 4);
		reads_nothing(maple, UT_OF_KERNEL);
		reads_nothing(maple, UT_OF_KERNEL + UT_LENGTH);
	}
}

/* Once the process has written there, a page that is not in the page table may be on its way. */
static void memory_that_was_written_to(void **state)
{
	struct untouched w;
	(void)state;

	untouched_set_up(&w, true, UT_OF_NOTHING);
	untouched_expect(&w, 0);
	untouched_poke(&w, UT_VMA(1) + UT_ANON, UT_DATA);
	untouched_expect_nothing(&w);
	untouched_tear_down(&w);
}

/* A file with one page has it in the head itself. */
static void file_of_one_page(void **state)
{
	struct untouched w;
	(void)state;

	untouched_set_up(&w, true, UT_OF_FILE);
	untouched_poke(&w, UT_VMA(0) + UT_PGOFF, 0);
	untouched_poke(&w, UT_MAPPING + UT_XA_HEAD, untouched_page_struct(w.single));
	untouched_put_folio(&w, untouched_page_struct(w.single), 0);
	untouched_expect(&w, untouched_content(16));
	untouched_poke(&w, UT_VMA(0) + UT_PGOFF, 1);
	untouched_expect_nothing(&w);
	untouched_tear_down(&w);
}

/* --- what is not -------------------------------------------------------------------------------------- */

static void pages_that_are_not_in_memory(void **state)
{
	(void)state;
	for (unsigned maple = 0; maple < 2; maple++) {
		reads_nothing(maple, UT_AT(17)); /* reclaimed */
		reads_nothing(maple, UT_AT(18)); /* never read */
		reads_nothing(maple, UT_AT(71));
		reads_nothing(maple, UT_AT(128));    /* no node */
		reads_nothing(maple, UT_AT(24) - 4); /* half of it */
		reads_nothing(maple, UT_OF_FILE - 8);
		reads_nothing(maple, UT_OF_FILE + UT_LENGTH);
	}
}

/* Each of these alone is a reason. */
static void what_forbids_it(void **state)
{
	static const struct {
		uint64_t at, value;
	} reasons[] = {
		{ UT_VMA(0) + UT_FLAGS, 6 },              /* not readable */
		{ UT_VMA(0) + UT_FLAGS, 1 | 0x400 },      /* VM_PFNMAP */
		{ UT_VMA(0) + UT_FLAGS, 1 | 0x4000 },     /* VM_IO */
		{ UT_VMA(0) + UT_FLAGS, 1 | 0x400000 },   /* VM_HUGETLB */
		{ UT_VMA(0) + UT_FLAGS, 1 | 0x10000000 }, /* VM_MIXEDMAP */
		{ UT_VMA(0) + UT_UFFD, UT_DATA },
		{ UT_VMA(0) + UT_ANON, UT_DATA },              /* the process may have a copy of its own */
		{ UT_VMA(0) + UT_START, UT_OF_FILE + 0x1000 }, /* not in its slot's range any more */
		{ UT_VMA(0) + UT_END, UT_OF_FILE },
		{ UT_VMA(0) + UT_FILE_OF, 0 },     /* operations, but no file */
		{ UT_MM + UT_MM_PGD, UT_PGD + 8 }, /* the page table of another process */
		{ UT_MM + UT_MM_PGD, UT_DATA },
		{ EF_TASKS + EF_TASK_MM, 0 }, /* a thread of the kernel's with a borrowed page table */
		{ EF_TASKS + EF_TASK_MM, UT_MM + 8 },
	};
	struct untouched w;
	(void)state;

	untouched_set_up(&w, true, UT_AT(16));
	for (unsigned i = 0; i < OT_ARRAY_SIZE(reasons); i++) {
		untouched_expect(&w, untouched_content(16));
		untouched_poke(&w, reasons[i].at, reasons[i].value);
		untouched_expect_nothing(&w);
		untouched_put(&w);
		untouched_poke(&w, UT_VMA(0) + UT_UFFD, 0);
		untouched_poke(&w, UT_VMA(0) + UT_ANON, 0);
	}
	untouched_tear_down(&w);
}

static void folios_that_are_another_ones(void **state)
{
	struct untouched w;
	(void)state;

	untouched_set_up(&w, true, UT_AT(22));
	uint64_t folio = untouched_page_struct(w.group);
	const struct {
		uint64_t at, value;
	} reasons[] = { { folio + UT_F_FLAGS, ~(1ull << UT_UPTODATE) }, /* not read in */
			{ folio + UT_F_MAPPING, UT_MAPPING + 8 },
			{ folio + UT_F_MAPPING, 0 }, /* truncated */
			{ folio + UT_F_INDEX, 23 },  /* it begins behind that page */
			{ folio + UT_F_INDEX, ~0ull } };

	for (unsigned i = 0; i < OT_ARRAY_SIZE(reasons); i++) {
		untouched_expect(&w, untouched_content(22));
		untouched_poke(&w, reasons[i].at, reasons[i].value);
		untouched_expect_nothing(&w);
		untouched_put(&w);
	}
	/* no struct page begins there, whatever the words say */
	untouched_put_folio(&w, folio + 8, 20);
	untouched_poke(&w, UT_XA(1) + UT_XA_SLOTS + 8 * 20, folio + 8);
	untouched_expect_nothing(&w);
	untouched_tear_down(&w);
}

/* A page that was put into swap, or is being moved, has an entry, which is not present. */
static void the_page_table_knows_better(void **state)
{
	static const uint64_t entries[] = { 0x2, 0x100, 0x7ffffffffffff800, ~1ull };
	struct untouched w;
	(void)state;

	for (unsigned i = 0; i < OT_ARRAY_SIZE(entries); i++) {
		untouched_set_up(&w, true, UT_OF_NOTHING);
		untouched_expect(&w, 0);
		vp_fake_map(w.f->fake, w.f->user_root, UT_OF_NOTHING, w.single, 4, 12);
		untouched_expect(&w, untouched_content(16));
		*vp_fake_entry(w.f->fake, w.f->user_root, UT_OF_NOTHING) = entries[i];
		untouched_expect_nothing(&w);
		untouched_tear_down(&w);
	}
}

static void without_facts(void **state)
{
	struct untouched w;
	(void)state;

	untouched_set_up(&w, true, UT_AT(16));
	w.f->es->facts.mappings.vmemmap = 0;
	untouched_expect_nothing(&w);
	untouched_tear_down(&w);
}

static void facts_are_checked(void **state)
{
	struct ef *f = ef_create();
	struct vp_mapping_facts *m = &f->facts.mappings;
	uint32_t *const words[] = { &m->leaf.slots, &m->leaf.pivots, &m->range.slots,   &m->range.pivots,
				    &m->xa_nslots,  &m->page_size,   &m->folio_uptodate };
	static const uint32_t wrong[] = { 33, 16, 0, 10, 65, 0, 64 };
	(void)state;

	for (unsigned i = 0; i < OT_ARRAY_SIZE(words); i++) {
		untouched_set_facts(f, true);
		*words[i] = wrong[i];
		EF_FAILS(OT_ERR_BAD_DATA, ef_try_open(f));
	}
	untouched_set_facts(f, false);
	m->leaf.slots = 0; /* of no interest */
	ef_open(f);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_of_a_file),
		cmocka_unit_test(memory_without_a_file),
		cmocka_unit_test(memory_that_was_written_to),
		cmocka_unit_test(file_of_one_page),
		cmocka_unit_test(pages_that_are_not_in_memory),
		cmocka_unit_test(what_forbids_it),
		cmocka_unit_test(folios_that_are_another_ones),
		cmocka_unit_test(the_page_table_knows_better),
		cmocka_unit_test(without_facts),
		cmocka_unit_test(facts_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
