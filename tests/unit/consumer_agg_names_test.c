/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys with addresses, of one guest and of several whose kernels lie apart: consumer/agg_names.c. */
#include "consumer/agg_view.h"
#include "dif/vm/agg.h"
#include "tests/unit/consumer_test_print.h"

/* Functions of 0x100 bytes from a guest's base on: even ones have names, odd ones have none. */
#define BASE(guest) (0xffffffff81000000ull + (guest)*0x1000000ull)

static void kernel_name(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf,
			size_t size)
{
	uint64_t offset = addr - BASE(guest);
	unsigned function = (unsigned)(offset / 0x100);

	(void)arg;
	if (addr < BASE(guest) || offset >= 0x1000 || (function & 1))
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	else if (form == VP_SYM_MODULE)
		snprintf(buf, size, "m%u", function / 4);
	else if (form == VP_SYM_NAME || !(offset & 0xff))
		snprintf(buf, size, "m%u`f%u", function / 4, function);
	else
		snprintf(buf, size, "m%u`f%u+0x%llx", function / 4, function,
			 (unsigned long long)(offset & 0xff));
}

static void user_name(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, enum vp_symbol_form form,
		      char *buf, size_t size)
{
	(void)arg, (void)form;
	snprintf(buf, size, "u%u.%llu`%llx", guest, (unsigned long long)pid, (unsigned long long)addr >> 8);
}

/* An aggregation by one key of some kind, with a clause in each of two guests. */
struct fixture {
	struct output o;
	struct dif_program prog;
	struct dif_aggvar var;
	struct dif_action actions[2];
	struct dif_clause clause;
	struct ot_arena arena;
	struct dif_clause_layout layout;
	struct vp_enabled ecbs[2];
	struct con_aggs aggs;
	struct ot_account *account; /* of what is added; NULL */
};

static void setup(struct fixture *f, enum dif_action_kind kind, uint32_t nguests)
{
	const struct dif_layout_opts opts = { .strsize = 16, .stackframes = 3, .ustackframes = 2 };

	memset(f, 0, sizeof(*f));
	output_init(&f->o);
	ot_arena_init(&f->arena);
	f->o.p.symbols = (struct con_symbols){ .kernel = kernel_name, .user = user_name, .nguests = nguests };
	f->var = (struct dif_aggvar){ "a", 1, DIF_AGG_count, 0, 1 };
	f->actions[0] = (struct dif_action){ .kind = kind, .is_key = true };
	f->actions[1] =
	    (struct dif_action){ .kind = (enum dif_action_kind)DIF_AGG_count, .ntuple = 2, .aggid = 1 };
	f->clause = (struct dif_clause){ .actions = f->actions, .nactions = 2 };
	assert_null(dif_clause_layout(&f->clause, &opts, &f->arena, &f->layout));
	for (uint32_t i = 0; i < 2; i++)
		f->ecbs[i] = (struct vp_enabled){
			.epid = i + 1, .guest = i, .clause = &f->clause, .layout = &f->layout
		};
	f->prog.aggs = &f->var;
	f->prog.naggs = 1;
	assert_null(con_aggs_init(&f->aggs, &f->prog));
}

static void teardown(struct fixture *f)
{
	con_aggs_deinit(&f->aggs);
	ot_arena_deinit(&f->arena);
	output_deinit(&f->o);
}

/* One event of a guest, with up to three words of key. */
static void add_to(struct fixture *f, struct con_aggs *aggs, uint32_t guest, uint64_t a, uint64_t b,
		   uint64_t c)
{
	const struct dif_agg_layout *l = &f->layout.aggs[0];
	const uint64_t words[] = { a, b, c }, one = 1;
	uint8_t tuple[128] = { 1 };
	struct vp_aggregate delta = {
		.ecb = &f->ecbs[guest],
		.layout = l,
		.action = &f->actions[1],
		.tuple = tuple,
		.words = &one,
		.account = f->account,
	};

	memcpy(tuple + l->keys[0].offset, words, l->keys[0].size < 24 ? l->keys[0].size : 24);
	assert_null(con_aggs_add(aggs, &f->o.p, &delta));
}

static void add(struct fixture *f, uint32_t guest, uint64_t a, uint64_t b, uint64_t c)
{
	add_to(f, &f->aggs, guest, a, b, c);
}

static void rows_are(struct fixture *f, const char *expected)
{
	assert_null(con_print_rest(output_by(&f->o, &con_output_text), &f->aggs));
	output_is(&f->o, expected);
}

static void test_one_guest(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, DIF_ACT_sym, 1);
	add(&f, 0, BASE(0) + 0x210, 0, 0);
	add(&f, 0, BASE(0) + 0x220, 0, 0);
	add(&f, 0, BASE(0) + 0x300, 0, 0);
	/* the address itself stays */
	assert_true(con_load(con_agg_key(f.aggs.vars[0].entries[0], 0).data, 8) == BASE(0) + 0x210);
	assert_int_equal(f.aggs.vars[0].count, 2);
	teardown(&f);
}

static void test_symbols(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, DIF_ACT_sym, 2);
	add(&f, 0, BASE(0) + 0x210, 0, 0);
	add(&f, 1, BASE(1) + 0x220, 0, 0);
	add(&f, 1, BASE(1) + 0x400, 0, 0);
	add(&f, 0, BASE(0) + 0x400, 0, 0);
	add(&f, 0, BASE(0) + 0x404, 0, 0);
	assert_int_equal(f.aggs.vars[0].count, 2);
	rows_are(&f, "  m0`f2                                                             2\n"
		     "  m1`f4                                                             3\n");
	teardown(&f);
}

