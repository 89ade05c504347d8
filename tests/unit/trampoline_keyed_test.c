/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trampolines that aggregate by a table of keys: a key that is there is counted at its entry, one that is not
 * exits and changes nothing; and what can't be done by a table is refused. */
#include "tests/unit/trampoline_keyed.h"

#define LEAST_ENTRIES (VP_TRAMP_WAYS << VP_TRAMP_SETS_LEAST) /* of a table */

/* `/predicate/ { @[key] = kind(value); }` */
static void make(struct tk_clause *k, const char *predicate, const char *key, enum dif_agg_kind kind,
		 const char *value)
{
	tk_make(k, &(struct tk_text){ predicate, { key }, { { kind, value, 0 } } });
}

static uint32_t add(struct tf_machine *m, uint64_t first, uint64_t second, unsigned way)
{
	return tk_add(m, (const uint64_t[VP_TRAMP_KEY_WORDS]){ first, second }, way);
}

static void by_number(void **state)
{
	struct tf_machine *m = tf_create();
	struct tk_clause k;
	unsigned seed = 3;
	(void)state;

	make(&k, NULL, NUMBER, DIF_AGG_count, NULL);
	tk_compile(m, &k, 1);
	assert_int_equal(tk_exits(m, (struct tf_regs){ .r[VP_RDI] = 0 }), 1);
	assert_int_equal(tk_all(m, 0, 0), 0);
	for (unsigned i = 0; i < 40; i++) {
		struct tf_regs regs = tf_random_regs(&seed);
		uint32_t entry = add(m, regs.r[VP_RDI], 0, i % VP_TRAMP_WAYS);
		m->cpu = i % TF_CPUS;
		uint64_t before = *tk_word(m, m->cpu, 0, 0, entry), all = tk_all(m, 0, 0);
		assert_int_equal(tk_exits(m, regs), 0);
		assert_int_equal(*tk_word(m, m->cpu, 0, 0, entry), before + 1);
		assert_int_equal(tk_all(m, 0, 0), all + 1);
		tf_give_keys(m);
		assert_int_equal(tk_exits(m, regs), 1);
		assert_int_equal(tk_all(m, 0, 0), all + 1);
	}
	tf_destroy(m);
}

/* All bytes of the name count, also those behind its NUL. */
static void by_name(void **state)
{
	struct tf_machine *m = tf_create();
	struct tk_clause k;
	uint64_t name[2];
	(void)state;

	make(&k, NULL, NAME, DIF_AGG_count, NULL);
	tk_compile(m, &k, 1);
	memcpy(name, tf_task(m, 0) + TF_TASK_COMM, sizeof(name));
	assert_int_equal(tk_exits(m, (struct tf_regs){ 0 }), 1);
	uint32_t entry = add(m, name[0], name[1], 0);
	struct tf_regs regs = { 0 };
	tf_hit_stepped(m, &regs);
	assert_int_equal(m->steps, 19);
	assert_int_equal(m->exits, 0);
	assert_int_equal(*tk_word(m, m->cpu, 0, 0, entry), 1);
	tf_task(m, 0)[TF_TASK_COMM + 15] ^= 0x40;
	assert_int_equal(tk_exits(m, (struct tf_regs){ 0 }), 1);
	assert_int_equal(tk_all(m, 0, 0), 1);
	memset(tf_task(m, 0) + TF_TASK_COMM, 0, 16); /* no name, and no key */
	assert_int_equal(tk_exits(m, (struct tf_regs){ 0 }), 1);
	tf_destroy(m);
}

static uint32_t set_of(uint64_t number)
{
	return vp_tramp_set_of((const uint64_t[VP_TRAMP_KEY_WORDS]){ number, 0 }, 2, VP_TRAMP_SETS_LOG);
}

/* A full set: each way is found, and only that. */
static void each_way(void **state)
{
	struct tf_machine *m = tf_create();
	struct tk_clause k;
	uint64_t keys[VP_TRAMP_WAYS + 1];
	unsigned n = 0;
	(void)state;

	make(&k, NULL, NUMBER, DIF_AGG_count, NULL);
	tk_compile(m, &k, 1);
	for (uint64_t i = 1; n <= VP_TRAMP_WAYS; i++)
		if (set_of(i) == 17)
			keys[n++] = i;
	for (unsigned i = 0; i < VP_TRAMP_WAYS; i++)
		add(m, keys[i], 0, i);
	for (unsigned i = 0; i <= VP_TRAMP_WAYS; i++)
		for (unsigned times = 0; times <= i; times++)
			assert_int_equal(tk_exits(m, (struct tf_regs){ .r[VP_RDI] = keys[i] }),
					 i == VP_TRAMP_WAYS);
	for (unsigned i = 0; i < VP_TRAMP_WAYS; i++)
		assert_int_equal(*tk_word(m, m->cpu, 0, 0, 17 * VP_TRAMP_WAYS + i), i + 1);
	tf_destroy(m);
}

