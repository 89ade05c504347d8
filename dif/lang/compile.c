/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dif/lang/compile.h"

#include <stdlib.h>
#include <string.h>

#include "dif/lang/actions/clause.h"
#include "dif/lang/check/cook.h"
#include "dif/lang/core/compiler.h"
#include "dif/lang/syntax/parse.h"

static const struct dif_parse_client passes = {
	.check = dif_cook,
	.define_inline = dif_define_inline,
	.define_translator = dif_define_translator,
	.check_output = dif_check_output,
	.compile_clause = dif_clause_compile,
};

struct ot_err *dif_compiler_create(const struct dif_world *world, struct dif_options *opts,
				   struct dif_compiler **ret)
{
	struct dif_compiler *c = calloc(1, sizeof(*c));

	if (!c)
		return ot_err_nomem();
	ot_buf_init(&c->tree);
	ot_arena_init(&c->arena);
	ot_arena_init(&c->scratch);
	c->nodes = &c->scratch;
	c->client = &passes;
	c->world = world;
	c->opts = opts;
	ot_map_init(&c->globals);
	ot_map_init(&c->thread);
	ot_map_init(&c->local);
	ot_map_init(&c->aggs);
	ot_map_init(&c->pending);
	ot_map_init(&c->providers);
	c->next_global = c->next_thread = c->next_local = DIF_VAR_USER_MIN;
	c->next_agg = 1;
	if (!dif_types_init(c) || !dif_builtins_init(c)) {
		dif_compiler_destroy(c);
		return ot_err_nomem();
	}
	*ret = c;
	return NULL;
}

void dif_compiler_destroy(struct dif_compiler *comp)
{
	if (!comp)
		return;
	ot_map_deinit(&comp->globals);
	ot_map_deinit(&comp->thread);
	ot_map_deinit(&comp->local);
	ot_map_deinit(&comp->aggs);
	ot_map_deinit(&comp->pending);
	for (size_t i = 0; i < comp->providers.count; i++) {
		struct dif_provider *p = comp->providers.entries[i]->value;
		ot_map_deinit(&p->probes);
	}
	ot_map_deinit(&comp->providers);
	dif_types_deinit(&comp->types);
	ot_buf_deinit(&comp->lex.text);
	ot_buf_deinit(&comp->tree);
	free(comp->clauses);
	free(comp->optsets);
	ot_arena_deinit(&comp->arena);
	ot_arena_deinit(&comp->scratch);
	free(comp);
}

/* The array @old of @n elements with @add more behind it, in the program's arena. */
static void *extended(struct dif_compiler *c, const void *old, size_t n, const void *more, size_t add,
		      size_t elem)
{
	char *p = dif_alloc(c, &c->prog->arena, (n + add + 1) * elem);

	if (p && n)
		memcpy(p, old, n * elem);
	if (p && add)
		memcpy(p + n * elem, more, add * elem);
	return p;
}

static struct dif_aggvar *list_aggs(struct dif_compiler *c, uint32_t *ret_n)
{
	struct dif_aggvar *list = dif_alloc(c, &c->prog->arena, (c->aggs.count + 1) * sizeof(*list));
	uint32_t n = 0;

	for (size_t i = 0; list && i < c->aggs.count; i++) {
		const struct dif_ident *id = c->aggs.entries[i]->value;
		list[n++] = (struct dif_aggvar){
			.name = dif_strdup(c, &c->prog->arena, id->name),
			.id = id->id,
			.kind = (enum dif_agg_kind)id->agg_kind,
			.arg = id->agg_arg,
			.nkeys = id->nkeys,
		};
	}
	*ret_n = n;
	return list;
}

/* What the verifier takes (dif/obj/verify_program.c): better said here, with a line of D behind it. */
static bool check_limits(struct dif_compiler *c)
{
	uint64_t nclauses = c->prog->nclauses + c->nclauses, nactions = 0;

	for (uint32_t i = 0; i < c->prog->nclauses; i++)
		nactions += c->prog->clauses[i].nactions;
	for (size_t i = 0; i < c->nclauses; i++)
		nactions += c->clauses[i].nactions;
	if (nclauses <= 65536 && nactions <= 16384 && c->aggs.count <= 4096)
		return true;
	return dif_fail(
	    c, DIF_D_NONE, 0,
	    "program is too big: %llu clauses (at most 65536), %llu actions (16384), %zu aggregations (4096)",
	    (unsigned long long)nclauses, (unsigned long long)nactions, c->aggs.count);
}

/* Put what was compiled into the program: all of it or, without memory, nothing. */
static bool commit(struct dif_compiler *c)
{
	struct dif_program *prog = c->prog;
	uint32_t naggs;
	struct dif_aggvar *aggs = list_aggs(c, &naggs);
	struct dif_clause *clauses =
	    extended(c, prog->clauses, prog->nclauses, c->clauses, c->nclauses, sizeof(*clauses));
	struct dif_optset *opts =
	    extended(c, prog->opts, prog->nopts, c->optsets, c->noptsets, sizeof(*opts));

	if (c->failed)
		return false;
	prog->aggs = aggs;
	prog->naggs = naggs;
	prog->clauses = clauses;
	prog->nclauses += (uint32_t)c->nclauses;
	prog->opts = opts;
	prog->nopts += (uint32_t)c->noptsets;
	return true;
}

/* The last argument given must be used somewhere. */
static bool check_macros(struct dif_compiler *c)
{
	unsigned last = c->src->nargs ? c->src->nargs - 1 : 0;

	if (c->is_library || c->opts->argref || !last || c->lex.macro_max >= last)
		return true;
	c->tok.line = 0;
	return dif_fail(c, DIF_D_MACRO_UNUSED, 0, "extraneous argument '%s' ($%u is not referenced)",
			c->src->args[last], last);
}

static bool check_empty(struct dif_compiler *c)
{
	if (c->saw_anything || c->is_library || c->opts->empty)
		return true;
	c->tok.line = 0;
	return dif_fail(c, DIF_D_EMPTY, 0, "empty D program translation unit");
}

static void reset(struct dif_compiler *c, const struct dif_source *src, struct dif_program *prog)
{
	c->src = src;
	c->prog = prog;
	c->failed = c->no_memory = false;
	c->diag = (struct dif_diag){ 0 };
	c->nesting = c->expand_depth = 0;
	c->matched = 0;
	c->is_library = src->kind == DIF_SOURCE_LIBRARY;
	c->saw_anything = false;
	c->nclauses = c->noptsets = 0;
	ot_map_deinit(&c->pending);
	ot_map_init(&c->pending);
	c->npending = 0;
	c->gen++;
	c->hide_uses = c->cook_depth = 0;
	c->used = DIF_ATTRIBUTE_DEFAULT;
	c->region = NULL;
	c->tree.len = 0;
	c->params = NULL;
	c->fresh = NULL;
	c->nodes = &c->scratch;
	memset(&c->clause, 0, sizeof(c->clause));
	memset(&c->tok, 0, sizeof(c->tok));
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
	if (comp->no_memory)
		return ot_err_nomem();

	*ret_diag = &comp->diag;
	return ot_err_new(OT_ERR_SYNTAX, "%s", comp->diag.message);
}

struct dif_attribute dif_compiler_used(const struct dif_compiler *comp)
{
	return comp->used;
}

uint64_t dif_compiler_matched(const struct dif_compiler *comp)
{
	return comp->matched;
}

const char *dif_compiler_tree(const struct dif_compiler *comp)
{
	return comp->tree.len ? ot_buf_str(&comp->tree) : "";
}
