/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Aggregations whose keys a few words tell: the entries are those that the keys themselves would have. */
#include "tests/unit/engine_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "vmm-probe/engine/hit/clause.h"

/* Hits of vCPU 0 with arg0 from @first on. */
static void hits(struct ef *f, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++) {
		vp_fake_set_reg(f->fake, 0, VP_RDI, i);
		assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	}
}

#define COMM    (EF_TASKS + EF_TASK_COMM)
#define STRSIZE 32 /* the fixture's */
#define AGGSIZE 65536

/* All of its 16 bytes. */
static void set_comm(struct ef *f, const char *bytes)
{
	vp_fake_write(f->fake, f->kernel_root, COMM, bytes, 16);
}

/* Its beginning, with the NUL if there is room. */
static void set_name(struct ef *f, const char *text)
{
	char comm[16] = { 0 };

	memcpy(comm, text, strlen(text) < sizeof(comm) ? strlen(text) : sizeof(comm));
	set_comm(f, comm);
}

/* The words of the entry whose key has these bytes at @at; NULL: there is none. */
static const uint64_t *entry_with(struct ef *f, uint32_t at, const void *bytes, size_t len)
{
	const uint8_t *key;
	const uint64_t *words;

	for (uint32_t i = 0; ef_agg_entry(f, 0, i, &key, &words); i++)
		if (!memcmp(key + at, bytes, len))
			return words;
	return NULL;
}

static uint32_t entries(struct ef *f)
{
	const uint8_t *key;
	const uint64_t *words;
	uint32_t n = 0;

	while (ef_agg_entry(f, 0, n, &key, &words))
		n++;
	return n;
}

/* @[key] = count(), under a predicate that is true, so that no backend counts it. */
static struct ef *counts_by(struct dif_object *(*make_key)(struct ef *f))
{
	struct ef *f = ef_create();

	f->open.aggsize = AGGSIZE;
	uint32_t c = ef_clause(f, ef_int(f, 1));
	ef_key(f, c, make_key(f));
	ef_agg(f, c, DIF_AGG_count, NULL, 1);
	ef_trace(f, c);
	return f;
}

static struct dif_object *execname(struct ef *f)
{
	return ef_string_var(f, DIF_VAR_execname);
}

/* What a task's former names have left behind the NUL tells no key. */
static void names_of_all_lengths(void **state)
{
	struct ef *f = counts_by(execname);
	(void)state;

	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t len = 0; len <= 16; len++) {
			char name[16];
			for (uint32_t rest = 0; rest < 3; rest++) {
				memset(name, 'x' + (int)rest, sizeof(name));
				memset(name, 'a', len);
				if (len < sizeof(name))
					name[len] = 0;
				set_comm(f, name);
				hits(f, 0, 1);
			}
		}
		ef_switch(f);
		assert_int_equal(entries(f), 17);
		for (uint32_t len = 0; len <= 16; len++) {
			char padded[STRSIZE] = { 0 };
			memset(padded, 'a', len);
			const uint64_t *words = entry_with(f, 4, padded, sizeof(padded));
			assert_non_null(words);
			assert_int_equal(*words, 3);
		}
	}
	ef_destroy(f);
}

/* A byte of 0x80 or 0x01 ends no name. */
static void names_of_any_bytes(void **state)
{
	static const char names[][17] = { "\x80\x01\x80\x01\xff\x7f\x80\x81\x01\x01\x80",
					  "\x01\x80\x01\x80\x7f\xff\x81\x80", "\xff", "\x01" };
	struct ef *f = counts_by(execname);
	(void)state;

	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 4; i++) {
			set_name(f, names[i]);
			hits(f, 0, 1);
		}
	ef_switch(f);
	assert_int_equal(entries(f), 4);
	for (uint32_t i = 0; i < 4; i++) {
		char padded[STRSIZE] = { 0 };
		memcpy(padded, names[i], strlen(names[i]));
		const uint64_t *words = entry_with(f, 4, padded, sizeof(padded));
		assert_non_null(words);
		assert_int_equal(*words, 2);
	}
	ef_destroy(f);
}

