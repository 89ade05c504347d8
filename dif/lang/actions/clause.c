/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A parsed clause to clauses of the program: pieces between ifs, a statement at a time. */
#include "dif/lang/actions/clause.h"

#include <stdlib.h>
#include <string.h>

#include "dif/lang/actions/match.h"
#include "dif/lang/check/cook.h"
#include "dif/lang/gen/cg.h"
#include "dif/lang/syntax/tree.h"

/* --- actions --------------------------------------------------------------------------------- */

struct dif_action *dif_action_add(struct dif_compiler *c, struct dif_actions *out, uint32_t kind,
				  struct dif_object *object)
{
	if (!ot_grow(&out->list, &out->cap, out->n + 1, sizeof(*out->list)))
		return dif_fail_memory(c);
	struct dif_action *a = &out->list[out->n++];
	*a = (struct dif_action){ .kind = (enum dif_action_kind)kind,
				  .uarg = c->out.next_uarg,
				  .object = object };
	return a;
}

/* An expression evaluated for its effect: assignments, subroutines. */
static bool effect_statement(struct dif_compiler *c, struct dif_node *n, struct dif_actions *out)
{
	struct dif_rtype none = { .kind = DIF_TYPE_CTF };

	n = dif_cook(c, n);
	if (!n)
		return false;
	if (n->kind == DIF_N_AGG && !n->args && !dif_agg_find(c, n->name))
		return dif_fail(c, DIF_D_IDENT_UNDEF, n->line, "undefined aggregation: @%s", n->name);
	if (n->kind == DIF_N_AGG)
		return dif_fail(c, DIF_D_AGG_NULL, n->line, "expression has null effect: @%s", n->name);
	struct dif_object *obj = dif_cg_object(c, n, &none);
	return obj && dif_action_add(c, out, DIF_ACT_difexpr, obj);
}

static bool is_action_call(struct dif_compiler *c, const struct dif_node *n)
{
	if (n->kind != DIF_N_FUNC)
		return false;
	struct dif_ident *id = dif_ident_find(c, DIF_NAME_GLOBAL, n->name);
	return id && id->kind == DIF_ID_ACTION;
}

static bool statement(struct dif_compiler *c, struct dif_node *stmt, struct dif_actions *out)
{
	struct dif_node *n = stmt->left;

	c->out.next_uarg++;
	if (is_action_call(c, n))
		return dif_act_call(c, n, out);
	if (n->kind == DIF_N_OP2 && n->op == DIF_O_ASGN && n->left->op == DIF_O_INDEX && n->left->left &&
	    n->left->left->kind == DIF_N_AGG)
		return dif_cook_index(c, n->left, NULL) != NULL;
	if (n->kind == DIF_N_OP2 && n->op == DIF_O_ASGN && n->left->kind == DIF_N_AGG)
		return dif_act_aggregate(c, n, out);
	return effect_statement(c, n, out);
}

/* --- clauses --------------------------------------------------------------------------------- */

static struct dif_object *predicate(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_rtype ret;

	n = dif_cook(c, n);
	if (!n)
		return NULL;
	if (dif_node_is_action(n))
		return dif_fail(c, DIF_D_OP_ACT, n->line, "a predicate may not be an action");
	n = dif_xlate_tested(c, n);
	if (!n)
		return NULL;
	if (n->kind == DIF_N_AGG || !dif_is_scalar(c, n->type)) {
		dif_fail(c, DIF_D_PRED_SCALAR, n->line, "predicate result must be of scalar type");
		if (n->kind == DIF_N_AGG)
			dif_hint(c, DIF_HINT_AGG_READ);
		return NULL;
	}
	ret = dif_type_rtype(c, n->type);
	return dif_cg_object(c, n, &ret);
}

/* Does it assign, so that it may be the first use of a variable that the body then reads? The parser bounds
 * the depth. */
static bool assigns(const struct dif_node *n)
{
	if (!n)
		return false;
	if (n->kind == DIF_N_OP2 && n->op == DIF_O_ASGN)
		return true;
	if (n->kind == DIF_N_OP1 && (n->op == DIF_O_PREINC || n->op == DIF_O_PREDEC ||
				     n->op == DIF_O_POSTINC || n->op == DIF_O_POSTDEC))
		return true;
	for (const struct dif_node *arg = n->args; arg; arg = arg->next)
		if (assigns(arg))
			return true;
	return assigns(n->left) || assigns(n->right) || assigns(n->third);
}

