/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Semaphores that are raised where a process maps their file, before its own probes are known: when, in which
 * page, how often, and that they are lowered again.
 *
 *   init_task ── process 90: MM ── VMA, of FILE_AT from 0x5000 on
 */
#include "tests/unit/untouched_fixture.h"

#include <string.h>

#include "vmm-probe/engine/hit/early.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/service.h"

#define DATA    0xffff888000300000ull /* the kernel's: init_task, structures, a child */
#define MM      (DATA + 0x800)
#define CHILD   (DATA + 0x1000)
#define OTHER   (DATA + 0x1800) /* the child's struct mm_struct */
#define VMA     (DATA + 0x900)
#define FILE_AT (DATA + 0xa00)
#define ROOTS   0xffff888000400000ull /* page tables, as the kernel has them mapped */
#define MAPPING 0xffff888000777000ull /* the file's struct address_space */
#define EXE     0xffff888000999000ull /* exec()'s struct file */
#define STACK   0x7ffc12345670ull
#define PAGE_AT (EF_USER + 0x1000)
#define SEM     (PAGE_AT + 0x100)
#define SEM_AT  0x5100ull /* in the file */
#define NOP_AT  0x1200ull
#define REPORT  EF_FUNC_B /* where the kernel reports a mapping */
#define WRITE   3u        /* vm_flags */
#define SHARED  8u

enum { TASKS = 0x400, LEADER = 0x700, EXE_OF = 32, STACK_OF = 40, HEAD = 8 };

struct world {
	struct ef *f;
	uint64_t page; /* of the semaphore, guest physical */
};

static void poke(struct world *w, uint64_t va, uint64_t value)
{
	vp_fake_write(w->f->fake, w->f->kernel_root, va, &value, 8);
}

static void map_kernel(struct ef *f, uint64_t va, uint64_t gpa)
{
	vp_fake_map(f->fake, f->kernel_root, va, gpa, 0, 12);
}

/* A page at the semaphore's, of the file or private. */
static uint64_t put_page(struct world *w, uint64_t root, bool is_private)
{
	uint64_t gpa = vp_fake_page(w->f->fake);

	vp_fake_map(w->f->fake, root, PAGE_AT, gpa, 4, 12);
	poke(w, untouched_page_struct(gpa) + UT_F_MAPPING, MAPPING + is_private);
	poke(w, untouched_page_struct(gpa) + HEAD, 0);
	return gpa;
}

static uint16_t value_in(const struct world *w, uint64_t gpa)
{
	uint16_t value;

	memcpy(&value, (uint8_t *)vp_fake_ram(w->f->fake, gpa) + SEM % VP_FAKE_PAGE, sizeof(value));
	return value;
}

static uint16_t value(const struct world *w)
{
	return value_in(w, w->page);
}

static void put_process(struct world *w, uint64_t task, uint64_t mm, uint64_t root, uint64_t pgd)
{
	map_kernel(w->f, pgd, root);
	poke(w, mm + UT_MM_PGD, pgd);
	poke(w, mm + UT_MM_RB, VMA + UT_RB);
	poke(w, mm + EXE_OF, EXE);
	poke(w, mm + STACK_OF, STACK);
	poke(w, task + EF_TASK_MM, mm);
}

/* As mmap() makes it: no page in it is private. */
static void put_vma(struct world *w)
{
	poke(w, VMA + UT_START, PAGE_AT);
	poke(w, VMA + UT_END, PAGE_AT + VP_FAKE_PAGE);
	poke(w, VMA + UT_FLAGS, WRITE);
	poke(w, VMA + UT_PGOFF, 5);
	poke(w, VMA + UT_FILE_OF, FILE_AT);
	poke(w, VMA + UT_ANON, 0);
	poke(w, FILE_AT + UT_FILE_MAPPING, MAPPING);
	w->page = put_page(w, w->f->user_root, false);
}

static void add_sites(struct world *w, bool stands_in)
{
	struct ef *f = w->f;
	struct vp_batch_site s = {
		.gva = NOP_AT, .length = 1, .room = 1, .bytes = { 0x90 }, .semaphore = SEM_AT
	};
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_NONE, "main", "guarded");
	struct vp_batch_probe *p = (struct vp_batch_probe *)(void *)f->probes.data + probe;

	ot_buf_append(&f->sites, &s, sizeof(s));
	p->first_site = f->nsites++;
	p->nsites = 1;
	p->file = MAPPING;
	p->stands_in = stands_in;
	ef_ecb(f, probe, 0);
	ef_probe(f, VP_PROBE_SENTINEL, VP_ARGS_NONE, "", "");
	ef_site(f, REPORT, REPORT);
	((struct vp_batch_site *)(void *)f->sites.data)[f->nsites - 1].sentinel = VP_SENTINEL_MAPS;
}

