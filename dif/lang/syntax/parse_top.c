/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The top level of a D program. */
#include <inttypes.h>
#include <stdlib.h>

#include "dif/lang/syntax/parse.h"
#include "dif/lang/types/pending.h"

/* A probe description or id of a clause's list. */
struct specs {
	struct dif_probedesc *list;
	size_t n, cap;
};

/* What -P, -m and -f name takes no number. */
static bool check_number(struct dif_compiler *c)
{
	static const char *const names[] = {
		[DIF_SPEC_PROVIDER] = "providers",
		[DIF_SPEC_MODULE] = "modules",
		[DIF_SPEC_FUNCTION] = "functions",
	};
	const struct dif_source *src = c->unit->src;
	uint64_t id = c->unit->tok.value;

	if (id > UINT32_MAX)
		return dif_fail(c, DIF_D_PDESC_INVAL, 0, "identifier %" PRIu64 " exceeds maximum probe id",
				id);
	if (src->kind == DIF_SOURCE_COMMAND_LINE && src->spec != DIF_SPEC_NAME)
		return dif_fail(c, DIF_D_PDESC_INVAL, 0,
				"probe identifier %" PRIu64 " not permitted when specifying %s", id,
				names[src->spec]);
	if (!id)
		return dif_fail(c, DIF_D_PDESC_INVAL, 0,
				"invalid probe identifier 0: Unknown probe identifier");
	return true;
}

static bool add_spec(struct dif_compiler *c, struct specs *specs)
{
	struct dif_probedesc desc = { .guest = "", .provider = "", .module = "", .function = "", .name = "" };

	if (c->unit->tok.kind == DIF_T_INTEGER) {
		if (!check_number(c))
			return false;
		desc.id = (uint32_t)c->unit->tok.value;
	} else if (c->unit->tok.kind != DIF_T_SPEC && c->unit->tok.kind != DIF_T_IDENT) {
		return dif_syntax(c);
	} else if (!dif_parse_probedesc(c, c->unit->tok.start, c->unit->tok.start_len, &desc)) {
		return false;
	}
	if (!ot_grow(&specs->list, &specs->cap, specs->n + 1, sizeof(*specs->list)))
		return dif_fail_memory(c);
	specs->list[specs->n++] = desc;
	dif_next(c);
	return true;
}

/* clause = spec ("," spec)* ("/" expr "/")? block; on the command line the body may be missing
 * when there is no predicate either, and another clause follow at once */
static bool parse_clause_at(struct dif_compiler *c, struct specs *specs)
{
	struct dif_parsed_clause pc = { .line = c->unit->tok.line };
	bool block = false;

	c->unit->uses_args = false;
	do {
		if (!add_spec(c, specs))
			return false;
	} while (dif_accept(c, DIF_T_COMMA));
	if (c->unit->tok.kind == DIF_T_DIV || c->unit->tok.kind == DIF_T_LBRACE)
		c->unit->lex.mode = DIF_LEX_INNER;
	if (c->unit->tok.kind == DIF_T_DIV) {
		c->unit->lex.in_predicate = true;
		dif_next(c);
		pc.predicate = dif_parse_expr(c);
		c->unit->lex.in_predicate = false;
		if (!pc.predicate || !dif_expect(c, DIF_T_EPRED))
			return false;
	}
	if (c->unit->tok.kind == DIF_T_LBRACE) {
		pc.body = dif_parse_block(c, &block);
		if (!block)
			return false;
	} else if (pc.predicate) {
		return dif_fail(c, DIF_D_SYNTAX, pc.line, "expected actions { } following predicate");
	} else if (c->unit->src->kind != DIF_SOURCE_COMMAND_LINE) {
		return dif_fail(c, DIF_D_SYNTAX, pc.line,
				"expected predicate and/or actions following probe description");
	}
	pc.descs = specs->list;
	pc.ndescs = specs->n;
	pc.uses_args = c->unit->uses_args;
	if (!c->unit->src->syntax_only && !c->unit->client->compile_clause(c, &pc))
		return false;
	c->unit->lex.mode = DIF_LEX_OUTER;
	if (block) /* its "}" is passed here, because no action follows it */
		dif_next(c);
	return !c->diag.failed;
}

static bool parse_clause(struct dif_compiler *c)
{
	struct specs specs = { 0 };
	bool ok = parse_clause_at(c, &specs);

	free(specs.list);
	return ok;
}

/* external = clause | inline | translator | provider | declaration */
static bool parse_external(struct dif_compiler *c)
{
	struct ot_arena *keep = c->nodes;
	bool ok;

	c->unit->ncopied = 0;
	switch ((int)c->unit->tok.kind) {
	case DIF_T_SPEC:
	case DIF_T_INTEGER:
		return parse_clause(c);
	case DIF_T_INLINE:
		c->nodes = &c->arena; /* outlives this compilation */
		ok = dif_parse_inline(c);
		break;
	case DIF_T_TRANSLATOR:
		c->nodes = &c->arena;
		ok = dif_parse_translator(c);
		break;
	case DIF_T_PROVIDER:
		ok = dif_parse_provider(c);
		break;
	default:
		ok = dif_parse_declaration(c);
	}
	c->nodes = keep;
	return ok;
}

bool dif_nest(struct dif_compiler *c)
{
	if (++c->unit->nesting <= DIF_NEST_MAX)
		return true;
	dif_fail(c, DIF_D_SYNTAX, 0, "program is nested too deep");
	return false;
}

bool dif_parse_program(struct dif_compiler *c)
{
	dif_lex_begin(c, c->unit->src->text, c->unit->src->len);
	while (!c->diag.failed && c->unit->tok.kind != DIF_T_EOF) {
		c->unit->saw_anything = true;
		if (!parse_external(c))
			break;
	}
	return !c->diag.failed && dif_pragma_end(c);
}