static bool compile_predicate(struct dif_compiler *c, const struct dif_piece *piece, struct dif_clause *cl)
{
	c->diag.region = "predicate";
	cl->predicate = predicate(c, piece->predicate);
	return cl->predicate != NULL;
}

static bool add_clause(struct dif_compiler *c, const struct dif_clause *cl)
{
	if (!ot_grow(&c->out.clauses, &c->out.clauses_cap, c->out.nclauses + 1, sizeof(*c->out.clauses)))
		return dif_fail_memory(c);
	c->out.clauses[c->out.nclauses] = *cl;
	c->out.clauses[c->out.nclauses++].args_used = c->clause->args_used;
	return true;
}

static bool compile_body(struct dif_compiler *c, struct dif_node *body, struct dif_actions *out)
{
	c->clause->has_data = c->clause->has_speculate = c->clause->has_commit = false;
	out->n = 0;
	c->diag.region = "action list";
	for (struct dif_node *s = body; s; s = s->next)
		if (!statement(c, s, out))
			return false;
	return true;
}

/* As if the compilation had not failed. */
static bool forgive(struct dif_compiler *c)
{
	if (c->diag.no_memory)
		return false;
	c->diag.failed = false;
	c->diag.first = (struct dif_diag){ 0 };
	return true;
}

/* Did an unknown name end the compilation? Then clear the error. */
static bool forgive_unknown(struct dif_compiler *c)
{
	const char *tag = c->diag.first.tag;

	return tag &&
	       (!strcmp(tag, dif_errtag_name(DIF_D_IDENT_UNDEF)) ||
		!strcmp(tag, dif_errtag_name(DIF_D_VAR_UNDEF))) &&
	       forgive(c);
}

/*
 * The body first: a predicate may use a variable that its own clause assigns for the first time. But the
 * predicate may be the one that assigns: if the body fails because of an unknown name, the predicate is
 * compiled first.
 */
static bool compile_both(struct dif_compiler *c, const struct dif_piece *piece, struct dif_clause *cl,
			 struct dif_actions *out)
{
	struct dif_node *spare = NULL;

	if (!piece->predicate)
		return compile_body(c, piece->body, out);
	if (piece->body && assigns(piece->predicate) && !(spare = dif_node_clone_list(c, piece->body)))
		return false;
	if (compile_body(c, piece->body, out))
		return compile_predicate(c, piece, cl);
	return spare && forgive_unknown(c) && compile_predicate(c, piece, cl) && compile_body(c, spare, out);
}

/* A piece for one description. */
static bool compile_piece(struct dif_compiler *c, const struct dif_parsed_clause *pc,
			  const struct dif_piece *piece, const struct dif_probedesc *desc,
			  struct dif_actions *out)
{
	struct dif_clause cl = { .probe = *desc, .line = pc->line };

	bool ok = compile_both(c, piece, &cl, out);
	dif_tree_note(c, DIF_TREE_COOKED, piece->predicate, piece->body);
	if (!ok)
		return false;
	cl.nactions = (uint32_t)out->n;
	if (out->n) {
		cl.actions = dif_alloc(c, &c->out.prog->arena, out->n * sizeof(*cl.actions));
		if (!cl.actions)
			return false;
		memcpy(cl.actions, out->list, out->n * sizeof(*cl.actions));
	}
	return add_clause(c, &cl);
}

static bool compile_for(struct dif_compiler *c, const struct dif_parsed_clause *pc,
			const struct dif_probedesc *desc);

/* Descriptions of single probes, while they are gathered. */
struct singles {
	struct dif_compiler *c;
	const struct dif_probedesc *of;
	struct dif_probedesc *list;
	size_t n, cap;
};

static bool add_single(void *arg, const struct dif_probe_info *probe)
{
	struct singles *s = arg;
	struct ot_arena *arena = &s->c->out.prog->arena;

	if (!ot_grow(&s->list, &s->cap, s->n + 1, sizeof(*s->list)))
		return dif_fail_memory(s->c);
	struct dif_probedesc *d = &s->list[s->n++];
	*d = *s->of;
	d->provider = dif_strdup(s->c, arena, probe->provider);
	d->module = dif_strdup(s->c, arena, probe->module);
	d->function = dif_strdup(s->c, arena, probe->function);
	d->name = dif_strdup(s->c, arena, probe->name);
	return !s->c->diag.failed;
}

