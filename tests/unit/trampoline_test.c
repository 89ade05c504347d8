/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trampolines compiled, disassembled and executed by this machine's CPU: what they count is what the
 * interpreter says, records hold the event, exits find the guest's registers, everything else is as it was;
 * and what can't be done is refused by name.
 */
#include "tests/unit/trampoline_cases.h"

#define ROUNDS 200u

/* Hits with random registers, and the words that the interpreter would have made. */
static void agree(struct tf_machine *m, struct tf_case *c, unsigned *seed)
{
	const struct dif_action *a = &c->action;
	enum dif_agg_kind kind = (enum dif_agg_kind)a->kind;
	uint32_t nwords = dif_agg_words(kind, 0);
	bool tells = kind == DIF_AGG_count || kind == DIF_AGG_avg || kind == DIF_AGG_quantize;
	uint64_t expected[127], fired = 0;

	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));
	assert_false(m->t.exits);
	assert_int_equal(m->t.ncells, tells ? 1 : 2);
	assert_int_equal(m->t.cells[0].nwords, nwords);
	dif_agg_init(kind, 0, expected);
	dif_agg_init(kind, 0, tf_word(m, m->cpu, m->t.cells[0].at));
	for (unsigned i = 0; i < ROUNDS; i++) {
		const struct tf_regs regs = tf_random_regs(seed);
		tf_hit_checked(m, &regs);
		if (c->clause.predicate && !tf_value(m, &regs, c->clause.predicate))
			continue;
		dif_agg_update(kind, 0, expected, a->object ? tf_value(m, &regs, a->object) : 0, 1);
		fired++;
	}
	assert_memory_equal(tf_word(m, m->cpu, m->t.cells[0].at), expected, nwords * 8);
	if (!tells)
		assert_int_equal(*tf_word(m, m->cpu, m->t.cells[1].at), fired);
}

static const char *const predicates[] = {
	"ldgs pid 1; setx 200 2; cmp 1 2; be 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs pid 1; setx 200 2; cmp 1 2; bne 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " TID " 1; ret 1",
	"ldgs " ARG0 " 1; ret 1",
	"setx 0 1; ldga 0 1 2; ret 2",
	"setx 12 1; ldga 0 1 2; ret 2",
	"ldgs 0x104 1; setx 3 2; xor 1 2 3; ret 3",
	/* each comparison of two arguments */
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; cmp 1 2; be 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; cmp 1 2; bg 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; cmp 1 2; bge 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; cmp 1 2; bl 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; cmp 1 2; ble 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; cmp 1 2; bgu 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; cmp 1 2; bgeu 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; cmp 1 2; blu 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; cmp 1 2; bleu 6; setx 0 3; ret 3; setx 1 3; ret 3",
	/* with constants that fit and that don't, on either side */
	"ldgs " ARG0 " 1; setx 0x7fffffff 2; cmp 1 2; bl 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; setx 0x80000000 2; cmp 1 2; bgu 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; setx -1 2; cmp 2 1; bl 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; cmp 0 1; bl 5; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; cmp 1 0; ble 5; setx 0 3; ret 3; setx 1 3; ret 3",
	/* tst: only zero means something */
	"ldgs " ARG0 " 1; tst 1; be 5; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; tst 1; bg 5; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; tst 1; bl 5; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; tst 1; bge 5; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG0 " 1; tst 1; bleu 5; setx 0 3; ret 3; setx 1 3; ret 3",
	/* before any comparison, all codes are false; constants decide while it is compiled */
	"ldgs " ARG0 " 1; bne 4; setx 0 3; ret 3; mov 1 3; ret 3",
	"setx 5 1; setx 6 2; cmp 1 2; bl 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"setx 5 1; tst 1; be 5; setx 1 3; ret 3; setx 0 3; ret 3",
	/* one comparison for two branches, with moves between */
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; cmp 1 2; be 8; setx 9 4; mov 4 5; bl 8; ret 0; setx 1 3; ret 3",
	/* two ways with two comparisons of a kind to one branch */
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; tst 1; be 6; cmp 1 2; ba 7; cmp 2 1; bl 9; ret 0; setx 1 3; ret 3",
	/* arg0 == 1 && pid == 100, arg0 || arg1 */
	"ldgs " ARG0 " 1; setx 1 2; cmp 1 2; bne 9; ldgs pid 1; setx 200 2; cmp 1 2; bne 9; ret 2; ret 0",
	"ldgs " ARG0 " 1; tst 1; bne 7; ldgs " ARG1 " 1; tst 1; bne 7; ret 0; setx 1 1; ret 1",
	/* the task and the per-CPU area, to their last bytes */
	"ldgs curthread 1; setx 0x20 2; add 1 2 1; lduw 1 1; setx 100 2; cmp 1 2; be 9; setx 0 3; ret 3; "
	"setx 1 3; ret 3",
	"ldgs curthread 1; setx 504 2; add 2 1 1; ldx 1 1; ret 1",
	"ldgs curthread 1; setx 511 2; add 2 1 1; ldsb 1 1; ret 1",
	"ldgs curthread 1; setx 16 2; add 1 2 1; setx 8 2; sub 1 2 1; rldsw 1 1; ret 1",
	"ldgs curthread 1; ret 1",
	"ldgs " PERCPU " 1; setx 0xf8 2; add 1 2 1; ldx 1 1; ret 1",
	"setx 0x40 2; ldgs " PERCPU " 1; add 2 1 1; ldsh 1 1; ret 1",
	"ldgs pid 9; setx 200 10; cmp 9 10; be 6; setx 0 11; ret 11; setx 1 15; ret 15",
	"ldgs pid 8; ldgs " TID " 12; sub 0 12 14; add 8 14 15; ret 15",
};

