/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites in files: they fire in every process that executes the file's own page, and nowhere else. */
#include "tests/unit/engine_fixture.h"

#include <string.h>

#define MAX_RECORDS 64
#define OFFSET      0x5200u /* of the function in the file: in page 5 */
#define CODE        (EF_USER + 0x10200)
#define MAPPING     0xffff888000345680ull /* the file's struct address_space */
#define VMEMMAP     0xffffea0000000000ull
#define GROUP       3u /* pages before the code's, where it is in a group */

/* Offsets in the fake struct page. */
enum { PAGE_HEAD = 8, PAGE_MAPPING = 24, PAGE_INDEX = 32, PAGE_SIZE = 64 };

static uint64_t code_gpa;

static uint64_t struct_page(int64_t nth)
{
	return VMEMMAP + (code_gpa / VP_FAKE_PAGE + (uint64_t)nth) * PAGE_SIZE;
}

static void put(struct ef *f, uint64_t va, uint64_t value)
{
	vp_fake_write(f->fake, f->kernel_root, va, &value, 8);
}

static void set_page(struct ef *f, int64_t nth, uint64_t head, uint64_t mapping, uint64_t index)
{
	put(f, struct_page(nth) + PAGE_HEAD, head);
	put(f, struct_page(nth) + PAGE_MAPPING, mapping);
	put(f, struct_page(nth) + PAGE_INDEX, index);
}

/* vCPU 0 runs a process that has the file's page 5 at CODE's page, and is at the function there. */
static struct ef *world(void)
{
	struct ef *f = ef_create();
	struct vp_family_facts *facts = &f->facts.families;
	uint64_t table = VMEMMAP;

	code_gpa = vp_fake_page(f->fake);
	for (unsigned i = 0; i < 2 * GROUP; i++) /* so that the pages before it are RAM too */
		code_gpa = vp_fake_page(f->fake);
	vp_fake_map(f->fake, f->user_root, CODE & ~0xfffull, code_gpa, 4, 12);
	for (table = struct_page(-16) & ~0xfffull; table <= struct_page(16); table += VP_FAKE_PAGE)
		vp_fake_map(f->fake, f->kernel_root, table, vp_fake_page(f->fake), 0, 12);
	*facts = (struct vp_family_facts){ .init_task = EF_TASKS,
					   .vmemmap = VMEMMAP,
					   .page_size = PAGE_SIZE,
					   .page_mapping = PAGE_MAPPING,
					   .page_head = PAGE_HEAD,
					   .page_index = PAGE_INDEX };
	set_page(f, 0, 0, MAPPING, OFFSET / VP_FAKE_PAGE);
	vp_fake_set_reg(f->fake, 0, VP_CS, 0x33);
	vp_fake_set_reg(f->fake, 0, VP_RIP, CODE);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 11);
	return f;
}

static struct vp_batch_probe *add_probe(struct ef *f, uint32_t clause, uint32_t args)
{
	struct vp_batch_site s = { .gva = OFFSET, .offset = 3, .length = 1, .room = 1, .bytes = { 0x55 } };
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, args, "work", "entry");
	struct vp_batch_probe *p = (struct vp_batch_probe *)(void *)f->probes.data + probe;

	ot_buf_append(&f->sites, &s, sizeof(s));
	p->first_site = f->nsites++;
	p->nsites = 1;
	p->file = MAPPING;
	ef_ecb(f, probe, clause);
	return p;
}

static struct ef *started(void)
{
	struct ef *f = world();
	uint32_t c = ef_clause(f, NULL);

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_open(f);
	add_probe(f, c, VP_ARGS_FBT_ENTRY);
	ef_enable(f);
	ef_start(f);
	return f;
}

static uint32_t fired(struct ef *f)
{
	struct ef_record r[MAX_RECORDS];

	assert_true(vp_fake_hit(f->fake, 0, OFFSET));
	ef_switch(f);
	return ef_records(f, 0, r, MAX_RECORDS);
}

