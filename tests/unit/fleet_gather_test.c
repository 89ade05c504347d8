/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What waits for the link on a host: aggregations, records and losses (fleet/host/gather.c, records.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dif/vm/agg.h"
#include "fleet/host/gather.h"
#include "fleet/host/records.h"

/* --- aggregations --------------------------------------------------------------------------------------- */

static struct dif_object number = { .ret = { .size = 8 } };

/* @n = count(), @m = min(), each by one number, on a probe in each of two guests. */
struct fixture {
	struct dif_options opts;
	struct dif_aggvar vars[2];
	struct dif_program prog;
	struct dif_action actions[4];
	struct dif_clause clause;
	struct dif_clause_layout layout;
	struct vp_enabled ecbs[2];
	struct ot_arena arena;
	struct fl_gather g;
	struct ot_buf got; /* all batches */
	unsigned batches;
};

static void setup(struct fixture *f, enum dif_action_kind key)
{
	const struct dif_layout_opts sizes = { 16, 2, 2, 2, 0 };

	memset(f, 0, sizeof(*f));
	dif_options_init(&f->opts);
	ot_arena_init(&f->arena);
	ot_buf_init(&f->got);
	f->vars[0] = (struct dif_aggvar){ "n", 1, DIF_AGG_count, 0, 1 };
	f->vars[1] = (struct dif_aggvar){ "m", 2, DIF_AGG_min, 0, 1 };
	f->prog.aggs = f->vars;
	f->prog.naggs = 2;
	for (unsigned i = 0; i < 2; i++) {
		f->actions[2 * i] = (struct dif_action){ .kind = key, .is_key = true, .object = &number };
		f->actions[2 * i + 1] =
		    (struct dif_action){ .kind = (enum dif_action_kind)(i ? DIF_AGG_min : DIF_AGG_count),
					 .ntuple = 2,
					 .aggid = i + 1 };
	}
	f->clause = (struct dif_clause){ .actions = f->actions, .nactions = 4 };
	assert_null(dif_clause_layout(&f->clause, &sizes, &f->arena, &f->layout));
	for (unsigned i = 0; i < 2; i++)
		f->ecbs[i] = (struct vp_enabled){
			.epid = 10 + i, .guest = i, .clause = &f->clause, .layout = &f->layout
		};
	assert_null(fl_gather_init(&f->g, &f->prog, &f->opts));
}

static void teardown(struct fixture *f)
{
	fl_gather_deinit(&f->g);
	ot_buf_deinit(&f->got);
	ot_arena_deinit(&f->arena);
	dif_options_deinit(&f->opts);
}

/* A delta of aggregation @agg. False: it was not taken. */
static bool add(struct fixture *f, unsigned agg, unsigned guest, uint64_t key, uint64_t value)
{
	const struct dif_agg_layout *l = &f->layout.aggs[agg];
	uint8_t tuple[64] = { 0 };
	const uint32_t aggid = agg + 1;
	struct vp_aggregate delta = {
		.ecb = &f->ecbs[guest],
		.layout = l,
		.action = &f->clause.actions[l->action],
		.tuple = tuple,
		.words = &value,
	};
	bool taken;

	assert_true(l->tuple_size <= sizeof(tuple));
	memcpy(tuple, &aggid, 4);
	memcpy(tuple + l->keys[0].offset, &key, 8);
	assert_null(fl_gather_add(&f->g, &delta, &taken));
	return taken;
}

static struct ot_err *take_batch(void *arg, const struct ot_buf *batch)
{
	struct fixture *f = arg;

	ot_buf_append(&f->got, batch->data, batch->len);
	f->batches++;
	return NULL;
}

static void take(struct fixture *f, size_t most)
{
	ot_buf_clear(&f->got);
	f->batches = 0;
	assert_null(fl_gather_take(&f->g, most, take_batch, f));
}

/* What was handed over last for a key: EPID and value. False: nothing. */
static bool handed(struct fixture *f, unsigned agg, uint32_t epid, uint64_t key, uint64_t *ret_value)
{
	struct fl_reader r = fl_reader_of(f->got.data, f->got.len);
	const struct dif_agg_layout *l = &f->layout.aggs[agg];
	struct fl_aggregate a;
	bool found = false;

	while (fl_next_aggregate(&r, &f->arena, &a)) {
		uint32_t aggid;
		uint64_t k;

		memcpy(&aggid, a.tuple.data, 4);
		if (a.action != l->action)
			continue;
		assert_int_equal(aggid, agg + 1); /* as an engine writes it */
		assert_int_equal(a.tuple.len, l->tuple_size);
		assert_int_equal(a.words.len, 8);
		memcpy(&k, a.tuple.data + l->keys[0].offset, 8);
		if (k != key || a.epid != epid)
			continue;
		assert_false(found);
		found = true;
		memcpy(ret_value, a.words.data, 8);
	}
	assert_null(fl_reader_end(&r, FL_AGGREGATES));
	return found;
}

static void is_handed(struct fixture *f, unsigned agg, uint32_t epid, uint64_t key, uint64_t want)
{
	uint64_t value = 0;

	assert_true(handed(f, agg, epid, key, &value));
	assert_int_equal(value, want);
}

/* Deltas fold; what was handed over is not handed over again, and begins anew, also a minimum. */
static void test_fold(void **state)
{
	struct fixture f;
	uint64_t value;

	(void)state;
	setup(&f, DIF_ACT_difexpr);
	assert_true(add(&f, 0, 0, 7, 3));
	assert_true(add(&f, 0, 0, 7, 4));
	assert_true(add(&f, 0, 1, 7, 1)); /* a key of numbers is no guest's */
	assert_true(add(&f, 0, 0, 8, 1));
	assert_true(add(&f, 1, 0, 7, 5));
	assert_int_equal(f.g.nkeys, 3);
	take(&f, 1 << 20);
	is_handed(&f, 0, 10, 7, 8);
	is_handed(&f, 0, 10, 8, 1);
	is_handed(&f, 1, 10, 7, 5);
	assert_int_equal(f.batches, 1);
	assert_int_equal(f.g.nkeys, 0);
	take(&f, 1 << 20);
	assert_int_equal(f.got.len, 0);
	assert_true(add(&f, 1, 0, 7, 9));
	take(&f, 1 << 20);
	is_handed(&f, 1, 10, 7, 9);
	assert_false(handed(&f, 0, 10, 7, &value));
	teardown(&f);
}

/* Names are numbers here, each guest's its own: none is asked for, and none becomes another. */
static void test_names(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, DIF_ACT_sym);
	assert_true(add(&f, 0, 0, 0x10000, 1));
	assert_true(add(&f, 0, 0, 0x10001, 2));
	assert_true(add(&f, 0, 1, 0x10002, 4));
	assert_true(add(&f, 0, 0, 0x10000, 8));
	take(&f, 1 << 20);
	is_handed(&f, 0, 10, 0x10000, 9);
	is_handed(&f, 0, 10, 0x10001, 2);
	is_handed(&f, 0, 11, 0x10002, 4);
	teardown(&f);
}

