/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Semaphores of static probes: raised in every copy while a session has the probe enabled, and restored when
 * it ends.
 *
 *   init_task ── process 90 (EF_TASKS) ── processes that a test adds
 */
#include "tests/unit/engine_fixture.h"

#include <string.h>

#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/service.h"

#define DATA    0xffff888000300000ull /* a page of the kernel's: init_task, and 0x200 bytes for each process */
#define ROOTS   0xffff888000400000ull /* page tables, as the kernel has them mapped */
#define PAGES   0xffffea0000000000ull /* struct page, of all RAM */
#define SITE    (EF_USER + 0x200)
#define SEM     (EF_USER + 0x1100)
#define FILE_OF 0xffff888000999000ull /* exec()'s struct file */
#define STACK   0x7ffc12345670ull
#define ANON    0xffff888000777001ull /* page.mapping */
#define OF_FILE 0xffff888000777000ull

enum { TASKS = 0x400, MM = 0x100, PGD = 0, EXE = 8, STACK_AT = 16, PAGE_STRUCT = 64, MAPPING = 24, HEAD = 8 };

struct world {
	struct ef *f;
	uint64_t last; /* task of the list */
	uint32_t nprocesses;
	uint64_t sem_page; /* process 90's, guest physical */
};

static void poke(struct world *w, uint64_t va, uint64_t value, size_t len)
{
	vp_fake_write(w->f->fake, w->f->kernel_root, va, &value, len);
}

static void set_kind(struct world *w, uint64_t gpa, uint64_t mapping)
{
	poke(w, PAGES + gpa / VP_FAKE_PAGE * PAGE_STRUCT + MAPPING, mapping, 8);
	poke(w, PAGES + gpa / VP_FAKE_PAGE * PAGE_STRUCT + HEAD, 0, 8);
}

/* A private page of the semaphore with this value, mapped in @p root. */
static uint64_t own_page(struct world *w, uint64_t root, uint16_t value)
{
	uint64_t gpa = vp_fake_page(w->f->fake);

	vp_fake_map(w->f->fake, root, SEM & ~(VP_FAKE_PAGE - 1), gpa, 4, 12);
	memcpy((uint8_t *)vp_fake_ram(w->f->fake, gpa) + SEM % VP_FAKE_PAGE, &value, sizeof(value));
	set_kind(w, gpa, ANON);
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
	return value_in(w, w->sem_page);
}

static void set_value(const struct world *w, uint16_t to)
{
	memcpy((uint8_t *)vp_fake_ram(w->f->fake, w->sem_page) + SEM % VP_FAKE_PAGE, &to, sizeof(to));
}

/* Behind the list's last one; its memory is @p root's, of the exec() of @p file. */
static void add_process(struct world *w, uint64_t task, uint64_t root, uint64_t file)
{
	uint64_t mm = DATA + 0x800 + 0x40 * w->nprocesses, pgd = ROOTS + VP_FAKE_PAGE * w->nprocesses++;

	vp_fake_map(w->f->fake, w->f->kernel_root, pgd, root, 0, 12);
	poke(w, mm + PGD, pgd, 8);
	poke(w, mm + EXE, file, 8);
	poke(w, mm + STACK_AT, STACK, 8);
	poke(w, task + EF_TASK_MM, mm, 8);
	poke(w, w->last + TASKS, task + TASKS, 8);
	poke(w, task + TASKS, DATA + TASKS, 8);
	w->last = task;
}

/* Another one, with memory of its own; its page table. */
static uint64_t fork_process(struct world *w, uint64_t file)
{
	uint64_t root = vp_fake_root(w->f->fake), task = DATA + VP_FAKE_PAGE * w->nprocesses;

	vp_fake_map(w->f->fake, w->f->kernel_root, task, vp_fake_page(w->f->fake), 0, 12);
	add_process(w, task, root, file);
	return root;
}

/* A fork that shares the page. */
static void map_shared(struct world *w, uint64_t root)
{
	vp_fake_map(w->f->fake, root, SEM & ~(VP_FAKE_PAGE - 1), w->sem_page, 4, 12);
}