static void in_every_process(void **state)
{
	struct ef *f = started();
	uint32_t pid = 4711;
	(void)state;

	assert_int_equal(fired(f), 1);
	vp_fake_write(f->fake, f->kernel_root, EF_TASKS + EF_TASK_TGID, &pid, 4);
	assert_int_equal(fired(f), 1);
	ef_destroy(f);
}

/* Another file, another page of this one, a copy of the process's own, no page at all. */
static void only_in_its_page(void **state)
{
	static const struct {
		uint64_t mapping, index;
	} others[] = { { MAPPING + 0x100, 5 }, { MAPPING, 4 }, { MAPPING, 6 }, { MAPPING | 1, 5 }, { 0, 5 } };
	struct ef *f = started();
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(others); i++) {
		set_page(f, 0, 0, others[i].mapping, others[i].index);
		assert_int_equal(fired(f), 0);
	}
	set_page(f, 0, 0, MAPPING, 5);
	assert_int_equal(fired(f), 1);
	vp_fake_set_reg(f->fake, 0, VP_RIP, CODE + 2 * VP_FAKE_PAGE); /* not mapped */
	assert_int_equal(fired(f), 0);
	ef_destroy(f);
}

/* Of a group of pages the first one has the file and the place. */
static void groups(void **state)
{
	struct ef *f = started();
	(void)state;

	set_page(f, -(int64_t)GROUP, 0, MAPPING, 5 - GROUP);
	set_page(f, 0, struct_page(-(int64_t)GROUP) | 1, MAPPING, 5);
	assert_int_equal(fired(f), 1);
	set_page(f, -(int64_t)GROUP, 0, MAPPING, 5);
	assert_int_equal(fired(f), 0);
	/* a first one behind its group, and one that is nowhere */
	set_page(f, 1, 0, MAPPING, 4);
	set_page(f, 0, struct_page(1) | 1, MAPPING, 5);
	assert_int_equal(fired(f), 0);
	set_page(f, 0, 0x1001, MAPPING, 5);
	assert_int_equal(fired(f), 0);
	set_page(f, 0, 0, MAPPING, 5);
	assert_int_equal(fired(f), 1);
	ef_destroy(f);
}

/* Where the process is, and where in the function. */
static void arguments(void **state)
{
	struct ef *f = world();
	struct ef_record r[MAX_RECORDS];
	uint32_t c = ef_clause(f, NULL);
	struct dif_action *a = ef_action(f, c, DIF_ACT_ustack, NULL);
	(void)state;

	a->arg = 1;
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_open(f);
	add_probe(f, c, VP_ARGS_FBT_RETURN);
	ef_enable(f);
	ef_start(f);
	assert_true(vp_fake_hit(f->fake, 0, OFFSET));
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 1);
	static const uint64_t want[] = { 90, CODE, 3 };
	for (unsigned i = 0; i < OT_ARRAY_SIZE(want); i++)
		assert_int_equal(ef_u64(r[0].data + 16 + 8 * i), want[i]);
	ef_destroy(f);
}

/* The kernel's sites first, then those in files, each place once. */
static void the_plan(void **state)
{
	struct ef *f = world();
	uint32_t c = ef_clause(f, NULL);
	(void)state;

	ef_agg(f, c, DIF_AGG_count, NULL, 0);
	ef_open(f);
	add_probe(f, c, VP_ARGS_FBT_ENTRY);
	add_probe(f, c, VP_ARGS_FBT_ENTRY);
	add_probe(f, c, VP_ARGS_FBT_ENTRY)->file += 0x400;
	ef_enable(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	ef_start(f);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	const struct vp_site *site = vp_fake_site(f->fake, OFFSET);
	assert_non_null(site);
	assert_int_equal(site[0].file, MAPPING);
	assert_int_equal(site[0].necbs, 2);
	assert_int_equal(site[0].ncounters, 0); /* other files' hits would be counted */
	assert_int_equal(site[1].file, MAPPING + 0x400);
	assert_int_equal(site[1].necbs, 1);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_A)->file, 0);
	vp_fake_hit(f->fake, 0, OFFSET);
	ef_switch(f);
	assert_int_equal(ef_agg_total(f), 2);
	ef_destroy(f);
}