static void test_predicates(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	unsigned seed = 1;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(predicates); i++) {
		tf_case_make(c, predicates[i], DIF_AGG_count, NULL);
		m->cpu = i % TF_CPUS;
		agree(m, c, &seed);
	}
	free(c);
	tf_destroy(m);
}

static const char *const values[] = {
	"ldgs " ARG0 " 1; ret 1",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; add 1 2 3; ret 3",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; sub 1 2 2; ret 2",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; sub 1 2 1; ret 1",
	"ldgs " ARG0 " 1; sub 0 1 1; ret 1",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; mul 1 2 2; ret 2",
	"ldgs " ARG0 " 1; setx -3 2; mul 2 1 2; ret 2",
	"ldgs " ARG0 " 1; setx 0x123456789ab 2; mul 2 1 2; ret 2",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; and 1 2 3; not 3 3; ret 3",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; or 1 2 1; xor 1 2 2; ret 2",
	"ldgs " ARG0 " 1; setx 4 2; sll 1 2 1; ret 1",
	"ldgs " ARG0 " 1; setx 68 2; srl 1 2 1; ret 1",
	"ldgs " ARG0 " 1; setx 63 2; sra 1 2 1; ret 1",
	"ldgs " ARG0 " 1; setx 64 2; sra 1 2 1; ret 1",
	"ldgs " ARG0 " 1; setx 8 2; udiv 1 2 1; ret 1",
	"ldgs " ARG0 " 1; setx 1024 2; urem 1 2 1; ret 1",
	"ldgs " ARG0 " 1; setx 1 2; urem 1 2 1; ret 1",
	"setx 6 1; setx 7 2; mul 1 2 3; not 3 3; ret 3",
	"setx 0x123456789abcdef 1; ret 1",
	"ldgs curthread 1; setx 0x21 2; add 1 2 1; ldub 1 1; ret 1",
	"ldgs curthread 1; setx 2 2; add 1 2 1; lduh 1 1; ret 1",
	/* a value that differs by the way */
	"ldgs " ARG0 " 1; tst 1; be 5; setx 7 2; ba 6; ldgs " ARG1 " 2; ret 2",
	"ldgs " ARG0 " 1; tst 1; be 4; ret 1; setx -9 1; ret 1",
	"ldgs " ARG0 " 1; tst 1; be 5; setx 7 2; ba 6; setx 9 2; add 1 2 3; ret 3",
	/* a value that only one way needs */
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; tst 1; be 5; ret 0; ret 2",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; tst 1; be 5; setx 3 2; ret 2",
	/* six of them at a time */
	"ldgs 0x106 1; ldgs 0x107 2; ldgs 0x108 3; ldgs 0x109 4; ldgs 0x10a 5; ldgs 0x10b 6; add 1 2 1; sub "
	"1 3 1; "
	"xor 1 4 1; add 1 5 1; sub 6 1 6; ret 6",
};

