/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compiler's interface: a session, and one text after another through the passes. */
#include "dif/lang/compile.h"

#include <stdlib.h>
#include <string.h>

#include "dif/lang/actions/clause.h"
#include "dif/lang/check/cook.h"
#include "dif/lang/syntax/unit.h"

static const struct dif_parse_client passes = {
	.check = dif_cook,
	.define_inline = dif_define_inline,
	.define_translator = dif_define_translator,
	.check_output = dif_check_output,
	.compile_clause = dif_clause_compile,
};

/* A compiler with the parts that its passes add. */
struct whole {
	struct dif_compiler c;
	struct dif_typetab types;
	struct dif_idents idents;
	struct dif_unit unit;
	struct dif_clause_state clause;
};

struct ot_err *dif_compiler_create(const struct dif_world *world, struct dif_options *opts,
				   struct dif_compiler **ret)
{
	struct whole *w = calloc(1, sizeof(*w));

	if (!w)
		return ot_err_nomem();
	struct dif_compiler *c = &w->c;
	c->types = &w->types;
	c->idents = &w->idents;
	c->unit = &w->unit;
	c->clause = &w->clause;
	ot_buf_init(&c->out.tree);
	ot_arena_init(&c->arena);
	ot_arena_init(&c->scratch);
	c->nodes = &c->scratch;
	c->unit->client = &passes;
	c->world = world;
	c->opts = opts;
	dif_idents_init(c->idents);
	if (!dif_types_init(c) || !dif_builtins_init(c)) {
		dif_compiler_destroy(c);
		return ot_err_nomem();
	}
	*ret = c;
	return NULL;
}

void dif_compiler_for_providers(struct dif_compiler *comp, unsigned guest)
{
	struct dif_idents *ids = comp->idents;
	const uint32_t each = (DIF_VAR_MAX + 1 - DIF_VAR_PROVIDER_MIN) / DIF_PROVIDER_GUESTS;
	uint32_t first = DIF_VAR_PROVIDER_MIN + guest * each;

	dif_numbers_deinit(&ids->own);
	dif_numbers_init(&ids->own, first, first + each - 1);
}

void dif_compiler_share(struct dif_compiler *comp, struct dif_compiler *with)
{
	comp->idents->numbers = with->idents->numbers;
}

struct ot_err *dif_compiler_expect(struct dif_compiler *comp, const struct dif_program *other)
{
	return dif_expected_from(comp, other) ? NULL : ot_err_nomem();
}

void dif_compiler_destroy(struct dif_compiler *comp)
{
	if (!comp)
		return;
	dif_idents_deinit(comp->idents);
	dif_types_deinit(comp->types);
	ot_buf_deinit(&comp->unit->lex.text);
	ot_buf_deinit(&comp->out.tree);
	free(comp->out.clauses);
	free(comp->out.optsets);
	ot_arena_deinit(&comp->arena);
	ot_arena_deinit(&comp->scratch);
	free(comp); /* the first member of the allocation */
}

/* The array @old of @n elements with @add more at its end, in the program's arena. */
static void *extended(struct dif_compiler *c, const void *old, size_t n, const void *more, size_t add,
		      size_t elem)
{
	char *p = dif_alloc(c, &c->out.prog->arena, (n + add + 1) * elem);

	if (p && n)
		memcpy(p, old, n * elem);
	if (p && add)
		memcpy(p + n * elem, more, add * elem);
	return p;
}

/* The program's aggregations, by number: those that another compiler has listed, and this one's. */
static struct dif_aggvar *list_aggs(struct dif_compiler *c, uint32_t *ret_n)
{
	const struct dif_program *prog = c->out.prog;
	size_t n = c->idents->numbers->aggs.count;
	struct dif_aggvar *list = dif_alloc(c, &c->out.prog->arena, (n + 1) * sizeof(*list));

	if (list && prog->naggs)
		memcpy(list, prog->aggs, prog->naggs * sizeof(*list));
	for (size_t i = 0; list && i < c->idents->aggs.count; i++) {
		const struct dif_ident *id = c->idents->aggs.entries[i]->value;
		if (id->id <= prog->naggs && list[id->id - 1].kind)
			continue; /* that clause may have failed here, and not there */
		list[id->id - 1] = (struct dif_aggvar){
			.name = dif_strdup(c, &c->out.prog->arena, id->name),
			.id = id->id,
			.kind = (enum dif_agg_kind)id->agg_kind,
			.arg = id->agg_arg,
			.nkeys = id->nkeys,
		};
	}
	*ret_n = (uint32_t)n;
	return list;
}

