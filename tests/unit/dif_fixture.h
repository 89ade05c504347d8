/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of dif/ share: a scripted world (two pages of guest kernel memory, one of user memory,
 * built-ins by number), and a machine in it.
 */
#ifndef TESTS_UNIT_DIF_FIXTURE_H
#define TESTS_UNIT_DIF_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dif/obj/layout.h"
#include "dif/obj/verify.h"
#include "dif/vm/dynvar.h"
#include "dif/vm/vm.h"
#include "tests/unit/dif_assemble.h"

/* --- a world -------------------------------------------------------------------------------- */

#define FX_KERNEL      0xffff888000000000ull
#define FX_KERNEL_SIZE 8192u /* what follows is not mapped */
#define FX_USER        0x400000ull
#define FX_USER_SIZE   4096u
#define FX_STRSIZE     256u
#define FX_SCRATCH     4096u

struct fx_world {
	uint8_t kernel[FX_KERNEL_SIZE];
	uint8_t user[FX_USER_SIZE];
	struct dif_thread_key thread;
	unsigned loads;
	unsigned thread_calls;
};

static inline bool fx_load(void *env, uint64_t addr, void *dst, uint32_t len, bool user)
{
	struct fx_world *w = env;
	const uint8_t *base = user ? w->user : w->kernel;
	uint64_t start = user ? FX_USER : FX_KERNEL, size = user ? FX_USER_SIZE : FX_KERNEL_SIZE;

	w->loads++;
	if (addr < start || addr - start > size || len > size - (addr - start))
		return false;
	memcpy(dst, base + (addr - start), len);
	return true;
}

static inline bool fx_store_user(void *env, uint64_t addr, const void *src, uint32_t len)
{
	struct fx_world *w = env;

	if (addr < FX_USER || addr - FX_USER > FX_USER_SIZE || len > FX_USER_SIZE - (addr - FX_USER))
		return false;
	memcpy(w->user + (addr - FX_USER), src, len);
	return true;
}

static inline uint64_t fx_scalar(void *env, uint32_t id, enum dif_fault *fault)
{
	(void)env;
	if (id == DIF_VAR_curthread)
		*fault = DIF_FAULT_KPRIV;
	return id * 1000ull;
}

static inline uint64_t fx_array(void *env, uint32_t id, uint64_t index, enum dif_fault *fault)
{
	(void)env;
	if (index > 1000)
		*fault = (enum dif_fault)(index - 1000);
	else if (index > 99)
		*fault = DIF_FAULT_ILLOP;
	return id * 1000ull + index;
}

static inline int fx_string(void *env, uint32_t id, char *dst, uint32_t cap)
{
	(void)env;
	return snprintf(dst, cap, "%s", id == DIF_VAR_execname ? "csh" : "builtin");
}

static inline void fx_thread_key(void *env, struct dif_thread_key *ret)
{
	struct fx_world *w = env;

	w->thread_calls++;
	*ret = w->thread;
}

static inline uint64_t fx_subr(void *env, uint32_t subr, const uint64_t *args, unsigned nargs, char *str,
			       uint32_t cap, enum dif_fault *fault)
{
	(void)env;
	if (subr == DIF_SUBR_getf)
		*fault = DIF_FAULT_ILLOP;
	if (str)
		snprintf(str, cap, "/path/of/%llu", (unsigned long long)args[0]);
	return subr * 100ull + (nargs ? args[0] : 0);
}

static const struct dif_vm_ops OT_UNUSED fx_ops = {
	.load = fx_load,
	.store_user = fx_store_user,
	.scalar = fx_scalar,
	.array = fx_array,
	.string = fx_string,
	.thread_key = fx_thread_key,
	.subr = fx_subr,
};

/* --- a machine ---------------------------------------------------------------------------------- */

struct fx {
	struct fx_world world;
	struct dif_vm vm;
	struct ot_arena arena;
	struct dif_var_layout vars;
	uint64_t *globals;
	void *dyn_mem;
	struct dif_dynvars *dynvars;
};

#define FX_DYN_SIZE 65536u

static inline void fx_no_error(struct ot_err *err)
{
	if (err)
		fail_msg("unexpected error: %s", ot_err_message(err));
}

/* The error is of @code and its message holds @text; it is freed. */
static inline void fx_error(struct ot_err *err, enum ot_err_code code, const char *text)
{
	assert_non_null(err);
	if (ot_err_code(err) != code || !strstr(ot_err_message(err), text))
		fail_msg("expected error %d with \"%s\", got %d: %s", code, text, ot_err_code(err),
			 ot_err_message(err));
	ot_err_destroy(err);
}