/* strsize leaves room for a part of the name: it is cut as anywhere else. */
static void names_that_are_cut(void **state)
{
	(void)state;
	for (uint32_t strsize = 1; strsize <= 20; strsize++) {
		struct ef *f = ef_create();
		char padded[20] = { 0 };
		f->open.strsize = strsize;
		uint32_t c = ef_clause(f, NULL);
		ef_key(f, c, ef_string_var(f, DIF_VAR_execname));
		ef_agg(f, c, DIF_AGG_count, NULL, 1);
		ef_trace(f, c);
		set_name(f, "abcdefghijklmno");
		hits(f, 0, 2);
		ef_switch(f);
		memcpy(padded, "abcdefghijklmno", strsize - 1 < 15 ? strsize - 1 : 15);
		const uint64_t *words = entry_with(f, strsize % 8 ? 0 : 4, padded, strsize);
		assert_non_null(words);
		assert_int_equal(*words, 2);
		ef_destroy(f);
	}
}

static struct dif_object *arg0(struct ef *f)
{
	return ef_var(f, DIF_VAR_arg0);
}

/* More keys than are remembered, in two orders. */
static void many_numbers(void **state)
{
	struct ef *f = counts_by(arg0);
	const uint32_t n = 5 * DIF_AGG_RECENT;
	(void)state;

	hits(f, 1000, n);
	for (uint32_t i = n; i-- > 0;)
		hits(f, 1000 + i, 2);
	ef_switch(f);
	assert_int_equal(entries(f), n + 1);
	for (uint64_t i = 1000; i <= 1000 + n; i++) {
		const uint64_t *words = entry_with(f, 4, &i, sizeof(i));
		assert_non_null(words);
		assert_int_equal(*words, i == 1000 ? 2 : i == 1000 + n ? 1 : 3);
	}
	ef_destroy(f);
}

static struct dif_object *short_arg0(struct ef *f)
{
	struct dif_object *o = ef_var(f, DIF_VAR_arg0);

	o->ret.size = 2;
	return o;
}

/* Numbers that differ only in what the key has no room for are one key. */
static void short_numbers(void **state)
{
	struct ef *f = counts_by(short_arg0);
	const uint16_t five = 5;
	(void)state;

	for (uint64_t high = 0; high < 3; high++)
		for (unsigned i = 0; i < 2; i++)
			hits(f, high << 16 | 5, 1);
	ef_switch(f);
	assert_int_equal(entries(f), 1);
	const uint64_t *words = entry_with(f, 0, &five, sizeof(five));
	assert_non_null(words);
	assert_int_equal(*words, 6);
	ef_destroy(f);
}

static struct dif_object *counted_up(struct ef *f)
{
	return ef_global_add(f, DIF_VAR_USER_MIN, 1);
}

/* An element is evaluated once a hit, whether its entry is remembered or not. */
static void elements_with_side_effects(void **state)
{
	struct ef *f = counts_by(counted_up);
	(void)state;

	hits(f, 0, 10);
	ef_switch(f);
	assert_int_equal(entries(f), 10);
	for (uint64_t i = 1; i <= 10; i++)
		assert_non_null(entry_with(f, 4, &i, sizeof(i)));
	ef_destroy(f);
}

static void enable_named(struct ef *f, uint32_t clause, uint64_t function, const char *name)
{
	ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, name, "entry");
	ef_site(f, function, function);
	ef_ecb(f, f->nprobes - 1, clause);
	ef_enable(f);
}

/* execname, pid and probefunc tell the key together. Two functions may have one name. */
static void several_elements(void **state)
{
	struct ef *f = ef_create();
	const uint32_t at = 4 + STRSIZE; /* of pid; the name is aligned to 8 */
	const uint8_t *key;
	const uint64_t *words;
	(void)state;

	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_string_var(f, DIF_VAR_execname));
	ef_key(f, c, ef_var(f, DIF_VAR_pid));
	ef_key(f, c, ef_string_var(f, DIF_VAR_probefunc));
	ef_agg(f, c, DIF_AGG_count, NULL, 3);
	ef_open(f);
	enable_named(f, c, EF_FUNC_A, "one");
	enable_named(f, c, EF_FUNC_B, "two");
	enable_named(f, c, EF_FUNC_C, "two");
	ef_start(f);
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t tgid = 1; tgid <= 3; tgid++) {
			vp_fake_write(f->fake, f->kernel_root, EF_TASKS + EF_TASK_TGID, &tgid, sizeof(tgid));
			set_name(f, tgid & 1 ? "odd" : "even");
			for (uint64_t at_func = EF_FUNC_A; at_func <= EF_FUNC_C; at_func += 0x100)
				assert_true(vp_fake_hit(f->fake, 0, at_func));
		}
	ef_switch(f);
	assert_int_equal(entries(f), 6);
	for (uint32_t i = 0; ef_agg_entry(f, 0, i, &key, &words); i++) {
		bool one = !strcmp((const char *)key + at + 8, "one");
		assert_string_equal((const char *)key + at + 8, one ? "one" : "two");
		assert_int_equal(*words, one ? 2 : 4);
		assert_string_equal((const char *)key + 4, ef_u64(key + at) & 1 ? "odd" : "even");
	}
	ef_destroy(f);
}

