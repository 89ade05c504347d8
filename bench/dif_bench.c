/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interpreter's cost: nanoseconds per instruction, compared with a C loop with the same effect
 * arithmetic; and some firings of realistic programs. Medians of several runs with the smallest and largest.
 *
 *   dif_bench [RUNS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dif/obj/verify.h"
#include "dif/vm/agg.h"
#include "dif/vm/dynvar.h"
#include "dif/vm/vm.h"

#define BLOCK    64 /* instructions of the arithmetic object, without setx and ret */
#define GOAL_NS  4.0
#define RUNS_MAX 99
#define EXECNAME "postgres"

/* --- a world --------------------------------------------------------------------------- */

static uint8_t guest[4096];

static bool load(void *env, uint64_t addr, void *dst, uint32_t len, bool user)
{
	uint64_t offset = addr - 0xffff888000000000ull;

	(void)env;
	(void)user;
	if (offset > sizeof(guest) || len > sizeof(guest) - offset)
		return false;
	memcpy(dst, guest + offset, len);
	return true;
}

static uint64_t scalar(void *env, uint32_t id, enum dif_fault *fault)
{
	(void)env;
	(void)fault;
	return id == DIF_VAR_arg0 ? 0xffff888000000100ull : id;
}

static uint64_t array(void *env, uint32_t id, uint64_t index, enum dif_fault *fault)
{
	(void)env;
	(void)fault;
	return id + index;
}

static int string(void *env, uint32_t id, char *dst, uint32_t cap)
{
	(void)env;
	(void)id;
	(void)cap;
	memcpy(dst, EXECNAME, sizeof(EXECNAME));
	return sizeof(EXECNAME) - 1;
}

static void thread_key(void *env, struct dif_thread_key *ret)
{
	(void)env;
	*ret = (struct dif_thread_key){ .task = 0xffff888012345678ull, .pid = 4321 };
}

static const struct dif_vm_ops ops = {
	.load = load, .scalar = scalar, .array = array, .string = string, .thread_key = thread_key
};

/* --- programs ------------------------------------------------------------------------------- */

struct program {
	const char *name;
	uint32_t text[BLOCK + 8];
	uint64_t ints[8];
	char strs[16];
	struct dif_var vars[2];
	struct dif_object obj;
};

static void begin(struct program *p, const char *name)
{
	memset(p, 0, sizeof(*p));
	p->name = name;
	p->obj = (struct dif_object){ .text = p->text,
				      .ints = p->ints,
				      .strs = p->strs,
				      .vars = p->vars,
				      .str_len = sizeof(p->strs),
				      .ret = { 0, 1, 0, 0, 8 } };
}

static void op(struct program *p, uint32_t insn)
{
	p->text[p->obj.text_len++] = insn;
}

static void setx(struct program *p, uint64_t value, uint32_t reg)
{
	p->ints[p->obj.int_len] = value;
	op(p, dif_insn_index(DIF_OP_setx, p->obj.int_len++, reg));
}

/* a = (a + b) ^ c, b = b - a, … : each depends on the one before, in C as well. */
static void make_arithmetic(struct program *p)
{
	begin(p, "arithmetic");
	setx(p, 12345, 1);
	setx(p, 67890, 2);
	for (int i = 0; i < BLOCK / 4; i++) {
		op(p, dif_insn(DIF_OP_add, 1, 2, 3));
		op(p, dif_insn(DIF_OP_xor, 3, 1, 1));
		op(p, dif_insn(DIF_OP_sub, 2, 1, 2));
		op(p, dif_insn(DIF_OP_or, 2, 3, 2));
	}
	op(p, dif_insn(DIF_OP_ret, 0, 0, 2));
}

static void make_predicate(struct program *p)
{
	begin(p, "/execname == \"postgres\"/");
	memcpy(p->strs + 1, EXECNAME, sizeof(EXECNAME));
	op(p, dif_insn_index(DIF_OP_ldgs, DIF_VAR_execname, 1));
	op(p, dif_insn_index(DIF_OP_sets, 1, 2));
	op(p, dif_insn(DIF_OP_scmp, 1, 2, 0));
	op(p, dif_insn_branch(DIF_OP_be, 6));
	op(p, dif_insn(DIF_OP_mov, 0, 0, 2));
	op(p, dif_insn_branch(DIF_OP_ba, 7));
	setx(p, 1, 2);
	op(p, dif_insn(DIF_OP_ret, 0, 0, 2));
}

static void make_pointers(struct program *p)
{
	begin(p, "arg0->a->b (2 guest loads)");
	op(p, dif_insn_index(DIF_OP_ldgs, DIF_VAR_arg0, 1));
	op(p, dif_insn(DIF_OP_ldx, 1, 0, 1));
	setx(p, 16, 2);
	op(p, dif_insn(DIF_OP_add, 1, 2, 1));
	op(p, dif_insn(DIF_OP_lduw, 1, 0, 1));
	op(p, dif_insn(DIF_OP_ret, 0, 0, 1));
}

static void make_thread_local(struct program *p)
{
	begin(p, "self->ts = timestamp");
	p->vars[0] = (struct dif_var){ 0, 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_THREAD, 3, { 0, 1, 0, 0, 8 } };
	p->obj.var_len = 1;
	op(p, dif_insn_index(DIF_OP_ldgs, DIF_VAR_timestamp, 1));
	op(p, dif_insn_index(DIF_OP_stts, 0x500, 1));
	op(p, dif_insn(DIF_OP_ret, 0, 0, 0));
}

static __attribute__((noinline)) uint64_t arithmetic_in_c(uint64_t a, uint64_t b)
{
	for (int i = 0; i < BLOCK / 4; i++) {
		uint64_t c = a + b;
		a ^= c;
		b -= a;
		b |= c;
		/* Registers of a program are in private memory; the compiler must not fold the loop
		 * either. */
		__asm__ volatile("" : "+r"(a), "+r"(b));
	}
	return b;
}

/* --- measuring -------------------------------------------------------------------------------- */

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct figure {
	double median, min, max;
};

static struct figure summary(double *runs, int n)
{
	qsort(runs, (size_t)n, sizeof(*runs), compare);
	return (struct figure){ runs[n / 2], runs[0], runs[n - 1] };
}

static volatile uint64_t sink;

static void fail(const char *what)
{
	fprintf(stderr, "dif_bench: %s\n", what);
	exit(1);
}

static void must(struct ot_err *err)
{
	if (err)
		fail(ot_err_message(err));
}

struct machine {
	struct dif_vm vm;
	struct ot_arena arena;
	struct dif_var_layout vars;
	void *dyn, *globals;
	struct dif_dynvars *dynvars;
};

static void machine_init(struct machine *m, struct program *p)
{
	struct dif_layout_opts opts = { 256, 20, 20, 50, 512 };
	struct dif_clause clause = { .predicate = &p->obj };
	struct dif_program prog = { .clauses = &clause, .nclauses = 1 };

	must(dif_verify(&p->obj));
	ot_arena_init(&m->arena);
	must(dif_var_layout(&prog, &opts, &m->arena, &m->vars));
	m->dyn = calloc(1, 1 << 20);
	m->globals = calloc(1, m->vars.globals_size + 8);
	if (!m->dyn || !m->globals)
		fail("no memory");
	must(dif_dynvars_format(m->dyn, 1 << 20, 4, 40, 8));
	must(dif_dynvars_open(m->dyn, 1 << 20, &m->dynvars));
	struct dif_vm_config config = { .ops = &ops,
					.vars = &m->vars,
					.globals = m->globals,
					.dynvars = m->dynvars,
					.strsize = 256,
					.scratch_size = 65536 };
	must(dif_vm_init(&m->vm, &config));
}

static void machine_deinit(struct machine *m)
{
	dif_vm_deinit(&m->vm);
	dif_dynvars_close(m->dynvars);
	free(m->dyn);
	free(m->globals);
	ot_arena_deinit(&m->arena);
}

/* Nanoseconds of one evaluation, a whole firing around it. */
static struct figure measure(struct program *p, int runs)
{
	const int loops = 200000;
	double results[RUNS_MAX];
	struct machine m;
	uint64_t value;

	machine_init(&m, p);
	for (int r = 0; r < runs; r++) {
		double start = now_ns();
		for (int i = 0; i < loops; i++) {
			dif_vm_begin(&m.vm, DIF_FUEL_DEFAULT);
			if (dif_vm_eval(&m.vm, &p->obj, &value))
				fail("an evaluation faulted");
			sink = value;
		}
		results[r] = (now_ns() - start) / loops;
	}
	machine_deinit(&m);
	return summary(results, runs);
}

static struct figure measure_c(int runs)
{
	const int loops = 1000000;
	double results[RUNS_MAX];

	for (int r = 0; r < runs; r++) {
		double start = now_ns();
		for (int i = 0; i < loops; i++)
			sink = arithmetic_in_c(12345, sink);
		results[r] = (now_ns() - start) / loops;
	}
	return summary(results, runs);
}

/* @[execname] = count() of a name that exists already: tuple, hash, compare, add. */
static struct figure measure_aggregation(int runs)
{
	const int loops = 200000;
	struct dif_agg_layout layout = { .tuple_size = 260, .data_offset = 264, .nwords = 1 };
	char tuple[264] = { 1 };
	double results[RUNS_MAX];
	struct dif_aggtab tab;
	void *mem = calloc(1, 1 << 20);

	if (!mem)
		fail("no memory");
	must(dif_aggtab_init(&tab, mem, 1 << 20));
	for (int r = 0; r < runs; r++) {
		double start = now_ns();
		for (int i = 0; i < loops; i++) {
			memset(tuple + 4, 0, 256);
			memcpy(tuple + 4, EXECNAME, sizeof(EXECNAME));
			tuple[12] = (char)(i & 31);
			uint64_t *words = dif_aggtab_lookup(&tab, &layout, DIF_AGG_count, 0, tuple, 1);
			if (!words)
				fail("an aggregation was dropped");
			dif_agg_update(DIF_AGG_count, 0, words, 0, 1);
		}
		results[r] = (now_ns() - start) / loops;
	}
	dif_aggtab_deinit(&tab);
	free(mem);
	return summary(results, runs);
}

static void print(const char *name, struct figure f, const char *unit)
{
	printf("%-34s %9.2f %s  (%.2f .. %.2f)\n", name, f.median, unit, f.min, f.max);
}

int main(int argc, char **argv)
{
	int runs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 11;
	struct program p;

	if (runs < 1 || runs > RUNS_MAX)
		fail("RUNS is 1 to 99");
	memset(guest, 0, sizeof(guest));
	memcpy(guest + 0x100, &(uint64_t){ 0xffff888000000200ull }, 8);
	make_arithmetic(&p);
	struct figure vm = measure(&p, runs), c = measure_c(runs);
	struct figure insn = { vm.median / p.obj.text_len, vm.min / p.obj.text_len, vm.max / p.obj.text_len };
	print("instruction (arithmetic)", insn, "ns");
	print("the same arithmetic in C, per op",
	      (struct figure){ c.median / BLOCK, c.min / BLOCK, c.max / BLOCK }, "ns");
	printf("%-34s %9.2f\n", "ratio to C", insn.median / (c.median / BLOCK));
	printf("goal: %.0f ns an instruction: %s\n", GOAL_NS, insn.median <= GOAL_NS ? "MET" : "MISSED");
	make_predicate(&p);
	print(p.name, measure(&p, runs), "ns");
	make_pointers(&p);
	print(p.name, measure(&p, runs), "ns");
	make_thread_local(&p);
	print(p.name, measure(&p, runs), "ns");
	print("@[execname] = count(), lookup", measure_aggregation(runs), "ns");
	return 0;
}
