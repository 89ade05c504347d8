/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Aggregations without keys: what is remembered of their entries, and for how long. */
#include "tests/unit/engine_fixture.h"

/* Hits of vCPU 0 with arg0 from @first on. */
static void hits(struct ef *f, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++) {
		vp_fake_set_reg(f->fake, 0, VP_RDI, i);
		assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	}
}

/* --- aggregations without keys ---------------------------------------------------------------- */

/* sum(arg0), in @n aggregations. */
static struct ef *sums(uint32_t n)
{
	struct ef *f = ef_create();
	uint32_t c = ef_clause(f, NULL);

	for (uint32_t i = 0; i < n; i++)
		ef_agg(f, c, DIF_AGG_sum, ef_var(f, DIF_VAR_arg0), 0);
	ef_trace(f, c);
	return f;
}

/* Each entry of the half that was handed over is @want; there are @n. */
static void expect_sums(struct ef *f, uint32_t n, uint64_t want)
{
	const uint8_t *key;
	const uint64_t *words;
	uint32_t i;

	for (i = 0; ef_agg_entry(f, 0, i, &key, &words); i++)
		assert_int_equal(*words, want);
	assert_int_equal(i, n);
}

/* What was known of a half ends when it is handed over, however often that is before the next hit. */
static void words_end_with_their_half(void **state)
{
	(void)state;
	for (uint32_t idle = 0; idle < 4; idle++) {
		struct ef *f = sums(1);
		for (uint32_t round = 1; round < 4; round++) {
			hits(f, round, 1);
			hits(f, 100, 2);
			ef_switch(f);
			expect_sums(f, 1, round + 201);
			for (uint32_t i = 0; i < idle; i++) {
				ef_switch(f);
				expect_sums(f, 0, 0);
			}
		}
		ef_destroy(f);
	}
}

/* More than have a place by number. */
static void many_words_at_once(void **state)
{
	struct ef *f = sums(DIF_AGG_SINGLES + 4);
	(void)state;

	for (uint32_t round = 0; round < 3; round++) {
		hits(f, 7, 1);
		hits(f, 8, 1);
		ef_switch(f);
		expect_sums(f, DIF_AGG_SINGLES + 4, 15);
	}
	ef_destroy(f);
}

/* Without room each hit is a drop, and the first one behind the exchange is none. */
static void no_room_for_words(void **state)
{
	struct ef *f = ef_create();
	(void)state;

	f->open.aggsize = 32; /* header, tuple, word: one entry */
	uint32_t c = ef_clause(f, NULL);
	ef_agg(f, c, DIF_AGG_sum, ef_var(f, DIF_VAR_arg0), 0);
	ef_agg(f, c, DIF_AGG_max, ef_var(f, DIF_VAR_arg0), 0);
	ef_trace(f, c);
	for (uint64_t round = 1; round < 4; round++) {
		hits(f, 7, 1);
		hits(f, 7, 1);
		ef_switch(f);
		expect_sums(f, 1, 14);
		const struct vp_vcpu_status *s = ef_status(f, 0);
		assert_int_equal(s->aggregation[0].dropped + s->aggregation[1].dropped, 2 * round);
	}
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_end_with_their_half),
		cmocka_unit_test(many_words_at_once),
		cmocka_unit_test(no_room_for_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
