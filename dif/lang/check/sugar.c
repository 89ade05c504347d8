/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * if and else. DIF's clauses have no branches around actions, so a clause with ifs becomes
 * several, that share hidden clause-local variables:
 *
 *   probe /p/ { a; if (x) { b } else { c } d }
 *
 *     probe      { %ok = 0; }                            only when there is a predicate
 *     probe /p/  { %ok = 0; a; %if1 = x ? 1 : 2; %ok = 1; }
 *     probe /%ok && %if1 == 1/  { %ok = 0; b; %ok = 1; }
 *     probe /%ok && %if1 == 2/  { %ok = 0; c; %ok = 1; }
 *     probe /%ok/               { %ok = 0; d; %ok = 1; }
 *
 * %ok is 1 only behind a piece that ran to its end, so that a fault (or a speculate() that
 * has no buffer) stops the pieces that follow. Clause-locals keep their values, so an outermost if
 * also sets the variables of all ifs within it to 0: those that are not reached take neither branch.
 */
#include <stdio.h>

#include "dif/lang/check/cook.h"
#include "dif/lang/check/sugar.h"

struct sugar {
	struct dif_compiler *c;
	struct dif_piece *first, **tail;
	struct dif_node **body_tail; /* of the open piece */
	bool open;
	const char *ok;
};

static struct dif_node *hidden(struct dif_compiler *c, const char *name)
{
	return dif_node_name(c, DIF_NAME_THIS, name);
}

static const char *hidden_name(struct dif_compiler *c, const char *what)
{
	const char *name = ot_arena_printf(c->nodes, "%%%s%u", what, c->clause->next_hidden++);

	return name ? name : dif_fail_memory(c);
}

static bool append(struct sugar *s, struct dif_node *stmt)
{
	if (!stmt)
		return false;
	stmt->next = NULL;
	*s->body_tail = stmt;
	s->body_tail = &stmt->next;
	return true;
}

/* name = value; */
static bool append_set(struct sugar *s, const char *name, struct dif_node *value)
{
	struct dif_node *asgn = dif_node_op2(s->c, DIF_O_ASGN, hidden(s->c, name), value);
	struct dif_node *stmt = asgn ? dif_node_new(s->c, DIF_N_EXPR) : NULL;

	if (stmt) {
		stmt->left = asgn;
		stmt->line = asgn->line = value->line;
	}
	return append(s, stmt);
}

static bool set_const(struct sugar *s, const char *name, uint64_t value)
{
	struct dif_node *v = dif_node_int(s->c, value, s->c->types->int_);

	return v && append_set(s, name, v);
}

static bool open_piece(struct sugar *s, struct dif_node *predicate)
{
	struct dif_piece *p = dif_new(s->c, &s->c->scratch, struct dif_piece);

	if (!p)
		return false;
	p->predicate = predicate;
	*s->tail = p;
	s->tail = &p->next;
	s->body_tail = &p->body;
	s->open = true;
	return true;
}

/* A piece that runs when the ones before it completed and @cond (may be NULL) holds. */
static bool open_guarded(struct sugar *s, struct dif_node *cond)
{
	struct dif_node *p = hidden(s->c, s->ok);

	if (p && cond)
		p = dif_node_op2(s->c, DIF_O_LAND, p, cond);
	return p && !s->c->diag.failed && open_piece(s, p) && set_const(s, s->ok, 0);
}

static bool close_piece(struct sugar *s)
{
	if (!s->open)
		return true;
	s->open = false;
	return set_const(s, s->ok, 1);
}

static bool add_list(struct sugar *s, struct dif_node *list, const char *var, bool negate);

/* %var == 1 in the branch taken when its condition holds, 2 in the other. */
static struct dif_node *in_branch(struct dif_compiler *c, const char *var, bool negate)
{
	return dif_node_op2(c, DIF_O_EQ, hidden(c, var), dif_node_int(c, negate ? 2 : 1, c->types->int_));
}

static unsigned count_ifs(const struct dif_node *list)
{
	unsigned n = 0;

	for (; list; list = list->next)
		if (list->kind == DIF_N_IF)
			n += 1 + count_ifs(list->args) + count_ifs(list->third);
	return n;
}

/* The next @n variables that hidden_name() will give. */
static bool append_resets(struct sugar *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const char *name = ot_arena_printf(s->c->nodes, "%%if%u", s->c->clause->next_hidden + i);
		if (!name) {
			dif_fail_memory(s->c);
			return false;
		}
		if (!set_const(s, name, 0))
			return false;
	}
	return true;
}

/* The condition is evaluated in the open piece; its branches are pieces of their own. */
static bool add_if(struct sugar *s, struct dif_node *n, const char *outer, bool outer_negated, bool more)
{
	struct dif_compiler *c = s->c;
	const char *var = hidden_name(c, "if");
	struct dif_node *value = dif_node_new(c, DIF_N_OP3);

	if (!var || !value)
		return false;
	value->left = n->left;
	value->right = dif_node_int(c, 1, c->types->int_);
	value->third = dif_node_int(c, 2, c->types->int_);
	value->line = n->line;
	if (!outer && !append_resets(s, count_ifs(n->args) + count_ifs(n->third)))
		return false;
	if (!value->right || !value->third || !dif_node_adopt(c, value, n->left) ||
	    !append_set(s, var, value) || !close_piece(s))
		return false;
	if (n->args && (!add_list(s, n->args, var, false)))
		return false;
	if (n->third && (!add_list(s, n->third, var, true)))
		return false;
	if (!more)
		return true;
	/* later statements run under the outer condition again */
	return open_guarded(s, outer ? in_branch(c, outer, outer_negated) : NULL);
}

/* Statements in the open piece; they are under condition @var. */
static bool add_stmts(struct sugar *s, struct dif_node *list, const char *var, bool negate)
{
	struct dif_node *next;

	for (; list; list = next) {
		next = list->next;
		if (list->kind != DIF_N_IF) {
			if (!append(s, list))
				return false;
			continue;
		}
		if (!add_if(s, list, var, negate, next != NULL))
			return false;
	}
	return true;
}

static bool add_list(struct sugar *s, struct dif_node *list, const char *var, bool negate)
{
	struct dif_node *cond = in_branch(s->c, var, negate);

	return cond && open_guarded(s, cond) && add_stmts(s, list, var, negate) && close_piece(s);
}

static bool has_if(const struct dif_node *list)
{
	for (; list; list = list->next)
		if (list->kind == DIF_N_IF)
			return true;
	return false;
}

struct dif_piece *dif_sugar(struct dif_compiler *c, struct dif_node *predicate, struct dif_node *body)
{
	struct sugar s = { .c = c };

	s.tail = &s.first;
	if (!has_if(body)) {
		if (!open_piece(&s, predicate))
			return NULL;
		s.first->body = body;
		return s.first;
	}
	s.ok = hidden_name(c, "ok");
	if (!s.ok)
		return NULL;
	if (predicate && (!open_piece(&s, NULL) || !set_const(&s, s.ok, 0)))
		return NULL;
	if (!open_piece(&s, predicate) || !set_const(&s, s.ok, 0) || !add_stmts(&s, body, NULL, false) ||
	    !close_piece(&s))
		return NULL;
	return s.first;
}
