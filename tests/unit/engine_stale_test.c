/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites of an unloaded module, and modules loaded later at the same addresses. */
#include "engine_fixture.h"
#include "vmm-probe/engine/service/parts.h"

/* Text in small pages. */
#define MODULE 0xffffffffc0000000ull
#define OTHER  0xffffffffc0008000ull
#define OWNER  0xffffffffc0010000ull

static const uint8_t nop[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

static void load(struct ef *f, uint64_t gva, uint64_t gpa)
{
	vp_fake_map(f->fake, f->kernel_root, gva, gpa, 0, 12);
	vp_fake_write(f->fake, f->kernel_root, gva, nop, sizeof(nop));
}

/* Something else's. */
static void unload(struct ef *f, uint64_t gva)
{
	vp_fake_map(f->fake, f->kernel_root, gva, vp_fake_page(f->fake), 0, 12);
}

static struct vp_batch_site *add_site(struct ef *f, uint64_t gva)
{
	struct vp_batch_site *site;

	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	site = (struct vp_batch_site *)(void *)f->sites.data + f->nsites - 1;
	site->gva = gva;
	return site;
}

static void enable(struct ef *f, uint32_t clause, uint64_t gva)
{
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "func", "entry");

	add_site(f, gva);
	ef_ecb(f, probe, clause);
	ef_enable(f);
}

static struct ef *started(uint32_t *ret_clause, uint64_t *ret_gpa)
{
	struct ef *f = ef_create();

	*ret_clause = ef_clause(f, NULL);
	ef_action(f, *ret_clause, DIF_ACT_difexpr, ef_int(f, 1));
	*ret_gpa = vp_fake_page(f->fake);
	load(f, MODULE, *ret_gpa);
	ef_open(f);
	enable(f, *ret_clause, MODULE);
	ef_start(f);
	assert_true(vp_fake_hit(f->fake, 0, MODULE));
	assert_false(vp_stale_check(vp_fake_engine(f->fake)));
	return f;
}

static uint32_t records(struct ef *f)
{
	struct ef_record r[8];

	return ef_records(f, 0, r, 8);
}

/* It is removed from the plan and reported once; loaded at the same address it stays out until requested
 * again. */
static void test_loaded_anew(void **state)
{
	uint32_t clause;
	uint64_t gpa;
	struct ef *f = started(&clause, &gpa);
	struct vp_engine *engine = vp_fake_engine(f->fake);

	(void)state;
	assert_int_equal(ef_switch(f).patching.lost, 0);
	unload(f, MODULE);
	assert_true(vp_stale_check(engine));
	assert_false(vp_stale_check(engine));
	EF_OK(vp_replan(engine));
	assert_int_equal(vp_fake_sites(f->fake), 0);
	assert_int_equal(ef_switch(f).patching.lost, 1);
	load(f, MODULE, gpa);
	EF_OK(vp_replan(engine));
	assert_int_equal(vp_fake_sites(f->fake), 0);
	enable(f, clause, MODULE);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	assert_true(vp_fake_site(f->fake, MODULE)->batch > 1);
	ef_switch(f);
	assert_true(vp_fake_hit(f->fake, 0, MODULE));
	assert_int_equal(ef_switch(f).patching.lost, 1);
	assert_int_equal(records(f), 1); /* of the new one */
	ef_destroy(f);
}

/* Another module reuses its page before the engine checks: only the new module's probes fire there. */
static void test_page_reused(void **state)
{
	uint32_t clause;
	uint64_t gpa;
	struct ef *f = started(&clause, &gpa);

	(void)state;
	unload(f, MODULE);
	load(f, OTHER, gpa);
	enable(f, clause, OTHER);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	assert_null(vp_fake_site(f->fake, MODULE));
	assert_int_equal(vp_fake_site(f->fake, OTHER)->necbs, 1);
	assert_int_equal(ef_switch(f).patching.lost, 1);
	ef_destroy(f);
}

/* The kernel keeps the text's page and gives it to the same module again: that the module went, its
 * structure's page shows that. */
static void test_text_kept(void **state)
{
	uint32_t clause, probe;
	uint64_t gpa;
	struct ef *f = started(&clause, &gpa);

	(void)state;
	load(f, OTHER, vp_fake_page(f->fake));
	vp_fake_map(f->fake, f->kernel_root, OWNER, vp_fake_page(f->fake), 0, 12);
	probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "func", "entry");
	add_site(f, OTHER)->owner = OWNER + 0x40;
	ef_ecb(f, probe, clause);
	ef_enable(f);
	assert_int_equal(vp_fake_sites(f->fake), 2);
	assert_false(vp_stale_check(vp_fake_engine(f->fake)));
	vp_fake_map(f->fake, f->kernel_root, OWNER, vp_fake_page(f->fake), 0, 12);
	assert_true(vp_stale_check(vp_fake_engine(f->fake)));
	EF_OK(vp_replan(vp_fake_engine(f->fake)));
	assert_int_equal(vp_fake_sites(f->fake), 1);
	assert_null(vp_fake_site(f->fake, OTHER));
	assert_int_equal(ef_switch(f).patching.lost, 1);
	ef_destroy(f);
}

/* Losing a site of the engine's own is not reported. */
static void test_own(void **state)
{
	uint32_t clause;
	uint64_t gpa;
	struct ef *f = started(&clause, &gpa);

	(void)state;
	load(f, OTHER, vp_fake_page(f->fake));
	ef_probe(f, VP_PROBE_SENTINEL, VP_ARGS_NONE, "", "");
	add_site(f, OTHER)->sentinel = VP_SENTINEL_ENTER;
	ef_enable(f);
	assert_int_equal(vp_fake_sites(f->fake), 2);
	unload(f, OTHER);
	assert_true(vp_stale_check(vp_fake_engine(f->fake)));
	assert_int_equal(ef_switch(f).patching.lost, 0);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loaded_anew),
		cmocka_unit_test(test_page_reused),
		cmocka_unit_test(test_text_kept),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
