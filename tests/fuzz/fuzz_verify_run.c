/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any object: what the verifier passes is run, and must not touch memory that is not the
 * program's. The first byte chooses how the rest becomes an object:
 *
 *   even  as it stands: counts, tables, words
 *   odd   bent into shape: each word becomes an instruction that the verifier passes, so that the
 *         interpreter and the subroutines see much more than the verifier's error paths would
 *         let through
 */
#include "tests/fuzz/fuzz_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_raw(struct input *in, struct dif_object *obj)
{
	obj->int_len = take(in, 1) % 8;
	obj->str_len = take(in, 1) % 32;
	obj->var_len = take(in, 1) % 4;
	obj->text_len = take(in, 1) % 64;
	for (unsigned i = 0; i < sizeof(obj->ret); i++)
		((uint8_t *)&obj->ret)[i] = (uint8_t)take(in, 1);
	obj->ints = take_table(in, obj->int_len, 8);
	obj->strs = take_table(in, obj->str_len, 1);
	obj->vars = take_table(in, obj->var_len, sizeof(struct dif_var));
	obj->text = take_table(in, obj->text_len, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct dif_object obj = { 0 };
	struct dif_clause clause = { .predicate = &obj };
	struct dif_program prog = { .clauses = &clause, .nclauses = 1 };
	bool bent = take(&in, 1) & 1;

	if (bent)
		take_bent(&in, &obj, 100);
	else
		take_raw(&in, &obj);
	struct ot_err *err = dif_verify(&obj);
	if (err && bent) {
		fprintf(stderr, "a well-formed object was refused: %s\n", ot_err_message(err));
		abort();
	}
	if (!err)
		world_run(&prog, &obj, data, size);
	ot_err_destroy(err);
	free_object(&obj);
	return 0;
}
