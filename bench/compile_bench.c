/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of compiling: a script of 1,000 realistic clauses, compiled and verified, for one kernel and for
 * several that guests of one session run (docs/design/013-several-kernels.md); the median of several runs
 * with the smallest and largest. Times are CPU time: there is one thread, and it never waits.
 *
 *   compile_bench [RUNS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dif/lang/compile.h"
#include "dif/obj/verify.h"

#define CLAUSES     1000
#define GOAL_MS     500.0
#define RUNS_MAX    99
#define KERNELS_MAX 4 /* 16,384 actions are a program's limit, of 3,250 for each */

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

/* Into one program, by compilers that share their names. */
static struct ot_err *compile_for(const struct dif_source *src, struct dif_options *opts, unsigned kernels,
				  struct dif_compiler *comps[], struct dif_program *prog)
{
	static const struct dif_world world = { .match = match };
	const struct dif_diag *diag = NULL;

	for (unsigned k = 0; k < kernels; k++) {
		uint32_t first;

		OT_TRY(dif_compiler_create(&world, opts, &comps[k]));
		if (k)
			dif_compiler_share(comps[k], comps[0]);
		OT_TRY(dif_compile(comps[k], src, prog, &first, &diag));
		for (uint32_t i = first; i < prog->nclauses; i++)
			prog->clauses[i].kernel = k;
	}
	return dif_program_verify(prog);
}

static double compile_once(const struct ot_buf *text, unsigned kernels)
{
	struct dif_source src = {
		.kind = DIF_SOURCE_SCRIPT, .name = "bench.d", .text = text->data, .len = text->len
	};
	struct dif_compiler *comps[KERNELS_MAX] = { 0 };
	struct dif_options opts;
	struct dif_program prog;
	struct timespec a, b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	dif_options_init(&opts);
	dif_program_init(&prog);
	struct ot_err *err = compile_for(&src, &opts, kernels, comps, &prog);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	if (err || prog.nclauses != kernels * CLAUSES) {
		fprintf(stderr, "%s\n", err ? ot_err_message(err) : "not all clauses are there");
		exit(1);
	}
	while (kernels) /* the first one's names are the others' */
		dif_compiler_destroy(comps[--kernels]);
	dif_program_deinit(&prog);
	dif_options_deinit(&opts);
	return (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The goal is one kernel's. */
static void measure(const struct ot_buf *text, unsigned kernels, int runs)
{
	double ms[RUNS_MAX];

	for (int i = 0; i < runs; i++)
		ms[i] = compile_once(text, kernels);
	qsort(ms, (size_t)runs, sizeof(*ms), by_size);
	printf("%d clauses, %zu bytes, for %u kernel%s: %.1f ms (%.1f to %.1f, n=%d)", CLAUSES, text->len,
	       kernels, kernels == 1 ? "" : "s", ms[runs / 2], ms[0], ms[runs - 1], runs);
	if (kernels == 1)
		printf(", goal %.0f ms: %s", GOAL_MS, ms[runs / 2] < GOAL_MS ? "MET" : "MISSED");
	putchar('\n');
}

int main(int argc, char **argv)
{
	static const unsigned kernels[] = { 1, 2, KERNELS_MAX };
	int runs = argc > 1 ? atoi(argv[1]) : 11;
	struct ot_buf text;

	if (runs < 1 || runs > RUNS_MAX) {
		fprintf(stderr, "usage: compile_bench [RUNS]\n");
		return 2;
	}
	ot_buf_init(&text);
	make_script(&text);
	for (size_t i = 0; i < OT_ARRAY_SIZE(kernels); i++)
		measure(&text, kernels[i], runs);
	ot_buf_deinit(&text);
	return 0;
}
