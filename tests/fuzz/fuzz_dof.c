/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any DOF file: read, verified, laid out, written again and run, as an engine would. */
#include "tests/fuzz/fuzz_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_clause(const struct dif_program *prog, const struct dif_clause *c, const uint8_t *data,
		       size_t size)
{
	struct dif_layout_opts opts = { WORLD_STRSIZE, 20, 20, 50, 512 };
	struct dif_clause_layout layout;
	struct ot_arena arena;

	ot_arena_init(&arena);
	struct ot_err *err = dif_clause_layout(c, &opts, &arena, &layout);
	if (err && ot_err_code(err) != OT_ERR_LIMIT)
		abort();
	ot_err_destroy(err);
	ot_arena_deinit(&arena);
	if (c->predicate)
		world_run(prog, c->predicate, data, size);
	for (uint32_t i = 0; i < c->nactions && i < 8; i++) {
		if (c->actions[i].object)
			world_run(prog, c->actions[i].object, data, size);
	}
}

/* What was read once is written, and must then read as well. */
static void write_again(const struct dif_program *prog)
{
	struct dif_program back;
	struct ot_buf buf;

	ot_buf_init(&buf);
	struct ot_err *err = dif_dof_write(prog, &buf);
	if (!err) {
		world_must(dif_dof_read(buf.data, buf.len, &back));
		if (back.nclauses != prog->nclauses || back.naggs != prog->naggs)
			abort();
		dif_program_deinit(&back);
	}
	ot_err_destroy(err);
	ot_buf_deinit(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dif_program prog;
	struct ot_err *err = dif_dof_read(data, size, &prog);

	if (err) {
		ot_err_destroy(err);
		return 0;
	}
	err = dif_program_verify(&prog);
	if (!err) {
		for (uint32_t i = 0; i < prog.nclauses && i < 16; i++)
			run_clause(&prog, &prog.clauses[i], data, size);
		write_again(&prog);
	}
	ot_err_destroy(err);
	dif_program_deinit(&prog);
	return 0;
}
