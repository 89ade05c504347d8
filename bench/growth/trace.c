/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs in D on the functions of the fake guest, and a vCPU that calls these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/growth/growth.h"
#include "dif/lang/compile.h"
#include "dif/obj/verify.h"
#include "vmm-probe/engine/backend.h"

#define SLICES   20u
#define COUNTING 20000u /* hits: enough to count their instructions */

static struct ot_err *match(void *env, const struct dif_probedesc *desc,
			    bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg,
			    uint64_t *ret)
{
	static const struct dif_probe_info probe = { 10,      "fbt", "vmlinux", "some_kernel_function_0",
						     "entry", 0 };

	(void)env;
	(void)desc;
	*ret = 1;
	if (each)
		each(arg, &probe);
	return NULL;
}

void growth_compile(const char *text, struct dif_program *prog)
{
	static const struct dif_world world = { .match = match };
	const struct dif_source src = {
		.kind = DIF_SOURCE_SCRIPT, .name = "growth.d", .text = text, .len = strlen(text)
	};
	const struct dif_diag *diag = NULL;
	struct dif_compiler *comp;
	struct dif_options opts;
	uint32_t first;

	dif_options_init(&opts);
	dif_program_init(prog);
	bench_must(dif_compiler_create(&world, &opts, &comp));
	bench_must(dif_compile(comp, &src, prog, &first, &diag));
	bench_must(dif_program_verify(prog));
	dif_compiler_destroy(comp);
	dif_options_deinit(&opts);
}

char *growth_repeat(const char *body, uint32_t n)
{
	const char *at, *number;
	struct ot_buf text;

	ot_buf_init(&text);
	for (uint32_t i = 0; i < n; i++) {
		ot_buf_puts(&text, "fbt:::entry ");
		for (at = body; (number = strstr(at, "%u")); at = number + 2) {
			ot_buf_append(&text, at, (size_t)(number - at));
			ot_buf_printf(&text, "%u", i);
		}
		ot_buf_puts(&text, at);
		ot_buf_puts(&text, "\n");
	}
	ot_buf_putc(&text, 0);
	return bench_need(ot_buf_take(&text));
}

static void find_sites(struct growth_traced *t)
{
	const struct vp_site *first = vp_fake_site(t->lab.fake, bench_function(0));

	/* The plan has them in order of their places. */
	t->sites = bench_need(calloc(t->nsites, sizeof(*t->sites)));
	for (uint32_t i = 0; i < t->nsites; i++)
		t->sites[i] = first + i;
}

void growth_trace(struct growth_traced *t, const char *text, uint32_t nvcpus, uint32_t nsites,
		  const struct bench_sizes *sizes)
{
	struct dif_program prog;
	struct ot_buf batch;

	*t = (struct growth_traced){ .nsites = nsites };
	bench_lab_open(&t->lab, nvcpus, NULL);
	growth_compile(text, &prog);
	ot_buf_init(&batch);
	bench_batch(&t->lab, nsites, prog.nclauses, false, &batch);
	bench_session_open(&t->lab, &prog, sizes, &t->session);
	bench_session_trace(&t->session, &batch);
	ot_buf_deinit(&batch);
	dif_program_deinit(&prog);
	find_sites(t);
}

void growth_untrace(struct growth_traced *t, struct growth_counts *ret)
{
	ret->dropped += bench_session_counts(&t->session).dropped;
	bench_session_close(&t->session);
	bench_lab_close(&t->lab);
	free(t->sites);
	free(t->slices);
}

double growth_low(double *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), bench_by_value);
	return values[n / 10];
}

double growth_hits(struct growth_traced *t, uint32_t hits, uint32_t keys, struct growth_counts *ret)
{
	struct vp_engine *engine = vp_fake_engine(t->lab.fake);
	void *ctx = vp_fake_ctx(t->lab.fake, 0);
	uint32_t site = 0, key = 0, enough = COUNTING > 4 * keys ? COUNTING : 4 * keys;
	double took[SLICES];

	if (growth_counting && hits > enough)
		hits = enough;
	uint32_t each = hits / SLICES ? hits / SLICES : 1;
	ret->hits += each * SLICES;
	ret->calls += each * SLICES;

	for (uint32_t s = 0; s < SLICES; s++) {
		double start = bench_cpu_ns();
		for (uint32_t i = 0; i < each; i++) {
			vp_fake_set_reg(t->lab.fake, 0, VP_RDI, key);
			vp_engine_hit(engine, 0, t->sites[site], ctx);
			site = site + 1 < t->nsites ? site + 1 : 0;
			key = key + 1 < keys ? key + 1 : 0;
		}
		took[s] = (bench_cpu_ns() - start) / each;
	}
	return growth_low(took, SLICES);
}
