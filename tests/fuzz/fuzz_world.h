/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest that answers everything from the fuzzer's input, and a machine to run objects in. All
 * memory that a program could reach is allocated to the byte, so the sanitizer sees one too many. */
#ifndef TESTS_FUZZ_FUZZ_WORLD_H
#define TESTS_FUZZ_FUZZ_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dif/obj/layout.h"
#include "dif/obj/verify.h"
#include "dif/vm/dynvar.h"
#include "dif/vm/vm.h"

#define WORLD_STRSIZE 64u
#define WORLD_DYN     8192u
#define WORLD_GUEST   0xffff888000000000ull

struct world {
	const uint8_t *data;
	size_t size;
	uint64_t at;
	/* Memory that another process could write at any time; each callback is such a time. */
	uint8_t *shared[2];
	size_t shared_size[2];
};

static uint8_t world_byte(struct world *w)
{
	return w->size ? w->data[w->at++ % w->size] : 0;
}

/* A hostile peer's actions, chosen by the input. */
static void world_scribble(struct world *w)
{
	unsigned which = world_byte(w) & 1, n = world_byte(w) & 3;
	size_t size = w->shared_size[which];

	while (n-- && size) {
		size_t at = (size_t)(world_byte(w) << 8 | world_byte(w)) % size;
		w->shared[which][at] = world_byte(w);
	}
}

static bool world_load(void *env, uint64_t addr, void *dst, uint32_t len, bool user)
{
	struct world *w = env;
	uint8_t *d = dst;

	world_scribble(w);
	if (addr - WORLD_GUEST >= 65536 && !(user && addr < 65536))
		return false;
	for (uint32_t i = 0; i < len; i++)
		d[i] = w->size ? w->data[(addr + i) % w->size] : 0;
	return true;
}

static bool world_store(void *env, uint64_t addr, const void *src, uint32_t len)
{
	const uint8_t *s = src;
	volatile uint8_t sum = 0;

	(void)env;
	for (uint32_t i = 0; i < len; i++)
		sum = (uint8_t)(sum + s[i]); /* reads it all: uninitialised or foreign bytes would show */
	return addr < 65536;
}

static uint64_t world_scalar(void *env, uint32_t id, enum dif_fault *fault)
{
	uint8_t b = world_byte(env);

	world_scribble(env);
	if (b == 0xff)
		*fault = DIF_FAULT_BADADDR;
	return b < 0x40 ? WORLD_GUEST + b : (uint64_t)id * b;
}

static uint64_t world_array(void *env, uint32_t id, uint64_t index, enum dif_fault *fault)
{
	return world_scalar(env, id, fault) + index;
}

static int world_string(void *env, uint32_t id, char *dst, uint32_t cap)
{
	int len = world_byte(env) % 16;

	if (!dif_var_is_string(id))
		return -1;
	if ((uint32_t)len >= cap)
		len = (int)cap - 1;
	memset(dst, 'w', (size_t)len);
	dst[len] = 0;
	return len;
}

static void world_thread_key(void *env, struct dif_thread_key *ret)
{
	world_scribble(env);
	*ret = (struct dif_thread_key){ .task = world_byte(env) % 4 };
}

static uint64_t world_subr(void *env, uint32_t subr, const uint64_t *args, unsigned nargs, char *str,
			   uint32_t cap, enum dif_fault *fault)
{
	(void)fault;
	if (str)
		memset(str, 's', cap); /* a hostile answer: no NUL */
	return subr + (nargs ? args[0] : 0) + world_byte(env);
}

static const struct dif_vm_ops world_ops = {
	.load = world_load,
	.store_user = world_store,
	.scalar = world_scalar,
	.array = world_array,
	.string = world_string,
	.thread_key = world_thread_key,
	.subr = world_subr,
};

static void world_must(struct ot_err *err)
{
	if (err) {
		fprintf(stderr, "unexpected: %s\n", ot_err_message(err));
		abort();
	}
}

/* Evaluate and copy out, a few firings of a few clauses. */
static void world_eval(struct dif_vm *vm, const struct dif_object *obj)
{
	char record[300];
	uint64_t value;

	for (int firing = 0; firing < 3; firing++) {
		dif_vm_begin(vm, 20000);
		dif_dynvars_enter(vm->dynvars, 0);
		for (int clause = 0; clause < 2; clause++) {
			dif_vm_begin_clause(vm);
			enum dif_fault fault = dif_vm_eval(vm, obj, &value);
			if (fault && (value || vm->fault_offset / 4 >= obj->text_len))
				abort();
			if (!fault && obj->ret.flags & DIF_TF_BYREF)
				dif_vm_copy(vm, &obj->ret, value, record, sizeof(record));
		}
		dif_dynvars_leave(vm->dynvars, 0);
		dif_dynvars_clean(vm->dynvars);
	}
}

/* Run a verified object of @prog; its guest answers from @data. */
static void world_run(const struct dif_program *prog, const struct dif_object *obj, const uint8_t *data,
		      size_t size)
{
	struct dif_layout_opts opts = { WORLD_STRSIZE, 20, 20, 50, 512 };
	struct world world = { data, size, 0, { NULL, NULL }, { 0, 0 } };
	struct dif_dynvars *dynvars;
	struct dif_var_layout vars;
	struct ot_arena arena;
	struct dif_vm vm;

	ot_arena_init(&arena);
	struct ot_err *err = dif_var_layout(prog, &opts, &arena, &vars);
	if (err) { /* too large a variable space is the one reason there is */
		if (ot_err_code(err) != OT_ERR_LIMIT)
			abort();
		ot_err_destroy(err);
		ot_arena_deinit(&arena);
		return;
	}
	void *globals = calloc(1, vars.globals_size ? vars.globals_size : 1), *dyn = calloc(1, WORLD_DYN);
	if (!globals || !dyn)
		abort();
	world_must(dif_dynvars_format(dyn, WORLD_DYN, 1, 120, WORLD_STRSIZE));
	world_must(dif_dynvars_open(dyn, WORLD_DYN, &dynvars));
	world.shared[0] = globals;
	world.shared_size[0] = vars.globals_size;
	world.shared[1] = dyn;
	world.shared_size[1] = WORLD_DYN;
	struct dif_vm_config config = { &world_ops, &world, &vars, globals, dynvars, 0, WORLD_STRSIZE, 512 };
	world_must(dif_vm_init(&vm, &config));
	world_eval(&vm, obj);
	dif_vm_deinit(&vm);
	dif_dynvars_close(dynvars);
	free(dyn);
	free(globals);
	ot_arena_deinit(&arena);
}

#endif
