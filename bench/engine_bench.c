/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of a hit in the engine alone: ns for each kind of clause, on the fake backend, one vCPU. Each
 * figure is the 20th percentile of slices, in the thread's CPU time, and the range of the slices' middle
 * half: other load on the machine lengthens some of them.
 *
 *   engine_bench [HITS [TEXT]]    only the rows whose name contains it
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/engine_lab.h"
#include "vmm-probe/engine/backend.h"

#define SITE (BENCH_TEXT + 0x1000)

#define RESIDENT_CODE (8u << 20)
#define RESIDENT_DATA (1u << 20)
#define KERNEL        35000u /* functions */

static const struct bench_sizes sizes = { .bufsize = 4u << 20, .aggsize = 4u << 20 };

/* `derived`: the probe is defined over its place, with a condition and an argument that read the guest's
 * memory. */
static const struct bench {
	const char *name;
	void (*make)(struct dif_program *prog, struct dif_clause *c);
	uint32_t necbs, nsessions;
	bool derived;
} benches[] = {
	{ "/pid == other/ { @ = count(); }", bench_empty, 1, 1, false },
	{ "the same, 4 sessions", bench_empty, 1, 4, false },
	{ "the same, 16 sessions", bench_empty, 1, 16, false },
	{ "/pid == $target/ { @ = count(); }", bench_count_pid, 1, 1, false },
	{ "{ @[execname] = count(); }", bench_execname, 1, 1, false },
	{ "{ @[arg0] = count(); }", bench_arg, 1, 1, false },
	{ "{ @ = sum(arg0); }", bench_sum, 1, 1, false },
	{ "{ printf(\"%d %d\", arg0, arg1); }", bench_printf, 1, 1, false },
	{ "{ printf(\"%s %d\", execname, arg0); }", bench_printf_execname, 1, 1, false },
	{ "derived: { @ = sum(arg0); }", bench_sum, 1, 1, true },
	{ "derived: ten { @ = sum(arg0); }", bench_sum, 10, 1, true },
};

/* --- a probe's own condition and argument ----------------------------------------------------------- */

/* *(uint32_t *)(arg0 + at): a member of a structure. */
static struct dif_object *member(struct dif_program *prog, uint64_t at)
{
	const uint32_t text[] = {
		dif_insn_index(DIF_OP_ldgs, DIF_VAR_arg0, 1),
		dif_insn_index(DIF_OP_setx, 0, 2),
		dif_insn(DIF_OP_add, 1, 2, 1),
		dif_insn(DIF_OP_lduw, 1, 0, 1),
		dif_insn(DIF_OP_ret, 0, 0, 1),
	};

	return bench_object(prog, text, OT_ARRAY_SIZE(text), at, bench_u64);
}

/* / args[0]->pid / { trace(args[0]->tgid); }, of a task, as DOF */
static void make_site_program(struct ot_buf *out)
{
	struct dif_program prog;

	bench_program(&prog);
	prog.clauses[0].predicate = member(&prog, 64);
	bench_action(&prog.clauses[0], DIF_ACT_difexpr, member(&prog, 68));
	bench_must(dif_dof_write(&prog, out));
	dif_program_deinit(&prog);
}

static void make_batch(struct ot_buf *out, uint32_t necbs, bool derived)
{
	static const char strings[] = "\0fbt\0vmlinux\0f\0entry";
	const struct vp_batch_probe probe = {
		10, VP_PROBE_SITE, derived ? VP_ARGS_SITE : VP_ARGS_FBT_ENTRY, 1, 5, 13, 15, 0, 1, 0, 0
	};
	const struct vp_batch_site site = { .gva = SITE,
					    .length = 1,
					    .room = 1,
					    .args = derived ? VP_ARGS_FBT_ENTRY : 0,
					    .program = derived };
	struct vp_batch h = { .nprobes = 1, .nsites = 1, .necbs = necbs };

	h.probes_offset = (sizeof(h) + 7) & ~7u;
	h.sites_offset = h.probes_offset + sizeof(probe);
	h.ecbs_offset = h.sites_offset + sizeof(site);
	h.strings_offset = h.ecbs_offset + necbs * (uint32_t)sizeof(struct vp_batch_ecb);
	h.strings_size = sizeof(strings);
	ot_buf_append(out, &h, sizeof(h));
	ot_buf_align(out, 8);
	ot_buf_append(out, &probe, sizeof(probe));
	ot_buf_append(out, &site, sizeof(site));
	for (uint32_t i = 0; i < necbs; i++) {
		const struct vp_batch_ecb ecb = { 1 + i, 0, 0, 0 };
		ot_buf_append(out, &ecb, sizeof(ecb));
	}
	ot_buf_append(out, strings, sizeof(strings));
	ot_buf_align(out, 8);
	h.dof_offset = (uint32_t)out->len;
	if (derived)
		make_site_program(out);
	h.dof_size = (uint32_t)out->len - h.dof_offset;
	h.size = (uint32_t)out->len;
	memcpy(out->data, &h, sizeof(h));
}