/* --- stand-ins ---------------------------------------------------------------------------------------- */

/* vCPU 0's process, which has the group leader that its task names. */
static struct ef *world_of_process(void)
{
	struct ef *f = world();

	f->facts.task_group_leader = 0x700;
	put(f, EF_TASKS + 0x700, EF_TASKS);
	return f;
}

static struct vp_batch_probe *add_stand_in(struct ef *f, uint32_t clause)
{
	struct vp_batch_probe *p = add_probe(f, clause, VP_ARGS_NONE);

	p->stands_in = 1;
	p->provider = (uint32_t)f->strings.len;
	ot_buf_append(&f->strings, "prog*", 6);
	return p;
}

/* The process's own probe, at the same place. */
static struct vp_batch_probe *add_own(struct ef *f, uint32_t clause)
{
	struct vp_batch_probe *p = add_probe(f, clause, VP_ARGS_NONE);

	((struct vp_batch_site *)(void *)f->sites.data)[p->first_site].gva = CODE;
	p->file = 0;
	p->process = (struct vp_batch_process){
		.root = f->user_root & ~0x1fffull, .mm = 1, .since_ns = 77, .pid = 90
	};
	return p;
}

static void set_pid(struct ef *f, uint32_t pid)
{
	vp_fake_write(f->fake, f->kernel_root, EF_TASKS + EF_TASK_TGID, &pid, 4);
}

/* What a vCPU at the instruction calls: the site in the process, then that in the file. */
static uint32_t fired_in_all(struct ef *f)
{
	struct ef_record r[MAX_RECORDS];

	vp_fake_hit(f->fake, 0, CODE);
	vp_fake_hit(f->fake, 0, OFFSET);
	ef_switch(f);
	return ef_records(f, 0, r, MAX_RECORDS);
}

/* In another process, in another program of the same process, and at another address: of this file too. */
static void stands_in(void **state)
{
	struct ef *f = world_of_process();
	uint32_t c = ef_clause(f, NULL);
	(void)state;

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_pid));
	ef_open(f);
	add_stand_in(f, c);
	ef_enable(f);
	ef_start(f);
	assert_int_equal(fired_in_all(f), 1);
	add_own(f, c);
	ef_enable(f);
	assert_int_equal(fired(f), 0); /* its own fires */
	assert_int_equal(fired_in_all(f), 1);
	set_pid(f, 4711);
	assert_int_equal(fired(f), 1);
	assert_int_equal(fired_in_all(f), 1);
	set_pid(f, 90);
	put(f, EF_TASKS + EF_TASK_MM, 2);
	assert_int_equal(fired_in_all(f), 1);
	put(f, EF_TASKS + EF_TASK_MM, 1);
	set_page(f, 0, 0, MAPPING | 1, 5); /* a copy of the process's own */
	assert_int_equal(fired_in_all(f), 1);
	assert_int_equal(fired(f), 0);
	ef_destroy(f);
}

/* A clause whose own probe is enabled says nothing of the others at the place. */
static void each_clause(void **state)
{
	struct ef *f = world_of_process();
	uint32_t c = ef_clause(f, NULL), d = ef_clause(f, NULL);
	(void)state;

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_pid));
	ef_action(f, d, DIF_ACT_difexpr, ef_var(f, DIF_VAR_tid));
	ef_open(f);
	add_stand_in(f, c);
	add_stand_in(f, d);
	add_own(f, c);
	add_probe(f, c, VP_ARGS_NONE); /* of every process in any case */
	ef_enable(f);
	ef_start(f);
	assert_int_equal(fired(f), 2);
	assert_int_equal(fired_in_all(f), 3);
	ef_destroy(f);
}

