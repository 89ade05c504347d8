/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small world to compile for: a few probes, types, symbols. Shared by the tests of dif/lang. */
#ifndef TESTS_DIF_LANG_FIXTURE_H
#define TESTS_DIF_LANG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dif/lang/compile.h"
#include "dif/obj/verify.h"

/* --- types of the "guest": struct task_struct, created on first use ------------------- */

static struct dif_type lx_int = {
	.kind = DIF_C_INT, .complete = true, .is_signed = true, .name = "int", .size = 4
};
static struct dif_type lx_uint = { .kind = DIF_C_INT, .complete = true, .name = "unsigned int", .size = 4 };
static struct dif_type lx_long = {
	.kind = DIF_C_INT, .complete = true, .is_signed = true, .name = "long", .size = 8
};
static struct dif_type lx_char = {
	.kind = DIF_C_INT, .complete = true, .is_signed = true, .is_char = true, .name = "char", .size = 1
};
static struct dif_type lx_comm = {
	.kind = DIF_C_ARRAY, .complete = true, .ref = &lx_char, .nelems = 16, .size = 16, .name = ""
};
static struct dif_type lx_charp = {
	.kind = DIF_C_POINTER, .complete = true, .ref = &lx_char, .size = 8, .name = ""
};
static struct dif_enumerator lx_states[] = { { "TASK_RUNNING", 0 }, { "TASK_DEAD", 64 } };
static struct dif_type lx_state = { .kind = DIF_C_ENUM,
				    .complete = true,
				    .name = "task_state",
				    .size = 4,
				    .enumerators = lx_states,
				    .nenumerators = 2 };
static struct dif_type lx_task;
static struct dif_type lx_taskp = {
	.kind = DIF_C_POINTER, .complete = true, .ref = &lx_task, .size = 8, .name = ""
};
static struct dif_member lx_task_members[] = {
	{ "pid", &lx_int, 0, 0 },       { "flags", &lx_uint, 32, 3 }, { "sflags", &lx_int, 35, 5 },
	{ "parent", &lx_taskp, 64, 0 }, { "comm", &lx_comm, 128, 0 }, { "state", &lx_state, 256, 0 },
	{ "name", &lx_charp, 320, 0 },
};
static struct ot_err *lx_complete(struct dif_type_source *src, struct dif_type *type)
{
	(void)src;
	type->members = lx_task_members;
	type->nmembers = OT_ARRAY_SIZE(lx_task_members);
	type->complete = true;
	return NULL;
}
static struct dif_type_source lx_source = { .complete = lx_complete };
static struct dif_type lx_task = {
	.kind = DIF_C_STRUCT, .name = "task_struct", .size = 48, .source = &lx_source
};

static struct dif_type *lx_find_type(void *env, const char *module, enum dif_ckind kind, const char *name)
{
	(void)env;
	if (module && strcmp(module, "vmlinux"))
		return NULL;
	if (kind == DIF_C_STRUCT && !strcmp(name, "task_struct"))
		return &lx_task;
	if (kind == DIF_C_ENUM && !strcmp(name, "task_state"))
		return &lx_state;
	return NULL;
}

/* An offset into the per-CPU area that a test lays somewhere. */
#define LX_PERCPU 0x18

static bool lx_find_symbol(void *env, const char *module, const char *name, struct dif_symbol *ret)
{
	(void)env;
	(void)module;
	*ret = (struct dif_symbol){
		.address = 0xffffffff81000000, .size = 8, .name = name, .module = "vmlinux"
	};
	if (!strcmp(name, "jiffies"))
		ret->type = &lx_long;
	if (!strcmp(name, "nr_running")) {
		ret->type = &lx_long;
		ret->address = LX_PERCPU;
		ret->is_percpu = true;
	}
	return !strcmp(name, "jiffies") || !strcmp(name, "untyped") || !strcmp(name, "nr_running");
}

/* --- probes ------------------------------------------------------------------------------------- */

static const struct dif_probe_info lx_probes[] = {
	{ 1, "dtrace", "", "", "BEGIN", -1 },
	{ 2, "dtrace", "", "", "END", -1 },
	{ 3, "dtrace", "", "", "ERROR", -1 },
	{ 4, "fbt", "vmlinux", "do_exit", "entry", 2 },
	{ 5, "fbt", "vmlinux", "do_fork", "entry", 1 },
	{ 6, "fbt", "vmlinux", "schedule", "entry", 3 },
	{ 7, "io", "", "", "start", 1 },
};

