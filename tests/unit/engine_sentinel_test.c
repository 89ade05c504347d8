/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sentinels in a batch and in a plan. */
#include "engine_fixture.h"
#include "vmm-probe/engine/wire/protocol.h"

static struct vp_batch_site *last_site(struct ef *f)
{
	return (struct vp_batch_site *)(void *)f->sites.data + f->nsites - 1;
}

static void add_sentinel(struct ef *f, uint64_t gva, enum vp_sentinel kind, uint16_t pushed)
{
	ef_probe(f, VP_PROBE_SENTINEL, VP_ARGS_NONE, "", "");
	ef_site(f, gva, EF_FUNC_A);
	last_site(f)->sentinel = (uint8_t)kind;
	last_site(f)->pushed = pushed;
}

/* On a site of its own, and on one that has an ECB too. */
static void test_merged(void **state)
{
	struct ef *f = ef_create();
	uint32_t c = ef_clause(f, NULL);

	(void)state;
	ef_action(f, c, DIF_ACT_difexpr, ef_int(f, 1));
	ef_open(f);
	ef_enable_entry(f, c, EF_FUNC_A);
	add_sentinel(f, EF_FUNC_A, VP_SENTINEL_ENTER, 16);
	add_sentinel(f, EF_RET(EF_FUNC_A), VP_SENTINEL_LEAVE, 0);
	ef_enable(f);
	ef_start(f);
	assert_int_equal(vp_fake_sites(f->fake), 2);
	const struct vp_site *both = vp_fake_site(f->fake, EF_FUNC_A);
	assert_int_equal(both->sentinel, VP_SENTINEL_ENTER);
	assert_int_equal(both->pushed, 16);
	assert_int_equal(both->necbs, 1);
	const struct vp_site *alone = vp_fake_site(f->fake, EF_RET(EF_FUNC_A));
	assert_int_equal(alone->sentinel, VP_SENTINEL_LEAVE);
	assert_int_equal(alone->necbs + alone->ncounters, 0);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_true(vp_fake_hit(f->fake, 0, EF_RET(EF_FUNC_A)));
	ef_switch(f);
	struct ef_record records[2];
	assert_int_equal(ef_records(f, 0, records, 2), 1);
	ef_destroy(f);
}

static void test_refused(void **state)
{
	struct ef *f = ef_create();
	uint32_t c = ef_clause(f, NULL);

	(void)state;
	ef_action(f, c, DIF_ACT_difexpr, ef_int(f, 1));
	ef_open(f);
	/* a sentinel's site that is none */
	add_sentinel(f, EF_FUNC_A, VP_SENTINEL_NONE, 0);
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
	ef_batch_clear(f);
	/* a probe's site that is one */
	ef_probe(f, VP_PROBE_SITE, VP_ARGS_NONE, "f", "entry");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	last_site(f)->sentinel = VP_SENTINEL_ENTER;
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
	ef_batch_clear(f);
	/* an ECB on one */
	uint32_t probe = ef_probe(f, VP_PROBE_SENTINEL, VP_ARGS_NONE, "", "");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	last_site(f)->sentinel = VP_SENTINEL_ENTER;
	ef_ecb(f, probe, c);
	EF_FAILS(OT_ERR_BAD_DATA, ef_try_enable(f));
	ef_batch_clear(f);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