/* Add what was handed over for each key of @n; none of them twice. Returns the sum. */
static uint64_t add_handed(struct fixture *f, uint64_t *counts, uint64_t n)
{
	const struct dif_agg_layout *l = &f->layout.aggs[0];
	struct fl_reader r = fl_reader_of(f->got.data, f->got.len);
	bool *seen = calloc(n, sizeof(*seen));
	struct fl_aggregate a;
	uint64_t sum = 0;

	assert_non_null(seen);
	while (fl_next_aggregate(&r, &f->arena, &a)) {
		uint64_t key, value;

		assert_int_equal(a.action, l->action);
		assert_int_equal(a.epid, 10);
		assert_int_equal(a.tuple.len, l->tuple_size);
		assert_int_equal(a.words.len, 8);
		memcpy(&key, a.tuple.data + l->keys[0].offset, 8);
		memcpy(&value, a.words.data, 8);
		assert_true(key < n && !seen[key]);
		seen[key] = true;
		counts[key] += value;
		sum += value;
	}
	assert_null(fl_reader_end(&r, FL_AGGREGATES));
	free(seen);
	return sum;
}

/* As much as is asked for, in messages of about FL_BATCH; the rest stays, and folds on. */
static void test_in_parts(void **state)
{
	enum { N = 10000 };
	static uint64_t counts[N];
	struct fixture f;

	(void)state;
	setup(&f, DIF_ACT_difexpr);
	for (unsigned i = 0; i < N; i++)
		assert_true(add(&f, 0, 0, i, 1));
	take(&f, 2 * FL_BATCH);
	assert_in_range(f.g.nkeys, 1, N - 1);
	assert_int_equal(f.batches, 2);
	assert_int_equal(add_handed(&f, counts, N), N - f.g.nkeys);
	for (unsigned i = 0; i < N; i++)
		assert_true(add(&f, 0, 0, i, 1));
	assert_int_equal(f.g.nkeys, N);
	while (f.g.nkeys) {
		take(&f, FL_BATCH);
		add_handed(&f, counts, N);
	}
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(counts[i], 2);
	teardown(&f);
}

static void test_too_many_keys(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, DIF_ACT_difexpr);
	f.g.max = 2;
	assert_true(add(&f, 0, 0, 1, 1));
	assert_true(add(&f, 0, 0, 2, 1));
	assert_false(add(&f, 0, 0, 3, 1));
	take(&f, 1 << 20);
	assert_true(add(&f, 0, 0, 3, 1));
	teardown(&f);
}

