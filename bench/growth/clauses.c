/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Costs against sessions at one probe, and against clauses: at one probe, in the compiler, in opening a
 * session, and in matching them with a kernel's probes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/growth/growth.h"
#include "dif/obj/verify.h"
#include "vmm-probe/engine/backend.h"
#include "vmm-probe/provider/provider.h"
#include "vmm-probe/provider/providers.h"

#define SESSIONS_MAX 16u
#define FIRINGS      1000000u /* of all clauses */
#define FUNCTIONS    20880u   /* a probe at the entry and one at the return of each */
#define FALSE_COUNT  "/pid == 1/ { @ = count(); }"

static const struct bench_sizes small = { .bufsize = 1u << 20, .aggsize = 1u << 20 };

/* Descriptions that differ by a number in their function. */
struct growth_named {
	const char *provider, *function, *behind, *name;
};

/* Called by name, by callgrind. */
void growth_match(struct vp_probes *probes, uint32_t n, const struct growth_named *named,
		  uint64_t *ret_found);
void growth_open_and_trace(struct bench_lab *lab, const struct dif_program *prog, const struct ot_buf *batch,
			   struct bench_session *ret);

/* --- hits ------------------------------------------------------------------------------------------------ */

static double sessions(uint32_t n, struct growth_counts *ret)
{
	struct bench_session more[SESSIONS_MAX];
	struct growth_traced t;
	struct dif_program prog;
	struct ot_buf batch;

	growth_trace(&t, "fbt:::entry " FALSE_COUNT, 1, 1, &small);
	growth_compile("fbt:::entry " FALSE_COUNT, &prog);
	ot_buf_init(&batch);
	bench_batch(&t.lab, 1, 1, false, &batch);
	for (uint32_t i = 1; i < n; i++) {
		bench_session_open(&t.lab, &prog, &small, &more[i]);
		bench_session_trace(&more[i], &batch);
	}
	t.sites[0] = vp_fake_site(t.lab.fake, bench_function(0)); /* of the latest plan */
	double ns = growth_hits(&t, FIRINGS / 10, 1, ret);
	for (uint32_t i = 1; i < n; i++)
		bench_session_close(&more[i]);
	ot_buf_deinit(&batch);
	dif_program_deinit(&prog);
	growth_untrace(&t, ret);
	return ns;
}

static double clauses_at_probe(uint32_t n, struct growth_counts *ret)
{
	struct growth_traced t;
	char *text = growth_repeat(FALSE_COUNT, n);

	growth_trace(&t, text, 1, 1, &small);
	free(text);
	double ns = growth_hits(&t, (growth_counting ? FIRINGS / 50 : FIRINGS) / n, 1, ret);
	growth_untrace(&t, ret);
	return ns;
}

/* --- before the first hit ---------------------------------------------------------------------------------- */

static double compile_text(const char *body, uint32_t n)
{
	char *text = growth_repeat(body, n);
	struct dif_program prog;
	double start = bench_cpu_ns();

	growth_compile(text, &prog);
	double took = bench_cpu_ns() - start;
	dif_program_deinit(&prog);
	free(text);
	return took;
}

#define ORDINARY "/execname == \"cat%u\"/ { @a[probefunc] = quantize(timestamp); self->t = arg0; }"

static double compile(uint32_t n, struct growth_counts *ret)
{
	ret->calls++;
	return compile_text(ORDINARY, n);
}

/* Every clause has names of its own. */
static double compile_names(uint32_t n, struct growth_counts *ret)
{
	ret->calls++;
	return compile_text("{ g%u = timestamp; @n%u = count(); }", n);
}

void growth_open_and_trace(struct bench_lab *lab, const struct dif_program *prog, const struct ot_buf *batch,
			   struct bench_session *ret)
{
	const struct bench_sizes sizes = { .bufsize = 1u << 20, .aggsize = 1u << 20, .dynvars = 1u << 20 };

	bench_session_open(lab, prog, &sizes, ret);
	bench_session_trace(ret, batch);
}

