/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes fuzz_engine's seeds: what an honest client sends, made from the messages' own structs whenever this
 * is built, so that no change to a message leaves the fuzzer with inputs that OPEN refuses.
 *
 *   engine_seeds DIRECTORY
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/engine_fixture.h"

#define VARIABLE DIF_VAR_USER_MIN

struct seed {
	struct ef *f;
	const char *name;
};

/* --- writing one -------------------------------------------------------------------------------------- */

static void put(FILE *out, const void *data, size_t size)
{
	if (size && fwrite(data, size, 1, out) != 1) {
		perror("engine_seeds");
		exit(1);
	}
}

/* struct vp_msg_open | u32 length of the program | u32 0 | program | batch: what fuzz_engine reads. */
static void write_seed(const struct seed *s, const char *directory)
{
	char path[4096];
	size_t batch_size;
	struct ot_buf dof;
	struct ef *f = s->f;

	EF_OK(vp_shared_layout(&f->open, &f->shared_size));
	ot_buf_init(&dof);
	EF_OK(dif_dof_write(&f->prog, &dof));
	uint32_t lengths[2] = { (uint32_t)dof.len, 0 };
	void *batch = ef_batch(f, &batch_size);
	snprintf(path, sizeof(path), "%s/%s", directory, s->name);
	FILE *out = fopen(path, "we");
	if (!out) {
		perror(path);
		exit(1);
	}
	put(out, &f->open, sizeof(f->open));
	put(out, lengths, sizeof(lengths));
	put(out, dof.data, dof.len);
	put(out, batch, batch_size);
	if (fclose(out)) {
		perror(path);
		exit(1);
	}
	free(batch);
	ot_buf_deinit(&dof);
}

/* --- probes -------------------------------------------------------------------------------------------- */

static uint32_t at_entry(struct ef *f, uint64_t function, uint32_t clause)
{
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "func", "entry");

	ef_site(f, function, function);
	ef_ecb(f, p, clause);
	return p;
}

static void at_return(struct ef *f, uint64_t function, uint32_t clause)
{
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_RETURN, "func", "return");

	ef_site(f, EF_RET(function), function);
	ef_ecb(f, p, clause);
}

/* BEGIN, END and ERROR, by their ids. */
static void host_probe(struct ef *f, uint32_t id, const char *name, uint32_t clause)
{
	uint32_t p = ef_probe(f, VP_PROBE_HOST, VP_ARGS_NONE, "", name);

	ef_probe_id(f, p, id);
	ef_ecb(f, p, clause);
}

/* --- programs ------------------------------------------------------------------------------------------ */

static void trace(struct ef *f)
{
	uint32_t c = ef_clause(f, ef_var_eq(f, DIF_VAR_pid, 90));

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_execname));
	ef_action(f, c, DIF_ACT_difexpr, ef_string_var(f, DIF_VAR_probefunc));
	ef_action(f, c, DIF_ACT_stack, NULL)->arg = 4;
	ef_action(f, c, DIF_ACT_ustack, NULL)->arg = 4;
	at_entry(f, EF_FUNC_A, c);
	at_return(f, EF_FUNC_A, c);
}

static void ring(struct ef *f)
{
	f->open.bufpolicy = VP_BUF_RING;
	f->open.bufsize = 512;
	trace(f);
}

static void fill(struct ef *f)
{
	f->open.bufpolicy = VP_BUF_FILL;
	f->open.bufsize = 512;
	trace(f);
}

static void aggregate(struct ef *f)
{
	static const uint32_t kinds[] = { DIF_AGG_count, DIF_AGG_sum, DIF_AGG_avg, DIF_AGG_stddev,
					  DIF_AGG_quantize };

	for (unsigned i = 0; i < OT_ARRAY_SIZE(kinds); i++) {
		uint32_t c = ef_clause(f, NULL);
		ef_key(f, c, ef_string_var(f, DIF_VAR_execname));
		ef_key(f, c, ef_var(f, DIF_VAR_tid));
		ef_agg(f, c, kinds[i], kinds[i] == DIF_AGG_count ? NULL : ef_var(f, DIF_VAR_timestamp), 2);
		at_entry(f, EF_FUNC_A + i % 3 * 0x100, c);
	}
}

/* Global and thread-local variables, and the second clause reads what the first has written. */
static void variables(struct ef *f)
{
	uint32_t set = ef_clause(f, NULL), get = ef_clause(f, ef_self(f, VARIABLE));

	f->open.dynvars_size = 16384;
	ef_action(f, set, DIF_ACT_difexpr, ef_self_set(f, VARIABLE, ef_var(f, DIF_VAR_timestamp)));
	ef_action(f, set, DIF_ACT_difexpr, ef_global_add(f, VARIABLE + 1, 3));
	ef_action(f, get, DIF_ACT_difexpr, ef_global(f, VARIABLE + 1));
	at_entry(f, EF_FUNC_A, set);
	at_return(f, EF_FUNC_A, get);
}

