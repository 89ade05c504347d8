/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dynamic variables: one thread by itself, several at once, and a table that lies. */
#include <pthread.h>

#include "dif/vm/dynvar_priv.h"
#include "tests/unit/dif_fixture.h"

struct table {
	void *mem;
	size_t size;
	struct dif_dynvars *dv;
};

static void table_create(struct table *t, size_t size, uint32_t nvcpus)
{
	t->mem = calloc(1, size);
	t->size = size;
	assert_non_null(t->mem);
	fx_no_error(dif_dynvars_format(t->mem, size, nvcpus, 16, 8));
	fx_no_error(dif_dynvars_open(t->mem, size, &t->dv));
}

static void table_destroy(struct table *t)
{
	dif_dynvars_close(t->dv);
	free(t->mem);
}

static uint64_t cell(struct table *t, uint32_t vcpu, uint64_t key, enum dif_dynvar_op op)
{
	uint64_t k[2] = { key, ~key };

	return dif_dynvars_cell(t->dv, vcpu, k, sizeof(k), 8, op);
}

static uint64_t *value_at(struct table *t, uint64_t offset)
{
	return (uint64_t *)(void *)((char *)t->mem + offset);
}

static void test_life_of_a_cell(void **state)
{
	struct table t;
	(void)state;

	table_create(&t, 65536, 2);
	assert_int_equal(cell(&t, 0, 1, DIF_DYNVAR_FIND), 0);
	uint64_t at = cell(&t, 0, 1, DIF_DYNVAR_ALLOC);
	assert_int_not_equal(at, 0);
	assert_true(dif_dynvars_is_value(t.dv, at, 8));
	assert_false(dif_dynvars_is_value(t.dv, at, 9));
	assert_false(dif_dynvars_is_value(t.dv, at - 1, 8));
	assert_int_equal(*value_at(&t, at), 0);
	*value_at(&t, at) = 77;
	assert_int_equal(cell(&t, 1, 1, DIF_DYNVAR_FIND), at); /* another vCPU sees it */
	assert_int_equal(cell(&t, 1, 1, DIF_DYNVAR_ALLOC), at);
	assert_int_equal(cell(&t, 1, 2, DIF_DYNVAR_FIND), 0);
	cell(&t, 1, 1, DIF_DYNVAR_FREE);
	assert_int_equal(cell(&t, 0, 1, DIF_DYNVAR_FIND), 0);
	cell(&t, 1, 1, DIF_DYNVAR_FREE); /* twice is fine */
	table_destroy(&t);
}

/* Allocate until no cell is left; how many there were. */
static uint64_t fill(struct table *t, uint32_t vcpu, uint64_t first)
{
	uint64_t n = 0;

	while (cell(t, vcpu, first + n, DIF_DYNVAR_ALLOC))
		n++;
	return n;
}

static void test_reuse_waits_for_vcpus(void **state)
{
	struct dif_dynvar_drops drops;
	struct table t;
	(void)state;

	table_create(&t, 16384, 2);
	uint64_t n = fill(&t, 0, 0);
	assert_true(n > 100);
	dif_dynvars_drops(t.dv, &drops);
	assert_int_equal(drops.drops, 1);

	dif_dynvars_enter(t.dv, 1); /* may be reading cell 5 */
	dif_dynvars_enter(t.dv, 0);
	cell(&t, 0, 5, DIF_DYNVAR_FREE);
	assert_int_equal(cell(&t, 0, 1000, DIF_DYNVAR_ALLOC), 0);
	dif_dynvars_drops(t.dv, &drops);
	assert_int_equal(drops.dirty_drops, 1);
	dif_dynvars_leave(t.dv, 0);
	dif_dynvars_clean(t.dv);
	assert_int_equal(cell(&t, 0, 1000, DIF_DYNVAR_ALLOC), 0);
	dif_dynvars_drops(t.dv, &drops);
	assert_int_equal(drops.rinsing_drops, 1);
	dif_dynvars_clean(t.dv);
	assert_int_equal(cell(&t, 0, 1000, DIF_DYNVAR_ALLOC), 0);

	dif_dynvars_leave(t.dv, 1);
	dif_dynvars_enter(t.dv, 1); /* in the next one already: that one can't see it */
	dif_dynvars_clean(t.dv);
	assert_int_not_equal(cell(&t, 0, 1000, DIF_DYNVAR_ALLOC), 0);

	/* A VMM that ended inside a probe must not keep cells for ever. */
	cell(&t, 0, 6, DIF_DYNVAR_FREE);
	dif_dynvars_clean(t.dv);
	assert_int_equal(cell(&t, 0, 1001, DIF_DYNVAR_ALLOC), 0);
	dif_dynvars_vcpu_gone(t.dv, 1);
	dif_dynvars_vcpu_gone(t.dv, 1);
	dif_dynvars_clean(t.dv);
	assert_int_not_equal(cell(&t, 0, 1001, DIF_DYNVAR_ALLOC), 0);
	table_destroy(&t);
}