/* DOF, its parsing and verification in the engine, layouts, enabling on one probe. */
static double open_session(uint32_t n, struct growth_counts *ret)
{
	char *text = growth_repeat(ORDINARY, n);
	struct bench_session session;
	struct dif_program prog;
	struct bench_lab lab;
	struct ot_buf batch;

	ret->calls++;
	growth_compile(text, &prog);
	free(text);
	bench_lab_open(&lab, 1, NULL);
	ot_buf_init(&batch);
	bench_batch(&lab, 1, n, false, &batch);
	double start = bench_cpu_ns();
	growth_open_and_trace(&lab, &prog, &batch, &session);
	double took = bench_cpu_ns() - start;
	bench_session_close(&session);
	bench_lab_close(&lab);
	ot_buf_deinit(&batch);
	dif_program_deinit(&prog);
	return took;
}

/* --- descriptions ------------------------------------------------------------------------------------------ */

/* As many probes as a stock kernel has functions that can be probed. */
static struct vp_probes *make_kernel(void)
{
	struct vp_probes *probes;
	char name[64];

	bench_must(vp_probes_create(NULL, &probes));
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "some_kernel_function_%u", i);
		struct vp_probe probe = { .kind = VP_PROBE_SITE,
					  .module = "vmlinux",
					  .function = bench_need(vp_probes_strdup(probes, name)),
					  .name = "entry" };
		bench_must(vp_probes_add(probes, &vp_provider_fbt, &probe));
		probe.name = "return";
		bench_must(vp_probes_add(probes, &vp_provider_fbt, &probe));
	}
	return probes;
}

void growth_match(struct vp_probes *probes, uint32_t n, const struct growth_named *named, uint64_t *ret_found)
{
	struct ot_buf function;
	uint64_t count;

	ot_buf_init(&function);
	for (uint32_t i = 0; i < n; i++) {
		ot_buf_clear(&function);
		if (*named->function)
			ot_buf_printf(&function, "%s%u%s", named->function, i, named->behind);
		ot_buf_putc(&function, 0);
		const struct dif_probedesc desc = { .guest = "",
						    .provider = named->provider,
						    .module = "",
						    .function = function.data,
						    .name = named->name };
		bench_must(vp_probes_match(probes, &desc, false, NULL, NULL, &count));
		*ret_found += count;
	}
	ot_buf_deinit(&function);
}

static double match_all(uint32_t n, const struct growth_named *named, struct growth_counts *ret)
{
	struct vp_probes *probes = make_kernel();
	uint64_t found = 0;
	double start = bench_cpu_ns();

	ret->calls++;
	growth_match(probes, n, named, &found);
	double took = bench_cpu_ns() - start;
	if (found < n)
		bench_must(
		    ot_err_new(OT_ERR_BAD_DATA, "%u descriptions found %lu probes", n, (unsigned long)found));
	vp_probes_destroy(probes);
	return took;
}

static double match_exact(uint32_t n, struct growth_counts *ret)
{
	return match_all(n, &(struct growth_named){ "fbt", "some_kernel_function_", "", "entry" }, ret);
}

static double match_glob(uint32_t n, struct growth_counts *ret)
{
	return match_all(n, &(struct growth_named){ "fbt", "*_function_", "*", "entry" }, ret);
}

/* Its probes have no function. */
static double match_timer(uint32_t n, struct growth_counts *ret)
{
	return match_all(n, &(struct growth_named){ "profile", "", "", "tick-1s" }, ret);
}

#define CLAUSES                                          \
	{                                                \
		1, 5, 10, 50, 100, 500, 1000, 2500, 5000 \
	}

const struct growth_series growth_clauses[] = {
	{ "sessions.hit", "vp_engine_hit", sessions, { 1, 2, 4, 8, 16 } },
	{ "clauses.hit", "vp_engine_hit", clauses_at_probe, CLAUSES },
	{ "clauses.compile", "growth_compile", compile, CLAUSES },
	{ "clauses.compile-names",
	  "growth_compile",
	  compile_names,
	  { 1, 5, 10, 50, 100, 500, 1000, 2000, 4000 } },
	{ "clauses.open", "growth_open_and_trace", open_session, CLAUSES },
	{ "clauses.match-exact", "growth_match", match_exact, CLAUSES },
	{ "clauses.match-glob", NULL, match_glob, { 1, 2, 5, 10, 20, 50, 100 } },
	{ "clauses.match-timer", "growth_match", match_timer, CLAUSES },
	{ 0 }
};
