/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arithmetic, branches, loads and stores: each instruction, its effect and its faults; fuel, and
 * copying values out. Variables and tuples are in dif_vm_vars_test.c. */
#include "tests/unit/dif_fixture.h"

/* --- arithmetic --------------------------------------------------------------------------- */

static const struct {
	uint32_t op;
	uint64_t a, b, result;
} arithmetic[] = {
	{ DIF_OP_or, 0xf0, 0x0f, 0xff },
	{ DIF_OP_xor, 0xff, 0x0f, 0xf0 },
	{ DIF_OP_and, 0xff, 0x3c, 0x3c },
	{ DIF_OP_sll, 1, 63, 1ull << 63 },
	{ DIF_OP_sll, 3, 1, 6 },
	{ DIF_OP_srl, 1ull << 63, 63, 1 },
	{ DIF_OP_sra, (uint64_t)-8, 1, (uint64_t)-4 },
	{ DIF_OP_sra, 8, 1, 4 },
	{ DIF_OP_sub, 1, 2, UINT64_MAX },
	{ DIF_OP_add, UINT64_MAX, 2, 1 },
	{ DIF_OP_mul, (uint64_t)-3, 5, (uint64_t)-15 },
	{ DIF_OP_mul, 1ull << 63, 2, 0 },
	{ DIF_OP_sdiv, (uint64_t)-7, 2, (uint64_t)-3 },
	{ DIF_OP_sdiv, 1ull << 63, UINT64_MAX, 1ull << 63 },
	{ DIF_OP_udiv, UINT64_MAX, 2, UINT64_MAX / 2 },
	{ DIF_OP_srem, (uint64_t)-7, 2, (uint64_t)-1 },
	{ DIF_OP_srem, 1ull << 63, UINT64_MAX, 0 },
	{ DIF_OP_urem, UINT64_MAX, 10, 5 },
	{ DIF_OP_not, 0xff, 0, ~0xffull },
	{ DIF_OP_mov, 42, 0, 42 },
};

static void test_arithmetic(void **state)
{
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(arithmetic); i++) {
		uint32_t op = arithmetic[i].op;
		fx_object_init(&o);
		fx_setx(&o, arithmetic[i].a, 1);
		fx_setx(&o, arithmetic[i].b, 2);
		fx_op3(&o, op, 1, dif_op_class(op) == DIF_CLASS_R2 ? 0 : 2, 3);
		fx_ret(&o, 3);
		if (fx_value(fx, &o) != arithmetic[i].result)
			fail_msg("%s of %#llx and %#llx", dif_op_name(op),
				 (unsigned long long)arithmetic[i].a, (unsigned long long)arithmetic[i].b);
	}
	fx_destroy(fx);
}

static void test_divide_by_zero(void **state)
{
	static const uint32_t ops[] = { DIF_OP_sdiv, DIF_OP_udiv, DIF_OP_srem, DIF_OP_urem };
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(ops); i++) {
		fx_object_init(&o);
		fx_setx(&o, 5, 1);
		fx_op3(&o, ops[i], 1, 0, 2);
		fx_ret(&o, 2);
		fx_faults(fx, &o, DIF_FAULT_DIVZERO, 1);
	}
	fx_destroy(fx);
}

/* --- compares and branches ------------------------------------------------------------------- */

static bool branches(struct fx *fx, uint32_t compare, uint64_t a, uint64_t b, uint32_t op)
{
	struct fx_object o;

	fx_object_init(&o);
	fx_setx(&o, a, 1);
	fx_setx(&o, b, 2);
	if (compare == DIF_OP_tst)
		fx_op3(&o, compare, 1, 0, 0);
	else
		fx_op3(&o, compare, 1, 2, 0);
	fx_op(&o, dif_insn_branch(op, 5));
	fx_ret(&o, 0);
	fx_setx(&o, 1, 3);
	fx_ret(&o, 3);
	return fx_value(fx, &o) == 1;
}

