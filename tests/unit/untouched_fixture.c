/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up process with mappings and a file with pages, for tests of memory that is not touched yet. */
#include "tests/unit/untouched_fixture.h"

void untouched_poke(struct untouched *w, uint64_t va, uint64_t value)
{
	vp_fake_write(w->f->fake, w->f->kernel_root, va, &value, 8);
}

uint64_t untouched_page_struct(uint64_t gpa)
{
	return UT_PAGES + gpa / VP_FAKE_PAGE * UT_PAGE_STRUCT;
}

void untouched_put_folio(struct untouched *w, uint64_t folio, uint64_t index)
{
	untouched_poke(w, folio + UT_F_FLAGS, 1u << UT_UPTODATE);
	untouched_poke(w, folio + UT_F_MAPPING, UT_MAPPING);
	untouched_poke(w, folio + UT_F_INDEX, index);
}

uint64_t untouched_content(unsigned page)
{
	return 0x1000100010001ull * page;
}

static void fill(struct untouched *w, uint64_t gpa, unsigned page)
{
	uint64_t *ram = vp_fake_ram(w->f->fake, gpa);

	for (unsigned i = 0; i < VP_FAKE_PAGE / 8; i++)
		ram[i] = untouched_content(page);
}

static void put_file(struct untouched *w)
{
	untouched_poke(w, UT_FILE_AT + UT_FILE_MAPPING, UT_MAPPING);
	untouched_poke(w, UT_MAPPING + UT_XA_HEAD, UT_XA(0) + UT_NODE);
	untouched_poke(w, UT_XA(0) + UT_XA_SHIFT, 6);
	untouched_poke(w, UT_XA(0) + UT_XA_SLOTS, UT_XA(1) + UT_NODE);
	untouched_poke(w, UT_XA(0) + UT_XA_SLOTS + 8, UT_XA(2) + UT_NODE);
	untouched_poke(w, UT_XA(1) + UT_XA_SLOTS + 8 * 16, untouched_page_struct(w->single));
	untouched_poke(w, UT_XA(1) + UT_XA_SLOTS + 8 * 17, 0x123 << 1 | 1); /* a value: it was reclaimed */
	untouched_poke(w, UT_XA(1) + UT_XA_SLOTS + 8 * 20, untouched_page_struct(w->group));
	for (unsigned i = 1; i < UT_LARGE_PAGES; i++)
		untouched_poke(w, UT_XA(1) + UT_XA_SLOTS + 8 * (20 + i), 20 << 2 | UT_NODE);
	untouched_poke(w, UT_XA(2) + UT_XA_SLOTS + 8 * 6, untouched_page_struct(w->far));
	untouched_put_folio(w, untouched_page_struct(w->single), 16);
	untouched_put_folio(w, untouched_page_struct(w->group), 20);
	untouched_put_folio(w, untouched_page_struct(w->far), 70);
}

static void put_vma(struct untouched *w, unsigned n, uint64_t start, uint64_t file, uint64_t ops)
{
	untouched_poke(w, UT_VMA(n) + UT_START, start);
	untouched_poke(w, UT_VMA(n) + UT_END, start + UT_LENGTH);
	untouched_poke(w, UT_VMA(n) + UT_FLAGS, 1);
	untouched_poke(w, UT_VMA(n) + UT_PGOFF, UT_FIRST);
	untouched_poke(w, UT_VMA(n) + UT_FILE_OF, file);
	untouched_poke(w, UT_VMA(n) + UT_OPS, ops);
}

/* The first mapping in one leaf, the others in the second one, each behind a gap. */
static void put_maple(struct untouched *w)
{
	untouched_poke(w, UT_MM + UT_MM_TREE, UT_MAPLE(0) | UT_ARANGE << 3 | UT_NODE);
	untouched_poke(w, UT_MAPLE(0) + 8, UT_OF_FILE + UT_LENGTH - 1);
	untouched_poke(w, UT_MAPLE(0) + 80, UT_MAPLE(1) | UT_LEAF << 3 | 4);
	untouched_poke(w, UT_MAPLE(0) + 88, UT_MAPLE(2) | UT_LEAF << 3 | 4);
	untouched_poke(w, UT_MAPLE(1) + 8, UT_OF_FILE - 1);
	untouched_poke(w, UT_MAPLE(1) + 128 + 8, UT_VMA(0));
	untouched_poke(w, UT_MAPLE(2) + 8, UT_OF_NOTHING - 1);
	untouched_poke(w, UT_MAPLE(2) + 16, UT_OF_NOTHING + UT_LENGTH - 1);
	untouched_poke(w, UT_MAPLE(2) + 24, UT_OF_KERNEL - 1);
	untouched_poke(w, UT_MAPLE(2) + 32, UT_OF_KERNEL + UT_LENGTH - 1);
	untouched_poke(w, UT_MAPLE(2) + 128 + 8, UT_VMA(1));
	untouched_poke(w, UT_MAPLE(2) + 128 + 24, UT_VMA(2));
}