static bool lx_is_matched(const struct dif_probedesc *desc, const struct dif_probe_info *p)
{
	if (desc->id)
		return desc->id == p->id;
	return dif_glob_match(desc->provider, p->provider) && dif_glob_match(desc->module, p->module) &&
	       dif_glob_match(desc->function, p->function) && dif_glob_match(desc->name, p->name);
}

static struct ot_err *lx_match(void *env, const struct dif_probedesc *desc,
			       bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg,
			       uint64_t *ret)
{
	bool more = true;

	(void)env;
	*ret = 0;
	for (size_t i = 0; i < OT_ARRAY_SIZE(lx_probes); i++) {
		const struct dif_probe_info *p = &lx_probes[i];
		if (!lx_is_matched(desc, p))
			continue;
		++*ret;
		if (more && each)
			more = each(arg, p);
	}
	return NULL;
}

/* io:::start is as DTrace's: its argument is a translated one, and the type is defined in a library. */
static bool lx_probe_arg(void *env, uint32_t id, unsigned n, struct dif_probe_arg *ret)
{
	(void)env;
	if (id == 7)
		*ret =
		    (struct dif_probe_arg){ .native = &lx_taskp, .translated = "lxinfo_t *", .mapping = 1 };
	else
		*ret = (struct dif_probe_arg){ .native = n ? &lx_taskp : &lx_long, .mapping = n };
	return n < (id == 7 ? 1 : 2);
}

static bool lx_macro(void *env, const char *name, int64_t *ret)
{
	(void)env;
	*ret = 1234;
	return !strcmp(name, "pid") || !strcmp(name, "target");
}

static bool lx_has_dependency(void *env, const char *kind, const char *name)
{
	(void)env;
	(void)kind;
	return !strcmp(name, "present");
}

static const struct dif_world lx_world = {
	.find_type = lx_find_type,
	.find_symbol = lx_find_symbol,
	.match = lx_match,
	.probe_arg = lx_probe_arg,
	.macro = lx_macro,
	.has_dependency = lx_has_dependency,
};

/* --- a compilation ------------------------------------------------------------------------------ */

struct lx {
	struct dif_options opts;
	struct dif_compiler *comp;
	struct dif_program prog;
	const struct dif_diag *diag; /* of the last one that failed */
	uint32_t first;
	enum dif_source_kind kind;
	const char *args[4];
	unsigned nargs;
};

static inline void lx_init(struct lx *lx)
{
	memset(lx, 0, sizeof(*lx));
	dif_options_init(&lx->opts);
	dif_program_init(&lx->prog);
	assert_null(dif_compiler_create(&lx_world, &lx->opts, &lx->comp));
	lx->args[0] = "outsight";
	lx->nargs = 1;
}

static inline void lx_deinit(struct lx *lx)
{
	dif_compiler_destroy(lx->comp);
	dif_program_deinit(&lx->prog);
	dif_options_deinit(&lx->opts);
}

/* True when it compiled; what compiles must pass the verifier. */
static inline bool lx_compile_n(struct lx *lx, const char *text, size_t len)
{
	struct dif_source src = {
		.kind = lx->kind,
		.name = "test.d",
		.text = text,
		.len = len,
		.args = lx->args,
		.nargs = lx->nargs,
	};
	struct ot_err *err;

	lx->diag = NULL;
	err = dif_compile(lx->comp, &src, &lx->prog, &lx->first, &lx->diag);
	if (err) {
		assert_int_equal(ot_err_code(err), OT_ERR_SYNTAX);
		assert_non_null(lx->diag);
		assert_non_null(lx->diag->message);
		ot_err_destroy(err);
		return false;
	}
	err = dif_program_verify(&lx->prog);
	if (err)
		fail_msg("%.200s: does not verify: %s", text, ot_err_message(err));
	return true;
}

static inline bool lx_compile(struct lx *lx, const char *text)
{
	return lx_compile_n(lx, text, strlen(text));
}

#endif