/* All is freed on one vCPU and allocated on another: it has to come around. */
static void test_cells_move_between_vcpus(void **state)
{
	struct table t;
	(void)state;

	table_create(&t, 16384, 4);
	uint64_t n = fill(&t, 0, 0);
	for (int round = 0; round < 5; round++) {
		for (uint64_t i = 0; i < n; i++)
			cell(&t, 3, i, DIF_DYNVAR_FREE);
		dif_dynvars_clean(t.dv);
		assert_int_equal(fill(&t, 0, 0), n);
	}
	table_destroy(&t);
}

/* How often a vCPU's list of free cells has changed: each time one that takes a cell there may have to try
 * again. */
static uint32_t changes(const struct table *t, uint32_t vcpu)
{
	return (uint32_t)(t->dv->vcpus[vcpu].clean >> 32);
}

/* The cleaner returns all of a vCPU's cells by one exchange, however many they are. One for each would come
 * faster than the vCPU, which waits for a cell's memory between reading the list and its own exchange: it
 * would lose each time, and drop a variable while cells are free. */
static void test_cells_return_at_once(void **state)
{
	struct table t;
	(void)state;

	table_create(&t, 65536, 2);
	uint64_t n = fill(&t, 0, 0);
	for (uint64_t key = 0; key < n; key++)
		cell(&t, (uint32_t)(key % 2), key, DIF_DYNVAR_FREE);
	uint32_t before[2] = { changes(&t, 0), changes(&t, 1) };
	dif_dynvars_clean(t.dv);
	assert_int_equal(changes(&t, 0) - before[0], 1);
	assert_int_equal(changes(&t, 1) - before[1], 1);
	assert_int_equal(fill(&t, 0, n), n); /* all of them */
	/* Onto a list that is not empty. */
	for (uint64_t key = n; key < n + 10; key++)
		cell(&t, 1, key, DIF_DYNVAR_FREE);
	dif_dynvars_clean(t.dv);
	cell(&t, 1, n + 10, DIF_DYNVAR_FREE);
	dif_dynvars_clean(t.dv);
	assert_int_equal(fill(&t, 1, 0), 11);
	table_destroy(&t);
}

static void test_limits(void **state)
{
	struct dif_dynvar_drops drops;
	struct table t;
	uint8_t key[64] = { 0 };
	(void)state;

	table_create(&t, 16384, 2);
	assert_int_equal(dif_dynvars_key_size(t.dv), 16);
	assert_int_equal(dif_dynvars_cell(t.dv, 0, key, 17, 8, DIF_DYNVAR_ALLOC), 0);
	assert_int_equal(dif_dynvars_cell(t.dv, 0, key, 16, 9, DIF_DYNVAR_ALLOC), 0);
	assert_int_equal(dif_dynvars_cell(t.dv, 2, key, 16, 8, DIF_DYNVAR_ALLOC), 0); /* no such vCPU */
	dif_dynvars_drops(t.dv, &drops);
	assert_int_equal(drops.drops, 2);
	fx_error(dif_dynvars_format(t.mem, 200, 1, 16, 8), OT_ERR_LIMIT, "fits into");
	fx_error(dif_dynvars_format(t.mem, 16384, 0, 16, 8), OT_ERR_LIMIT, "vCPUs");
	fx_error(dif_dynvars_format(t.mem, 16384, 1, 1 << 20, 8), OT_ERR_LIMIT, "of");
	table_destroy(&t);
}

/* --- several threads ------------------------------------------------------------------------------- */

#define THREADS 4
#define ROUNDS  20000
#define KEYS    64 /* fought over by all */

struct worker {
	struct table *t;
	uint32_t vcpu;
	unsigned errors;
	unsigned found;
};

static unsigned stop_cleaner;

/* Values carry their key: finding another key's value in a cell would show a cell that was reused
 * while someone stood on it. Private keys must always be found as they were left. */
static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned seed = w->vcpu + 1;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		uint64_t key = (uint64_t)rand_r(&seed) % KEYS, mine = 1000000ull * (w->vcpu + 1) + i % 16;
		dif_dynvars_enter(w->t->dv, w->vcpu);
		uint64_t at = cell(w->t, w->vcpu, key, DIF_DYNVAR_FIND);
		if (at) {
			uint64_t v = __atomic_load_n(value_at(w->t, at), __ATOMIC_RELAXED);
			w->errors += v != 0 && v != key + 1;
			w->found++;
		}
		switch (rand_r(&seed) % 3) {
		case 0:
			at = cell(w->t, w->vcpu, key, DIF_DYNVAR_ALLOC);
			if (at)
				__atomic_store_n(value_at(w->t, at), key + 1, __ATOMIC_RELAXED);
			break;
		case 1:
			cell(w->t, w->vcpu, key, DIF_DYNVAR_FREE);
			break;
		}
		at = cell(w->t, w->vcpu, mine, DIF_DYNVAR_ALLOC);
		if (at) {
			__atomic_store_n(value_at(w->t, at), mine, __ATOMIC_RELAXED);
			w->errors += cell(w->t, w->vcpu, mine, DIF_DYNVAR_FIND) != at;
			if (i % 3)
				cell(w->t, w->vcpu, mine, DIF_DYNVAR_FREE);
		}
		dif_dynvars_leave(w->t->dv, w->vcpu);
	}
	return NULL;
}

