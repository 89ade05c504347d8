/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that runs out: everything in dif/obj and dif/vm that allocates is run with its first,
 * second, third … allocation failing, until it succeeds. Each failure is a no-memory error, and
 * (the sanitizer says) nothing leaks.
 */
#include "dif/vm/agg.h"

#include "tests/unit/dif_fixture.h"
#include "tests/unit/nomem.h"

/* --- what is run --------------------------------------------------------------------------- */

struct sample {
	struct dif_program prog;
	struct dif_clause clauses[2];
	struct dif_action actions[3];
	struct dif_aggvar agg;
	struct dif_optset opt;
	struct fx_object value, key;
	struct ot_buf dof;
};

static struct sample sample;

static void sample_init(void)
{
	struct sample *s = &sample;

	fx_object_init(&s->value);
	fx_setx(&s->value, 5, 1);
	fx_op(&s->value, dif_insn_index(DIF_OP_stgs, 0x500, 1));
	fx_op(&s->value, dif_insn_index(DIF_OP_stts, 0x501, 1));
	fx_ret(&s->value, 1);
	fx_var(&s->value, "g", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, FX_INT);
	fx_var(&s->value, "t", 0x501, DIF_VARKIND_SCALAR, DIF_SCOPE_THREAD, FX_INT);
	fx_object_init(&s->key);
	fx_sets(&s->key, "key", 1);
	fx_ret(&s->key, 1);
	s->key.obj.ret = FX_STRING;
	s->actions[0] =
	    (struct dif_action){ .kind = DIF_ACT_printf, .object = &s->value.obj, .format = "%d" };
	s->actions[1] = (struct dif_action){ .kind = DIF_ACT_difexpr, .object = &s->key.obj, .is_key = true };
	s->actions[2] = (struct dif_action){ .ntuple = 2, .aggid = 1, .object = &s->value.obj };
	s->actions[2].kind = (enum dif_action_kind)DIF_AGG_sum;
	s->agg = (struct dif_aggvar){ "a", 1, DIF_AGG_sum, 0, 1 };
	s->opt = (struct dif_optset){ "quiet", "1" };
	for (int i = 0; i < 2; i++) {
		s->clauses[i].probe = (struct dif_probedesc){ "", "fbt", "", "f", "entry", 0 };
		s->clauses[i].actions = s->actions;
		s->clauses[i].nactions = 3;
	}
	s->prog = (struct dif_program){
		.clauses = s->clauses, .nclauses = 2, .aggs = &s->agg, .naggs = 1, .opts = &s->opt, .nopts = 1
	};
	ot_buf_init(&s->dof);
	fx_no_error(dif_dof_write(&s->prog, &s->dof));
}

static struct ot_err *run_verify(void)
{
	return dif_program_verify(&sample.prog);
}

static struct ot_err *run_write(void)
{
	struct ot_buf buf;

	ot_buf_init(&buf);
	struct ot_err *err = dif_dof_write(&sample.prog, &buf);
	ot_buf_deinit(&buf);
	return err;
}

static struct ot_err *run_read(void)
{
	struct dif_program prog;
	struct ot_err *err = dif_dof_read(sample.dof.data, sample.dof.len, &prog);

	if (!err)
		dif_program_deinit(&prog);
	return err;
}

static struct ot_err *run_layout(void)
{
	struct dif_layout_opts opts = fx_opts();
	struct dif_clause_layout layout;
	struct dif_var_layout vars;
	struct ot_arena arena;

	ot_arena_init(&arena);
	struct ot_err *err = dif_clause_layout(&sample.clauses[0], &opts, &arena, &layout);
	if (!err)
		err = dif_var_layout(&sample.prog, &opts, &arena, &vars);
	ot_arena_deinit(&arena);
	return err;
}

static struct ot_err *run_vm(void)
{
	struct dif_vm_config config = { .ops = &fx_ops, .strsize = FX_STRSIZE, .scratch_size = FX_SCRATCH };
	struct dif_vm vm;
	struct ot_err *err = dif_vm_init(&vm, &config);

	if (!err)
		dif_vm_deinit(&vm);
	return err;
}

static uint64_t shared[2048];

static struct ot_err *run_dynvars(void)
{
	struct dif_dynvars *dv;
	struct ot_err *err = dif_dynvars_format(shared, sizeof(shared), 2, 16, 8);

	if (!err)
		err = dif_dynvars_open(shared, sizeof(shared), &dv);
	if (!err)
		dif_dynvars_close(dv);
	return err;
}

static struct ot_err *run_aggtab(void)
{
	struct dif_aggtab tab;
	struct ot_err *err = dif_aggtab_init(&tab, shared, sizeof(shared));

	if (!err)
		dif_aggtab_deinit(&tab);
	return err;
}

/* --- the loop --------------------------------------------------------------------------------- */

static void fail_each(struct ot_err *(*run)(void), unsigned at_least)
{
	unsigned n;

	for (n = 1;; n++) {
		nomem_at(n);
		struct ot_err *err = run();
		if (!nomem_end()) { /* fewer allocations than that: this was a whole success */
			fx_no_error(err);
			break;
		}
		if (!err)
			fail_msg("allocation %u failed without an error", n);
		assert_int_equal(ot_err_code(err), OT_ERR_NO_MEMORY);
		ot_err_destroy(err);
	}
	assert_true(n > at_least);
}

static void test_allocations(void **state)
{
	(void)state;
	sample_init();
	fail_each(run_verify, 3);
	fail_each(run_write, 10);
	fail_each(run_read, 1);
	fail_each(run_layout, 2);
	fail_each(run_vm, 6);
	fail_each(run_dynvars, 3);
	fail_each(run_aggtab, 1);
	ot_buf_deinit(&sample.dof);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_allocations) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