/* --- records -------------------------------------------------------------------------------------------- */

static bool put(struct fl_records *r, uint32_t epid, uint32_t len, uint64_t now)
{
	static uint8_t data[FL_BATCH * 2];
	const struct fl_record record = { epid, 3, 99, { data, len } };
	bool taken;

	assert_null(fl_records_put(r, &record, now, &taken));
	return taken;
}

/* In order, and in messages. */
static void test_records(void **state)
{
	struct fl_records r;
	struct ot_arena arena;
	struct ot_buf out;
	uint32_t next = 0;
	unsigned batches = 0;

	(void)state;
	ot_arena_init(&arena);
	ot_buf_init(&out);
	fl_records_init(&r);
	for (uint32_t i = 0; i < 1000; i++)
		assert_true(put(&r, i, 1000, 0));
	while (fl_records_take(&r, &out)) {
		struct fl_reader reader = fl_reader_of(out.data, out.len);
		struct fl_record record;

		for (; fl_next_record(&reader, &arena, &record); next++) {
			assert_int_equal(record.epid, next);
			assert_int_equal(record.cpu, 3);
			assert_int_equal(record.time, 99);
			assert_int_equal(record.data.len, 1000);
		}
		assert_null(fl_reader_end(&reader, FL_RECORDS));
		assert_in_range(out.len, 1, FL_BATCH + 2000);
		ot_buf_clear(&out);
		batches++;
	}
	assert_int_equal(next, 1000);
	assert_in_range(batches, 7, 9);
	assert_int_equal(r.bytes, 0);
	fl_records_deinit(&r);
	ot_buf_deinit(&out);
	ot_arena_deinit(&arena);
}

static void test_no_room(void **state)
{
	struct fl_records r;
	struct ot_buf out;

	(void)state;
	ot_buf_init(&out);
	fl_records_init(&r);
	r.limit = 250;
	assert_true(put(&r, 1, 100, 0));
	assert_true(put(&r, 2, 100, 0));
	assert_false(put(&r, 3, 100, 0)); /* each has 20 bytes in front */
	assert_true(fl_records_take(&r, &out));
	assert_true(put(&r, 4, 100, 0));
	r.limit = 10; /* a guest has left */
	assert_false(put(&r, 5, 1, 0));
	fl_records_deinit(&r);
	ot_buf_deinit(&out);
}

static void test_rate(void **state)
{
	const uint64_t second = 1000000000;
	struct fl_records r;

	(void)state;
	fl_records_init(&r);
	r.per_s = 240;
	assert_true(put(&r, 1, 100, 10 * second));
	assert_true(put(&r, 2, 100, 10 * second));
	assert_false(put(&r, 3, 100, 10 * second));
	assert_false(put(&r, 4, 100, 10 * second + second / 4));
	assert_true(put(&r, 5, 100, 10 * second + second / 2));
	assert_false(put(&r, 6, 100, 10 * second + second / 2));
	/* what was not used is not saved up for longer than a second */
	assert_true(put(&r, 7, 100, 99 * second));
	assert_true(put(&r, 8, 100, 99 * second));
	assert_false(put(&r, 9, 100, 99 * second));
	fl_records_deinit(&r);
}

static void test_losses(void **state)
{
	struct fl_losses l = { 0 };
	struct ot_arena arena;
	struct fl_drop drop;
	struct ot_buf out;

	(void)state;
	ot_arena_init(&arena);
	ot_buf_init(&out);
	assert_null(fl_losses_add(&l, 0, 1, 2));
	assert_null(fl_losses_add(&l, 5, 1, 1));
	assert_null(fl_losses_add(&l, 0, 1, 3));
	fl_losses_take(&l, &out);
	struct fl_reader r = fl_reader_of(out.data, out.len);
	assert_true(fl_next_drop(&r, &arena, &drop));
	assert_int_equal(drop.kind, 0);
	assert_int_equal(drop.cpu, 1);
	assert_int_equal(drop.count, 5);
	assert_true(fl_next_drop(&r, &arena, &drop));
	assert_int_equal(drop.kind, 5);
	assert_false(fl_next_drop(&r, &arena, &drop));
	ot_buf_clear(&out);
	fl_losses_take(&l, &out);
	assert_int_equal(out.len, 0);
	free(l.items);
	ot_buf_deinit(&out);
	ot_arena_deinit(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fold),     cmocka_unit_test(test_names),
		cmocka_unit_test(test_in_parts), cmocka_unit_test(test_too_many_keys),
		cmocka_unit_test(test_records),  cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_rate),     cmocka_unit_test(test_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
