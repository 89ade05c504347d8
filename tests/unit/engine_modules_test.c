/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules that come and go while a session is active: which events it gets, for which clients the guest
 * waits, which sites end. */
#include <time.h>

#include "engine_fixture.h"
#include "vmm-probe/engine/service/parts.h"

#define OWNER EF_STACKS /* any mapped address of the kernel's */

static struct vp_batch_site *last_site(struct ef *f)
{
	return (struct vp_batch_site *)(void *)f->sites.data + f->nsites - 1;
}

static void add_sentinel(struct ef *f, uint64_t gva, enum vp_sentinel kind)
{
	ef_probe(f, VP_PROBE_SENTINEL, VP_ARGS_NONE, "", "");
	ef_site(f, gva, EF_FUNC_A);
	last_site(f)->sentinel = (uint8_t)kind;
}

/* A probe in the module at @owner. */
static void enable_in(struct ef *f, uint32_t clause, uint64_t gva, uint64_t owner)
{
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "func", "entry");

	ef_site(f, gva, gva);
	last_site(f)->owner = owner;
	ef_ecb(f, probe, clause);
	ef_enable(f);
}

/* A session that follows modules, and has no probe. */
static struct ef *following(uint32_t *ret_clause)
{
	struct ef *f = ef_create();

	*ret_clause = ef_clause(f, NULL);
	ef_action(f, *ret_clause, DIF_ACT_difexpr, ef_int(f, 1));
	ef_open(f);
	add_sentinel(f, EF_FUNC_C, VP_SENTINEL_MODULE_COMES);
	ef_enable(f);
	ef_start(f);
	return f;
}

static struct vp_msg_modules_reply answer(struct ef *f, uint64_t seen)
{
	struct vp_msg_modules_reply reply = { 0 };

	vp_modules_answer(f->es, seen, &reply);
	return reply;
}

static uint64_t word(const struct ef *f)
{
	return ((const struct vp_vcpu_status *)(const void *)(f->shared + f->open.status_offset))->modules;
}

/* The guest waits until the client has enabled what it wants, in the middle of the session; a hit before that
 * and one behind show that the new probe fires at once. */
static void test_comes(void **state)
{
	uint32_t clause;
	struct ef *f = following(&clause);
	struct vp_engine *engine = vp_fake_engine(f->fake);
	struct ef_record r[4];

	(void)state;
	assert_int_equal(word(f), 0);
	uint64_t number = vp_engine_module(engine, VP_SENTINEL_MODULE_COMES, OWNER);
	assert_false(vp_engine_module_done(engine, number));
	vp_modules_handle(engine);
	assert_false(vp_engine_module_done(engine, number));
	assert_int_equal(word(f), number);
	struct vp_msg_modules_reply reply = answer(f, 0);
	assert_int_equal(reply.n, 1);
	assert_int_equal(reply.last, number);
	assert_int_equal(reply.events[0].module, OWNER);
	assert_int_equal(reply.events[0].kind, VP_SENTINEL_MODULE_COMES);
	assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	enable_in(f, clause, EF_FUNC_A, OWNER);
	assert_false(vp_engine_module_done(engine, number));
	reply = answer(f, number);
	assert_int_equal(reply.n + reply.late, 0);
	assert_true(vp_engine_module_done(engine, number));
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ef_switch(f);
	assert_int_equal(ef_records(f, 0, r, 4), 1);
	ef_destroy(f);
}

/* Its sites end before the guest frees it, in every session, and are not lost; another module's stay. */
static void test_goes(void **state)
{
	uint32_t clause;
	struct ef *f = following(&clause);
	struct vp_engine *engine = vp_fake_engine(f->fake);

	(void)state;
	enable_in(f, clause, EF_FUNC_A, OWNER);
	enable_in(f, clause, EF_FUNC_B, OWNER + 64);
	assert_int_equal(vp_fake_sites(f->fake), 3);
	vp_engine_module(engine, VP_SENTINEL_MODULE_GOES, OWNER);
	vp_modules_handle(engine);
	assert_int_equal(vp_fake_sites(f->fake), 2);
	assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_B));
	assert_int_equal(ef_switch(f).patching.lost, 0);
	/* the same place again: only what is asked for now */
	assert_int_equal(answer(f, 0).n, 1);
	enable_in(f, clause, EF_FUNC_A, OWNER);
	assert_int_equal(vp_fake_site(f->fake, EF_FUNC_A)->necbs, 1);
	ef_destroy(f);
}

/* A batch that was made before its module went, and arrives behind: no probe of it is planted, and none is
 * lost. */
