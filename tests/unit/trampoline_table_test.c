/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of keys against the interpreter: several aggregations, clauses, and elements of a key. All of the
 * data is as dif_agg_update() makes it of the clauses whose predicates are true, or nothing has changed and
 * the hit has exited. */
#include "tests/unit/trampoline_keyed.h"

#define DATA_BYTES ((size_t)TF_CPUS * TF_SPACING)
#define HITS       80u

/* lquantize(value, base, base + 9 * step, step) */
#define LEVELS(base, step) ((uint64_t)(step) << 48 | 9ull << 32 | (uint32_t)(base))

struct case_of {
	const char *what;
	struct tk_text clauses[3];
	unsigned steps; /* instructions of a hit that is found at its set's first place */
};

static const struct case_of cases[] = {
	{ "@[execname]", { { NULL, { NAME }, { { DIF_AGG_count, NULL, 0 } } } }, 19 },
	{ "@[arg0]", { { NULL, { NUMBER }, { { DIF_AGG_count, NULL, 0 } } } }, 18 },
	{ "@[execname, arg0]", { { NULL, { NAME, NUMBER }, { { DIF_AGG_count, NULL, 0 } } } }, 26 },
	{ "@[arg0, execname]", { { NULL, { NUMBER, NAME }, { { DIF_AGG_sum, OTHER, 0 } } } }, 30 },
	{ "@[arg0, arg1]", { { NULL, { NUMBER, OTHER }, { { DIF_AGG_count, NULL, 0 } } } }, 31 },
	{ "@[arg0, arg1, arg2]", { { NULL, { NUMBER, OTHER, THIRD }, { { DIF_AGG_count, NULL, 0 } } } }, 40 },
	{ "@[arg0, execname, arg1]",
	  { { NULL, { NUMBER, NAME, OTHER }, { { DIF_AGG_count, NULL, 0 } } } },
	  39 },
	{ "@[probefunc, execname]", { { NULL, { FUNC, NAME }, { { DIF_AGG_count, NULL, 0 } } } }, 19 },
	{ "min", { { NULL, { NUMBER }, { { DIF_AGG_min, OTHER, 0 } } } }, 29 },
	{ "max", { { NULL, { NUMBER }, { { DIF_AGG_max, OTHER, 0 } } } }, 29 },
	{ "quantize", { { NULL, { NUMBER }, { { DIF_AGG_quantize, OTHER, 0 } } } }, 28 },
	{ "lquantize", { { NULL, { NUMBER }, { { DIF_AGG_lquantize, OTHER, LEVELS(-3, 1) } } } }, 28 },
	{ "lquantize", { { NULL, { NAME }, { { DIF_AGG_lquantize, OTHER, LEVELS(5, 7) } } } }, 32 },
	{ "four aggregations",
	  { { NULL,
	      { NAME },
	      { { DIF_AGG_count, NULL, 0 },
		{ DIF_AGG_avg, NUMBER, 0 },
		{ DIF_AGG_min, OTHER, 0 },
		{ DIF_AGG_lquantize, NUMBER, LEVELS(0, 1000) } } } },
	  54 },
	{ "two clauses",
	  { { NULL, { NUMBER }, { { DIF_AGG_count, NULL, 0 } } },
	    { OTHER, { NUMBER }, { { DIF_AGG_sum, THIRD, 0 }, { DIF_AGG_quantize, OTHER, 0 } } } },
	  41 },
	{ "two clauses with predicates",
	  { { OTHER, { NAME, NUMBER }, { { DIF_AGG_count, NULL, 0 } } },
	    { THIRD, { NAME, NUMBER }, { { DIF_AGG_max, OTHER, 0 } } } },
	  47 },
	{ "a key and none",
	  { { OTHER, { NULL }, { { DIF_AGG_sum, NUMBER, 0 } } },
	    { THIRD, { NUMBER }, { { DIF_AGG_count, NULL, 0 } } },
	    { NULL, { FUNC }, { { DIF_AGG_lquantize, OTHER, LEVELS(-20, 4) } } } },
	  43 },
};

struct scene {
	struct tf_machine *m;
	const struct case_of *text;
	struct tk_clause clauses[3];
	uint32_t nclauses;
	uint8_t *expected; /* all data */
};

static bool has_key(const struct tk_text *text)
{
	for (unsigned i = 0; i < TK_KEYS && text->keys[i]; i++)
		if (strcmp(text->keys[i], FUNC) != 0)
			return true;
	return false;
}

