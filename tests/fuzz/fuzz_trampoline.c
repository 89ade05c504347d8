/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clauses as trampolines, executed by this machine's CPU, against the interpreter. The input is bent into a
 * predicate and the value of an aggregation or of trace(). What the compiler takes must read as harmless to a
 * disassembler, count what the interpreter says, and leave everything else alone; what it refuses has a
 * reason.
 */
#include <string.h>

#include "base/hash.h"
#include "dif/vm/agg.h"
#include "tests/fuzz/seed.h"
#include "tests/fuzz/trampoline_object.h"
#include "tests/unit/trampoline_fixture.h"
#include "vmm-probe/arch/x86/regs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The last input's clause was compiled. */
static bool compiled;

bool fuzz_seed_reached(void)
{
	return compiled;
}

#define HITS 6u

/* --- hits ------------------------------------------------------------------------------------ */

static uint64_t made_word(uint64_t *seed)
{
	uint64_t low = made(seed) & 0xff, kind = made(seed) % 8;

	switch (kind) {
	case 0:
		return -low;
	case 1:
		return (uint64_t)INT64_MIN + low;
	case 2:
		return (uint64_t)made(seed) << 32 | made(seed);
	case 3:
		return 0x7fffff80 + low;
	default:
		return kind == 4 ? low : low & 3;
	}
}

/* Registers, tasks and per-CPU areas, with what the kernel keeps in order there. */
static void make_world(uint64_t *seed, struct tf_machine *m, struct tf_regs *regs)
{
	uint64_t pointer = (uint64_t)(uintptr_t)tf_task(m, m->cpu);
	uint8_t *area = m->percpu + (size_t)m->cpu * TF_SPACING;

	for (unsigned i = 0; i < 16; i++)
		regs->r[i] = made_word(seed);
	for (unsigned i = 0; i < 64; i++)
		tf_task(m, m->cpu)[made(seed) % TF_TASK_SIZE] = (uint8_t)made(seed);
	for (unsigned i = 0; i < GA_COMM; i++)
		tf_task(m, m->cpu)[TF_TASK_COMM + i] = (uint8_t)(made(seed) % 8 ? 'a' + i % 8 : 0);
	for (unsigned i = 0; i < 16; i++)
		area[made(seed) % TF_PERCPU_SIZE] = (uint8_t)made(seed);
	memcpy(area + TF_CURRENT, &pointer, sizeof(pointer));
}

static uint64_t value_of(struct tf_machine *m, const struct tf_regs *regs, const struct dif_object *obj)
{
	uint64_t value;
	enum dif_fault fault = tf_eval(m, regs, obj, &value);

	must(fault == DIF_FAULT_NONE,
	     "the interpreter faults where a trampoline can't: ", dif_fault_text(fault));
	return value;
}

struct expected {
	uint64_t words[127];
	uint64_t records, exits;
};

static void expect(struct tf_machine *m, const struct dif_clause *c, const struct tf_regs *regs,
		   struct expected *e)
{
	const struct dif_action *a = &c->actions[0];

	if (c->predicate && !value_of(m, regs, c->predicate))
		return;
	if (m->t.exits)
		e->exits++;
	else if (m->t.ncells)
		dif_agg_update((enum dif_agg_kind)a->kind, 0, e->words,
			       a->object ? value_of(m, regs, a->object) : 0, 1);
	else
		e->records++;
}

static void check(struct tf_machine *m, const struct expected *e, unsigned exits)
{
	must(exits == e->exits, "exits", "");
	must(!m->t.ncells ||
		 !memcmp(tf_word(m, m->cpu, m->t.cells[0].at), e->words, 8ull * m->t.cells[0].nwords),
	     "words", "");
	must(tf_ring(m, m->cpu)->reserved[0] == e->records && !tf_ring(m, m->cpu)->lost, "records", "");
}

static void run(uint64_t seed, struct tf_machine *m, const struct dif_clause *c)
{
	enum dif_agg_kind kind = (enum dif_agg_kind)c->actions[0].kind;
	struct expected e = { .records = 0 };
	unsigned exits = 0;

	m->cpu = made(&seed) % TF_CPUS;
	if (m->t.ncells) {
		dif_agg_init(kind, 0, e.words);
		dif_agg_init(kind, 0, tf_word(m, m->cpu, m->t.cells[0].at));
	}
	for (unsigned i = 0; i < HITS; i++) {
		struct tf_regs before, after;
		make_world(&seed, m, &before);
		after = before;
		tf_fill_stack(m);
		expect(m, c, &before, &e);
		tf_hit(m, &after);
		exits += m->exits;
		const char *wrong = tf_intact(m, &before, &after);
		must(!wrong, "not intact: ", wrong ? wrong : "");
	}
	check(m, &e, exits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t kinds[] = { DIF_AGG_count, DIF_AGG_sum,      DIF_AGG_min,     DIF_AGG_max,
					  DIF_AGG_avg,   DIF_AGG_quantize, DIF_ACT_difexpr, DIF_ACT_stack };
	static struct tf_machine *m;
	static struct object predicate, value;
	const uint64_t seed = ot_siphash13((const uint64_t[]){ 1, 2 }, data, size);
	struct input in = { data, size, seed };
	struct dif_action action = { .ntuple = 1 };
	struct dif_clause clause = { .actions = &action, .nactions = 1 };

	if (!m)
		m = tf_create();
	uint32_t how = take(&in);
	action.kind = (enum dif_action_kind)kinds[how % OT_ARRAY_SIZE(kinds)];
	bend_object(&in, &predicate);
	bend_object(&in, &value);
	if (how & 0x80)
		clause.predicate = &predicate.obj;
	if (action.kind != (enum dif_action_kind)DIF_AGG_count && action.kind != DIF_ACT_stack)
		action.object = &value.obj;
	struct ot_err *err =
	    tf_compile(m, &clause, 1, (how & 0x70) == 0x70 ? VP_ARGS_SYSCALL_ENTRY : VP_ARGS_FBT_ENTRY);
	compiled = !err;
	if (!err)
		run(seed, m, &clause);
	must(!err || ot_err_code(err) == OT_ERR_UNSUPPORTED || ot_err_code(err) == OT_ERR_LIMIT,
	     "no reason: ", err ? ot_err_message(err) : "");
	ot_err_destroy(err);
	return 0;
}
