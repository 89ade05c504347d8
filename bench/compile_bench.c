/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of compiling: a script of 1,000 realistic clauses, compiled and verified; the median of several
 * runs with the smallest and largest.
 *
 *   compile_bench [RUNS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dif/lang/compile.h"
#include "dif/obj/verify.h"

#define CLAUSES  1000
#define GOAL_MS  500.0
#define RUNS_MAX 99

static struct ot_err *match(void *env, const struct dif_probedesc *desc,
			    bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg,
			    uint64_t *ret)
{
	static const struct dif_probe_info probe = { 4, "syscall", "vmlinux", "read", "entry", 2 };

	(void)env;
	(void)desc;
	*ret = 1;
	if (each)
		each(arg, &probe);
	return NULL;
}

static void make_script(struct ot_buf *text)
{
	static const char *const bodies[] = {
		"/pid != %d/ { self->ts = timestamp; this->n = arg0 & 0xff; }",
		"/self->ts && execname == \"cat%d\"/ { @times[probefunc] = quantize(timestamp - self->ts); "
		"self->ts = 0; }",
		"{ @calls[execname, pid %% %d] = count(); printf(\"%%-20s %%5d %%x\\n\", execname, tid, "
		"arg1); }",
		"{ seen[pid, strjoin(execname, \"%d\")] += 1; last = strlen(probefunc) > 3 ? arg0 : arg1; }",
	};

	for (int i = 0; i < CLAUSES; i++) {
		ot_buf_puts(text, "syscall::read:entry\n");
		/* The bodies are constants of ours with one number each. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		ot_buf_printf(text, bodies[i % 4], i + 1);
#pragma GCC diagnostic pop
		ot_buf_puts(text, "\n");
	}
}

static double compile_once(const struct ot_buf *text)
{
	const struct dif_world world = { .match = match };
	struct dif_source src = {
		.kind = DIF_SOURCE_SCRIPT, .name = "bench.d", .text = text->data, .len = text->len
	};
	const struct dif_diag *diag = NULL;
	struct dif_compiler *comp;
	struct dif_options opts;
	struct dif_program prog;
	struct timespec a, b;
	uint32_t first;

	clock_gettime(CLOCK_MONOTONIC, &a);
	dif_options_init(&opts);
	dif_program_init(&prog);
	struct ot_err *err = dif_compiler_create(&world, &opts, &comp);
	if (!err)
		err = dif_compile(comp, &src, &prog, &first, &diag);
	if (!err)
		err = dif_program_verify(&prog);
	clock_gettime(CLOCK_MONOTONIC, &b);
	if (err || prog.nclauses != CLAUSES) {
		fprintf(stderr, "%s\n", err ? ot_err_message(err) : "not all clauses are there");
		exit(1);
	}
	dif_compiler_destroy(comp);
	dif_program_deinit(&prog);
	dif_options_deinit(&opts);
	return (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	int runs = argc > 1 ? atoi(argv[1]) : 11;
	double ms[RUNS_MAX];
	struct ot_buf text;

	if (runs < 1 || runs > RUNS_MAX) {
		fprintf(stderr, "usage: compile_bench [RUNS]\n");
		return 2;
	}
	ot_buf_init(&text);
	make_script(&text);
	for (int i = 0; i < runs; i++)
		ms[i] = compile_once(&text);
	qsort(ms, (size_t)runs, sizeof(*ms), by_size);
	printf("%d clauses, %zu bytes: %.1f ms (%.1f to %.1f, n=%d), goal %.0f ms: %s\n", CLAUSES, text.len,
	       ms[runs / 2], ms[0], ms[runs - 1], runs, GOAL_MS, ms[runs / 2] < GOAL_MS ? "MET" : "MISSED");
	ot_buf_deinit(&text);
	return 0;
}
