/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions on variables and tuples: each with its effect and its faults. */
#include "tests/unit/dif_fixture.h"

/* --- variables -------------------------------------------------------------------------------------- */

static void test_builtins(void **state)
{
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	fx_object_init(&o);
	fx_op(&o, dif_insn_index(DIF_OP_ldgs, DIF_VAR_pid, 1));
	fx_ret(&o, 1);
	assert_int_equal(fx_value(fx, &o), DIF_VAR_pid * 1000);
	o.text[0] = dif_insn_index(DIF_OP_ldgs, DIF_VAR_curthread, 1);
	fx_faults(fx, &o, DIF_FAULT_KPRIV, 0);
	o.text[0] = dif_insn_index(DIF_OP_ldgs, DIF_VAR_execname, 1);
	uint64_t first = fx_value(fx, &o);
	assert_string_equal(fx_text(fx, first), "csh");
	assert_int_equal(fx_value(fx, &o), first); /* once a clause */
	dif_vm_begin_clause(&fx->vm);
	o.text[0] = dif_insn_index(DIF_OP_ldgs, DIF_VAR_probefunc, 1);
	assert_string_equal(fx_text(fx, fx_value(fx, &o)), "builtin");

	fx_object_init(&o);
	fx_setx(&o, 7, 1);
	fx_op3(&o, DIF_OP_ldga, DIF_VAR_uregs, 1, 2);
	fx_ret(&o, 2);
	assert_int_equal(fx_value(fx, &o), 2007);
	o.ints[0] = 100;
	fx_faults(fx, &o, DIF_FAULT_ILLOP, 1);
	o.text[1] = dif_insn(DIF_OP_ldta, 0, 1, 2);
	o.ints[0] = 0;
	fx_faults(fx, &o, DIF_FAULT_ILLOP, 1);
	fx_destroy(fx);
}

static void test_static_values(void **state)
{
	static const struct {
		uint32_t load, store;
		uint8_t scope;
	} ops[] = { { DIF_OP_ldgs, DIF_OP_stgs, DIF_SCOPE_GLOBAL },
		    { DIF_OP_ldls, DIF_OP_stls, DIF_SCOPE_LOCAL } };
	struct fx_object o;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(ops); i++) {
		fx_object_init(&o);
		fx_var(&o, "x", 0x500, DIF_VARKIND_SCALAR, ops[i].scope, FX_INT);
		struct fx *fx = fx_create(&o);
		fx_op(&o, dif_insn_index(ops[i].load, 0x500, 1));
		fx_setx(&o, 1, 2);
		fx_op3(&o, DIF_OP_add, 1, 2, 1);
		fx_op(&o, dif_insn_index(ops[i].store, 0x500, 1));
		fx_op(&o, dif_insn_index(ops[i].load, 0x500, 3));
		fx_ret(&o, 3);
		for (uint64_t n = 1; n < 5; n++) {
			dif_vm_begin(&fx->vm, DIF_FUEL_DEFAULT); /* values outlive firings */
			assert_int_equal(fx_value(fx, &o), n);
		}
		fx_destroy(fx);
	}
}

