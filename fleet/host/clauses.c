/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clauses of a program that a host enables: without the operator's, and BEGIN without its actions. */
#include "fleet/host/clauses.h"

#include <string.h>

#include "vmm-probe/session/listing.h"

/* --- BEGIN ----------------------------------------------------------------------------------------------- */

/* Actions of the operator's process only, or that no other process may perform for BEGIN. */
static bool acts(const struct dif_action *a)
{
	switch (a->kind) {
	case DIF_ACT_exit:
	case DIF_ACT_printf:
	case DIF_ACT_printa:
	case DIF_ACT_libact:
	case DIF_ACT_system:
	case DIF_ACT_freopen:
	case DIF_ACT_stop:
	case DIF_ACT_raise:
	case DIF_ACT_breakpoint:
	case DIF_ACT_panic:
	case DIF_ACT_chill:
		return true;
	default:
		return false;
	}
}

/* An expression may change a variable, whatever its value is used for. Not the one of raise() and chill(): it
 * may stand where nothing can be recorded any more. */
static bool is_evaluated(const struct dif_action *a)
{
	return a->object && a->kind != DIF_ACT_raise && a->kind != DIF_ACT_chill;
}

struct ot_err *fl_clauses_quiet(const struct dif_clause *clause, struct ot_arena *arena,
				struct dif_clause *ret)
{
	struct dif_action *actions = ot_arena_alloc(arena, (clause->nactions + 1) * sizeof(*actions));
	uint32_t n = 0;

	if (!actions)
		return ot_err_nomem();
	for (uint32_t i = 0; i < clause->nactions; i++) {
		const struct dif_action *a = &clause->actions[i];

		if (!acts(a))
			actions[n++] = *a;
		else if (is_evaluated(a))
			actions[n++] = (struct dif_action){ .kind = DIF_ACT_difexpr,
							    .uarg = a->uarg,
							    .object = a->object };
	}
	*ret = *clause;
	ret->actions = actions;
	ret->nactions = n;
	return NULL;
}

/* --- parts ------------------------------------------------------------------------------------------------ */

/* One of the probes that every session has, and nothing else that @clause describes. */
static struct dif_probedesc only(const char *name)
{
	return (struct dif_probedesc){
		.guest = "", .provider = "dtrace", .module = "", .function = "", .name = name
	};
}

struct ot_err *fl_clauses_parts(const struct dif_clause *clause, const struct fl_matched *m,
				struct ot_arena *arena, struct dif_clause ret[3], uint32_t *ret_n)
{
	const char *of = clause->probe.guest;
	bool hosts = m->begin || m->others;
	uint32_t n = 0;

	if (m->begin) {
		OT_TRY(fl_clauses_quiet(clause, arena, &ret[n]));
		ret[n++].probe = only("BEGIN");
	}
	if (m->errors && hosts) {
		ret[n] = *clause;
		ret[n++].probe = only("ERROR");
	}
	if (m->guests || !hosts) { /* a description that matches nothing may match later */
		ret[n] = *clause;
		if (hosts && (!of || !*of))
			ret[n].probe.guest = "*"; /* it has guests: no host's probe */
		n++;
	}
	*ret_n = n;
	return NULL;
}

/* --- the program ------------------------------------------------------------------------------------------ */

struct matching {
	struct fl_matched m;
	bool named;     /* the description names guests */
	bool has_guest; /* else every probe is of this process */
};

static bool see(void *arg, const struct vp_listed *listed)
{
	const struct vp_probe *probe = listed->probe;
	struct matching *x = arg;

	if (probe->kind == VP_PROBE_HOST || probe->kind == VP_PROBE_ERROR) {
		uint64_t *of = probe->id == DIF_PROBE_BEGIN    ? &x->m.begin
			       : probe->kind == VP_PROBE_ERROR ? &x->m.errors
							       : &x->m.others;
		*of += !x->named;
	} else if (x->has_guest) {
		x->m.guests++;
	} else {
		x->m.others++;
	}
	return true;
}

static struct ot_err *match(struct vp_session *s, const struct dif_clause *clause, struct fl_matched *ret)
{
	const char *of = clause->probe.guest;
	struct matching x = { .named = of && *of, .has_guest = vp_session_nguests(s) };
	uint64_t count;

	OT_TRY(vp_session_match(s, &clause->probe, false, see, &x, &count));
	*ret = x.m;
	return NULL;
}

static struct ot_err *see_apart(struct fl_apart *apart, const struct dif_clause *clause,
				const struct fl_matched *m)
{
	if (m->others)
		OT_TRY(fl_apart_see(apart, clause, true));
	return m->guests ? fl_apart_see(apart, clause, false) : NULL;
}

struct ot_err *fl_clauses_take(struct con_compilation *c, struct vp_session *s, uint32_t first,
			       struct fl_apart *apart, uint64_t *ret_operators)
{
	struct dif_program *prog = &c->prog;
	const size_t most = first + (size_t)(prog->nclauses - first) * 3;
	struct dif_clause *clauses = ot_arena_alloc(&prog->arena, (most + 1) * sizeof(*clauses));
	uint64_t operators = 0;
	uint32_t n = first;

	if (!clauses)
		return ot_err_nomem();
	if (first)
		memcpy(clauses, prog->clauses, first * sizeof(*clauses));
	for (uint32_t i = first; i < prog->nclauses; i++) {
		const struct dif_clause *clause = &prog->clauses[i];
		struct fl_matched m;
		uint32_t parts;

		OT_TRY(match(s, clause, &m));
		OT_TRY(see_apart(apart, clause, &m));
		OT_TRY(fl_clauses_parts(clause, &m, &prog->arena, &clauses[n], &parts));
		n += parts;
		if (clause->kernel)
			continue;
		operators += m.begin + m.others + m.errors;
		if (clause->text < c->nunits)
			c->units[clause->text].matched -= m.begin + m.others + m.errors;
	}
	prog->clauses = clauses;
	prog->nclauses = n;
	*ret_operators = operators;
	return NULL;
}

/* --- messages --------------------------------------------------------------------------------------------- */

struct ot_err *fl_clause_error(enum ot_err_code code, const struct con_texts *texts,
			       const struct dif_clause *clause, const char *fmt, ...)
{
	const struct con_program *text = clause->text < texts->count ? &texts->items[clause->text] : NULL;
	va_list ap;

	va_start(ap, fmt);
	struct ot_err *err = ot_err_vnew(code, fmt, ap);
	va_end(ap);
	if (!text)
		return err;
	if (!text->is_script)
		return ot_err_prefix(err, "invalid probe specifier %s", text->arg);
	return ot_err_prefix(err, "failed to compile script %s: line %u", text->arg, clause->line);
}