static inline struct dif_layout_opts fx_opts(void)
{
	return (struct dif_layout_opts){ FX_STRSIZE, 20, 20, 50, 512 };
}

/* A machine for objects whose variables are those of @vars_of (NULL: none). */
static inline struct fx *fx_create(struct fx_object *vars_of)
{
	struct fx *fx = calloc(1, sizeof(*fx));
	struct dif_layout_opts opts = fx_opts();
	struct dif_clause clause = { .predicate = vars_of ? &vars_of->obj : NULL };
	struct dif_program prog = { .clauses = &clause, .nclauses = 1 };

	assert_non_null(fx);
	ot_arena_init(&fx->arena);
	fx_no_error(dif_var_layout(&prog, &opts, &fx->arena, &fx->vars));
	fx->globals = calloc(1, fx->vars.globals_size + 8);
	fx->dyn_mem = calloc(1, FX_DYN_SIZE);
	assert_non_null(fx->globals);
	assert_non_null(fx->dyn_mem);
	fx_no_error(dif_dynvars_format(fx->dyn_mem, FX_DYN_SIZE, 2, 400, FX_STRSIZE + 1));
	fx_no_error(dif_dynvars_open(fx->dyn_mem, FX_DYN_SIZE, &fx->dynvars));
	struct dif_vm_config config = { .ops = &fx_ops,
					.env = &fx->world,
					.vars = &fx->vars,
					.globals = fx->globals,
					.dynvars = fx->dynvars,
					.strsize = FX_STRSIZE,
					.scratch_size = FX_SCRATCH };
	fx_no_error(dif_vm_init(&fx->vm, &config));
	dif_vm_begin(&fx->vm, DIF_FUEL_DEFAULT);
	return fx;
}

static inline void fx_destroy(struct fx *fx)
{
	dif_vm_deinit(&fx->vm);
	dif_dynvars_close(fx->dynvars);
	free(fx->dyn_mem);
	free(fx->globals);
	ot_arena_deinit(&fx->arena);
	free(fx);
}

/* The instructions of what was evaluated by this test. */
static bool OT_UNUSED fx_ran[DIF_OP_MAX + 1];

static inline void fx_note(const struct fx_object *o)
{
	for (uint32_t i = 0; i < o->obj.text_len; i++)
		fx_ran[dif_insn_op(o->text[i])] = true;
}

/* Is it one on variables or tuples? */
static inline bool fx_on_variables(uint32_t op)
{
	switch (dif_op_class(op)) {
	case DIF_CLASS_ARR:
	case DIF_CLASS_LDV:
	case DIF_CLASS_STV:
	case DIF_CLASS_CALL:
	case DIF_CLASS_PUSH:
		return true;
	default:
		return op == DIF_OP_popts || op == DIF_OP_flushts;
	}
}

/* Every instruction on variables and tuples (false: every other one) was evaluated. */
static inline void fx_all_ran(bool on_variables)
{
	for (uint32_t op = 1; op < DIF_OP_xlate; op++) {
		if (fx_on_variables(op) == on_variables && !fx_ran[op])
			fail_msg("no test runs %s", dif_op_name(op));
	}
}

/* Verify and evaluate; the value. The evaluation must not fault. */
static inline uint64_t fx_value(struct fx *fx, struct fx_object *o)
{
	uint64_t value = 0x5555;

	fx_no_error(dif_verify(&o->obj));
	fx_note(o);
	enum dif_fault fault = dif_vm_eval(&fx->vm, &o->obj, &value);
	if (fault)
		fail_msg("fault %d (%s) at %#llx, offset %u", fault, dif_fault_text(fault),
			 (unsigned long long)fx->vm.fault_addr, fx->vm.fault_offset);
	return value;
}

/* The same, but it must end with @fault at instruction @pc. */
static inline void fx_faults(struct fx *fx, struct fx_object *o, enum dif_fault fault, uint32_t pc)
{
	uint64_t value = 0x5555;

	fx_no_error(dif_verify(&o->obj));
	fx_note(o);
	assert_int_equal(dif_vm_eval(&fx->vm, &o->obj, &value), fault);
	assert_int_equal(value, 0);
	assert_int_equal(fx->vm.fault_offset, pc * 4);
}

/* The string at @addr, as a record would get it; borrowed until the next call. */
static inline const char *fx_text(struct fx *fx, uint64_t addr)
{
	static char text[FX_STRSIZE + 1]; /* a string that fills its record has no NUL */

	assert_int_equal(dif_vm_copy(&fx->vm, &FX_STRING, addr, text, FX_STRSIZE), DIF_FAULT_NONE);
	return text;
}

#endif