/* The probes translate their args[] from different types: each is compiled for by itself. */
static bool compile_split(struct dif_compiler *c, const struct dif_parsed_clause *pc,
			  const struct dif_probedesc *desc)
{
	struct singles singles = { .c = c, .of = desc };
	uint64_t count;
	struct ot_err *err = c->world->match(c->world->env, desc, add_single, &singles, &count);
	bool ok = err ? dif_match_failed(c, err, pc->line) : !c->diag.failed;

	c->out.matched -= c->clause->nprobes; /* they are counted again */
	for (size_t i = 0; ok && i < singles.n; i++) {
		memset(c->clause, 0, sizeof(*c->clause));
		ok = compile_for(c, pc, &singles.list[i]);
	}
	free(singles.list);
	return ok;
}

/* A clause's predicate and statements, parsed. */
struct code {
	struct dif_node *pred, *body;
};

static struct code copied(struct dif_compiler *c, const struct code *code)
{
	return (struct code){ code->pred ? dif_node_clone(c, code->pred) : NULL,
			      code->body ? dif_node_clone_list(c, code->body) : NULL };
}

static bool compile_pieces(struct dif_compiler *c, const struct dif_parsed_clause *pc,
			   const struct dif_probedesc *desc, const struct code *code)
{
	/* clauses run one after another, so they can share the hidden variables of their ifs */
	c->clause->next_hidden = 0;
	dif_tree_note(c, DIF_TREE_PARSED, code->pred, code->body);
	struct dif_piece *piece = dif_sugar(c, code->pred, code->body);
	for (const struct dif_piece *p = piece; p; p = p->next)
		dif_tree_note(c, DIF_TREE_EXPANDED, p->predicate, p->body);
	for (; piece; piece = piece->next) {
		struct dif_actions out = { 0 };
		bool ok = compile_piece(c, pc, piece, desc, &out);
		free(out.list);
		if (!ok)
			return false;
	}
	return !c->diag.failed;
}

/* For the names that it defines, which other clauses may use, although it may be in error for this kernel. */
static bool compile_elsewhere(struct dif_compiler *c, const struct dif_parsed_clause *pc,
			      const struct dif_probedesc *desc)
{
	const struct code code = copied(c, &(struct code){ pc->predicate, pc->body });
	size_t before = c->out.nclauses;

	if (!c->diag.failed && compile_pieces(c, pc, desc, &code))
		return true;
	c->out.nclauses = before;
	return forgive(c);
}

static bool compile_for(struct dif_compiler *c, const struct dif_parsed_clause *pc,
			const struct dif_probedesc *desc)
{
	struct code code = { pc->predicate, pc->body };

	if (!dif_match_probes(c, pc, desc, pc->uses_args))
		return false;
	if (dif_match_pass_over(c))
		return true;
	if (c->clause->is_elsewhere)
		return compile_elsewhere(c, pc, desc);
	if (c->clause->is_split)
		return compile_split(c, pc, desc);
	if (pc->uses_args) /* it differs for each description: cook a copy */
		code = copied(c, &code);
	return !c->diag.failed && compile_pieces(c, pc, desc, &code);
}

bool dif_clause_compile(struct dif_compiler *c, const struct dif_parsed_clause *parsed)
{
	size_t first = c->out.nclauses, n = 0;
	struct dif_parsed_clause here;
	const struct dif_parsed_clause *pc = &here;
	bool elsewhere = false;

	if (!dif_match_names_here(c, parsed, &here))
		return false;
	for (size_t i = 0; i < pc->ndescs; i++) {
		memset(c->clause, 0, sizeof(*c->clause));
		if (!n || pc->uses_args) {
			if (!compile_for(c, pc, &pc->descs[i]))
				return false;
			n = c->out.nclauses - first;
			elsewhere |= c->clause->is_elsewhere;
			continue;
		}
		/* the same objects at another probe */
		if (!dif_match_probes(c, pc, &pc->descs[i], false))
			return false;
		for (size_t k = 0; k < n && !dif_match_pass_over(c); k++) {
			struct dif_clause cl = c->out.clauses[first + k];
			cl.probe = pc->descs[i];
			if (!add_clause(c, &cl))
				return false;
		}
	}
	memset(c->clause, 0, sizeof(*c->clause));
	return n || elsewhere || !dif_match_needs_one(c) || dif_match_none(c, pc);
}
