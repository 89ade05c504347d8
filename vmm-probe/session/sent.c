/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program sent to an engine. All engines share the session's variables, and each computes their layout
 * from its program. A variable that only other engines' clauses use is declared by an object without other
 * effect.
 */
#include "vmm-probe/session/sent.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "dif/obj/opcodes.h"

static bool is_foreign(const struct vp_session *s, uint32_t nth, const struct dif_clause *clause)
{
	if (!nth)
		return clause->kernel || clause->guest;
	if (clause->guest)
		return clause->guest != nth;
	return clause->kernel != s->kernels.of[nth - 1];
}

/* --- the variables of empty clauses -------------------------------------------------------------------- */

struct declaring {
	struct ot_map seen; /* (scope, id) to index + 1 in vars */
	struct dif_var *vars;
	size_t n, cap;
};

static struct ot_err *declare(struct declaring *d, const struct dif_object *obj)
{
	for (uint32_t i = 0; obj && i < obj->var_len; i++) {
		const struct dif_var *v = &obj->vars[i];
		const uint32_t key[] = { v->scope, v->id };
		size_t known = (size_t)(uintptr_t)ot_map_get(&d->seen, key, sizeof(key));

		if (v->id < DIF_VAR_USER_MIN)
			continue;
		if (known) { /* a size of 0 is any */
			if (!d->vars[known - 1].type.size)
				d->vars[known - 1].type.size = v->type.size;
			continue;
		}
		if (!ot_grow(&d->vars, &d->cap, d->n + 1, sizeof(*d->vars)))
			return ot_err_nomem();
		d->vars[d->n] = *v;
		d->vars[d->n++].name = 0;
		if (!ot_map_put(&d->seen, key, sizeof(key), (void *)(uintptr_t)d->n))
			return ot_err_nomem();
	}
	return NULL;
}

static struct ot_err *declare_clause(struct declaring *d, const struct dif_clause *clause)
{
	OT_TRY(declare(d, clause->predicate));
	for (uint32_t i = 0; i < clause->nactions; i++)
		OT_TRY(declare(d, clause->actions[i].object));
	return NULL;
}

/* --- the program ------------------------------------------------------------------------------------------ */

static struct ot_err *write_with(const struct dif_program *prog, struct dif_clause *empty,
				 const struct declaring *d, struct ot_buf *dof)
{
	char no_strings[] = "";
	uint32_t ret = dif_insn(DIF_OP_ret, 0, 0, 0);
	struct dif_object object = {
		.text = &ret,
		.text_len = 1,
		.strs = no_strings,
		.str_len = 1,
		.vars = d->vars,
		.var_len = (uint32_t)d->n,
		.ret = { .kind = DIF_TYPE_CTF },
	};
	struct dif_action action = { .kind = DIF_ACT_difexpr, .object = &object };

	if (empty && d->n) {
		empty->actions = &action;
		empty->nactions = 1;
	}
	return dif_dof_write(prog, dof);
}

static struct ot_err *write_own(const struct vp_session *s, uint32_t nth, struct declaring *d,
				struct ot_buf *dof)
{
	static const struct dif_clause none = { .probe = { "", "", "", "", "", 0 } };
	struct dif_program prog = *s->program.prog;
	ot_auto_free struct dif_clause *clauses = calloc(prog.nclauses + 1, sizeof(*clauses));
	struct dif_clause *empty = NULL;

	if (!clauses)
		return ot_err_nomem();
	for (uint32_t i = 0; i < prog.nclauses; i++) {
		clauses[i] = prog.clauses[i];
		if (!is_foreign(s, nth, &clauses[i]))
			continue;
		OT_TRY(declare_clause(d, &clauses[i]));
		clauses[i] = none;
		empty = &clauses[i];
	}
	prog.clauses = clauses;
	return write_with(&prog, empty, d, dof);
}

struct ot_err *vp_sent_write(struct vp_session *s, uint32_t nth, struct ot_buf *dof)
{
	struct declaring d = { 0 };

	if (s->links.n < 2)
		return dif_dof_write(s->program.prog, dof);
	ot_map_init(&d.seen);
	struct ot_err *err = write_own(s, nth, &d, dof);
	ot_map_deinit(&d.seen);
	free(d.vars);
	return err;
}
