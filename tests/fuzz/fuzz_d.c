/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * D text of any kind: it compiles or there is an error, and what compiles verifies. The first
 * byte says whether it is a script, a command line's specifier or a library.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dif/lang/compile.h"
#include "dif/obj/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const args[] = { "outsight", "1", "name", "\"text\"" };

static struct dif_type int_type = {
	.kind = DIF_C_INT, .complete = true, .is_signed = true, .name = "int", .size = 4
};
static struct dif_type node_type;
static struct dif_type pointer_type = {
	.kind = DIF_C_POINTER, .complete = true, .ref = &node_type, .name = "", .size = 8
};
static struct dif_member members[] = { { "v", &int_type, 0, 0 },
				       { "bits", &int_type, 35, 5 },
				       { "next", &pointer_type, 64, 0 } };
static struct dif_type node_type = { .kind = DIF_C_STRUCT,
				     .complete = true,
				     .name = "task_struct",
				     .size = 16,
				     .members = members,
				     .nmembers = 3 };

static struct dif_type *find_type(void *env, const char *module, enum dif_ckind kind, const char *name)
{
	(void)env;
	(void)module;
	return kind == DIF_C_STRUCT && !strcmp(name, "task_struct") ? &node_type : NULL;
}

static bool find_symbol(void *env, const char *module, const char *name, struct dif_symbol *ret)
{
	(void)env;
	(void)module;
	*ret = (struct dif_symbol){ .address = 0xffffffff81000000, .name = name, .module = "vmlinux" };
	ret->type = *name == 'j' ? &int_type : NULL;
	return true;
}

static struct ot_err *match(void *env, const struct dif_probedesc *desc,
			    bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg,
			    uint64_t *ret)
{
	static const struct dif_probe_info probe = { 4, "fbt", "vmlinux", "do_exit", "entry", 2 };

	(void)env;
	(void)desc;
	*ret = 1;
	if (each)
		each(arg, &probe);
	return NULL;
}

static bool probe_arg(void *env, uint32_t id, unsigned n, struct dif_probe_arg *ret)
{
	(void)env;
	(void)id;
	*ret = (struct dif_probe_arg){ .native = n ? &pointer_type : &int_type, .mapping = n };
	return n < 2;
}

static const struct dif_world world = {
	.find_type = find_type,
	.find_symbol = find_symbol,
	.match = match,
	.probe_arg = probe_arg,
};

static void compile(const uint8_t *data, size_t size, struct dif_compiler *comp, struct dif_program *prog)
{
	struct dif_source src = { .kind = size ? (enum dif_source_kind)(data[0] % 3) : DIF_SOURCE_SCRIPT,
				  .name = "fuzz.d",
				  .args = args,
				  .nargs = 4 };
	const struct dif_diag *diag;
	struct ot_buf text = { 0 };
	uint32_t first;

	/* a copy of the exact size, so that a read behind it is seen */
	char *copy = malloc(size ? size - 1 : 1);
	if (!copy)
		return;
	if (size)
		memcpy(copy, data + 1, size - 1);
	src.text = copy;
	src.len = size ? size - 1 : 0;
	struct ot_err *err = dif_compile(comp, &src, prog, &first, &diag);
	if (err) {
		if (ot_err_code(err) == OT_ERR_SYNTAX)
			dif_diag_print(diag, true, &text);
		ot_err_destroy(err);
	} else if ((err = dif_program_verify(prog))) {
		fprintf(stderr, "compiled, but does not verify: %s\n", ot_err_message(err));
		abort();
	}
	ot_buf_deinit(&text);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dif_compiler *comp;
	struct dif_options opts;
	struct dif_program prog;

	dif_options_init(&opts);
	dif_program_init(&prog);
	opts.argref = true;
	struct ot_err *err = dif_compiler_create(&world, &opts, &comp);
	if (!err) {
		compile(data, size, comp, &prog);
		dif_compiler_destroy(comp);
	}
	ot_err_destroy(err);
	dif_program_deinit(&prog);
	dif_options_deinit(&opts);
	return 0;
}