static void put_rb(struct untouched *w)
{
	untouched_poke(w, UT_MM + UT_MM_RB, UT_VMA(1) + UT_RB);
	untouched_poke(w, UT_VMA(1) + UT_RB + UT_LEFT, UT_VMA(0) + UT_RB);
	untouched_poke(w, UT_VMA(1) + UT_RB + UT_RIGHT, UT_VMA(2) + UT_RB);
}

void untouched_put(struct untouched *w)
{
	put_file(w);
	put_vma(w, 0, UT_OF_FILE, UT_FILE_AT, 0x1234);
	put_vma(w, 1, UT_OF_NOTHING, 0, 0);
	put_vma(w, 2, UT_OF_KERNEL, 0, 0x1234);
	put_maple(w);
	put_rb(w);
	untouched_poke(w, UT_MM + UT_MM_PGD, UT_PGD);
	untouched_poke(w, EF_TASKS + EF_TASK_MM, UT_MM);
}

void untouched_set_facts(struct ef *f, bool maple)
{
	f->facts.mappings = (struct vp_mapping_facts){
		.vmemmap = UT_PAGES,
		.mm_pgd = UT_MM_PGD,
		.mm_tree = maple ? UT_MM_TREE : VP_NO_OFFSET,
		.mm_rb = UT_MM_RB,
		.vma_rb = UT_RB,
		.rb_left = UT_LEFT,
		.rb_right = UT_RIGHT,
		.leaf = { 8, 128, 15, 16 },
		.range = { 8, 80, 9, 10 },
		.maple_leaf = UT_LEAF,
		.maple_range = UT_RANGE,
		.maple_arange = UT_ARANGE,
		.vma_start = UT_START,
		.vma_end = UT_END,
		.vma_flags = UT_FLAGS,
		.vma_pgoff = UT_PGOFF,
		.vma_file = UT_FILE_OF,
		.vma_ops = UT_OPS,
		.vma_anon = UT_ANON,
		.vma_uffd = UT_UFFD,
		.file_mapping = UT_FILE_MAPPING,
		.mapping_pages = UT_XA_HEAD,
		.xa_shift = UT_XA_SHIFT,
		.xa_slots = UT_XA_SLOTS,
		.xa_nslots = 64,
		.folio_flags = UT_F_FLAGS,
		.folio_mapping = UT_F_MAPPING,
		.folio_index = UT_F_INDEX,
		.folio_uptodate = UT_UPTODATE,
		.page_size = UT_PAGE_STRUCT,
	};
}

static void map_new(struct ef *f, uint64_t va, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		vp_fake_map(f->fake, f->kernel_root, va + i * VP_FAKE_PAGE, vp_fake_page(f->fake), 0, 12);
}

void untouched_set_up(struct untouched *w, bool maple, uint64_t address)
{
	struct ef *f = ef_create();
	uint32_t c = ef_clause(f, NULL);

	*w = (struct untouched){ .f = f };
	untouched_set_facts(f, maple);
	map_new(f, UT_DATA, 2);
	map_new(f, UT_NODES, 4);
	vp_fake_map(f->fake, f->kernel_root, UT_PGD, f->user_root, 0, 12);
	map_new(f, UT_PAGES, (unsigned)(f->config.ram_size / VP_FAKE_PAGE * UT_PAGE_STRUCT / VP_FAKE_PAGE));
	w->single = vp_fake_page(f->fake);
	w->group = vp_fake_page(f->fake);
	for (unsigned i = 1; i < UT_LARGE_PAGES; i++)
		assert_int_equal(vp_fake_page(f->fake), w->group + i * VP_FAKE_PAGE);
	w->far = vp_fake_page(f->fake);
	fill(w, w->single, 16);
	for (unsigned i = 0; i < UT_LARGE_PAGES; i++)
		fill(w, w->group + i * VP_FAKE_PAGE, 20 + i);
	fill(w, w->far, 70);
	untouched_put(w);
	ef_action(f, c, DIF_ACT_difexpr, ef_deref(f, address, true));
	ef_trace(f, c);
}

void untouched_tear_down(struct untouched *w)
{
	ef_destroy(w->f);
}

bool untouched_read(struct untouched *w, uint64_t *ret)
{
	struct ef_record r[4];

	assert_true(vp_fake_hit(w->f->fake, 0, EF_FUNC_A));
	ef_switch(w->f);
	assert_int_equal(ef_records(w->f, 0, r, 4), 1);
	if (r[0].epid == VP_EPID_FAULT)
		return false;
	*ret = ef_u64(r[0].data + 16);
	return true;
}

void untouched_expect(struct untouched *w, uint64_t want)
{
	uint64_t value;

	assert_true(untouched_read(w, &value));
	assert_int_equal(value, want);
}

void untouched_expect_nothing(struct untouched *w)
{
	uint64_t value;

	assert_false(untouched_read(w, &value));
}