static void test_static_strings(void **state)
{
	static const struct {
		uint32_t load, store;
		uint8_t scope;
	} ops[] = { { DIF_OP_ldgs, DIF_OP_stgs, DIF_SCOPE_GLOBAL },
		    { DIF_OP_ldls, DIF_OP_stls, DIF_SCOPE_LOCAL } };
	struct fx_object load, store;
	char longer[400];
	(void)state;

	memset(longer, 'y', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	for (size_t i = 0; i < OT_ARRAY_SIZE(ops); i++) {
		fx_object_init(&load);
		fx_var(&load, "s", 0x500, DIF_VARKIND_SCALAR, ops[i].scope, FX_STRING);
		struct fx *fx = fx_create(&load);
		load.obj.ret = FX_STRING;
		fx_op(&load, dif_insn_index(ops[i].load, 0x500, 1));
		fx_ret(&load, 1);
		assert_string_equal(fx_text(fx, fx_value(fx, &load)),
				    ""); /* never assigned: empty, not NULL */

		fx_object_init(&store);
		fx_var(&store, "s", 0x500, DIF_VARKIND_SCALAR, ops[i].scope, FX_STRING);
		fx_sets(&store, "value", 1);
		fx_op(&store, dif_insn_index(ops[i].store, 0x500, 1));
		fx_ret(&store, 0);
		fx_value(fx, &store);
		assert_string_equal(fx_text(fx, fx_value(fx, &load)), "value");

		store.text[1] = dif_insn_index(ops[i].store, 0x500, 0); /* NULL is kept as NULL */
		fx_value(fx, &store);
		assert_int_equal(fx_value(fx, &load), 0);

		fx_object_init(&store);
		fx_var(&store, "s", 0x500, DIF_VARKIND_SCALAR, ops[i].scope, FX_STRING);
		fx_sets(&store, longer, 1);
		fx_op(&store, dif_insn_index(ops[i].store, 0x500, 1));
		fx_ret(&store, 0);
		fx_value(fx, &store);
		assert_int_equal(strlen(fx_text(fx, fx_value(fx, &load))), FX_STRSIZE);

		fx_setx(&store, 0x1234, 1); /* behind ret: an unreadable source, moved to the front */
		store.text[0] = store.text[3];
		store.obj.text_len = 3;
		fx_faults(fx, &store, DIF_FAULT_BADADDR, 1);
		assert_int_equal(strlen(fx_text(fx, fx_value(fx, &load))), FX_STRSIZE);
		fx_destroy(fx);
	}
}

static void test_static_struct(void **state)
{
	struct dif_rtype type = { DIF_TYPE_CTF, DIF_CTF_STRUCT, DIF_TF_BYREF, 0, 24 };
	struct fx_object o;
	(void)state;

	fx_object_init(&o);
	fx_var(&o, "st", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, type);
	fx_var(&o, "next", 0x501, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, FX_INT);
	struct fx *fx = fx_create(&o);
	for (uint8_t i = 0; i < 64; i++)
		fx->world.kernel[i] = i;
	fx_setx(&o, FX_KERNEL + 8, 1);
	fx_op(&o, dif_insn_index(DIF_OP_stgs, 0x500, 1));
	fx_op(&o, dif_insn_index(DIF_OP_ldgs, 0x500, 2));
	fx_setx(&o, 16, 3);
	fx_op3(&o, DIF_OP_add, 2, 3, 2);
	fx_op3(&o, DIF_OP_ldx, 2, 0, 4);
	fx_ret(&o, 4);
	assert_int_equal(fx_value(fx, &o), 0x1f1e1d1c1b1a1918ull);
	assert_int_equal(fx->globals[4], 0); /* 8 of prefix, 24 of data, and not a byte more */
	fx_destroy(fx);
}

static void make_dynamic(struct fx_object *o, uint8_t kind, uint8_t scope, struct dif_rtype type)
{
	fx_object_init(o);
	fx_var(o, "d", 0x500, kind, scope, type);
	o->obj.ret = type;
}

static void test_thread_local(void **state)
{
	struct fx_object store, load;
	(void)state;

	make_dynamic(&store, DIF_VARKIND_SCALAR, DIF_SCOPE_THREAD, FX_INT);
	struct fx *fx = fx_create(&store);
	fx_op(&store, dif_insn_index(DIF_OP_ldgs, DIF_VAR_pid, 1));
	fx_op(&store, dif_insn_index(DIF_OP_stts, 0x500, 1));
	fx_ret(&store, 0);
	make_dynamic(&load, DIF_VARKIND_SCALAR, DIF_SCOPE_THREAD, FX_INT);
	fx_op(&load, dif_insn_index(DIF_OP_ldts, 0x500, 1));
	fx_ret(&load, 1);

	fx->world.thread.task = 1;
	assert_int_equal(fx_value(fx, &load), 0);
	fx_value(fx, &store);
	assert_int_equal(fx_value(fx, &load), DIF_VAR_pid * 1000);
	assert_int_equal(fx->world.thread_calls, 1); /* asked once a firing */
	fx->world.thread.task = 2;
	dif_vm_begin(&fx->vm, DIF_FUEL_DEFAULT);
	assert_int_equal(fx_value(fx, &load), 0);
	fx->world.thread.task = 1;
	dif_vm_begin(&fx->vm, DIF_FUEL_DEFAULT);
	assert_int_equal(fx_value(fx, &load), DIF_VAR_pid * 1000);
	store.text[0] = dif_insn(DIF_OP_nop, 0, 0, 0); /* 0 frees */
	fx_value(fx, &store);
	assert_int_equal(fx_value(fx, &load), 0);
	fx_destroy(fx);
}

/* a[key, 7] = n and its load; @op one of the four. */
static void make_assoc(struct fx_object *o, uint32_t op, const char *key, uint64_t n, struct dif_rtype type)
{
	bool thread = op == DIF_OP_ldtaa || op == DIF_OP_sttaa;

	make_dynamic(o, DIF_VARKIND_ARRAY, thread ? DIF_SCOPE_THREAD : DIF_SCOPE_GLOBAL, type);
	fx_sets(o, key, 1);
	fx_setx(o, 7, 2);
	fx_op3(o, DIF_OP_flushts, 0, 0, 0);
	fx_op3(o, DIF_OP_pushtr, DIF_TYPE_STRING, 0, 1);
	fx_op3(o, DIF_OP_pushtv, DIF_TYPE_CTF, 0, 2);
	if (type.kind == DIF_TYPE_STRING && n)
		fx_sets(o, "text", 3);
	else
		fx_setx(o, n, 3);
	fx_op(o, dif_insn_index(op, 0x500, 3));
	fx_ret(o, 3);
}

static void test_assoc(void **state)
{
	static const uint32_t ops[][2] = { { DIF_OP_ldgaa, DIF_OP_stgaa }, { DIF_OP_ldtaa, DIF_OP_sttaa } };
	struct fx_object o, layout;
	(void)state;

	for (int i = 0; i < 2; i++) {
		uint32_t load = ops[i][0], store = ops[i][1];
		make_assoc(&layout, load, "", 0, FX_INT);
		struct fx *fx = fx_create(&layout);
		make_assoc(&o, store, "one", 1, FX_INT);
		fx_value(fx, &o);
		make_assoc(&o, store, "two", 2, FX_INT);
		fx_value(fx, &o);
		make_assoc(&o, load, "one", 0, FX_INT);
		assert_int_equal(fx_value(fx, &o), 1);
		make_assoc(&o, load, "two", 0, FX_INT);
		assert_int_equal(fx_value(fx, &o), 2);
		make_assoc(&o, load, "tw", 0, FX_INT);
		assert_int_equal(fx_value(fx, &o), 0);
		make_assoc(&o, store, "one", 0, FX_INT);
		fx_value(fx, &o);
		make_assoc(&o, load, "one", 0, FX_INT);
		assert_int_equal(fx_value(fx, &o), 0);
		fx->world.thread.task = 9;
		dif_vm_begin(&fx->vm, DIF_FUEL_DEFAULT);
		make_assoc(&o, load, "two", 0, FX_INT);
		assert_int_equal(fx_value(fx, &o), load == DIF_OP_ldgaa ? 2 : 0);
		fx_destroy(fx);

		make_assoc(&layout, load, "", 0, FX_STRING);
		fx = fx_create(&layout);
		make_assoc(&o, load, "s", 0, FX_STRING);
		assert_int_equal(fx_value(fx, &o), 0); /* absence is NULL */
		make_assoc(&o, store, "s", 1, FX_STRING);
		fx_value(fx, &o);
		make_assoc(&o, load, "s", 0, FX_STRING);
		assert_string_equal(fx_text(fx, fx_value(fx, &o)), "text");
		fx_destroy(fx);
	}
}

/* A guest's string that is longer than strsize is the same key as its copy in a variable. */
static void test_truncated_key(void **state)
{
	struct fx_object o, layout;
	char copy[FX_STRSIZE + 1];
	(void)state;

	make_assoc(&layout, DIF_OP_ldgaa, "", 0, FX_INT);
	struct fx *fx = fx_create(&layout);
	memset(fx->world.kernel, 'g', 1000);
	make_assoc(&o, DIF_OP_stgaa, "", 5, FX_INT);
	o.text[0] = dif_insn_index(DIF_OP_setx, o.obj.int_len, 1);
	o.ints[o.obj.int_len++] = FX_KERNEL;
	fx_value(fx, &o);
	memset(copy, 'g', sizeof(copy));
	copy[sizeof(copy) - 1] = 0;
	make_assoc(&o, DIF_OP_ldgaa, copy, 0, FX_INT);
	assert_int_equal(fx_value(fx, &o), 5);
	copy[sizeof(copy) - 2] = 0;
	make_assoc(&o, DIF_OP_ldgaa, copy, 0, FX_INT);
	assert_int_equal(fx_value(fx, &o), 0);
	fx_destroy(fx);
}

/* A key longer than a cell holds is a drop, not a fault. */
static void test_long_key(void **state)
{
	struct dif_dynvar_drops drops;
	struct fx_object o;
	char key[256];
	(void)state;

	memset(key, 'k', sizeof(key));
	key[255] = 0;
	make_assoc(&o, DIF_OP_stgaa, key, 1, FX_INT);
	struct fx *fx = fx_create(&o);
	o.text[4] = dif_insn(DIF_OP_pushtr, DIF_TYPE_STRING, 0, 1); /* twice the string: over 400 bytes */
	fx_value(fx, &o);
	dif_dynvars_drops(fx->dynvars, &drops);
	assert_int_equal(drops.drops, 1);
	fx_destroy(fx);
}

/* --- the tuple stack ---------------------------------------------------------------------------------- */

static void test_tuple_stack(void **state)
{
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	fx_object_init(&o);
	for (int i = 0; i < DIF_NTUPLE; i++)
		fx_op3(&o, DIF_OP_pushtv, 0, 0, 0);
	fx_op3(&o, DIF_OP_popts, 0, 0, 0);
	fx_op3(&o, DIF_OP_pushtv, 0, 0, 0);
	fx_op3(&o, DIF_OP_flushts, 0, 0, 0);
	fx_op3(&o, DIF_OP_popts, 0, 0, 0); /* of an empty stack: no fault */
	for (int i = 0; i < DIF_NTUPLE; i++)
		fx_op3(&o, DIF_OP_pushtv, 0, 0, 0);
	uint32_t at = o.obj.text_len;
	fx_ret(&o, 0);
	fx_value(fx, &o);
	o.text[at] = dif_insn(DIF_OP_pushtv, 0, 0, 0);
	fx_ret(&o, 0);
	fx_faults(fx, &o, DIF_FAULT_TUPOFLOW, at);

	fx_object_init(&o);
	fx_setx(&o, FX_KERNEL, 1);
	fx_setx(&o, UINT64_MAX, 2);
	fx_op3(&o, DIF_OP_pushtr, DIF_TYPE_CTF, 2, 1);
	fx_ret(&o, 0);
	fx_faults(fx, &o, DIF_FAULT_ILLOP, 2);
	o.text[2] = dif_insn(DIF_OP_pushtr, DIF_TYPE_STRING, 2, 0);
	fx_faults(fx, &o, DIF_FAULT_BADADDR, 2);
	fx_destroy(fx);
}

static void test_call(void **state)
{
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	fx_object_init(&o);
	fx_setx(&o, 42, 1);
	fx_op3(&o, DIF_OP_pushtv, 0, 0, 1);
	fx_op(&o, dif_insn_index(DIF_OP_call, DIF_SUBR_progenyof, 2));
	fx_op(&o, dif_insn_index(DIF_OP_call, DIF_SUBR_progenyof, 3)); /* a call leaves the stack alone */
	fx_op3(&o, DIF_OP_sub, 2, 3, 4);
	fx_op3(&o, DIF_OP_or, 2, 4, 2);
	fx_ret(&o, 2);
	assert_int_equal(fx_value(fx, &o), DIF_SUBR_progenyof * 100 + 42);
	o.text[1] = dif_insn(DIF_OP_nop, 0, 0, 0);
	fx_faults(fx, &o, DIF_FAULT_ILLOP, 2); /* too few arguments */
	fx_destroy(fx);
}

static void test_every_opcode_was_run(void **state)
{
	(void)state;
	fx_all_ran(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builtins),
		cmocka_unit_test(test_static_values),
		cmocka_unit_test(test_static_strings),
		cmocka_unit_test(test_static_struct),
		cmocka_unit_test(test_thread_local),
		cmocka_unit_test(test_assoc),
		cmocka_unit_test(test_truncated_key),
		cmocka_unit_test(test_long_key),
		cmocka_unit_test(test_tuple_stack),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_every_opcode_was_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