static void set_facts(struct ef *f)
{
	untouched_set_facts(f, false);
	f->facts.task_group_leader = LEADER;
	f->facts.families = (struct vp_family_facts){ .init_task = DATA,
						      .vmemmap = UT_PAGES,
						      .task_tasks = TASKS,
						      .mm_pgd = UT_MM_PGD,
						      .mm_exe_file = EXE_OF,
						      .mm_start_stack = STACK_OF,
						      .page_size = UT_PAGE_STRUCT,
						      .page_mapping = UT_F_MAPPING,
						      .page_head = HEAD,
						      .page_index = UT_F_INDEX };
}

static void set_up_without_sites(struct world *w)
{
	struct ef *f = ef_create();

	*w = (struct world){ .f = f };
	set_facts(f);
	map_kernel(f, DATA, vp_fake_page(f->fake));
	map_kernel(f, CHILD, vp_fake_page(f->fake));
	for (uint64_t at = 0; at < f->config.ram_size / VP_FAKE_PAGE * UT_PAGE_STRUCT; at += VP_FAKE_PAGE)
		map_kernel(f, UT_PAGES + at, vp_fake_page(f->fake));
	poke(w, EF_TASKS + LEADER, EF_TASKS);
	poke(w, DATA + TASKS, EF_TASKS + TASKS);
	poke(w, EF_TASKS + TASKS, DATA + TASKS);
	put_process(w, EF_TASKS, MM, f->user_root, ROOTS);
	put_vma(w);
	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
}

static void set_up(struct world *w)
{
	set_up_without_sites(w);
	add_sites(w, true);
	ef_enable(w->f);
	ef_start(w->f);
}

static void tear_down(struct world *w)
{
	ef_destroy(w->f);
}

/* The kernel reports that the mapping was made or changed. */
static void report(struct world *w)
{
	vp_fake_set_reg(w->f->fake, 0, VP_REG_ARG0, VMA);
	assert_true(vp_fake_hit(w->f->fake, 0, REPORT));
}

/* The process writes to the page. */
static void make_private(struct world *w)
{
	w->page = put_page(w, w->f->user_root, true);
	poke(w, VMA + UT_ANON, DATA);
}

static void raise(struct world *w)
{
	report(w);
	make_private(w);
	report(w);
}

static void stop(struct world *w)
{
	EF_OK(vp_engine_session_stop(w->f->es));
}

/* --- raised ------------------------------------------------------------------------------------------- */

static void when_its_page_is_private(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	uint64_t of_file = w.page;
	report(&w);
	report(&w);
	make_private(&w);
	assert_int_equal(value(&w), 0);
	report(&w);
	assert_int_equal(value(&w), 1);
	report(&w);
	assert_int_equal(value(&w), 1);
	assert_int_equal(value_in(&w, of_file), 0);
	stop(&w);
	assert_int_equal(value(&w), 0);
	assert_false(vp_fake_hit(w.f->fake, 0, REPORT));
	tear_down(&w);
}

/* A library that is unloaded and loaded again is a mapping of its own. */
static void when_it_is_mapped_again(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	raise(&w);
	put_vma(&w);
	raise(&w);
	assert_int_equal(value(&w), 1);
	stop(&w);
	assert_int_equal(value(&w), 0);
	tear_down(&w);
}

/* The service thread has taken the record, and keeps it as long as the site is planned. */
static void until_the_session_ends(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	struct vp_engine *engine = vp_fake_engine(w.f->fake);
	assert_true(vp_early_is_used(engine));
	assert_false(vp_early_is_due(engine, vp_now()));
	raise(&w);
	assert_true(vp_early_is_due(engine, vp_now() + 2000000000ull));
	vp_semaphores_retry(engine, vp_now() + 2000000000ull);
	assert_false(vp_early_is_due(engine, vp_now() + 9000000000ull));
	assert_false(vp_semaphores_are_pending(engine));
	vp_semaphores_update(engine);
	assert_int_equal(value(&w), 1);
	ef_close(w.f);
	assert_int_equal(value(&w), 0);
	tear_down(&w);
}

static void add_own(struct world *w)
{
	struct ef *f = w->f;
	struct vp_batch_site s = {
		.gva = EF_USER + 0x200, .length = 1, .room = 1, .bytes = { 0x90 }, .semaphore = SEM
	};
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_NONE, "main", "guarded");
	struct vp_batch_probe *p = (struct vp_batch_probe *)(void *)f->probes.data + probe;

	ot_buf_append(&f->sites, &s, sizeof(s));
	p->first_site = f->nsites++;
	p->nsites = 1;
	p->process = (struct vp_batch_process){
		.root = f->user_root & ~0x1fffull, .mm = MM, .since_ns = 77, .pid = 90
	};
	ef_ecb(f, probe, 0);
	ef_enable(f);
}