static void check_conditions(struct fx *fx, uint64_t a, uint64_t b)
{
	/* Signed order by the sign of the wrapped difference, as published. */
	bool less = (int64_t)(a - b) < 0, equal = a == b;

	assert_true(branches(fx, DIF_OP_cmp, a, b, DIF_OP_ba));
	assert_int_equal(branches(fx, DIF_OP_cmp, a, b, DIF_OP_be), equal);
	assert_int_equal(branches(fx, DIF_OP_cmp, a, b, DIF_OP_bne), !equal);
	assert_int_equal(branches(fx, DIF_OP_cmp, a, b, DIF_OP_bg), !less && !equal);
	assert_int_equal(branches(fx, DIF_OP_cmp, a, b, DIF_OP_bge), !less);
	assert_int_equal(branches(fx, DIF_OP_cmp, a, b, DIF_OP_bl), less);
	assert_int_equal(branches(fx, DIF_OP_cmp, a, b, DIF_OP_ble), less || equal);
	assert_int_equal(branches(fx, DIF_OP_cmp, a, b, DIF_OP_bgu), a > b);
	assert_int_equal(branches(fx, DIF_OP_cmp, a, b, DIF_OP_bgeu), a >= b);
	assert_int_equal(branches(fx, DIF_OP_cmp, a, b, DIF_OP_blu), a < b);
	assert_int_equal(branches(fx, DIF_OP_cmp, a, b, DIF_OP_bleu), a <= b);
}

static void test_branches(void **state)
{
	static const uint64_t values[] = { 0, 1, 2, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN };
	struct fx *fx = fx_create(NULL);
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(values); i++) {
		for (size_t j = 0; j < OT_ARRAY_SIZE(values); j++)
			check_conditions(fx, values[i], values[j]);
	}
	/* The model's known oddity: INT64_MIN < 1 is false, for the difference wraps. */
	assert_false(branches(fx, DIF_OP_cmp, (uint64_t)INT64_MIN, 1, DIF_OP_bl));
	assert_true(branches(fx, DIF_OP_tst, 0, 0, DIF_OP_be));
	assert_false(branches(fx, DIF_OP_tst, 7, 0, DIF_OP_be));
	assert_false(branches(fx, DIF_OP_tst, UINT64_MAX, 0, DIF_OP_bl));
	assert_false(branches(fx, DIF_OP_tst, UINT64_MAX, 0, DIF_OP_blu));
	fx_destroy(fx);
}

/* -1, 0, 1 of scmp; NULL pointers where a or b is NULL. */
static int order(struct fx *fx, const char *a, const char *b)
{
	struct fx_object o;

	fx_object_init(&o);
	if (a)
		fx_sets(&o, a, 1);
	if (b)
		fx_sets(&o, b, 2);
	fx_op3(&o, DIF_OP_scmp, 1, 2, 0);
	uint32_t at = o.obj.text_len;
	fx_op(&o, dif_insn_branch(DIF_OP_be, at + 5));
	fx_op(&o, dif_insn_branch(DIF_OP_bl, at + 3));
	fx_op(&o, dif_insn_branch(DIF_OP_ba, at + 6));
	fx_setx(&o, (uint64_t)-1, 3);
	fx_ret(&o, 3);
	fx_ret(&o, 0);
	fx_setx(&o, 1, 3);
	fx_ret(&o, 3);
	return (int)fx_value(fx, &o);
}

static void test_scmp(void **state)
{
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	assert_int_equal(order(fx, "abc", "abc"), 0);
	assert_int_equal(order(fx, "abc", "abd"), -1);
	assert_int_equal(order(fx, "b", "abd"), 1);
	assert_int_equal(order(fx, "ab", "abc"), -1);
	assert_int_equal(order(fx, "\xff", "a"), 1);
	assert_int_equal(order(fx, NULL, ""), 0);
	assert_int_equal(order(fx, NULL, "a"), -1);
	assert_int_equal(order(fx, "a", NULL), 1);
	assert_int_equal(order(fx, NULL, NULL), 0);

	/* Guest memory, up to the very end of what is mapped; then over it. */
	memset(fx->world.kernel, 'x', FX_KERNEL_SIZE);
	memcpy(fx->world.kernel + FX_KERNEL_SIZE - 4, "csh", 4);
	fx_object_init(&o);
	fx_setx(&o, FX_KERNEL + FX_KERNEL_SIZE - 4, 1);
	fx_op(&o, dif_insn_index(DIF_OP_ldgs, DIF_VAR_execname, 2));
	fx_op3(&o, DIF_OP_scmp, 1, 2, 0);
	fx_op(&o, dif_insn_branch(DIF_OP_be, 5));
	fx_ret(&o, 0);
	fx_setx(&o, 1, 3);
	fx_ret(&o, 3);
	assert_int_equal(fx_value(fx, &o), 1);
	fx->world.kernel[FX_KERNEL_SIZE - 1] = 'x';
	fx_faults(fx, &o, DIF_FAULT_BADADDR, 2);
	fx_destroy(fx);
}

/* --- loads and stores ---------------------------------------------------------------------------- */