static void *keep_clean(void *arg)
{
	struct table *t = arg;

	while (!__atomic_load_n(&stop_cleaner, __ATOMIC_ACQUIRE))
		dif_dynvars_clean(t->dv);
	return NULL;
}

static void test_threads(void **state)
{
	struct worker workers[THREADS];
	pthread_t threads[THREADS], cleaner;
	unsigned found = 0;
	struct table t;
	(void)state;

	table_create(&t, 65536, THREADS);
	assert_int_equal(pthread_create(&cleaner, NULL, keep_clean, &t), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .t = &t, .vcpu = i };
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(workers[i].errors, 0);
		found += workers[i].found;
	}
	__atomic_store_n(&stop_cleaner, 1, __ATOMIC_RELEASE);
	pthread_join(cleaner, NULL);
	assert_true(found > 100);

	/* Nothing was lost: after all is freed and cleaned, as many cells are there as in a new table. */
	struct table fresh;
	table_create(&fresh, 65536, THREADS);
	uint64_t all = fill(&fresh, 0, 5000000);
	table_destroy(&fresh);
	for (uint64_t key = 0; key < KEYS; key++)
		cell(&t, 0, key, DIF_DYNVAR_FREE);
	for (uint32_t vcpu = 0; vcpu < THREADS; vcpu++) {
		for (uint64_t i = 0; i < 16; i++)
			cell(&t, 0, 1000000ull * (vcpu + 1) + i, DIF_DYNVAR_FREE);
	}
	for (int i = 0; i < 3; i++)
		dif_dynvars_clean(t.dv);
	assert_int_equal(fill(&t, 0, 5000000), all);
	table_destroy(&t);
}

/* --- a table that lies --------------------------------------------------------------------------------- */

/* Open refuses every header that doesn't fit its memory; flips that it lets pass (counters, the
 * seed, smaller tables) do no harm when used. */
static void test_hostile_header(void **state)
{
	unsigned refused = 0;
	(void)state;

	for (size_t at = 0; at < 128; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			struct dif_dynvars *dv;
			struct table t;
			table_create(&t, 8192, 2);
			((uint8_t *)t.mem)[at] ^= (uint8_t)(1u << bit);
			struct ot_err *err = dif_dynvars_open(t.mem, t.size, &dv);
			if (err) {
				assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
				ot_err_destroy(err);
				refused++;
			} else {
				struct table u = { t.mem, t.size, dv };
				for (uint64_t key = 0; key < 50; key++) {
					cell(&u, 1, key, DIF_DYNVAR_ALLOC);
					cell(&u, 0, key, DIF_DYNVAR_FREE);
				}
				dif_dynvars_clean(dv);
				dif_dynvars_close(dv);
			}
			table_destroy(&t);
		}
	}
	assert_true(refused > 150);
	struct dif_dynvars *dv;
	uint64_t zero[64] = { 0 };
	fx_error(dif_dynvars_open(zero, sizeof(zero), &dv), OT_ERR_BAD_DATA, "not formatted");
	fx_error(dif_dynvars_open(zero, 64, &dv), OT_ERR_BAD_DATA, "bytes");
}

/* The peer writes anything anywhere while we work: no access leaves the memory, no loop hangs. */
static void test_hostile_memory(void **state)
{
	unsigned seed = 11;
	struct table t;
	(void)state;

	table_create(&t, 8192, 2);
	for (int i = 0; i < 50000; i++) {
		uint32_t *word = (uint32_t *)t.mem + (unsigned)rand_r(&seed) % (t.size / 4);
		*word = rand_r(&seed) % 2 ? (uint32_t)rand_r(&seed) : (uint32_t)rand_r(&seed) % 300;
		dif_dynvars_enter(t.dv, 0);
		uint64_t key = (uint64_t)rand_r(&seed) % 40;
		enum dif_dynvar_op op = (enum dif_dynvar_op)(rand_r(&seed) % 3);
		uint64_t at = cell(&t, 0, key, op);
		if (at) {
			assert_true(dif_dynvars_is_value(t.dv, at, 8));
			*value_at(&t, at) = (uint64_t)rand_r(&seed);
		}
		dif_dynvars_leave(t.dv, 0);
		if (i % 100 == 0)
			dif_dynvars_clean(t.dv);
	}
	table_destroy(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life_of_a_cell),
		cmocka_unit_test(test_reuse_waits_for_vcpus),
		cmocka_unit_test(test_cells_move_between_vcpus),
		cmocka_unit_test(test_cells_return_at_once),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_hostile_header),
		cmocka_unit_test(test_hostile_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