/* An address without a name is another one in each guest, whatever it is. */
static void test_nameless(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, DIF_ACT_sym, 2);
	add(&f, 0, 0x1000, 0, 0);
	add(&f, 1, 0x1000, 0, 0);
	add(&f, 1, 0x1000, 0, 0);
	assert_int_equal(f.aggs.vars[0].count, 2);
	rows_are(&f, "  0x1000                                                            1\n"
		     "  0x1000                                                            2\n");
	teardown(&f);
}

static void test_modules(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, DIF_ACT_mod, 2);
	add(&f, 0, BASE(0) + 0x010, 0, 0);
	add(&f, 1, BASE(1) + 0x210, 0, 0);
	add(&f, 1, BASE(1) + 0x410, 0, 0);
	rows_are(&f, "  m1                                                                1\n"
		     "  m0                                                                2\n");
	teardown(&f);
}

/* Frames compare by name and offset; what is behind the last one does not count. */
static void test_stacks(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, DIF_ACT_stack, 2);
	add(&f, 0, BASE(0) + 0x210, BASE(0) + 0x420, 0);
	add(&f, 1, BASE(1) + 0x210, BASE(1) + 0x420, 0);
	add(&f, 1, BASE(1) + 0x214, BASE(1) + 0x420, 0);
	rows_are(&f, "\n"
		     "              m0`f2+0x14\n"
		     "              m1`f4+0x20\n"
		     "                1\n"
		     "\n"
		     "              m0`f2+0x10\n"
		     "              m1`f4+0x20\n"
		     "                2\n");
	teardown(&f);
}

/* A process is its guest's own, so are its addresses. */
static void test_processes(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, DIF_ACT_usym, 2);
	add(&f, 0, 7, 0x4010, 0);
	add(&f, 0, 7, 0x4020, 0);
	add(&f, 1, 7, 0x4010, 0);
	assert_int_equal(f.aggs.vars[0].count, 2);
	rows_are(&f, "  u1.7`40                                                           1\n"
		     "  u0.7`40                                                           2\n");
	teardown(&f);
}

/* Rows of two aggregations that are joined by key. */
static size_t joined(struct con_aggs *a, struct con_aggs *b)
{
	struct con_agg *const columns[] = { &a->vars[0], &b->vars[0] };
	const struct con_agg_order order = { 0 };
	struct con_agg_view view;

	assert_null(con_agg_view_init(&view, columns, 2, &order));
	size_t n = view.nrows;
	con_agg_view_deinit(&view);
	return n;
}

/* Two guests' processes may have one PID and one address. */
static void test_joined_processes(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, DIF_ACT_usym, 2);
	add(&f, 0, 7, 0x4010, 0);
	add(&f, 1, 7, 0x4010, 0);
	assert_int_equal(joined(&f.aggs, &f.aggs), 2);
	teardown(&f);
}

/* The views of a comparison see names in different orders. */
static void test_shared_names(void **state)
{
	struct fixture f;
	struct con_aggs inside;

	(void)state;
	setup(&f, DIF_ACT_sym, 2);
	assert_null(con_aggs_init(&inside, &f.prog));
	con_aggs_share_names(&inside, &f.aggs);
	add(&f, 0, BASE(0) + 0x210, 0, 0);
	add_to(&f, &inside, 1, BASE(1) + 0x400, 0, 0);
	add_to(&f, &inside, 1, BASE(1) + 0x220, 0, 0);
	assert_int_equal(joined(&f.aggs, &inside), 2);
	rows_are(&f, "  m0`f2                                                             1\n");
	con_aggs_deinit(&inside);
	teardown(&f);
}

/* A guest may send any number: one that stands for no name is an address without one. */
static void test_unknown_number(void **state)
{
	struct fixture f;
	char text[64];

	(void)state;
	setup(&f, DIF_ACT_sym, 2);
	add(&f, 0, 1, 0, 0);
	f.o.p.guest = CON_GUEST_NAMED;
	con_kernel_text(&f.o.p, 99, VP_SYM_NAME, text, sizeof(text));
	assert_string_equal(text, "0x63");
	teardown(&f);
}

/* Addresses without end are as many names, which an account has room for or not. */
static void test_account(void **state)
{
	struct ot_pool pool = { .most = 20000 };
	struct ot_account account;
	struct fixture f;

	(void)state;
	setup(&f, DIF_ACT_sym, 2);
	ot_account_open(&account, &pool);
	f.account = &account;
	for (unsigned i = 0; i < 1000; i++)
		add(&f, i % 2, BASE(0) + 0x100000 + i, 0, 0);
	assert_in_range(f.aggs.names->addresses.count, 20, 200);
	assert_in_range(f.aggs.vars[0].count, 20, 200);
	assert_true(account.refused >= 1000 - f.aggs.vars[0].count);
	assert_true(pool.bytes <= pool.most);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_guest),      cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_nameless),       cmocka_unit_test(test_modules),
		cmocka_unit_test(test_stacks),         cmocka_unit_test(test_processes),
		cmocka_unit_test(test_unknown_number), cmocka_unit_test(test_joined_processes),
		cmocka_unit_test(test_shared_names),   cmocka_unit_test(test_account),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
