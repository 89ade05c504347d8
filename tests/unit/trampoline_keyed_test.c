/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trampolines that aggregate by a table of keys: a key that is there is counted at its entry, one that is not
 * exits and changes nothing; and what can't be done by a table is refused. */
#include "tests/unit/trampoline_cases.h"

#define NAME   "ldgs " EXECNAME " 1; ret 1"
#define NUMBER "ldgs " ARG0 " 1; ret 1"

/* `/predicate/ { @[key] = kind(value); }` */
struct keyed {
	struct fx_object predicate, key, value;
	struct dif_action actions[2];
	struct dif_clause clause;
};

static const struct dif_object *object(struct fx_object *o, const char *text)
{
	if (!text)
		return NULL;
	asm_object(o, text);
	if (strstr(text, EXECNAME))
		o->obj.ret =
		    (struct dif_rtype){ .kind = DIF_TYPE_STRING, .flags = DIF_TF_BYREF, .size = TF_STRSIZE };
	fx_no_error(dif_verify(&o->obj));
	return &o->obj;
}

static struct dif_clause *make(struct keyed *k, const char *predicate, const char *key,
			       enum dif_agg_kind kind, const char *value)
{
	k->actions[0] = (struct dif_action){ .kind = DIF_ACT_difexpr, .is_key = true };
	k->actions[0].object = (struct dif_object *)object(&k->key, key);
	k->actions[1] = (struct dif_action){ .kind = (enum dif_action_kind)kind, .ntuple = 2 };
	k->actions[1].object = (struct dif_object *)object(&k->value, value);
	k->clause = (struct dif_clause){ .actions = k->actions, .nactions = 2 };
	k->clause.predicate = (struct dif_object *)object(&k->predicate, predicate);
	return &k->clause;
}

/* Put a key into a way of its set. */
static uint32_t add(struct tf_machine *m, uint64_t first, uint64_t second, unsigned way)
{
	uint32_t entry = vp_tramp_set_of(first, second) * VP_TRAMP_WAYS + way;
	uint64_t *key = (uint64_t *)(void *)m->keys + 2 * (size_t)entry;

	key[0] = first;
	key[1] = second;
	return entry;
}

static uint64_t count_at(const struct tf_machine *m, uint32_t word, uint32_t entry)
{
	return *tf_word(m, m->cpu, m->t.table.at + (word * VP_TRAMP_ENTRIES + entry) * 8);
}

/* Sum of all words, so that nothing is counted elsewhere. */
static uint64_t count_all(const struct tf_machine *m, uint32_t word)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < VP_TRAMP_ENTRIES; i++)
		n += count_at(m, word, i);
	return n;
}

static void compile(struct tf_machine *m, struct keyed *k)
{
	tf_give_keys(m);
	fx_no_error(tf_compile(m, &k->clause, 1, VP_ARGS_FBT_ENTRY));
	assert_false(m->t.exits);
	assert_int_equal(m->t.ncells, 0);
	assert_int_not_equal(m->t.table.nwords, 0);
	assert_int_not_equal(m->exit_at, 0);
}

static unsigned exits_at(struct tf_machine *m, struct tf_regs regs)
{
	tf_hit_checked(m, &regs);
	if (m->exits)
		for (unsigned i = 0; i < 16; i++)
			if (i != VP_RAX && i != VP_R10 && i != VP_R11 && i != VP_RSP)
				assert_int_equal(m->at_exit.r[i], regs.r[i]);
	return m->exits;
}

static void by_number(void **state)
{
	struct tf_machine *m = tf_create();
	struct keyed k;
	unsigned seed = 3;
	(void)state;

	make(&k, NULL, NUMBER, DIF_AGG_count, NULL);
	compile(m, &k);
	assert_int_equal(exits_at(m, (struct tf_regs){ .r[VP_RDI] = 0 }), 1);
	assert_int_equal(count_all(m, 0), 0);
	for (unsigned i = 0; i < 40; i++) {
		struct tf_regs regs = tf_random_regs(&seed);
		uint32_t entry = add(m, regs.r[VP_RDI], 0, i % VP_TRAMP_WAYS);
		m->cpu = i % TF_CPUS;
		uint64_t before = count_at(m, 0, entry), all = count_all(m, 0);
		assert_int_equal(exits_at(m, regs), 0);
		assert_int_equal(count_at(m, 0, entry), before + 1);
		assert_int_equal(count_all(m, 0), all + 1);
		tf_give_keys(m);
		assert_int_equal(exits_at(m, regs), 1);
		assert_int_equal(count_all(m, 0), all + 1);
	}
	tf_destroy(m);
}