static void speculate(struct ef *f)
{
	uint32_t open = ef_clause(f, NULL), put_in = ef_clause(f, NULL), commit = ef_clause(f, NULL);
	struct dif_object *id = ef_int(f, 1);

	ef_action(f, open, DIF_ACT_difexpr, ef_call(f, DIF_SUBR_speculation));
	ef_action(f, put_in, DIF_ACT_speculate, id);
	ef_action(f, put_in, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg1));
	ef_action(f, commit, DIF_ACT_commit, id);
	at_entry(f, EF_FUNC_A, open);
	at_entry(f, EF_FUNC_B, put_in);
	at_entry(f, EF_FUNC_C, commit);
}

/* A load that faults, ERROR's clause, and the other host probes; exit() in END. */
static void errors(struct ef *f)
{
	uint32_t bad = ef_clause(f, NULL), error = ef_clause(f, NULL), end = ef_clause(f, NULL);

	ef_action(f, bad, DIF_ACT_difexpr, ef_deref(f, 0x10, false));
	ef_action(f, error, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg4));
	ef_action(f, end, DIF_ACT_exit, ef_int(f, 3));
	at_entry(f, EF_FUNC_A, bad);
	host_probe(f, DIF_PROBE_BEGIN, "BEGIN", bad);
	host_probe(f, DIF_PROBE_ERROR, "ERROR", error);
	host_probe(f, DIF_PROBE_END, "END", end);
}

/* User memory, and two clauses on one site. */
static void user(struct ef *f)
{
	uint32_t c = ef_clause(f, NULL), d = ef_clause(f, NULL);

	ef_action(f, c, DIF_ACT_difexpr, ef_deref(f, EF_USER + 0xffc, true)); /* across two pages */
	ef_action(f, d, DIF_ACT_difexpr, ef_var(f, DIF_VAR_vtimestamp));
	ef_ecb(f, at_entry(f, EF_FUNC_A, c), d);
}

/* A site with a program: its condition, and its one argument. */
static void site_program(struct ef *f)
{
	static struct ot_buf dof; /* the fixture refers to it until the seed is written */
	struct dif_action argument = { .kind = DIF_ACT_difexpr, .object = ef_var(f, DIF_VAR_arg2) };
	struct dif_clause clause = {
		.probe = { .guest = "", .provider = "", .module = "", .function = "", .name = "" },
		.predicate = ef_var_eq(f, DIF_VAR_arg1, 0),
		.actions = &argument,
		.nactions = 1,
	};
	struct dif_program programs;
	uint32_t c = ef_clause(f, NULL), p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_SITE, "", "exit");

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	ef_site(f, EF_FUNC_B, EF_FUNC_B);
	struct vp_batch_site *site = &((struct vp_batch_site *)(void *)f->sites.data)[f->nsites - 1];
	site->args = VP_ARGS_FBT_ENTRY;
	site->program = 1;
	ef_ecb(f, p, c);
	dif_program_init(&programs);
	programs.clauses = &clause;
	programs.nclauses = 1;
	ot_buf_clear(&dof);
	EF_OK(dif_dof_write(&programs, &dof));
	f->dof = &dof;
}

/* Two counters of vCPUs, one of them of the host's own events in a mode of the guest. */
static void overflows(struct ef *f)
{
	static const struct vp_cpc_event events[] = {
		{ .type = PERF_TYPE_RAW, .config = 0x1c2, .period = VP_CPC_LEAST },
		{ .type = PERF_TYPE_SOFTWARE, .period = VP_CPC_LEAST_NS, .mode = VP_CPC_KERNEL },
	};
	uint32_t c = ef_clause(f, NULL);

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg2));
	ef_action(f, c, DIF_ACT_stack, NULL)->arg = 4;
	for (size_t i = 0; i < OT_ARRAY_SIZE(events); i++) {
		uint32_t p = ef_probe(f, VP_PROBE_CPC, VP_ARGS_PROFILE, "", "r1c2-all-5000");
		ef_cpc(f, p, &events[i]);
		ef_ecb(f, p, c);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(struct ef *f);
	} seeds[] = {
		{ "trace", trace },         { "ring", ring },           { "fill", fill },
		{ "user", user },           { "aggregate", aggregate }, { "variables", variables },
		{ "errors", errors },       { "speculate", speculate }, { "site_program", site_program },
		{ "overflows", overflows },
	};

	if (argc != 2) {
		fprintf(stderr, "usage: engine_seeds DIRECTORY\n");
		return 2;
	}
	for (unsigned i = 0; i < OT_ARRAY_SIZE(seeds); i++) {
		struct seed s = { ef_create(), seeds[i].name };
		seeds[i].make(s.f);
		write_seed(&s, argv[1]);
		ef_destroy(s.f);
	}
	return 0;
}