/* The table's words of a hit's key. */
static void key_of(struct scene *s, const struct tf_regs *regs, uint64_t key[VP_TRAMP_KEY_WORDS])
{
	uint32_t n = 0, c = 0;

	memset(key, 0, VP_TRAMP_KEY_WORDS * sizeof(*key));
	while (!has_key(&s->text->clauses[c]))
		c++;
	const struct tk_text *text = &s->text->clauses[c];
	for (unsigned i = 0; i < TK_KEYS && text->keys[i]; i++)
		if (!strcmp(text->keys[i], NAME)) {
			memcpy(key, tf_task(s->m, s->m->cpu) + TF_TASK_COMM, 16);
			n = 2;
		}
	for (unsigned i = 0; i < TK_KEYS && text->keys[i]; i++)
		if (strcmp(text->keys[i], NAME) != 0 && strcmp(text->keys[i], FUNC) != 0) {
			key[n] = tf_value(s->m, regs, &s->clauses[c].keys[i].obj);
			n = n ? n + 1 : 2;
		}
}

static bool find(const struct tf_machine *m, const uint64_t *key, uint32_t *ret)
{
	const struct vp_tramp_table *t = &m->t.table;
	uint32_t first = vp_tramp_set_of(key, t->nwords, t->sets_log) * VP_TRAMP_WAYS;

	for (*ret = first; *ret < first + VP_TRAMP_WAYS; ++*ret)
		if (!memcmp(tf_key(m, *ret), key, t->nwords * sizeof(*key)))
			return true;
	return false;
}

/* Word @word of a cell in the expected data. */
static uint64_t *expected(const struct scene *s, const struct vp_tramp_cell *c, uint32_t word, uint32_t entry)
{
	uint32_t at = c->keyed ? word * vp_tramp_entries(&s->m->t.table) + entry : word;

	return (uint64_t *)(void *)(s->expected + (size_t)s->m->cpu * TF_SPACING + c->at + at * 8);
}

static void expect_cell(struct scene *s, const struct tf_regs *regs, const struct vp_tramp_cell *c,
			uint32_t entry)
{
	const struct dif_action *a = &s->clauses[c->clause].actions[c->action];
	uint64_t words[128];

	assert_in_range(c->nwords, 1, OT_ARRAY_SIZE(words));
	for (uint32_t i = 0; i < c->nwords; i++)
		words[i] = *expected(s, c, i, entry);
	dif_agg_update((enum dif_agg_kind)a->kind, a->arg, words,
		       a->object ? tf_value(s->m, regs, a->object) : 0, 1);
	for (uint32_t i = 0; i < c->nwords; i++)
		*expected(s, c, i, entry) = words[i];
}

/* What a hit does, and whether it exits. */
static bool expect(struct scene *s, const struct tf_regs *regs)
{
	uint64_t key[VP_TRAMP_KEY_WORDS];
	bool fires[3] = { false }, keyed = false;
	uint32_t entry;

	for (uint32_t i = 0; i < s->nclauses; i++) {
		const struct dif_object *p = s->clauses[i].clause.predicate;
		fires[i] = !p || tf_value(s->m, regs, p);
		keyed |= fires[i] && has_key(&s->text->clauses[i]);
	}
	key_of(s, regs, key);
	if (!find(s->m, key, &entry) && keyed)
		return true;
	for (uint32_t i = 0; i < s->m->t.ncells; i++) {
		const struct vp_tramp_cell *c = &s->m->t.cells[i];
		if (fires[c->clause] && c->action == VP_TRAMP_FIRED)
			++*expected(s, c, 0, entry);
		else if (fires[c->clause])
			expect_cell(s, regs, c, entry);
	}
	return false;
}

/* Extremes begin where the engine lets them. */
static void begin(struct scene *s)
{
	struct tf_machine *m = s->m;

	for (uint32_t i = 0; i < m->t.ncells; i++) {
		const struct vp_tramp_cell *c = &m->t.cells[i];
		uint32_t n = c->keyed ? vp_tramp_entries(&m->t.table) : 1;
		uint64_t words[128] = { 0 };
		if (c->action == VP_TRAMP_FIRED)
			continue;
		const struct dif_action *a = &s->clauses[c->clause].actions[c->action];
		dif_agg_init((enum dif_agg_kind)a->kind, a->arg, words);
		for (unsigned cpu = 0; cpu < TF_CPUS; cpu++)
			for (uint32_t entry = 0; entry < n; entry++)
				*tk_word(m, cpu, i, 0, entry) = words[0];
	}
	memcpy(s->expected, m->data, DATA_BYTES);
}

static void open_scene(struct scene *s, const struct case_of *text)
{
	*s = (struct scene){ .m = tf_create(), .text = text, .expected = malloc(DATA_BYTES) };
	assert_non_null(s->expected);
	while (s->nclauses < 3 && text->clauses[s->nclauses].aggs[0].kind) {
		tk_make(&s->clauses[s->nclauses], &text->clauses[s->nclauses]);
		s->nclauses++;
	}
	s->m->guest.world.ring.count = 0;
	tk_compile(s->m, s->clauses, s->nclauses);
	begin(s);
}

static void close_scene(struct scene *s)
{
	free(s->expected);
	tf_destroy(s->m);
}