static void test_aggregations(void **state)
{
	static const enum dif_agg_kind kinds[] = { DIF_AGG_sum, DIF_AGG_min, DIF_AGG_max, DIF_AGG_avg,
						   DIF_AGG_quantize };
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	unsigned seed = 2;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(values); i++)
		for (size_t k = 0; k < OT_ARRAY_SIZE(kinds); k++) {
			tf_case_make(c, k % 2 ? predicates[i % 4] : NULL, kinds[k], values[i]);
			agree(m, c, &seed);
		}
	assert_int_equal(*tf_word(m, 0, TF_LOST), 0);
	free(c);
	tf_destroy(m);
}

/* Every bucket of quantize(), and both sides of its bounds. */
static void test_buckets(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	uint64_t expected[127] = { 0 };
	(void)state;

	tf_case_make(c, NULL, DIF_AGG_quantize, values[0]);
	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));
	for (unsigned bit = 0; bit < 64; bit++)
		for (int64_t d = -1; d <= 1; d++)
			for (unsigned negative = 0; negative < 2; negative++) {
				uint64_t v = (1ull << bit) + (uint64_t)d;
				struct tf_regs regs = { .r[VP_RDI] = negative ? -v : v };
				expected[dif_quantize_bucket((int64_t)regs.r[VP_RDI])]++;
				tf_hit_checked(m, &regs);
			}
	assert_memory_equal(tf_word(m, 0, m->t.cells[0].at), expected, sizeof(expected));
	free(c);
	tf_destroy(m);
}

/* --- names ----------------------------------------------------------------------------------- */

static void test_names(void **state)
{
	static const char *const names[] = { "",
					     "a",
					     "cat",
					     "bash",
					     "sshd2",
					     "kworker",
					     "systemdx",
					     "longer_nam",
					     "fifteen_letters",
					     "fifteen_letterz",
					     "sixteen_letters_",
					     "kworke" };
	static const char *const forms[] = {
		"ldgs " EXECNAME " 1; sets %s 2; scmp 1 2; be 6; setx 0 3; ret 3; setx 1 3; ret 3",
		"ldgs " EXECNAME " 1; sets %s 2; scmp 2 1; bne 6; setx 0 3; ret 3; setx 1 3; ret 3",
	};
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	char text[200];
	unsigned seed = 3;
	(void)state;

	for (size_t form = 0; form < OT_ARRAY_SIZE(forms); form++)
		for (size_t i = 1; i < OT_ARRAY_SIZE(names); i++)
			for (size_t j = 0; j < OT_ARRAY_SIZE(names); j++) {
				snprintf(text, sizeof(text), forms[form], names[i]);
				/* Behind the NUL is what was there before. */
				memset(tf_task(m, 0) + TF_TASK_COMM, 'x', GA_COMM);
				memcpy(tf_task(m, 0) + TF_TASK_COMM, names[j],
				       strlen(names[j]) < GA_COMM ? strlen(names[j]) + 1 : GA_COMM);
				tf_case_make(c, text, DIF_AGG_count, NULL);
				agree(m, c, &seed);
			}
	/* NULL is the empty string. */
	tf_case_make(c, "ldgs " EXECNAME " 1; scmp 1 0; be 5; setx 0 3; ret 3; setx 1 3; ret 3",
		     DIF_AGG_count, NULL);
	agree(m, c, &seed);
	free(c);
	tf_destroy(m);
}

/* --- several clauses ------------------------------------------------------------------------- */