static const struct {
	uint32_t op; /* and the uld* of the same kind is +36, the rld* +43 */
	unsigned size;
	uint64_t result;
} loads[] = {
	{ DIF_OP_ldsb, 1, (uint64_t)-8 },
	{ DIF_OP_ldsh, 2, 0xfffffffffffff9f8ull },
	{ DIF_OP_ldsw, 4, 0xfffffffffbfaf9f8ull },
	{ DIF_OP_ldub, 1, 0xf8 },
	{ DIF_OP_lduh, 2, 0xf9f8 },
	{ DIF_OP_lduw, 4, 0xfbfaf9f8 },
	{ DIF_OP_ldx, 8, 0xfffefdfcfbfaf9f8ull },
};

static void make_load(struct fx_object *o, uint32_t op, uint64_t addr)
{
	fx_object_init(o);
	fx_setx(o, addr, 1);
	fx_op3(o, op, 1, 0, 2);
	fx_ret(o, 2);
}

static void test_guest_loads(void **state)
{
	static const uint8_t bytes[] = { 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff };
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(loads); i++) {
		unsigned size = loads[i].size;
		uint64_t last = FX_KERNEL + FX_KERNEL_SIZE - size, ulast = FX_USER + FX_USER_SIZE - size;
		memcpy(fx->world.kernel + FX_KERNEL_SIZE - size, bytes, size);
		memcpy(fx->world.user + FX_USER_SIZE - size, bytes, size);
		make_load(&o, loads[i].op, last);
		assert_int_equal(fx_value(fx, &o), loads[i].result);
		make_load(&o, loads[i].op + 43, last); /* restricted */
		assert_int_equal(fx_value(fx, &o), loads[i].result);
		make_load(&o, loads[i].op + 36, ulast); /* user */
		assert_int_equal(fx_value(fx, &o), loads[i].result);

		make_load(&o, loads[i].op, last + 1);
		fx_faults(fx, &o, DIF_FAULT_BADADDR, 1);
		assert_int_equal(fx->vm.fault_addr, last + 1);
		make_load(&o, loads[i].op + 43, 0);
		fx_faults(fx, &o, DIF_FAULT_BADADDR, 1);
		make_load(&o, loads[i].op + 36, last); /* a kernel address is no user address */
		fx_faults(fx, &o, DIF_FAULT_BADADDR, 1);
	}
	fx_destroy(fx);
}

static void test_window_loads(void **state)
{
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(loads); i++) {
		unsigned size = loads[i].size;
		fx_object_init(&o);
		uint32_t at = fx_string_n(&o, "\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff", 8);
		fx_op(&o, dif_insn_index(DIF_OP_sets, at, 1));
		fx_op3(&o, loads[i].op, 1, 0, 2);
		fx_ret(&o, 2);
		assert_int_equal(fx_value(fx, &o), loads[i].result);
		/* The last possible place, then one too far. */
		uint64_t end = dif_window_addr(DIF_SEG_STRTAB, 1);
		make_load(&o, loads[i].op, end - size);
		if (size == 1)
			fx_value(fx, &o);
		make_load(&o, loads[i].op, end - size + 1);
		fx_faults(fx, &o, DIF_FAULT_BADADDR, 1);
	}
	/* Segments that don't exist, and offsets that would wrap. */
	for (uint64_t seg = 0; seg < 256; seg++) {
		make_load(&o, DIF_OP_ldx, DIF_WINDOW_TAG << 48 | seg << 40 | 0xffffffffffull);
		fx_faults(fx, &o, DIF_FAULT_BADADDR, 1);
	}
	make_load(&o, DIF_OP_ldub, dif_window_addr(DIF_SEG_SCRATCH, FX_SCRATCH));
	fx_faults(fx, &o, DIF_FAULT_BADADDR, 1);
	make_load(&o, DIF_OP_ldub, dif_window_addr(DIF_SEG_SCRATCH, FX_SCRATCH - 1));
	fx_value(fx, &o);
	fx_destroy(fx);
}

static void test_scratch_stores(void **state)
{
	static const struct {
		uint32_t store, load, size;
	} ops[] = { { DIF_OP_stb, DIF_OP_ldub, 1 },
		    { DIF_OP_sth, DIF_OP_lduh, 2 },
		    { DIF_OP_stw, DIF_OP_lduw, 4 },
		    { DIF_OP_stx, DIF_OP_ldx, 8 } };
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(ops); i++) {
		uint32_t size = ops[i].size;
		uint64_t mask = size == 8 ? UINT64_MAX : (1ull << size * 8) - 1;
		for (uint32_t offset = 0; offset <= 16; offset++) {
			dif_vm_begin_clause(&fx->vm);
			fx_object_init(&o);
			fx_setx(&o, 16, 1);
			fx_op3(&o, DIF_OP_allocs, 1, 0, 2);
			fx_setx(&o, FX_SCRATCH - 16 + offset, 3); /* all of it, allocated or not */
			fx_op3(&o, DIF_OP_add, 2, 3, 2);
			fx_setx(&o, 0x1122334455667788ull, 4);
			fx_op3(&o, ops[i].store, 4, 0, 2);
			fx_op3(&o, ops[i].load, 2, 0, 5);
			fx_ret(&o, 5);
			if (offset + size > 16)
				fx_faults(fx, &o, DIF_FAULT_BADADDR, 5);
			else if (offset % size)
				fx_faults(fx, &o, DIF_FAULT_BADALIGN, 5);
			else
				assert_int_equal(fx_value(fx, &o), 0x1122334455667788ull & mask);
		}
	}
	fx_destroy(fx);
}

