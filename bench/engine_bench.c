/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of a hit in the engine alone: ns for each kind of clause, on the fake backend, one vCPU. The page
 * tables are those of a kernel (large pages for the direct map), so loads cost as much as in a guest. Each
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

#include "base/buf.h"
#include "bench/engine_clauses.h"
#include "vmm-probe/backend/fake/fake.h"
#include "vmm-probe/engine/backend.h"
#include "vmm-probe/engine/service/session.h"
#include "vmm-probe/engine/wire/shared.h"

#define TEXT   0xffffffff81000000ull
#define DIRECT 0xffff888000000000ull
#define SITE   (TEXT + 0x1000)
#define PERCPU (DIRECT + 0x400000)
#define TASK   (DIRECT + 0x523000)

#define RESIDENT_CODE (8u << 20)
#define RESIDENT_DATA (1u << 20)
static const uint8_t fentry[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 }; /* the nop of function tracing */

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

/* --- the guest and a session -------------------------------------------------------------------- */

static void make_guest(struct vp_fake *fake, struct vp_facts *k)
{
	uint64_t root = vp_fake_root(fake), task = TASK;
	uint32_t pid = BENCH_PID;

	for (unsigned i = 0; i < 4; i++)
		vp_fake_map(fake, root, DIRECT + i * 0x200000ull, i * 0x200000ull, 0, 21);
	vp_fake_map(fake, root, TEXT, 0x200000, 0, 21);
	vp_fake_write(fake, root, PERCPU + 8, &task, sizeof(task));
	vp_fake_write(fake, root, TASK + 64, &pid, sizeof(pid));
	vp_fake_write(fake, root, TASK + 1600, "getppid_loop", 13);
	memset(k, 0xff, sizeof(*k));
	k->size = sizeof(*k);
	memset(k->guest_name, 0, sizeof(k->guest_name));
	k->kernel_root = root;
	k->levels = 4;
	k->percpu_base[0] = PERCPU;
	k->current_task = 8;
	k->task_tgid = 64;
	k->task_comm = 1600;
	k->task_comm_size = 16;
	k->mappings = (struct vp_mapping_facts){ 0 };
	k->resident = (struct vp_resident_facts){ .image_end = TEXT + (4u << 20),
						  .task_size = 2048,
						  .percpu_size = 64 };
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

static struct vp_engine_session *open_session(struct vp_fake *fake, const struct vp_facts *facts,
					      struct dif_program *prog, uint32_t flags, void **ret_shared)
{
	struct vp_msg_open open = {
		.bufsize = 4u << 20,
		.aggsize = 4u << 20,
		.globals_size = 4096,
		.strsize = 256,
		.stackframes = 20,
		.nvcpus = 1,
		.bufpolicy = VP_BUF_SWITCH,
		.maxcost = 20, /* the default: the guard's accounting is part of a hit */
		.flags = flags,
	};
	struct ot_buf dof;
	struct vp_engine_session *es = NULL;
	uint64_t size;

	bench_must(vp_shared_layout(&open, &size));
	*ret_shared = bench_need(aligned_alloc(4096, size));
	memset(*ret_shared, 0, size);
	ot_buf_init(&dof);
	bench_must(dif_dof_write(prog, &dof));
	bench_must(vp_engine_session_open(vp_fake_engine(fake), &open, dof.data, dof.len, facts, *ret_shared,
					  size, NULL, 0, &es));
	ot_buf_deinit(&dof);
	return es;
}

static struct vp_engine_session *make_session(struct vp_fake *fake, const struct vp_facts *facts,
					      struct dif_program *prog, const struct bench *b,
					      void **ret_shared)
{
	struct vp_engine_session *es = open_session(fake, facts, prog, 0, ret_shared);
	struct ot_buf batch;

	ot_buf_init(&batch);
	make_batch(&batch, b->necbs, b->derived);
	bench_must(vp_engine_session_enable(es, batch.data, batch.len));
	bench_must(vp_engine_session_start(es));
	ot_buf_deinit(&batch);
	return es;
}

/* --- slices ---------------------------------------------------------------------------------------- */

#define SLICE        10000u
#define SESSIONS_MAX 16

/* A guest and the sessions that trace it. */
struct traced {
	struct vp_fake *fake;
	struct vp_engine_session *es[SESSIONS_MAX];
	void *shared[SESSIONS_MAX];
	uint32_t n;
};

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns a hit; the halves are handed over after each slice. */
static double slice(const struct traced *t)
{
	const struct vp_site *site = vp_fake_site(t->fake, SITE);
	struct vp_engine *engine = vp_fake_engine(t->fake);
	void *ctx = vp_fake_ctx(t->fake, 0);
	struct vp_msg_switch_reply reply;
	double start = cpu_ns();

	for (unsigned i = 0; i < SLICE; i++)
		vp_engine_hit(engine, 0, site, ctx);
	double took = cpu_ns() - start;
	for (uint32_t i = 0; i < t->n; i++)
		bench_must(vp_engine_session_switch(t->es[i], &reply));
	return took / SLICE;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report(const char *name, const struct traced *t, unsigned long hits)
{
	unsigned long n = hits / SLICE ? hits / SLICE : 1;
	double *ns = bench_need(calloc(n, sizeof(*ns)));

	slice(t);
	for (unsigned long i = 0; i < n; i++)
		ns[i] = slice(t);
	qsort(ns, n, sizeof(*ns), by_value);
	printf("%-40s %7.1f ns (%.1f to %.1f, n=%lu)\n", name, ns[n / 5], ns[n / 4], ns[3 * n / 4], n);
	free(ns);
}

static void bench(const struct bench *b, unsigned long hits)
{
	const struct vp_fake_config config = { .nvcpus = 1, .ram_size = 8u << 20, .levels = 4 };
	struct traced t = { .n = b->nsessions };
	struct vp_facts facts;
	struct dif_program prog;

	bench_must(vp_fake_create(&config, &t.fake));
	make_guest(t.fake, &facts);
	bench_program(&prog);
	b->make(&prog, &prog.clauses[0]);
	for (uint32_t i = 0; i < t.n; i++)
		t.es[i] = make_session(t.fake, &facts, &prog, b, &t.shared[i]);
	vp_fake_set_reg(t.fake, 0, VP_RDI, TASK);
	report(b->name, &t, hits);
	for (uint32_t i = 0; i < t.n; i++) {
		vp_engine_session_close(t.es[i]);
		free(t.shared[i]);
	}
	dif_program_deinit(&prog);
	vp_fake_destroy(t.fake);
}

/* --- a whole kernel --------------------------------------------------------------------------------- */

/* A function's beginning in guest memory: where a resident probe is to be, the nop of function tracing. */
static struct vp_batch_site make_entry(struct vp_fake *fake, uint64_t root, uint64_t gva, bool resident)
{
	struct vp_batch_site site = { .gva = gva, .length = 1, .room = 1 };

	if (resident) {
		site.length = site.room = sizeof(fentry);
		memcpy(site.bytes, fentry, sizeof(fentry));
	}
	vp_fake_write(fake, root, gva, site.bytes, site.length);
	return site;
}

/* One probe, site and ECB for each of @n functions, with names as long as a kernel's are. */
static void make_kernel_batch(struct vp_fake *fake, uint64_t root, struct ot_buf *out, uint32_t n,
			      bool resident)
{
	struct vp_batch h = { .nprobes = n, .nsites = n, .necbs = n };
	struct ot_buf strings;

	ot_buf_init(&strings);
	ot_buf_append(&strings, "\0fbt\0vmlinux\0entry", 19);
	h.probes_offset = (sizeof(h) + 7) & ~7u;
	h.sites_offset = h.probes_offset + n * (uint32_t)sizeof(struct vp_batch_probe);
	h.ecbs_offset = h.sites_offset + n * (uint32_t)sizeof(struct vp_batch_site);
	h.strings_offset = h.ecbs_offset + n * (uint32_t)sizeof(struct vp_batch_ecb);
	ot_buf_append(out, &h, sizeof(h));
	ot_buf_align(out, 8);
	for (uint32_t i = 0; i < n; i++) {
		const struct vp_batch_probe probe = {
			10 + i, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, 1, 5, (uint32_t)strings.len, 13, i, 1, 0, 0
		};
		ot_buf_append(out, &probe, sizeof(probe));
		ot_buf_printf(&strings, "some_kernel_function_%u", i);
		ot_buf_putc(&strings, 0);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct vp_batch_site site = make_entry(fake, root, TEXT + 16ull * i, resident);
		ot_buf_append(out, &site, sizeof(site));
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct vp_batch_ecb ecb = { 1 + i, 0, i, 0 };
		ot_buf_append(out, &ecb, sizeof(ecb));
	}
	ot_buf_append(out, strings.data, strings.len);
	h.strings_size = (uint32_t)strings.len;
	h.size = (uint32_t)out->len;
	memcpy(out->data, &h, sizeof(h));
	ot_buf_deinit(&strings);
}

static size_t heap_bytes(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static void bench_kernel(uint32_t n, bool resident)
{
	static uint8_t code[RESIDENT_CODE], data[RESIDENT_DATA];
	const struct vp_resident_room room = { .code = code,
					       .code_gva = TEXT + (64u << 20),
					       .code_size = sizeof(code),
					       .data = data,
					       .data_gva = TEXT + (80u << 20),
					       .lowest = PERCPU,
					       .data_size = sizeof(data),
					       .port = 0x98 };
	const struct vp_fake_config config = {
		.nvcpus = 1, .ram_size = 8u << 20, .levels = 4, .room = resident ? &room : NULL
	};
	struct vp_fake *fake = NULL;
	struct vp_facts facts;
	struct dif_program prog;
	struct ot_buf batch;
	struct timespec t[2];
	void *shared;

	bench_must(vp_fake_create(&config, &fake));
	make_guest(fake, &facts);
	bench_program(&prog);
	(resident ? bench_probefunc : bench_execname)(&prog, &prog.clauses[0]);
	struct vp_engine_session *es = make_session(fake, &facts, &prog, &benches[0], &shared);
	ot_buf_init(&batch);
	make_kernel_batch(fake, facts.kernel_root, &batch, n, resident);
	size_t before = heap_bytes();
	vp_engine_session_close(es);
	free(shared);
	es = open_session(fake, &facts, &prog, resident ? VP_OPEN_RESIDENT : 0, &shared);
	clock_gettime(CLOCK_MONOTONIC, &t[0]);
	bench_must(vp_engine_session_enable(es, batch.data, batch.len));
	bench_must(vp_engine_session_start(es));
	clock_gettime(CLOCK_MONOTONIC, &t[1]);
	printf("enabling and planting %u %sprobes: %.1f ms, %.1f MiB\n", n, resident ? "resident " : "",
	       (double)(t[1].tv_sec - t[0].tv_sec) * 1e3 + (double)(t[1].tv_nsec - t[0].tv_nsec) / 1e6,
	       (double)(heap_bytes() - before) / (1 << 20));
	vp_engine_session_close(es);
	free(shared);
	ot_buf_deinit(&batch);
	dif_program_deinit(&prog);
	vp_fake_destroy(fake);
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
			bench_kernel(35000, resident);
	return 0;
}