/* Numbers as processes have them fill most sets; no set is full before half of the table is. */
static void spread(void **state)
{
	uint8_t used[1 << VP_TRAMP_SETS_LOG] = { 0 };
	unsigned most = 0;
	(void)state;

	for (uint64_t pid = 400; pid < 400 + VP_TRAMP_ENTRIES / 2; pid++) {
		uint8_t n = ++used[set_of(pid)];
		most = n > most ? n : most;
	}
	assert_in_range(most, 2, VP_TRAMP_WAYS);
}

/* avg() has its count first; sum() one for its clause, behind it. */
static void sums(void **state)
{
	static const struct {
		enum dif_agg_kind kind;
		uint32_t hits_cell, sum_word;
	} all[] = { { DIF_AGG_sum, 1, 0 }, { DIF_AGG_avg, 0, 1 } };
	struct tf_machine *m = tf_create();
	struct tk_clause k;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		make(&k, NULL, NUMBER, all[i].kind, OTHER);
		tk_compile(m, &k, 1);
		uint32_t entry = add(m, 7, 0, 1);
		assert_int_equal(tk_exits(m, (struct tf_regs){ .r[VP_RDI] = 7, .r[VP_RSI] = 40 }), 0);
		assert_int_equal(tk_exits(m, (struct tf_regs){ .r[VP_RDI] = 7, .r[VP_RSI] = -50ull }), 0);
		assert_int_equal(tk_exits(m, (struct tf_regs){ .r[VP_RDI] = 8, .r[VP_RSI] = 1 }), 1);
		assert_int_equal(*tk_word(m, 0, all[i].hits_cell, 0, entry), 2);
		assert_int_equal(*tk_word(m, 0, 0, all[i].sum_word, entry), -10ull);
	}
	tf_destroy(m);
}

/* It is false without an exit, and before the key is looked for. */
static void predicate(void **state)
{
	struct tf_machine *m = tf_create();
	struct tk_clause k;
	(void)state;

	make(&k, "ldgs " ARG1 " 1; ret 1", NUMBER, DIF_AGG_count, NULL);
	tk_compile(m, &k, 1);
	uint32_t entry = add(m, 7, 0, 0);
	assert_int_equal(tk_exits(m, (struct tf_regs){ .r[VP_RDI] = 7 }), 0);
	assert_int_equal(tk_exits(m, (struct tf_regs){ .r[VP_RDI] = 9 }), 0);
	assert_int_equal(tk_all(m, 0, 0), 0);
	assert_int_equal(tk_exits(m, (struct tf_regs){ .r[VP_RDI] = 7, .r[VP_RSI] = 1 }), 0);
	assert_int_equal(tk_exits(m, (struct tf_regs){ .r[VP_RDI] = 9, .r[VP_RSI] = 1 }), 1);
	assert_int_equal(*tk_word(m, m->cpu, 0, 0, entry), 1);
	tf_destroy(m);
}

/* Between any two instructions an interrupt hits, or the task goes on on the other CPU. */
static void on_step(struct tf_machine *m, unsigned step, uint64_t rip)
{
	struct tf_regs regs = { .r[VP_RDI] = 7 };
	unsigned *when = m->arg;

	(void)rip;
	if (step != *when)
		return;
	tf_hit(m, &regs);
	tf_set_cpu(m, 1);
}

/* On all CPUs: by the clause's own count of hits, or what the aggregation has in its buckets. */
static uint64_t hits(const struct tf_machine *m, uint32_t entry)
{
	uint32_t cell = m->t.ncells - 1, nwords = m->t.cells[cell].nwords;
	uint64_t n = 0;

	for (unsigned cpu = 0; cpu < TF_CPUS; cpu++)
		for (uint32_t word = 0; word < (nwords > 2 ? nwords : 1); word++)
			n += *tk_word(m, cpu, cell, word, entry);
	return n;
}

static void interrupt_each(struct tf_machine *m, enum dif_agg_kind kind)
{
	struct tk_clause k;
	unsigned when = 0;

	tk_make(&k, &(struct tk_text){ NULL, { NUMBER }, { { kind, NUMBER, 3ull << 48 | 9ull << 32 } } });
	tk_compile(m, &k, 1);
	uint32_t entry = add(m, 7, 0, 3);
	m->step = on_step;
	m->arg = &when;
	do {
		struct tf_regs regs = { .r[VP_RDI] = 7 };
		tf_reset(m);
		m->cpu = 0;
		tf_hit_stepped(m, &regs);
		m->cpu = 0;
		assert_int_equal(hits(m, entry), when < m->steps ? 2 : 1);
		if (kind == DIF_AGG_sum)
			assert_int_equal(*tk_word(m, 0, 0, 0, entry) + *tk_word(m, 1, 0, 0, entry),
					 when < m->steps ? 14 : 7);
		if (kind == DIF_AGG_max)
			assert_int_equal(*tk_word(m, 0, 0, 0, entry) | *tk_word(m, 1, 0, 0, entry), 7);
	} while (when++ < m->steps);
}