static void test_forbidden_stores(void **state)
{
	static const uint64_t addrs[] = {
		0, FX_KERNEL, FX_USER, 0xd100000000000000ull, 0xd1000a0000000000ull, UINT64_MAX - 7
	};
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(addrs); i++) {
		fx_object_init(&o);
		fx_setx(&o, addrs[i], 1);
		fx_op3(&o, DIF_OP_stx, 1, 0, 1);
		fx_ret(&o, 0);
		fx_faults(fx, &o, DIF_FAULT_BADADDR, 1);
		assert_int_equal(fx->vm.fault_addr, addrs[i]);
	}
	/* The string table is read-only, and the dynamic table's links are not the program's. */
	fx_object_init(&o);
	fx_sets(&o, "constant", 1);
	fx_op3(&o, DIF_OP_stb, 0, 0, 1);
	fx_ret(&o, 0);
	fx_faults(fx, &o, DIF_FAULT_BADADDR, 1);
	for (uint64_t offset = 0; offset < FX_DYN_SIZE; offset += 8) {
		if (dif_dynvars_is_value(fx->dynvars, offset, 8))
			continue;
		fx_object_init(&o);
		fx_setx(&o, dif_window_addr(DIF_SEG_DYNVARS, offset), 1);
		fx_op3(&o, DIF_OP_stx, 1, 0, 1);
		fx_ret(&o, 0);
		fx_faults(fx, &o, DIF_FAULT_BADADDR, 1);
	}
	fx_destroy(fx);
}

static void test_allocs_and_copys(void **state)
{
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	memcpy(fx->world.kernel, "kernel bytes", 13);
	fx_object_init(&o);
	fx_setx(&o, 16, 1);
	fx_op3(&o, DIF_OP_allocs, 1, 0, 2);
	fx_op3(&o, DIF_OP_allocs, 1, 0, 3);
	fx_setx(&o, FX_KERNEL, 4);
	fx_setx(&o, 13, 5);
	fx_op3(&o, DIF_OP_copys, 4, 5, 2);
	fx_op3(&o, DIF_OP_copys, 2, 5, 3);
	fx_ret(&o, 3);
	assert_string_equal(fx_text(fx, fx_value(fx, &o)), "kernel bytes");
	assert_int_equal(fx->vm.scratch_used, 32);

	fx_object_init(&o);
	fx_setx(&o, FX_SCRATCH + 1, 1);
	fx_op3(&o, DIF_OP_allocs, 1, 0, 2);
	fx_ret(&o, 2);
	dif_vm_begin_clause(&fx->vm);
	fx_faults(fx, &o, DIF_FAULT_NOSCRATCH, 1);
	o.ints[0] = UINT64_MAX;
	fx_faults(fx, &o, DIF_FAULT_NOSCRATCH, 1);
	o.ints[0] = FX_SCRATCH;
	fx_value(fx, &o);

	/* From where nothing is, to where nothing may be. */
	fx_object_init(&o);
	fx_setx(&o, dif_window_addr(DIF_SEG_SCRATCH, 0), 1);
	fx_setx(&o, 8, 2);
	fx_op3(&o, DIF_OP_copys, 0, 2, 1);
	fx_ret(&o, 0);
	fx_faults(fx, &o, DIF_FAULT_BADADDR, 2);
	o.text[2] = dif_insn(DIF_OP_copys, 1, 2, 0);
	fx_faults(fx, &o, DIF_FAULT_BADADDR, 2);
	o.ints[1] = FX_SCRATCH + 1;
	o.text[2] = dif_insn(DIF_OP_copys, 1, 2, 1);
	fx_faults(fx, &o, DIF_FAULT_BADADDR, 2);
	fx_destroy(fx);
}

/* --- fuel, records -------------------------------------------------------------------------------------- */