static void test_clauses(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(4, sizeof(*c));
	struct dif_clause clauses[4];
	(void)state;

	clauses[0] = *tf_case_make(&c[0], predicates[3], DIF_AGG_count, NULL);
	clauses[2] = *tf_case_make(&c[2], NULL, DIF_AGG_sum, values[0]);
	clauses[3] = *tf_case_make(&c[3], "ldgs " ARG1 " 1; ret 1", DIF_AGG_max, values[0]);
	clauses[1] = *tf_case_make(&c[1], NULL, DIF_AGG_quantize, values[0]);
	fx_no_error(tf_compile(m, clauses, 4, VP_ARGS_FBT_ENTRY));
	assert_int_equal(m->t.ncells, 6); /* sum() and max() do not tell how often their clauses fired */
	dif_agg_init(DIF_AGG_max, 0, tf_word(m, 1, m->t.cells[4].at));
	m->cpu = 1;
	for (uint64_t i = 0; i < 10; i++) {
		struct tf_regs regs = { .r[VP_RDI] = i, .r[VP_RSI] = i < 5 };
		tf_hit_checked(m, &regs);
	}
	assert_int_equal(*tf_word(m, 1, m->t.cells[0].at), 9);
	assert_int_equal(*tf_word(m, 1, m->t.cells[2].at), 45);
	assert_int_equal(m->t.cells[3].action, VP_TRAMP_FIRED);
	assert_int_equal(*tf_word(m, 1, m->t.cells[3].at), 10);
	assert_int_equal(*tf_word(m, 1, m->t.cells[4].at), 4);
	assert_int_equal(m->t.cells[5].action, VP_TRAMP_FIRED);
	assert_int_equal(*tf_word(m, 1, m->t.cells[5].at), 5);
	for (unsigned bucket = 0; bucket < 127; bucket++) { /* of 0, 1, 2 and 3, 4 to 7, 8 and 9 */
		static const uint8_t expected[] = { 1, 1, 2, 4, 2 };
		assert_int_equal(tf_word(m, 1, m->t.cells[1].at)[bucket],
				 bucket >= 63 && bucket < 68 ? expected[bucket - 63] : 0);
	}
	/* The other CPU has words of its own. */
	assert_int_equal(*tf_word(m, 0, m->t.cells[2].at), 0);
	free(c);
	tf_destroy(m);
}

/* A key is the consumer's matter if it is the same at each hit. */
static void test_keys(void **state)
{
	struct tf_machine *m = tf_create();
	struct fx_object *key = calloc(1, sizeof(*key));
	struct dif_action actions[2] = { { .kind = DIF_ACT_difexpr, .is_key = true, .object = &key->obj },
					 { .kind = (enum dif_action_kind)DIF_AGG_count, .ntuple = 2 } };
	struct dif_clause clause = { .actions = actions, .nactions = 2 };
	struct tf_regs regs = { .flags = 0 };
	(void)state;

	asm_object(key, "ldgs 0x114 1; ret 1");
	fx_no_error(tf_compile(m, &clause, 1, VP_ARGS_FBT_ENTRY));
	tf_hit_checked(m, &regs);
	assert_int_equal(m->t.ncells, 1);
	assert_int_equal(*tf_word(m, 0, m->t.cells[0].at), 1);
	/* execname is not: the host makes the tuple, of a record. */
	asm_object(key, "ldgs " EXECNAME " 1; ret 1");
	key->obj.ret = FX_STRING;
	fx_no_error(tf_compile(m, &clause, 1, VP_ARGS_FBT_ENTRY));
	tf_hit_checked(m, &regs);
	assert_int_equal(m->t.ncells, 0);
	assert_int_equal(tf_ring(m, 0)->records[0].seq, 1);
	free(key);
	tf_destroy(m);
}

/* As DIF has it: a 0 or a 1, and then a test of that. */
#define BOOLEAN(compare) compare "be 6; mov 0 3; ret 3; setx 1 3; ret 3"

/* Instructions of a hit: the comparison, the count and the way back. */
static void test_instructions(void **state)
{
	static const struct {
		const char *predicate;
		unsigned steps;
	} all[] = {
		{ NULL, 3 },
		{ BOOLEAN("ldgs pid 1; setx 1 2; cmp 1 2; "), 5 },
		{ BOOLEAN("ldgs pid 1; setx 200 2; cmp 1 2; "), 7 },
		{ "ldgs pid 1; setx 200 2; cmp 1 2; bne 8; ldgs " ARG0
		  " 1; tst 1; bne 10; ret 0; mov 0 3; ret 3; "
		  "setx 1 3; ret 3",
		  8 },
	};
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		struct tf_regs regs = { .flags = 0 };
		tf_case_make(c, all[i].predicate, DIF_AGG_count, NULL);
		fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));
		m->cpu = 0;
		tf_hit_stepped(m, &regs);
		if (m->steps != all[i].steps)
			fail_msg("%s: %u instructions", all[i].predicate, m->steps);
	}
	free(c);
	tf_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_predicates),   cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_aggregations), cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_names),        cmocka_unit_test(test_clauses),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