static void hit(struct scene *s, const struct tf_regs *regs)
{
	bool exits = expect(s, regs);

	if (tk_exits(s->m, *regs) != exits)
		fail_msg("%s: %s", s->text->what, exits ? "no exit for a new key" : "an exit");
	if (memcmp(s->m->data, s->expected, DATA_BYTES))
		fail_msg("%s: words", s->text->what);
}

static void counts(void **state)
{
	unsigned seed = 11;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		struct scene s;
		unsigned found = 0;
		open_scene(&s, &cases[i]);
		for (unsigned n = 0; n < HITS; n++) {
			struct tf_regs regs = tf_random_regs(&seed);
			uint64_t key[VP_TRAMP_KEY_WORDS];
			uint32_t entry;
			s.m->cpu = (unsigned)rand_r(&seed) % TF_CPUS;
			for (unsigned times = 0; times < 3; times++) {
				hit(&s, &regs);
				key_of(&s, &regs, key);
				if (find(s.m, key, &entry))
					found++;
				else if (times)
					tk_add(s.m, key, (unsigned)rand_r(&seed) % VP_TRAMP_WAYS);
			}
		}
		assert_in_range(found, HITS / 2, 3 * HITS);
		close_scene(&s);
	}
}

/* Keys that differ in one word are different keys. */
static void each_word(void **state)
{
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		struct scene s;
		struct tf_regs regs = { .r[VP_RDI] = 5, .r[VP_RSI] = 6, .r[VP_RDX] = 7 };
		uint64_t key[VP_TRAMP_KEY_WORDS];
		open_scene(&s, &cases[i]);
		key_of(&s, &regs, key);
		for (unsigned word = 0; word < s.m->t.table.nwords; word++) {
			uint32_t set = vp_tramp_set_of(key, s.m->t.table.nwords, s.m->t.table.sets_log);
			tf_give_keys(s.m);
			memcpy(tf_key(s.m, set * VP_TRAMP_WAYS), key, sizeof(*key) * s.m->t.table.nwords);
			hit(&s, &regs);
			tf_key(s.m, set * VP_TRAMP_WAYS)[word] ^= 1ull << 40;
			assert_int_equal(tk_exits(s.m, regs), 1);
		}
		assert_memory_equal(s.m->data, s.expected, DATA_BYTES);
		close_scene(&s);
	}
}

static void instructions(void **state)
{
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		struct scene s;
		struct tf_regs regs = { .r[VP_RDI] = 5, .r[VP_RSI] = 6, .r[VP_RDX] = 7 };
		uint64_t key[VP_TRAMP_KEY_WORDS];
		open_scene(&s, &cases[i]);
		key_of(&s, &regs, key);
		tk_add(s.m, key, 0);
		tf_hit_stepped(s.m, &regs);
		assert_int_equal(s.m->exits, 0);
		if (s.m->steps != cases[i].steps)
			fail_msg("%s: %u instructions, %u bytes", cases[i].what, s.m->steps, s.m->len);
		close_scene(&s);
	}
}

/* Each value at and beside the borders of levels, and random ones; without a key. */
static void levels(void **state)
{
	static const uint64_t all[] = { LEVELS(0, 1),
					LEVELS(INT32_MIN, 65535),
					LEVELS(INT32_MAX, 3),
					LEVELS(-100, 1000),
					LEVELS(7, 64),
					0x0007ull << 48 | 0xffffull << 32,
					0x1fffull << 48 | 0xffffull << 32 | 1000 };
	struct tf_machine *m = tf_create();
	unsigned seed = 5;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		struct tf_case c;
		uint32_t step = (uint32_t)(all[i] >> 48), nlevels = all[i] >> 32 & 0xffff;
		tf_case_make(&c, NULL, DIF_AGG_lquantize, NUMBER);
		c.action.arg = all[i];
		m->guest.world.ring.count = 0;
		struct ot_err *err = tf_compile(m, &c.clause, 1, VP_ARGS_FBT_ENTRY);
		if (nlevels > 1000) { /* more words than there are */
			assert_non_null(err);
			ot_err_destroy(err);
			continue;
		}
		fx_no_error(err);
		for (unsigned n = 0; n < 200; n++) {
			int64_t at =
			    (int32_t)(uint32_t)all[i] + (int64_t)step * (rand_r(&seed) % (nlevels + 1));
			struct tf_regs regs = { .r[VP_RDI] = n % 4 ? (uint64_t)(at + (int64_t)(n % 4) - 2)
								   : tf_random_word(&seed) };
			uint64_t words[16] = { all[i] };
			tf_reset(m);
			tf_hit_checked(m, &regs);
			dif_agg_update(DIF_AGG_lquantize, all[i], words, regs.r[VP_RDI], 1);
			assert_memory_equal(tf_word(m, 0, m->t.cells[0].at + 8), words + 1,
					    (nlevels + 2) * 8);
		}
	}
	tf_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(each_word),
		cmocka_unit_test(instructions),
		cmocka_unit_test(levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
