/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The top level of a D program. */
#include <stdlib.h>

#include "dif/lang/syntax/parse.h"
#include "dif/lang/types/pending.h"

/* A probe description or id of a clause's list. */
struct specs {
	struct dif_probedesc *list;
	size_t n, cap;
};

static bool add_spec(struct dif_compiler *c, struct specs *specs)
{
	struct dif_probedesc desc = { .guest = "", .provider = "", .module = "", .function = "", .name = "" };

	if (c->tok.kind == DIF_T_INTEGER && !(c->src->kind == DIF_SOURCE_COMMAND_LINE &&
					      c->src->spec != DIF_SPEC_ID && c->src->spec != DIF_SPEC_NAME)) {
		if (!c->tok.value || c->tok.value > UINT32_MAX)
			return dif_fail(c, DIF_D_PDESC_INVAL, 0,
					"invalid probe identifier: Unknown probe identifier");
		desc.id = (uint32_t)c->tok.value;
	} else if (c->tok.kind != DIF_T_SPEC && c->tok.kind != DIF_T_IDENT && c->tok.kind != DIF_T_INTEGER) {
		return dif_syntax(c);
	} else if (!dif_parse_probedesc(c, c->tok.start, c->tok.start_len, &desc)) {
		return false;
	}
	if (!ot_grow(&specs->list, &specs->cap, specs->n + 1, sizeof(*specs->list)))
		return dif_fail_memory(c);
	specs->list[specs->n++] = desc;
	dif_next(c);
	return true;
}

/* clause = spec ("," spec)* ("/" expr "/")? block; on the command line the body may be missing
 * when there is no predicate either */
static bool parse_clause_at(struct dif_compiler *c, struct specs *specs)
{
	struct dif_parsed_clause pc = { .line = c->tok.line };

	c->clause.uses_args = false;
	do {
		if (!add_spec(c, specs))
			return false;
	} while (dif_accept(c, DIF_T_COMMA));
	c->lex.mode = DIF_LEX_INNER;
	if (c->tok.kind == DIF_T_DIV || c->tok.kind == DIF_T_EPRED) {
		if (c->tok.kind == DIF_T_EPRED) /* an empty predicate, or "/ /" */
			return dif_syntax(c);
		dif_next(c);
		pc.predicate = dif_parse_expr(c);
		if (!pc.predicate || !dif_expect(c, DIF_T_EPRED))
			return false;
	}
	if (c->tok.kind == DIF_T_LBRACE) {
		bool ok;
		pc.body = dif_parse_block(c, &ok);
		if (!ok)
			return false;
	} else if (pc.predicate) {
		return dif_fail(c, DIF_D_SYNTAX, pc.line, "expected actions { } following predicate");
	} else if (c->tok.kind != DIF_T_EOF) {
		return dif_syntax(c);
	} else if (c->src->kind != DIF_SOURCE_COMMAND_LINE) {
		return dif_fail(c, DIF_D_SYNTAX, pc.line,
				"expected predicate and/or actions following probe description");
	}
	pc.descs = specs->list;
	pc.ndescs = specs->n;
	pc.uses_args = c->clause.uses_args;
	if (!c->src->syntax_only && !c->client->compile_clause(c, &pc))
		return false;
	c->lex.mode = DIF_LEX_OUTER;
	if (c->tok.kind == DIF_T_RBRACE)
		dif_next(c);
	return !c->failed;
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

	c->ncopied = 0;
	switch ((int)c->tok.kind) {
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

bool dif_parse_program(struct dif_compiler *c)
{
	dif_lex_begin(c, c->src->text, c->src->len);
	while (!c->failed && c->tok.kind != DIF_T_EOF) {
		c->saw_anything = true;
		if (!parse_external(c))
			break;
	}
	return !c->failed && dif_pragma_end(c);
}