/* All bytes of the name count, also those behind its NUL. */
static void by_name(void **state)
{
	struct tf_machine *m = tf_create();
	struct keyed k;
	uint64_t name[2];
	(void)state;

	make(&k, NULL, NAME, DIF_AGG_count, NULL);
	compile(m, &k);
	memcpy(name, tf_task(m, 0) + TF_TASK_COMM, sizeof(name));
	assert_int_equal(exits_at(m, (struct tf_regs){ 0 }), 1);
	uint32_t entry = add(m, name[0], name[1], 0);
	struct tf_regs regs = { 0 };
	tf_hit_stepped(m, &regs);
	assert_int_equal(m->steps, 19);
	assert_int_equal(m->exits, 0);
	assert_int_equal(count_at(m, 0, entry), 1);
	tf_task(m, 0)[TF_TASK_COMM + 15] ^= 0x40;
	assert_int_equal(exits_at(m, (struct tf_regs){ 0 }), 1);
	assert_int_equal(count_all(m, 0), 1);
	memset(tf_task(m, 0) + TF_TASK_COMM, 0, 16); /* no name, and no key */
	assert_int_equal(exits_at(m, (struct tf_regs){ 0 }), 1);
	tf_destroy(m);
}

/* A full set: each way is found, and only that. */
static void each_way(void **state)
{
	struct tf_machine *m = tf_create();
	struct keyed k;
	uint64_t keys[VP_TRAMP_WAYS + 1];
	unsigned n = 0;
	(void)state;

	make(&k, NULL, NUMBER, DIF_AGG_count, NULL);
	compile(m, &k);
	for (uint64_t i = 1; n <= VP_TRAMP_WAYS; i++)
		if (vp_tramp_set_of(i, 0) == 17)
			keys[n++] = i;
	for (unsigned i = 0; i < VP_TRAMP_WAYS; i++)
		add(m, keys[i], 0, i);
	for (unsigned i = 0; i <= VP_TRAMP_WAYS; i++)
		for (unsigned times = 0; times <= i; times++)
			assert_int_equal(exits_at(m, (struct tf_regs){ .r[VP_RDI] = keys[i] }),
					 i == VP_TRAMP_WAYS);
	for (unsigned i = 0; i < VP_TRAMP_WAYS; i++)
		assert_int_equal(count_at(m, 0, 17 * VP_TRAMP_WAYS + i), i + 1);
	tf_destroy(m);
}

/* Numbers as processes have them fill most sets; no set is full before half of the table is. */
static void spread(void **state)
{
	uint8_t used[VP_TRAMP_SETS] = { 0 };
	unsigned most = 0;
	(void)state;

	for (uint64_t pid = 400; pid < 400 + VP_TRAMP_ENTRIES / 2; pid++) {
		uint8_t n = ++used[vp_tramp_set_of(pid, 0)];
		most = n > most ? n : most;
	}
	assert_in_range(most, 2, VP_TRAMP_WAYS);
}

static void sums(void **state)
{
	static const enum dif_agg_kind kinds[] = { DIF_AGG_sum, DIF_AGG_avg };
	struct tf_machine *m = tf_create();
	struct keyed k;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(kinds); i++) {
		make(&k, NULL, NUMBER, kinds[i], "ldgs " ARG1 " 1; ret 1");
		compile(m, &k);
		assert_int_equal(m->t.table.nwords, 2);
		uint32_t entry = add(m, 7, 0, 1);
		assert_int_equal(exits_at(m, (struct tf_regs){ .r[VP_RDI] = 7, .r[VP_RSI] = 40 }), 0);
		assert_int_equal(exits_at(m, (struct tf_regs){ .r[VP_RDI] = 7, .r[VP_RSI] = -50ull }), 0);
		assert_int_equal(exits_at(m, (struct tf_regs){ .r[VP_RDI] = 8, .r[VP_RSI] = 1 }), 1);
		assert_int_equal(count_at(m, 0, entry), 2);
		assert_int_equal(count_at(m, 1, entry), -10ull);
	}
	tf_destroy(m);
}

