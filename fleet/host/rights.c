/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks a program against an operator's rights on this host, clause by clause. */
#include "fleet/host/rights.h"

#include <string.h>

#include "base/units.h"
#include "fleet/host/clauses.h"
#include "vmm-probe/session/listing.h"

/* --- what a clause does ----------------------------------------------------------------------------------- */

static void see_call(uint32_t subr, struct fl_deeds *ret)
{
	const struct dif_function *f = dif_subr_find(subr);

	if (f && f->trait == DIF_TRAIT_destructive)
		ret->destructive = f->name;
	else if (f && f->trait == DIF_TRAIT_user)
		ret->user_memory = f->name;
}

static void see_object(const struct dif_object *obj, struct fl_deeds *ret)
{
	for (uint32_t i = 0; obj && i < obj->text_len; i++) {
		const uint32_t insn = obj->text[i], op = dif_insn_op(insn);

		if (op == DIF_OP_call)
			see_call(dif_insn_idx(insn), ret);
		else if (op >= DIF_OP_uldsb && op <= DIF_OP_uldx)
			ret->user_memory = "a load from a user address";
		else if (op == DIF_OP_ldgs && dif_insn_idx(insn) == DIF_VAR_execargs)
			ret->user_memory = "execargs";
	}
	/* data at a user address is read when it is recorded */
	if (obj && obj->ret.flags & DIF_TF_BYUREF)
		ret->user_memory = "a value at a user address";
}

/* Actions by DTrace's own classes: on the system, and on the kernel's execution. */
static void see_action(const struct dif_action *a, struct fl_deeds *ret)
{
	const char *name = dif_action_name(a->kind);

	if (a->kind == DIF_ACT_system || a->kind == DIF_ACT_freopen)
		ret->of_operator = name;
	else if (DIF_ACT_CLASS(a->kind) == 0x200 || DIF_ACT_CLASS(a->kind) == 0x500)
		ret->destructive = name;
	if (a->kind == DIF_ACT_libact && a->arg == DIF_LIBACT_SETOPT)
		ret->of_operator = "setopt";
	if (a->kind == DIF_ACT_libact && a->arg == DIF_LIBACT_FTRUNCATE)
		ret->of_operator = "ftruncate";
	see_object(a->object, ret);
}

void fl_deeds_of(const struct dif_clause *clause, struct fl_deeds *ret)
{
	*ret = (struct fl_deeds){ 0 };
	see_object(clause->predicate, ret);
	for (uint32_t i = 0; i < clause->nactions; i++)
		see_action(&clause->actions[i], ret);
}

/* --- what it is enabled on -------------------------------------------------------------------------------- */

struct asking {
	const struct fl_rights *rights;
	const char *last; /* the last allowed one: a description may match thousands of its probes */
	const struct vp_probe *refused;
};

static bool ask(void *arg, const struct vp_listed *listed)
{
	const struct vp_probe *probe = listed->probe;
	struct asking *a = arg;

	if (probe->kind == VP_PROBE_HOST || probe->kind == VP_PROBE_ERROR ||
	    (a->last && !strcmp(a->last, probe->provider)))
		return true;
	if (!a->rights->provider(a->rights->arg, probe->provider)) {
		a->refused = probe;
		return false;
	}
	a->last = probe->provider;
	return true;
}

static struct ot_err *check_provider(const struct fl_rights *rights, const struct con_texts *texts,
				     const struct dif_clause *clause, struct vp_session *s)
{
	struct asking a = { .rights = rights };
	uint64_t count;

	if (!rights->provider)
		return NULL;
	OT_TRY(vp_session_match(s, &clause->probe, false, ask, &a, &count));
	if (!a.refused)
		return NULL;
	const struct vp_probe *p = a.refused;
	return fl_clause_error(OT_ERR_PERMISSION, texts, clause,
			       "%s:%s:%s:%s: this host does not allow the provider %s", p->provider,
			       p->module, p->function, p->name, p->provider);
}

/* --- all of it -------------------------------------------------------------------------------------------- */

static struct ot_err *check_deeds(const struct fl_rights *rights, const struct con_texts *texts,
				  const struct dif_clause *clause)
{
	struct fl_deeds d;

	fl_deeds_of(clause, &d);
	if (d.of_operator)
		return fl_clause_error(OT_ERR_UNSUPPORTED, texts, clause,
				       "%s( ) in a clause of a guest's probes: no host decides what is done "
				       "on the operator's machine; use it in BEGIN, in END or in a tick",
				       d.of_operator);
	if (!rights)
		return NULL;
	if (d.destructive && !rights->destructive)
		return fl_clause_error(OT_ERR_PERMISSION, texts, clause,
				       "%s( ): this host does not allow destructive actions", d.destructive);
	if (d.user_memory && !rights->user_memory)
		return fl_clause_error(OT_ERR_PERMISSION, texts, clause,
				       "%s: this host does not allow reading the memory of processes",
				       d.user_memory);
	return NULL;
}

struct ot_err *fl_rights_check(const struct fl_rights *rights, const struct con_texts *texts,
			       const struct con_compilation *c, uint32_t first, struct vp_session *s)
{
	for (uint32_t i = first; i < c->prog.nclauses; i++) {
		const struct dif_clause *clause = &c->prog.clauses[i];

		OT_TRY(check_deeds(rights, texts, clause));
		if (rights)
			OT_TRY(check_provider(rights, texts, clause, s));
	}
	return NULL;
}

void fl_rights_limit(const struct fl_rights *rights, struct dif_options *opts)
{
	if (!rights)
		return;
	opts->destructive &= rights->destructive;
	if (rights->maxcost && (!opts->maxcost || opts->maxcost > rights->maxcost))
		opts->maxcost = rights->maxcost;
	const uint64_t ttl_ns = rights->ttl_s * (uint64_t)OT_NS_PER_SEC;
	if (ttl_ns && (!opts->ttl_ns || opts->ttl_ns > ttl_ns))
		opts->ttl_ns = ttl_ns;
}