/* Its provider is called as that of the process that fires. */
static void its_name(void **state)
{
	static const struct {
		uint32_t pid;
		const char *name;
	} processes[] = { { 90, "prog90" }, { 4194304, "prog4194304" }, { 7, "prog7" }, { 90, "prog90" } };
	struct ef *f = world_of_process();
	struct ef_record r[MAX_RECORDS];
	uint32_t c = ef_clause(f, NULL), d = ef_clause(f, NULL);
	(void)state;

	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_probeprov));
	ef_key(f, d, ef_string_var(f, DIF_VAR_probeprov));
	ef_agg(f, d, DIF_AGG_count, NULL, 1);
	ef_open(f);
	add_stand_in(f, c);
	add_stand_in(f, d);
	ef_enable(f);
	ef_start(f);
	for (size_t i = 0; i < OT_ARRAY_SIZE(processes); i++) {
		set_pid(f, processes[i].pid);
		assert_true(vp_fake_hit(f->fake, 0, OFFSET));
	}
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, MAX_RECORDS), 4);
	for (size_t i = 0; i < OT_ARRAY_SIZE(processes); i++)
		assert_string_equal((const char *)r[i].data + 16, processes[i].name);
	assert_int_equal(ef_agg_total(f), 4);
	for (uint32_t n = 0; n < 3; n++) { /* in the order of the first hits */
		const uint64_t *count;
		const uint8_t *key;

		assert_true(ef_agg_entry(f, 0, n, &key, &count));
		assert_string_equal((const char *)key + 4, processes[n].name);
		assert_int_equal(*count, n ? 1 : 2);
	}
	ef_destroy(f);
}

static void refused(struct ef *f, enum ot_err_code code)
{
	struct ot_err *err = ef_try_enable(f);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), code);
	ot_err_destroy(err);
	ef_batch_clear(f);
}

/* What no client of ours sends. */
static void malformed(void **state)
{
	struct ef *f = world();
	uint32_t c = ef_clause(f, NULL);
	(void)state;

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_open(f);
	add_probe(f, c, VP_ARGS_FBT_ENTRY)->process.pid = 90;
	refused(f, OT_ERR_BAD_DATA);
	add_probe(f, c, VP_ARGS_FBT_ENTRY)->process.root = 0x1000;
	refused(f, OT_ERR_BAD_DATA);
	add_own(f, c)->stands_in = 1;
	refused(f, OT_ERR_BAD_DATA);
	add_stand_in(f, c)->stands_in = 2;
	refused(f, OT_ERR_BAD_DATA);
	for (unsigned i = 0; i < 3; i++) {
		add_probe(f, c, VP_ARGS_FBT_ENTRY);
		struct vp_batch_site *s = (void *)f->sites.data;
		s->gva = i == 0 ? EF_FUNC_A : s->gva;
		s->semaphore = i == 1 ? EF_USER : 0;
		s->owner = i == 2 ? EF_TASKS : 0;
		refused(f, OT_ERR_BAD_DATA);
	}
	ef_destroy(f);
}

static void unknown_pages(void **state)
{
	struct ef *f = world();
	uint32_t c = ef_clause(f, NULL);
	(void)state;

	f->facts.families.page_index = VP_NO_OFFSET;
	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_open(f);
	add_probe(f, c, VP_ARGS_FBT_ENTRY);
	refused(f, OT_ERR_UNSUPPORTED);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_every_process), cmocka_unit_test(only_in_its_page),
		cmocka_unit_test(groups),           cmocka_unit_test(arguments),
		cmocka_unit_test(the_plan),         cmocka_unit_test(malformed),
		cmocka_unit_test(unknown_pages),    cmocka_unit_test(stands_in),
		cmocka_unit_test(each_clause),      cmocka_unit_test(its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