static void set_up(struct world *w)
{
	struct ef *f = ef_create();

	*w = (struct world){ .f = f, .last = DATA };
	f->facts.task_group_leader = 0x700;
	f->facts.families = (struct vp_family_facts){ .init_task = DATA,
						      .vmemmap = PAGES,
						      .task_tasks = TASKS,
						      .mm_pgd = PGD,
						      .mm_exe_file = EXE,
						      .mm_start_stack = STACK_AT,
						      .page_size = PAGE_STRUCT,
						      .page_mapping = MAPPING,
						      .page_head = HEAD };
	vp_fake_map(f->fake, f->kernel_root, DATA, vp_fake_page(f->fake), 0, 12);
	for (uint64_t at = 0; at < f->config.ram_size / VP_FAKE_PAGE * PAGE_STRUCT; at += VP_FAKE_PAGE)
		vp_fake_map(f->fake, f->kernel_root, PAGES + at, vp_fake_page(f->fake), 0, 12);
	poke(w, EF_TASKS + 0x700, EF_TASKS, 8);
	add_process(w, EF_TASKS, f->user_root, FILE_OF);
	w->sem_page = own_page(w, f->user_root, 0);
	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
}

static void tear_down(struct world *w)
{
	ef_destroy(w->f);
}

/* A probe of process 90 with the semaphore, in the batch: its only site. */
static struct vp_batch_site *add_probe(struct world *w)
{
	struct ef *f = w->f;
	struct vp_batch_site s = { .gva = SITE, .length = 1, .room = 1, .bytes = { 0x90 }, .semaphore = SEM };
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_NONE, "main", "guarded");
	struct vp_batch_probe *p = (struct vp_batch_probe *)(void *)f->probes.data + probe;

	ot_buf_append(&f->sites, &s, sizeof(s));
	p->first_site = f->nsites++;
	p->nsites = 1;
	p->process = (struct vp_batch_process){
		.root = f->user_root & ~0x1fffull, .mm = DATA + 0x800, .since_ns = 77, .pid = 90
	};
	ef_ecb(f, probe, 0);
	return (struct vp_batch_site *)(void *)f->sites.data + p->first_site;
}

static void start(struct world *w)
{
	add_probe(w);
	ef_enable(w->f);
	ef_start(w->f);
}

static void stop(struct world *w)
{
	EF_OK(vp_engine_session_stop(w->f->es));
}

static bool is_pending(const struct world *w)
{
	return vp_semaphores_are_pending(vp_fake_engine(w->f->fake));
}

/* As the service thread does it, a minute later. */
static void retry(struct world *w)
{
	vp_semaphores_retry(vp_fake_engine(w->f->fake), vp_now() + 100000000000ull);
}

static void while_it_is_enabled(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	add_probe(&w);
	add_probe(&w); /* of two probes it is raised once */
	ef_enable(w.f);
	assert_int_equal(value(&w), 0);
	ef_start(w.f);
	assert_int_equal(value(&w), 1);
	assert_false(is_pending(&w));
	add_probe(&w);
	ef_enable(w.f);
	assert_int_equal(value(&w), 1);
	stop(&w);
	assert_int_equal(value(&w), 0);
	ef_close(w.f);
	assert_int_equal(value(&w), 0);
	tear_down(&w);
}

static void closed_without_a_stop(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	set_value(&w, 3); /* others want it too */
	start(&w);
	assert_int_equal(value(&w), 4);
	ef_close(w.f);
	assert_int_equal(value(&w), 3);
	assert_null(vp_fake_engine(w.f->fake)->service->semaphores.list);
	tear_down(&w);
}

/* A child that shares the page, one with a copy, one that is made later; another program, and one of the same
 * file. */