/* Its own probes come later: it is raised once. */
static void once_with_its_own_probes(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	raise(&w);
	add_own(&w);
	assert_int_equal(value(&w), 1);
	stop(&w);
	assert_int_equal(value(&w), 0);
	tear_down(&w);
}

/* … or first, while the page is noted. */
static void once_after_its_own_probes(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	report(&w);
	make_private(&w);
	add_own(&w);
	assert_int_equal(value(&w), 1);
	report(&w);
	assert_int_equal(value(&w), 1);
	stop(&w);
	assert_int_equal(value(&w), 0);
	tear_down(&w);
}

/* The process forks and ends before the service thread has looked. */
static void of_a_parent_that_has_ended(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	raise(&w);
	uint64_t root = vp_fake_root(w.f->fake), copy = put_page(&w, root, true);
	memcpy(vp_fake_ram(w.f->fake, copy), vp_fake_ram(w.f->fake, w.page), VP_FAKE_PAGE);
	put_process(&w, CHILD, OTHER, root, ROOTS + VP_FAKE_PAGE);
	poke(&w, CHILD + TASKS, DATA + TASKS);
	poke(&w, DATA + TASKS, CHILD + TASKS);
	assert_int_equal(value_in(&w, copy), 1);
	stop(&w);
	assert_int_equal(value_in(&w, copy), 0);
	assert_int_equal(value(&w), 1); /* no process of the list has it */
	tear_down(&w);
}

/* --- not raised --------------------------------------------------------------------------------------- */

static void what_forbids_it(void **state)
{
	static const struct {
		uint64_t at, value;
		bool later; /* after it was noted */
	} reasons[] = {
		{ VMA + UT_FLAGS, 1, false },
		{ VMA + UT_FLAGS, WRITE | SHARED, false },
		{ VMA + UT_ANON, DATA, false }, /* it may be raised already */
		{ VMA + UT_FILE_OF, 0, false },
		{ FILE_AT + UT_FILE_MAPPING, MAPPING + 0x1000, false },
		{ VMA + UT_PGOFF, 6, false },
		{ VMA + UT_END, PAGE_AT, false },
		{ MM + UT_MM_PGD, DATA, false }, /* another process's page table */
		{ VMA + UT_FLAGS, WRITE | SHARED, true },
		{ VMA + UT_FILE_OF, 0, true },
		{ FILE_AT + UT_FILE_MAPPING, MAPPING + 0x1000, true },
		{ VMA + UT_PGOFF, 6, true },
		{ MM + UT_MM_RB, 0, true },
		{ MM + UT_MM_PGD, DATA, true },
		{ EF_TASKS + EF_TASK_START, 78, true }, /* another process with that memory */
		{ EF_TASKS + EF_TASK_MM, OTHER, true },
	};
	(void)state;

	for (unsigned i = 0; i < OT_ARRAY_SIZE(reasons); i++) {
		struct world w;

		set_up(&w);
		if (reasons[i].later) {
			report(&w);
			poke(&w, VMA + UT_ANON, DATA); /* or it would be a new mapping */
		}
		poke(&w, reasons[i].at, reasons[i].value);
		report(&w);
		w.page = put_page(&w, w.f->user_root, true);
		report(&w);
		assert_int_equal(value(&w), 0);
		stop(&w);
		tear_down(&w);
	}
}

/* What can't be recorded could not be undone. */
static void without_room(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	for (unsigned i = 0; i < VP_EARLY_RECORDS; i++) {
		poke(&w, VMA + UT_ANON, 0);
		poke(&w, untouched_page_struct(w.page) + UT_F_MAPPING, MAPPING);
		report(&w);
		poke(&w, untouched_page_struct(w.page) + UT_F_MAPPING, MAPPING + 1);
		report(&w);
	}
	assert_int_equal(value(&w), VP_EARLY_RECORDS);
	put_vma(&w);
	raise(&w);
	assert_int_equal(value(&w), 0);
	tear_down(&w);
}

static void malformed(void **state)
{
	struct world w;
	(void)state;

	set_up_without_sites(&w);
	add_sites(&w, false);
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(w.f));
	ef_batch_clear(w.f);
	add_sites(&w, true);
	((struct vp_batch_site *)(void *)w.f->sites.data)->semaphore++;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(w.f));
	tear_down(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_its_page_is_private),
		cmocka_unit_test(when_it_is_mapped_again),
		cmocka_unit_test(until_the_session_ends),
		cmocka_unit_test(once_with_its_own_probes),
		cmocka_unit_test(once_after_its_own_probes),
		cmocka_unit_test(of_a_parent_that_has_ended),
		cmocka_unit_test(what_forbids_it),
		cmocka_unit_test(without_room),
		cmocka_unit_test(malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
