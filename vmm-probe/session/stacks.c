/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which stacks a program takes, by its actions and the variables that its objects load. */
#include "vmm-probe/session/stacks.h"

#include <stddef.h>

#include "dif/obj/names.h"
#include "dif/obj/opcodes.h"
#include "dif/obj/program.h"

enum stacks {
	KERNEL = 1,
	USER = 2,
};

static unsigned of_variable(uint32_t var)
{
	if (var == DIF_VAR_ucaller || var == DIF_VAR_ustackdepth)
		return USER;
	return var == DIF_VAR_caller || var == DIF_VAR_stackdepth ? KERNEL : 0;
}

static unsigned of_object(const struct dif_object *o)
{
	unsigned found = 0;

	for (uint32_t i = 0; o && i < o->text_len; i++)
		if (dif_insn_op(o->text[i]) == DIF_OP_ldgs)
			found |= of_variable(dif_insn_idx(o->text[i]));
	return found;
}

static unsigned of_action(const struct dif_action *a)
{
	if (a->kind == DIF_ACT_ustack || a->kind == DIF_ACT_jstack)
		return USER | of_object(a->object);
	return (a->kind == DIF_ACT_stack ? KERNEL : 0) | of_object(a->object);
}

static bool has(const struct dif_program *prog, unsigned wanted)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < prog->nclauses; i++) {
		const struct dif_clause *c = &prog->clauses[i];

		found |= of_object(c->predicate);
		for (uint32_t k = 0; k < c->nactions; k++)
			found |= of_action(&c->actions[k]);
	}
	return found & wanted;
}

bool vp_program_has_user_stacks(const struct dif_program *prog)
{
	return has(prog, USER);
}

bool vp_program_has_stacks(const struct dif_program *prog)
{
	return has(prog, USER | KERNEL);
}