/* It is false without an exit, and before the key is looked for. */
static void predicate(void **state)
{
	struct tf_machine *m = tf_create();
	struct keyed k;
	(void)state;

	make(&k, "ldgs " ARG1 " 1; ret 1", NUMBER, DIF_AGG_count, NULL);
	compile(m, &k);
	uint32_t entry = add(m, 7, 0, 0);
	assert_int_equal(exits_at(m, (struct tf_regs){ .r[VP_RDI] = 7 }), 0);
	assert_int_equal(exits_at(m, (struct tf_regs){ .r[VP_RDI] = 9 }), 0);
	assert_int_equal(count_all(m, 0), 0);
	assert_int_equal(exits_at(m, (struct tf_regs){ .r[VP_RDI] = 7, .r[VP_RSI] = 1 }), 0);
	assert_int_equal(exits_at(m, (struct tf_regs){ .r[VP_RDI] = 9, .r[VP_RSI] = 1 }), 1);
	assert_int_equal(count_at(m, 0, entry), 1);
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

static void interrupted(void **state)
{
	struct tf_machine *m = tf_create();
	struct keyed k;
	unsigned when = 0;
	(void)state;

	make(&k, NULL, NUMBER, DIF_AGG_sum, NUMBER);
	compile(m, &k);
	uint32_t entry = add(m, 7, 0, 3);
	m->step = on_step;
	m->arg = &when;
	do {
		uint64_t n[2] = { 0 };
		struct tf_regs regs = { .r[VP_RDI] = 7 };
		tf_reset(m);
		m->cpu = 0;
		tf_hit_stepped(m, &regs);
		for (m->cpu = 0; m->cpu < TF_CPUS; m->cpu++)
			for (unsigned word = 0; word < 2; word++)
				n[word] += count_at(m, word, entry);
		m->cpu = 0;
		assert_int_equal(n[0], when < m->steps ? 2 : 1);
		assert_int_equal(n[1], when < m->steps ? 14 : 7);
	} while (when++ < m->steps);
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

static void what_is_refused(void **state)
{
	struct tf_machine *m = tf_create();
	struct keyed k, other;
	struct dif_clause both[2];
	(void)state;

	make(&k, NULL, NUMBER, DIF_AGG_count, NULL);
	refused(m, &k.clause, 1); /* there are no keys */
	tf_give_keys(m);
	make(&other, NULL, NAME, DIF_AGG_count, NULL);
	both[0] = k.clause;
	both[1] = other.clause;
	refused(m, both, 2);
	make(&k, NULL, NUMBER, DIF_AGG_quantize, NUMBER);
	refused(m, &k.clause, 1);
	make(&k, NULL, "ldgs " EXECNAME " 1; ldgs " EXECNAME " 1; ret 1", DIF_AGG_count, NULL);
	refused(m, &k.clause, 1);
	make(&k, NULL, NUMBER, DIF_AGG_count, NULL);
	m->guest.data_size = TF_WORDS + VP_TRAMP_ENTRIES * 8 - 8;
	refused(m, &k.clause, 1);
	m->guest.data_size = TF_SPACING;
	m->facts.task_comm_size = 32;
	make(&k, NULL, NAME, DIF_AGG_count, NULL);
	refused(m, &k.clause, 1);
	tf_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_number),       cmocka_unit_test(by_name),
		cmocka_unit_test(each_way),        cmocka_unit_test(sums),
		cmocka_unit_test(predicate),       cmocka_unit_test(interrupted),
		cmocka_unit_test(what_is_refused), cmocka_unit_test(spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