static void in_all_copies(void **state)
{
	struct world w;
	uint64_t copy, later, other, alike;
	(void)state;

	set_up(&w);
	map_shared(&w, fork_process(&w, FILE_OF));
	copy = own_page(&w, fork_process(&w, FILE_OF), 0);
	other = own_page(&w, fork_process(&w, FILE_OF + 256), 0);
	alike = own_page(&w, fork_process(&w, FILE_OF), 0);
	poke(&w, DATA + 0x800 + 0x40 * 4 + STACK_AT, STACK + 16, 8);
	start(&w);
	assert_int_equal(value(&w), 1);
	assert_int_equal(value_in(&w, copy), 1);
	assert_int_equal(value_in(&w, other), 0);
	assert_int_equal(value_in(&w, alike), 0);
	later = own_page(&w, fork_process(&w, FILE_OF), 1);
	/* The process itself has become another program. */
	poke(&w, EF_TASKS + EF_TASK_MM, 0, 8);
	stop(&w);
	assert_int_equal(value(&w), 0); /* the first child has it */
	assert_int_equal(value_in(&w, copy), 0);
	assert_int_equal(value_in(&w, later), 0);
	assert_int_equal(value_in(&w, other), 0);
	tear_down(&w);
}

static void never_in_a_file(void **state)
{
	struct world w;
	uint64_t page, copy;
	(void)state;

	set_up(&w);
	copy = own_page(&w, fork_process(&w, FILE_OF), 0);
	page = PAGES + w.sem_page / VP_FAKE_PAGE * PAGE_STRUCT;
	set_kind(&w, w.sem_page, OF_FILE);
	start(&w);
	assert_int_equal(value(&w), 0);
	assert_int_equal(value_in(&w, copy), 0); /* all, or none */
	assert_true(is_pending(&w));
	/* ksmd's; one in a group, of which this word says nothing */
	poke(&w, page + MAPPING, ANON | 2, 8);
	retry(&w);
	assert_int_equal(value(&w), 0);
	poke(&w, page + MAPPING, ANON, 8);
	poke(&w, page + HEAD, PAGES + 1, 8);
	retry(&w);
	assert_int_equal(value(&w), 0);
	poke(&w, page + HEAD, 0, 8);
	retry(&w);
	assert_int_equal(value(&w), 1);
	assert_false(is_pending(&w));
	stop(&w);
	assert_int_equal(value(&w), 0);
	tear_down(&w);
}

/* Swapped out when it is to be lowered: that is done when it is back, in that process only. */
static void away(void **state)
{
	struct world w;
	uint64_t root, copy, page = SEM & ~(VP_FAKE_PAGE - 1);
	(void)state;

	set_up(&w);
	root = fork_process(&w, FILE_OF);
	copy = own_page(&w, root, 0);
	start(&w);
	assert_int_equal(value_in(&w, copy), 1);
	uint64_t *entry = vp_fake_entry(w.f->fake, root, page);
	uint64_t was = *entry;
	*entry &= ~1ull;
	stop(&w);
	assert_int_equal(value(&w), 0);
	assert_int_equal(value_in(&w, copy), 1);
	assert_true(is_pending(&w));
	set_value(&w, 5); /* others' by now */
	retry(&w);
	assert_true(is_pending(&w));
	*entry = was;
	retry(&w);
	assert_int_equal(value_in(&w, copy), 0);
	assert_int_equal(value(&w), 5);
	assert_false(is_pending(&w));
	tear_down(&w);
}

/* Nothing is mapped there any more: nothing is owed. */
static void unmapped(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	start(&w);
	*vp_fake_entry(w.f->fake, w.f->user_root, SEM & ~(VP_FAKE_PAGE - 1)) = 0;
	stop(&w);
	assert_false(is_pending(&w));
	tear_down(&w);
}

static void at_the_ends_of_its_range(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	start(&w);
	set_value(&w, 0);
	stop(&w);
	assert_int_equal(value(&w), 0);
	ef_close(w.f);
	tear_down(&w);
	set_up(&w);
	set_value(&w, 0xffff);
	start(&w);
	assert_int_equal(value(&w), 0xffff);
	tear_down(&w);
}