/* --- slices ---------------------------------------------------------------------------------------- */

#define SLICE        10000u
#define SESSIONS_MAX 16

/* A guest and the sessions that trace it. */
struct traced {
	struct bench_lab lab;
	struct bench_session sessions[SESSIONS_MAX];
	uint32_t n;
};

/* ns a hit; the halves are handed over after each slice. */
static double slice(struct traced *t)
{
	const struct vp_site *site = vp_fake_site(t->lab.fake, SITE);
	struct vp_engine *engine = vp_fake_engine(t->lab.fake);
	void *ctx = vp_fake_ctx(t->lab.fake, 0);
	double start = bench_cpu_ns();

	for (unsigned i = 0; i < SLICE; i++)
		vp_engine_hit(engine, 0, site, ctx);
	double took = bench_cpu_ns() - start;
	for (uint32_t i = 0; i < t->n; i++)
		bench_session_switch(&t->sessions[i]);
	return took / SLICE;
}

static void report(const char *name, struct traced *t, unsigned long hits)
{
	unsigned long n = hits / SLICE ? hits / SLICE : 1;
	double *ns = bench_need(calloc(n, sizeof(*ns)));

	slice(t);
	for (unsigned long i = 0; i < n; i++)
		ns[i] = slice(t);
	qsort(ns, n, sizeof(*ns), bench_by_value);
	printf("%-40s %7.1f ns (%.1f to %.1f, n=%lu)\n", name, ns[n / 5], ns[n / 4], ns[3 * n / 4], n);
	free(ns);
}

static void bench(const struct bench *b, unsigned long hits)
{
	struct traced t = { .n = b->nsessions };
	struct dif_program prog;
	struct ot_buf batch;

	bench_lab_open(&t.lab, 1, NULL);
	bench_program(&prog);
	b->make(&prog, &prog.clauses[0]);
	ot_buf_init(&batch);
	make_batch(&batch, b->necbs, b->derived);
	for (uint32_t i = 0; i < t.n; i++) {
		bench_session_open(&t.lab, &prog, &sizes, &t.sessions[i]);
		bench_session_trace(&t.sessions[i], &batch);
	}
	report(b->name, &t, hits);
	for (uint32_t i = 0; i < t.n; i++)
		bench_session_close(&t.sessions[i]);
	ot_buf_deinit(&batch);
	dif_program_deinit(&prog);
	bench_lab_close(&t.lab);
}

/* --- a whole kernel --------------------------------------------------------------------------------- */

static size_t heap_bytes(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static void time_kernel(struct bench_session *s, const struct ot_buf *batch, const char *what)
{
	struct timespec t[2];
	size_t before = heap_bytes();

	clock_gettime(CLOCK_MONOTONIC, &t[0]);
	bench_session_trace(s, batch);
	clock_gettime(CLOCK_MONOTONIC, &t[1]);
	printf("enabling and planting %s: %.1f ms, %.1f MiB\n", what,
	       (double)(t[1].tv_sec - t[0].tv_sec) * 1e3 + (double)(t[1].tv_nsec - t[0].tv_nsec) / 1e6,
	       (double)(heap_bytes() - before) / (1 << 20));
}

static void bench_kernel(bool resident)
{
	static uint8_t code[RESIDENT_CODE], data[RESIDENT_DATA];
	const struct vp_resident_room room = { .code = code,
					       .code_gva = BENCH_TEXT + (64u << 20),
					       .code_size = sizeof(code),
					       .data = data,
					       .data_gva = BENCH_TEXT + (80u << 20),
					       .lowest = BENCH_PERCPU,
					       .data_size = sizeof(data),
					       .port = 0x98 };
	struct bench_sizes of = sizes;
	struct bench_session s;
	struct bench_lab lab;
	struct dif_program prog;
	struct ot_buf batch;

	bench_lab_open(&lab, 1, resident ? &room : NULL);
	bench_program(&prog);
	(resident ? bench_probefunc : bench_execname)(&prog, &prog.clauses[0]);
	ot_buf_init(&batch);
	bench_batch(&lab, KERNEL, 1, resident, &batch);
	of.flags = resident ? VP_OPEN_RESIDENT : 0;
	bench_session_open(&lab, &prog, &of, &s);
	time_kernel(&s, &batch, resident ? "35000 resident probes" : "35000 probes");
	bench_session_close(&s);
	ot_buf_deinit(&batch);
	dif_program_deinit(&prog);
	bench_lab_close(&lab);
}

int main(int argc, char **argv)
{
	unsigned long hits = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000000;
	const char *only = argc > 2 ? argv[2] : "";

	for (unsigned i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
		if (strstr(benches[i].name, only))
			bench(&benches[i], hits ? hits : 1);
	if (!*only)
		for (unsigned resident = 0; resident < 2; resident++)
			bench_kernel(resident);
	return 0;
}
