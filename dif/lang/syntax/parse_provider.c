/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Provider definitions: probes and the types of their arguments. */
#include <ctype.h>
#include <string.h>

#include "dif/lang/syntax/parse.h"
#include "dif/lang/types/pending.h"
#include "dif/lang/types/provider_priv.h"

#define NAME_MAX_LEN 63
#define ARGS_MAX     255

static bool check_provider_name(struct dif_compiler *c, const char *name, uint32_t line)
{
	size_t len = strlen(name);

	if (len > NAME_MAX_LEN)
		return dif_fail(c, DIF_D_PROV_BADNAME, line, "provider name may not exceed %d characters: %s",
				NAME_MAX_LEN, name);
	if (strchr(name, '`'))
		return dif_fail(c, DIF_D_PROV_BADNAME, line,
				"provider name may not contain scoping operator: %s", name);
	if (isdigit((unsigned char)name[len - 1]))
		return dif_fail(c, DIF_D_PROV_BADNAME, line, "provider name may not end with a digit: %s",
				name);
	return true;
}

static bool check_probe_name(struct dif_compiler *c, const char *name, uint32_t line)
{
	if (strlen(name) > NAME_MAX_LEN)
		return dif_fail(c, DIF_D_PROV_BADNAME, line, "probe name may not exceed %d characters: %s",
				NAME_MAX_LEN, name);
	if (strchr(name, '`'))
		return dif_fail(c, DIF_D_PROV_BADNAME, line,
				"probe name may not contain scoping operator: %s", name);
	return true;
}

/* prototype = "(" params ")" */
static bool parse_prototype(struct dif_compiler *c, const char *name, const char *kind,
			    struct dif_param **ret_params, struct dif_prototype *ret)
{
	uint32_t n, line = c->unit->tok.line;
	bool variadic;

	if (!dif_expect(c, DIF_T_LPAREN) || !dif_parse_params(c, DIF_T_RPAREN, ret_params, &n, &variadic) ||
	    !dif_expect(c, DIF_T_RPAREN))
		return false;
	if (variadic)
		return dif_fail(c, DIF_D_DECL_PROTO_VARARGS, line,
				"probe arguments may not be a variable-length list");
	if (n > ARGS_MAX)
		return dif_fail(c, DIF_D_PROV_PRARGLEN, line,
				"probe %s %s prototype exceeds %d parameters: %u parameters declared", name,
				kind, ARGS_MAX, n);
	ret->n = 0;
	ret->types = dif_alloc(c, &c->arena, (n + 1) * sizeof(*ret->types));
	for (struct dif_param *p = *ret_params; ret->types && p; p = p->next)
		ret->types[ret->n++] = p->type;
	return ret->types != NULL;
}

static bool same_prototype(struct dif_compiler *c, const char *provider, const char *name, const char *kind,
			   const struct dif_prototype *was, const struct dif_prototype *is, uint32_t line)
{
	if (was->n != is->n)
		return dif_fail(c, DIF_D_PROV_INCOMPAT, line,
				"probe %s:%s %s prototype mismatch:\n\t current: %u arg%s\n\tprevious: %u "
				"arg%s",
				provider, name, kind, is->n, is->n == 1 ? "" : "s", was->n,
				was->n == 1 ? "" : "s");
	for (uint32_t i = 0; i < is->n; i++)
		if (!dif_type_same(c, was->types[i], is->types[i]))
			return dif_fail(c, DIF_D_PROV_INCOMPAT, line,
					"probe %s:%s %s prototype argument #%u mismatch:\n\t current: "
					"%s\n\tprevious: %s",
					provider, name, kind, i + 1, dif_type_text(c, is->types[i]),
					dif_type_text(c, was->types[i]));
	return true;
}

/* A provider that was known before may be declared again, in the same form. */
static bool redeclare(struct dif_compiler *c, const struct dif_provider *prov, const char *name,
		      const struct dif_provider_probe *is, uint32_t line)
{
	const struct dif_provider_probe *was = ot_map_gets(&prov->probes, name);

	if (!was)
		return dif_fail(c, DIF_D_PROV_INCOMPAT, line,
				"provider interface mismatch: %s\n\t current: probe %s:%s defined\n\t"
				"previous: probe %s:%s not defined",
				prov->name, prov->name, name, prov->name, name);
	return same_prototype(c, prov->name, name, "output", &was->output, &is->output, line) &&
	       (!was->has_output || !is->has_output ||
		same_prototype(c, prov->name, name, "input", &was->input, &is->input, line));
}

/* probe = "probe" word prototype (":" prototype)? ";" */
static bool parse_probe(struct dif_compiler *c, struct dif_provider *prov, bool again)
{
	struct dif_param *native, *xlated;
	uint32_t line = c->unit->tok.line;

	if (!dif_expect(c, DIF_T_PROBE) || c->unit->tok.kind != DIF_T_IDENT)
		return c->diag.failed ? false : dif_syntax(c) != NULL;
	const char *name = c->unit->tok.text;
	struct dif_provider_probe *probe = dif_new(c, &c->arena, struct dif_provider_probe);
	if (!probe || !check_probe_name(c, name, line))
		return false;
	dif_next(c);
	if (!parse_prototype(c, name, "input", &native, &probe->input))
		return false;
	probe->output = probe->input;
	if (dif_accept(c, DIF_T_COLON)) {
		probe->has_output = true;
		if (!parse_prototype(c, name, "output", &xlated, &probe->output) ||
		    !c->unit->client->check_output(c, native, xlated, line))
			return false;
	}
	if (!dif_expect(c, DIF_T_SEMI))
		return false;
	if (again)
		return redeclare(c, prov, name, probe, line);
	if (ot_map_gets(&prov->probes, name))
		return dif_fail(c, DIF_D_PROV_PRDUP, line, "probe redeclared: %s:%s", prov->name, name);
	return ot_map_puts(&prov->probes, name, probe) || dif_fail_memory(c);
}

/* provider = "provider" word "{" probe* "}" ";" */
bool dif_parse_provider(struct dif_compiler *c)
{
	c->unit->lex.mode = DIF_LEX_INNER;
	dif_next(c);
	if (c->unit->tok.kind != DIF_T_IDENT)
		return dif_syntax(c);
	if (!check_provider_name(c, c->unit->tok.text, c->unit->tok.line))
		return false;
	struct dif_provider *prov = dif_provider_get(c, c->unit->tok.text);
	if (!prov)
		return false;
	bool again = prov->is_declared || dif_provider_is_real(c, prov->name);
	prov->is_declared = true;
	dif_next(c);
	bool ok = dif_expect(c, DIF_T_LBRACE);
	while (ok && c->unit->tok.kind != DIF_T_RBRACE)
		ok = parse_probe(c, prov, again);
	if (!ok)
		return false;
	dif_next(c);
	return dif_pragma_apply_provider(c, prov->name) && dif_end_definition(c);
}