static void interrupted(void **state)
{
	static const enum dif_agg_kind kinds[] = { DIF_AGG_sum, DIF_AGG_avg, DIF_AGG_max, DIF_AGG_quantize,
						   DIF_AGG_lquantize };
	struct tf_machine *m = tf_create();
	(void)state;

	m->guest.world.ring.count = 0;
	for (size_t i = 0; i < OT_ARRAY_SIZE(kinds); i++)
		interrupt_each(m, kinds[i]);
	tf_destroy(m);
}

/* Where there is less room for keys or for words a table has fewer entries. */
static void smaller(void **state)
{
	struct tf_machine *m = tf_create();
	struct tk_clause k;
	(void)state;

	make(&k, NULL, NUMBER, DIF_AGG_count, NULL);
	m->guest.world.ring.count = 0;
	m->guest.data_size = TF_WORDS + VP_TRAMP_ENTRIES * 8 - 8;
	tk_compile(m, &k, 1);
	assert_int_equal(vp_tramp_entries(&m->t.table), VP_TRAMP_ENTRIES / 2);
	add(m, 7, 0, 0);
	assert_int_equal(tk_exits(m, (struct tf_regs){ .r[VP_RDI] = 7 }), 0);
	assert_int_equal(tk_exits(m, (struct tf_regs){ .r[VP_RDI] = 8 }), 1);
	m->guest.data_size = TF_WORDS + LEAST_ENTRIES * 8;
	tk_compile(m, &k, 1);
	assert_int_equal(vp_tramp_entries(&m->t.table), LEAST_ENTRIES);
	tf_destroy(m);
}

static void refused(struct tf_machine *m, struct dif_clause *c, uint32_t n)
{
	m->guest.world.ring.count = 0;
	struct ot_err *err = tf_compile(m, c, n, VP_ARGS_FBT_ENTRY);
	assert_non_null(err);
	assert_int_not_equal(ot_err_code(err), OT_ERR_INTERNAL);
	ot_err_destroy(err);
}

/* A text, its reason. */
static void what_is_refused(void **state)
{
	static const struct tk_text all[] = {
		{ NULL,
		  { "ldgs " EXECNAME " 1; ldgs " EXECNAME " 1; ret 1" },
		  { { DIF_AGG_count, NULL, 0 } } },
		{ NULL, { NAME, NAME }, { { DIF_AGG_count, NULL, 0 } } },
		{ NULL, { NUMBER, OTHER, THIRD, NUMBER }, { { DIF_AGG_count, NULL, 0 } } },
		{ NULL, { NAME, NUMBER, OTHER, THIRD }, { { DIF_AGG_count, NULL, 0 } } },
		{ NULL, { NUMBER }, { { DIF_AGG_stddev, NUMBER, 0 } } },
		{ NULL, { NUMBER }, { { DIF_AGG_lquantize, NUMBER, 0xffffull << 48 | 0xffffull << 32 } } },
		{ "ldgs 0x102 1; ret 1", { NUMBER }, { { DIF_AGG_count, NULL, 0 } } }, /* vtimestamp */
	};
	struct tf_machine *m = tf_create();
	struct tk_clause k[2];
	struct dif_clause both[2];
	(void)state;

	make(&k[0], NULL, NUMBER, DIF_AGG_count, NULL);
	refused(m, &k[0].clause, 1); /* there are no keys */
	tf_give_keys(m);
	make(&k[1], NULL, NAME, DIF_AGG_count, NULL);
	both[0] = k[0].clause;
	both[1] = k[1].clause;
	refused(m, both, 2); /* two keys */
	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		tk_make(&k[0], &all[i]);
		refused(m, &k[0].clause, 1);
	}
	make(&k[0], NULL, NUMBER, DIF_AGG_count, NULL);
	m->guest.data_size = TF_WORDS + LEAST_ENTRIES * 8 - 8;
	refused(m, &k[0].clause, 1);
	m->guest.data_size = TF_SPACING;
	m->guest.world.keys_from = m->guest.world.keys_end - LEAST_ENTRIES * 16 + 16;
	refused(m, &k[0].clause, 1);
	tf_give_keys(m);
	m->facts.task_comm_size = 32;
	make(&k[0], NULL, NAME, DIF_AGG_count, NULL);
	refused(m, &k[0].clause, 1);
	tf_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_number),       cmocka_unit_test(by_name),
		cmocka_unit_test(each_way),        cmocka_unit_test(sums),
		cmocka_unit_test(predicate),       cmocka_unit_test(interrupted),
		cmocka_unit_test(what_is_refused), cmocka_unit_test(spread),
		cmocka_unit_test(smaller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
