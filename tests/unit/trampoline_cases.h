/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clauses for the tests of trampolines, made of objects in the form of dif_asm.h. */
#ifndef TESTS_UNIT_TRAMPOLINE_CASES_H
#define TESTS_UNIT_TRAMPOLINE_CASES_H

#include "dif/vm/agg.h"
#include "tests/unit/dif_asm.h"
#include "tests/unit/trampoline_fixture.h"
#include "vmm-probe/arch/x86/regs.h"

/* Built-in variables by their numbers, as dif_asm.h wants them. */
#define ARG0      "0x106"
#define ARG1      "0x107"
#define ARG2      "0x108"
#define EXECNAME  "0x118"
#define PROBEFUNC "0x114"
#define TID       "0x117"
#define PERCPU    "0x408"

/* A clause of at most one predicate and one aggregation. */
struct tf_case {
	struct fx_object predicate, value;
	struct dif_action action;
	struct dif_clause clause;
};

/* @predicate, @value: text, or NULL. */
static inline struct dif_clause *tf_case_make(struct tf_case *c, const char *predicate,
					      enum dif_agg_kind kind, const char *value)
{
	c->action = (struct dif_action){ .kind = (enum dif_action_kind)kind, .ntuple = 1 };
	c->clause = (struct dif_clause){ .actions = &c->action, .nactions = 1 };
	if (predicate) {
		asm_object(&c->predicate, predicate);
		fx_no_error(dif_verify(&c->predicate.obj));
		c->clause.predicate = &c->predicate.obj;
	}
	if (value) {
		asm_object(&c->value, value);
		fx_no_error(dif_verify(&c->value.obj));
		c->action.object = &c->value.obj;
	}
	return &c->clause;
}

/* trace(argN) with a predicate. */
static inline void tf_case_traced(struct tf_case *c, const char *predicate, const char *value)
{
	tf_case_make(c, predicate, DIF_AGG_count, value);
	c->action = (struct dif_action){ .kind = DIF_ACT_difexpr, .object = c->action.object };
}

/* A number like those at which conditions change, or any. */
static inline uint64_t tf_random_word(unsigned *seed)
{
	static const uint64_t corners[] = {
		0, 1, 2, 7, 100, UINT32_MAX, 128, INT64_MAX, INT64_MIN, UINT64_MAX, UINT64_MAX - 1, 1ull << 32
	};
	uint64_t any = (uint64_t)rand_r(seed) << 33 ^ (uint64_t)rand_r(seed) << 11 ^ (uint64_t)rand_r(seed);

	switch (rand_r(seed) % 4) {
	case 0:
		return any;
	case 1:
		return any & 7;
	default:
		return corners[any % OT_ARRAY_SIZE(corners)];
	}
}

static inline struct tf_regs tf_random_regs(unsigned *seed)
{
	struct tf_regs regs = { .flags = 0 };

	for (unsigned i = 0; i < 16; i++)
		regs.r[i] = tf_random_word(seed);
	return regs;
}

/* A hit that leaves alone what it has to. */
static inline struct tf_regs tf_hit_checked(struct tf_machine *m, const struct tf_regs *before)
{
	struct tf_regs after = *before;

	tf_fill_stack(m);
	tf_hit(m, &after);
	const char *wrong = tf_intact(m, before, &after);
	if (wrong)
		fail_msg("%s", wrong);
	return after;
}

static inline uint64_t tf_value(struct tf_machine *m, const struct tf_regs *regs,
				const struct dif_object *obj)
{
	uint64_t value;

	assert_int_equal(tf_eval(m, regs, obj, &value), DIF_FAULT_NONE);
	return value;
}

#endif