static void test_fuel(void **state)
{
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	fx_object_init(&o);
	for (int i = 0; i < 9; i++)
		fx_op3(&o, DIF_OP_nop, 0, 0, 0);
	fx_ret(&o, 0);
	dif_vm_begin(&fx->vm, 25);
	fx_value(fx, &o);
	fx_value(fx, &o);
	assert_int_equal(fx->vm.fuel, 5);
	fx_faults(fx, &o, DIF_FAULT_ILLOP, 0);
	assert_int_equal(fx->vm.fuel, 0);

	/* What subroutines touch counts as well. */
	char hay[200];
	memset(hay, 'a', sizeof(hay));
	hay[199] = 0;
	fx_object_init(&o);
	fx_sets(&o, hay, 1);
	fx_sets(&o, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 2);
	fx_op3(&o, DIF_OP_pushtr, 1, 0, 1);
	fx_op3(&o, DIF_OP_pushtr, 1, 0, 2);
	fx_op(&o, dif_insn_index(DIF_OP_call, DIF_SUBR_strstr, 3));
	fx_ret(&o, 3);
	dif_vm_begin(&fx->vm, 10000);
	assert_int_equal(fx_value(fx, &o), 0);
	assert_true(fx->vm.fuel < 10000 - 150 * 6);
	dif_vm_begin(&fx->vm, 500);
	fx_faults(fx, &o, DIF_FAULT_ILLOP, 4);
	fx_destroy(fx);
}

static void test_copy(void **state)
{
	struct dif_rtype user = { DIF_TYPE_STRING, 0, DIF_TF_BYREF | DIF_TF_BYUREF, 0, 0 };
	struct dif_rtype bytes = { DIF_TYPE_CTF, DIF_CTF_STRUCT, DIF_TF_BYREF, 0, 8 };
	struct fx *fx = fx_create(NULL);
	char dst[16];
	(void)state;

	memcpy(fx->world.kernel, "0123456789abcdefgh", sizeof("0123456789abcdefgh"));
	memcpy(fx->world.user, "user", sizeof("user"));
	memset(dst, 'x', sizeof(dst));
	assert_int_equal(dif_vm_copy(&fx->vm, &FX_STRING, FX_KERNEL, dst, 8), DIF_FAULT_NONE);
	assert_memory_equal(dst, "01234567xxxxxxxx", 16);
	assert_int_equal(dif_vm_copy(&fx->vm, &user, FX_USER, dst, 16), DIF_FAULT_NONE);
	assert_memory_equal(dst, "user\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_int_equal(dif_vm_copy(&fx->vm, &bytes, FX_KERNEL + 1, dst, 8), DIF_FAULT_NONE);
	assert_memory_equal(dst, "12345678\0", 9);
	assert_int_equal(dif_vm_copy(&fx->vm, &FX_STRING, 0, dst, 8), DIF_FAULT_BADADDR);
	assert_int_equal(fx->vm.fault_addr, 0);
	assert_int_equal(fx->vm.fault_offset, UINT32_MAX);
	assert_int_equal(dif_vm_copy(&fx->vm, &bytes, 0, dst, 8), DIF_FAULT_BADADDR);
	assert_int_equal(dif_vm_copy(&fx->vm, &bytes, FX_KERNEL + FX_KERNEL_SIZE - 7, dst, 8),
			 DIF_FAULT_BADADDR);
	dif_vm_begin(&fx->vm, 1);
	assert_int_equal(dif_vm_copy(&fx->vm, &bytes, FX_KERNEL, dst, 8), DIF_FAULT_ILLOP);
	fx_destroy(fx);
}

static void test_limits(void **state)
{
	struct dif_vm_config config = { .ops = &fx_ops, .strsize = 0, .scratch_size = 64 };
	struct dif_vm vm;
	(void)state;

	fx_error(dif_vm_init(&vm, &config), OT_ERR_LIMIT, "strsize");
	config.strsize = (1u << 20) + 1;
	fx_error(dif_vm_init(&vm, &config), OT_ERR_LIMIT, "strsize");
	config.strsize = 1;
	fx_no_error(dif_vm_init(&vm, &config));
	dif_vm_deinit(&vm);
}

/* All but those of dif_vm_vars_test.c. */
static void test_every_opcode_was_run(void **state)
{
	(void)state;
	fx_all_ran(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_divide_by_zero),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_scmp),
		cmocka_unit_test(test_guest_loads),
		cmocka_unit_test(test_window_loads),
		cmocka_unit_test(test_scratch_stores),
		cmocka_unit_test(test_forbidden_stores),
		cmocka_unit_test(test_allocs_and_copys),
		cmocka_unit_test(test_fuel),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_every_opcode_was_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