/* The number is another process's; the same process is another program. */
static void its_process_alone(void **state)
{
	static const struct {
		uint64_t at, other;
		size_t size;
	} fields[] = { { EF_TASK_TGID, 91, 4 }, { EF_TASK_MM, DATA + 0x900, 8 }, { EF_TASK_START, 78, 8 } };
	struct world w;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(fields); i++) {
		set_up(&w);
		poke(&w, EF_TASKS + fields[i].at, fields[i].other, fields[i].size);
		start(&w);
		assert_int_equal(value(&w), 0);
		assert_false(is_pending(&w));
		stop(&w);
		assert_int_equal(value(&w), 0);
		tear_down(&w);
	}
}

static void the_guest_ends(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	start(&w);
	set_value(&w, 9); /* of the next kernel, or of whatever is there */
	vp_engine_guest_ended(vp_fake_engine(w.f->fake), VP_GUEST_RESET);
	vp_engine_report_end(vp_fake_engine(w.f->fake));
	ef_close(w.f);
	assert_int_equal(value(&w), 9);
	tear_down(&w);
}

/* Only the engine goes: the program runs on, and so it is lowered. */
static void the_guest_runs_on(void **state)
{
	static const enum vp_guest_end ends[] = { VP_GUEST_DETACHED, VP_GUEST_SAVED, VP_GUEST_CHANGED };
	struct world w;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(ends); i++) {
		set_up(&w);
		start(&w);
		assert_int_equal(value(&w), 1);
		vp_engine_guest_ended(vp_fake_engine(w.f->fake), ends[i]);
		vp_engine_report_end(vp_fake_engine(w.f->fake));
		assert_int_equal(value(&w), 0);
		ef_close(w.f);
		tear_down(&w);
	}
}

static void the_vcpus_can_not_be_stopped(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	vp_fake_set_unstoppable(w.f->fake, true);
	start(&w);
	assert_int_equal(value(&w), 0);
	assert_true(is_pending(&w));
	vp_fake_set_unstoppable(w.f->fake, false);
	retry(&w);
	assert_int_equal(value(&w), 1);
	vp_fake_set_unstoppable(w.f->fake, true);
	ef_close(w.f);
	assert_int_equal(value(&w), 1);
	assert_true(is_pending(&w));
	vp_fake_set_unstoppable(w.f->fake, false);
	retry(&w);
	assert_int_equal(value(&w), 0);
	tear_down(&w);
}

/* Lists and tables that lead nowhere, or in a circle. */
static void hostile(void **state)
{
	struct world w;
	(void)state;

	set_up(&w);
	poke(&w, EF_TASKS + TASKS, EF_TASKS + TASKS, 8);
	poke(&w, EF_TASKS + EF_TASK_TGID, 1, 4);
	start(&w);
	assert_int_equal(value(&w), 0);
	tear_down(&w);
	set_up(&w);
	poke(&w, DATA + TASKS, 0x123, 8);
	start(&w);
	assert_int_equal(value(&w), 0);
	tear_down(&w);
	set_up(&w);
	poke(&w, DATA + 0x800 + PGD, 0x123, 8);
	start(&w);
	assert_int_equal(value(&w), 0);
	tear_down(&w);
}

static void malformed(void **state)
{
	static const uint64_t bad[] = { SEM + 1, DATA, 0x800000000000ull, ~1ull };
	struct world w;
	(void)state;

	set_up(&w);
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++) {
		add_probe(&w)->semaphore = bad[i];
		struct ot_err *err = ef_try_enable(w.f);
		assert_non_null(err);
		assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
		ot_err_destroy(err);
		ef_batch_clear(w.f);
	}
	tear_down(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(while_it_is_enabled),
		cmocka_unit_test(closed_without_a_stop),
		cmocka_unit_test(in_all_copies),
		cmocka_unit_test(never_in_a_file),
		cmocka_unit_test(away),
		cmocka_unit_test(unmapped),
		cmocka_unit_test(its_process_alone),
		cmocka_unit_test(at_the_ends_of_its_range),
		cmocka_unit_test(the_guest_ends),
		cmocka_unit_test(the_guest_runs_on),
		cmocka_unit_test(the_vcpus_can_not_be_stopped),
		cmocka_unit_test(hostile),
		cmocka_unit_test(malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