static bool check_limits(struct dif_compiler *c)
{
	uint64_t nclauses = c->out.prog->nclauses + c->out.nclauses, nactions = 0;

	for (uint32_t i = 0; i < c->out.prog->nclauses; i++)
		nactions += c->out.prog->clauses[i].nactions;
	for (size_t i = 0; i < c->out.nclauses; i++)
		nactions += c->out.clauses[i].nactions;
	if (nclauses <= DIF_CLAUSES_MAX && nactions <= DIF_ACTIONS_MAX &&
	    c->idents->aggs.count <= DIF_AGGS_MAX)
		return true;
	return dif_fail(
	    c, DIF_D_NONE, 0,
	    "program is too big: %llu clauses (at most %u), %llu actions (%u), %zu aggregations (%u)",
	    (unsigned long long)nclauses, DIF_CLAUSES_MAX, (unsigned long long)nactions, DIF_ACTIONS_MAX,
	    c->idents->aggs.count, DIF_AGGS_MAX);
}

/* Put the compiled clauses into the program: all of it or, without memory, nothing. */
static bool commit(struct dif_compiler *c)
{
	struct dif_program *prog = c->out.prog;
	uint32_t naggs;
	struct dif_aggvar *aggs = list_aggs(c, &naggs);
	struct dif_clause *clauses =
	    extended(c, prog->clauses, prog->nclauses, c->out.clauses, c->out.nclauses, sizeof(*clauses));
	struct dif_optset *opts =
	    extended(c, prog->opts, prog->nopts, c->out.optsets, c->out.noptsets, sizeof(*opts));

	if (c->diag.failed)
		return false;
	prog->aggs = aggs;
	prog->naggs = naggs;
	prog->clauses = clauses;
	prog->nclauses += (uint32_t)c->out.nclauses;
	prog->opts = opts;
	prog->nopts += (uint32_t)c->out.noptsets;
	return true;
}

/* The last argument given must be used somewhere. */
static bool check_macros(struct dif_compiler *c)
{
	unsigned last = c->unit->src->nargs ? c->unit->src->nargs - 1 : 0;

	if (c->unit->is_library || c->opts->argref || !last || c->unit->lex.macro_max >= last)
		return true;
	c->diag.line = 0;
	return dif_fail(c, DIF_D_MACRO_UNUSED, 0, "extraneous argument '%s' ($%u is not referenced)",
			c->unit->src->args[last], last);
}

static bool check_empty(struct dif_compiler *c)
{
	if (c->unit->saw_anything || c->unit->is_library || c->opts->empty)
		return true;
	c->diag.line = 0;
	return dif_fail(c, DIF_D_EMPTY, 0, "empty D program translation unit");
}

static void reset(struct dif_compiler *c, const struct dif_source *src, struct dif_program *prog)
{
	c->unit->src = src;
	c->out.prog = prog;
	c->diag = (struct dif_diagnostics){ 0 };
	c->unit->nesting = 0;
	c->out.matched = 0;
	c->unit->is_library = src->kind == DIF_SOURCE_LIBRARY;
	c->unit->saw_anything = false;
	c->out.nclauses = c->out.noptsets = 0;
	dif_idents_begin(c->idents);
	c->out.used = DIF_ATTRIBUTE_DEFAULT;
	c->out.tree.len = 0;
	c->nodes = &c->scratch;
	memset(c->clause, 0, sizeof(*c->clause));
	memset(&c->unit->tok, 0, sizeof(c->unit->tok));
}

struct ot_err *dif_compile(struct dif_compiler *comp, const struct dif_source *src, struct dif_program *prog,
			   uint32_t *ret_first, const struct dif_diag **ret_diag)
{
	uint32_t first = prog->nclauses;

	reset(comp, src, prog);
	bool ok = dif_parse_program(comp) && check_empty(comp) && check_macros(comp) && check_limits(comp) &&
		  commit(comp);
	ot_arena_deinit(&comp->scratch);
	if (ok) {
		*ret_first = first;
		return NULL;
	}
	if (comp->diag.no_memory)
		return ot_err_nomem();

	*ret_diag = &comp->diag.first;
	return ot_err_new(OT_ERR_SYNTAX, "%s", comp->diag.first.message);
}

struct dif_attribute dif_compiler_used(const struct dif_compiler *comp)
{
	return comp->out.used;
}

uint64_t dif_compiler_matched(const struct dif_compiler *comp)
{
	return comp->out.matched;
}

const char *dif_compiler_tree(const struct dif_compiler *comp)
{
	return comp->out.tree.len ? ot_buf_str(&comp->out.tree) : "";
}