static void test_gone_before_enabled(void **state)
{
	uint32_t clause;
	struct ef *f = following(&clause);
	struct vp_engine *engine = vp_fake_engine(f->fake);

	(void)state;
	vp_engine_module(engine, VP_SENTINEL_MODULE_COMES, OWNER);
	answer(f, 0);
	uint64_t number = vp_engine_module(engine, VP_SENTINEL_MODULE_GOES, OWNER);
	vp_modules_handle(engine);
	enable_in(f, clause, EF_FUNC_A, OWNER);
	assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_int_equal(answer(f, 1).n, 1);
	enable_in(f, clause, EF_FUNC_A, OWNER); /* the next one at its place, of which the client knows now */
	answer(f, number);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_int_equal(ef_switch(f).patching.lost, 0);
	ef_destroy(f);
}

/* The periodic look comes before the report is handled: nothing is lost. */
static void test_look_comes_first(void **state)
{
	uint32_t clause;
	struct ef *f = following(&clause);
	struct vp_engine *engine = vp_fake_engine(f->fake);

	(void)state;
	enable_in(f, clause, EF_FUNC_A, OWNER);
	vp_engine_module(engine, VP_SENTINEL_MODULE_GOES, OWNER);
	assert_true(vp_stale_check(engine));
	EF_OK(vp_replan(engine));
	assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_int_equal(ef_switch(f).patching.lost, 0);
	ef_destroy(f);
}

/* One that is not told of modules, or has ended, is not waited for. */
static void test_nobody_waits(void **state)
{
	struct ef *f = ef_create();
	uint32_t clause = ef_clause(f, NULL);
	struct vp_engine *engine = vp_fake_engine(f->fake);

	(void)state;
	ef_trace(f, clause);
	uint64_t number = vp_engine_module(engine, VP_SENTINEL_MODULE_COMES, OWNER);
	vp_modules_handle(engine);
	assert_true(vp_engine_module_done(engine, number));
	ef_destroy(f);

	f = following(&clause);
	engine = vp_fake_engine(f->fake);
	number = vp_engine_module(engine, VP_SENTINEL_MODULE_COMES, OWNER);
	vp_modules_handle(engine);
	assert_false(vp_engine_module_done(engine, number));
	EF_OK(vp_engine_session_stop(f->es));
	assert_true(vp_engine_module_done(engine, number));
	ef_destroy(f);
}

/* The guest no longer waits for a client that was too slow until that has caught up; it gets the number of
 * events missed.
 */
static void test_late(void **state)
{
	const struct timespec longer = { .tv_nsec = VP_MODULES_HOLD_NS + 1000000 };
	uint32_t clause;
	struct ef *f = following(&clause);
	struct vp_engine *engine = vp_fake_engine(f->fake);

	(void)state;
	vp_engine_module(engine, VP_SENTINEL_MODULE_COMES, OWNER);
	vp_modules_handle(engine);
	nanosleep(&longer, NULL);
	uint64_t number = vp_engine_module(engine, VP_SENTINEL_MODULE_COMES, OWNER + 64);
	vp_modules_handle(engine);
	assert_true(vp_engine_module_done(engine, number));
	assert_int_equal(answer(f, 0).n, 2);
	assert_int_equal(answer(f, number).late, 1);
	number = vp_engine_module(engine, VP_SENTINEL_MODULE_COMES, OWNER + 128);
	vp_modules_handle(engine);
	assert_false(vp_engine_module_done(engine, number));
	ef_destroy(f);
}

/* More than are kept, and numbers that a client made up. */
static void test_many(void **state)
{
	uint32_t clause;
	struct ef *f = following(&clause);
	struct vp_engine *engine = vp_fake_engine(f->fake);
	uint64_t number = 0;

	(void)state;
	for (unsigned i = 0; i < 3 * VP_MODULES_KEPT; i++)
		number = vp_engine_module(engine, VP_SENTINEL_MODULE_GOES, OWNER + i);
	struct vp_msg_modules_reply reply = answer(f, 0);
	assert_int_equal(reply.n, VP_MODULES_KEPT);
	assert_int_equal(reply.last, number);
	assert_int_equal(reply.events[VP_MODULES_KEPT - 1].module, OWNER + 3 * VP_MODULES_KEPT - 1);
	assert_int_equal(answer(f, UINT64_MAX).n, 0);
	assert_true(vp_engine_module_done(engine, number));
	assert_int_equal(answer(f, 1).n, 0); /* what was done stays done */
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes),
		cmocka_unit_test(test_goes),
		cmocka_unit_test(test_nobody_waits),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_gone_before_enabled),
		cmocka_unit_test(test_look_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
