/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile arguments of static probes: the text of a note. The invariant: each is refused with a reason, or
 * its part of the program passes the verifier. Every symbol exists, so that what is behind a name is read
 * too.
 */
#include <stdlib.h>
#include <string.h>

#include "dif/obj/verify.h"
#include "tests/fuzz/seed.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/provider/usdt_args.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool reached;

static void no_error(struct ot_err *err)
{
	if (err)
		abort();
}

static bool find(void *arg, const char *name, size_t len, uint64_t *ret)
{
	const char *text = arg;

	if (name < text || !len || (size_t)(name - text) + len > strlen(text))
		abort();
	*ret = 0x400000;
	return true;
}

static void check(const struct vp_usdt_args *args, const struct dif_clause *program)
{
	if (args->count > VP_SITE_ARGS || program->nactions != args->count)
		abort();
	for (uint32_t i = 0; i < args->count; i++) {
		const struct vp_usdt_arg *a = &args->items[i];

		if (!a->refused != !!a->value || !a->refused != !!a->size || !a->len)
			abort();
		no_error(dif_verify(program->actions[i].object));
		reached |= !a->refused;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1); /* to the byte */
	const struct vp_code_ops *code;
	struct vp_usdt_args args;
	struct dif_clause program;
	struct vp_exprs exprs;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	const struct vp_usdt_symbols symbols = { text, find };
	reached = false;
	vp_exprs_init(&exprs);
	no_error(vp_arch_code(&vp_arch_native, &code));
	no_error(vp_usdt_args_read(text, code, &symbols, &exprs, &args));
	no_error(vp_usdt_program(&args, &exprs, &program));
	check(&args, &program);
	vp_exprs_deinit(&exprs);
	free(text);
	return 0;
}

bool fuzz_seed_reached(void)
{
	return reached;
}