/* What was known of a half's keys ends with it. */
static void keys_end_with_their_half(void **state)
{
	struct ef *f = counts_by(execname);
	(void)state;

	for (uint32_t round = 0; round < 5; round++) {
		set_name(f, "first");
		hits(f, 0, 2);
		ef_switch(f);
		assert_int_equal(entries(f), 1);
		assert_int_equal(ef_agg_total(f), 2);
		for (uint32_t i = 0; i < round; i++) {
			ef_switch(f);
			assert_int_equal(entries(f), 0);
		}
	}
	ef_destroy(f);
}

/* --- compared with keys that are looked up ------------------------------------------------------ */

#define NAMES   7
#define NUMBERS 40

static const char *const some_names[NAMES] = { "", "a", "ab", "seven__", "eight___", "fifteen________", "b" };

/* How often each name and number was counted in the half that was handed over. */
static void tell(struct ef *f, uint32_t count[NAMES][NUMBERS])
{
	uint32_t at = 4 + f->open.strsize;
	const uint8_t *key;
	const uint64_t *words;

	memset(count, 0, NAMES * sizeof(count[0]));
	for (uint32_t i = 0; ef_agg_entry(f, 0, i, &key, &words); i++) {
		uint64_t number = ef_u64(key + at);
		uint32_t name = 0;
		while (name < NAMES && strcmp((const char *)key + 4, some_names[name]) != 0)
			name++;
		assert_true(name < NAMES && number < NUMBERS);
		assert_int_equal(count[name][number], 0);
		count[name][number] = (uint32_t)*words;
	}
}

static struct ef *by_name_and_number(uint32_t strsize)
{
	struct ef *f = ef_create();

	f->open.strsize = strsize;
	f->open.aggsize = AGGSIZE;
	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_string_var(f, DIF_VAR_execname));
	ef_key(f, c, ef_var(f, DIF_VAR_arg0));
	ef_agg(f, c, DIF_AGG_sum, ef_var(f, DIF_VAR_arg1), 2);
	ef_trace(f, c);
	return f;
}

/* With so small a strsize nothing is remembered; the same hits give the same entries. */
static void as_if_looked_up(void **state)
{
	struct ef *f[2] = { by_name_and_number(VP_NAME_BYTES), by_name_and_number(STRSIZE) };
	uint32_t counts[2][NAMES][NUMBERS];
	unsigned seed = 17;
	(void)state;

	for (uint32_t round = 0; round < 20; round++) {
		uint32_t n = (uint32_t)rand_r(&seed) % 1000;
		for (uint32_t i = 0; i < n; i++) {
			const char *name = some_names[(unsigned)rand_r(&seed) % NAMES];
			uint64_t number = (uint64_t)rand_r(&seed) % NUMBERS;
			uint64_t value = (uint64_t)rand_r(&seed) % 100;
			for (unsigned k = 0; k < 2; k++) {
				set_name(f[k], name);
				vp_fake_set_reg(f[k]->fake, 0, VP_RSI, value);
				hits(f[k], number, 1);
			}
		}
		for (unsigned k = 0; k < 2; k++) {
			ef_switch(f[k]);
			tell(f[k], counts[k]);
		}
		assert_memory_equal(counts[0], counts[1], sizeof(counts[0]));
	}
	ef_destroy(f[0]);
	ef_destroy(f[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_all_lengths), cmocka_unit_test(names_of_any_bytes),
		cmocka_unit_test(names_that_are_cut),   cmocka_unit_test(many_numbers),
		cmocka_unit_test(short_numbers),        cmocka_unit_test(elements_with_side_effects),
		cmocka_unit_test(several_elements),     cmocka_unit_test(keys_end_with_their_half),
		cmocka_unit_test(as_if_looked_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
