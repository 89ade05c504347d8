/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Provider definitions: probes and the types of their arguments. */
#include <ctype.h>
#include <string.h>

#include "dif/lang/check/cook.h"
#include "dif/lang/syntax/parse.h"
#include "dif/lang/syntax/pragma.h"
#include "dif/lang/types/provider.h"

#define NAME_MAX_LEN 63
#define ARGS_MAX     255

/* Types of an argument list: `struct s *, int`. */
struct prototype {
	uint32_t n;
	struct dif_type **types;
};

struct dif_provider_probe {
	struct prototype input, output; /* output is the input where none was given */
	bool has_output;
};

struct dif_provider *dif_provider_find(const struct dif_compiler *c, const char *name)
{
	return ot_map_gets(&c->providers, name);
}

struct dif_provider *dif_provider_get(struct dif_compiler *c, const char *name)
{
	struct dif_provider *p = dif_provider_find(c, name);

	if (p)
		return p;
	p = dif_new(c, &c->arena, struct dif_provider);
	if (!p)
		return NULL;
	p->name = dif_strdup(c, &c->arena, name);
	ot_map_init(&p->probes);
	if (!p->name || !ot_map_puts(&c->providers, p->name, p))
		return dif_fail_memory(c);
	return p;
}

bool dif_provider_is_real(struct dif_compiler *c, const char *name)
{
	return c->world->has_dependency && c->world->has_dependency(c->world->env, "provider", name);
}

const struct dif_provider *dif_compiler_provider(const struct dif_compiler *comp, size_t i)
{
	for (size_t k = 0; k < comp->providers.count; k++) {
		const struct dif_provider *p = comp->providers.entries[k]->value;
		/* those that only a pragma spoke of do not count */
		if (p->is_declared && i-- == 0)
			return p;
	}
	return NULL;
}

const char *dif_provider_name(const struct dif_provider *provider)
{
	return provider->name;
}

const char *dif_provider_probe(const struct dif_provider *provider, size_t i)
{
	return i < provider->probes.count ? provider->probes.entries[i]->key : NULL;
}

uint32_t dif_provider_nargs(const struct dif_provider *provider, size_t i)
{
	const struct dif_provider_probe *probe = provider->probes.entries[i]->value;

	return probe->input.n;
}

void dif_provider_arg(struct dif_compiler *comp, const struct dif_provider *provider, size_t i, uint32_t n,
		      struct ot_buf *out)
{
	const struct dif_provider_probe *probe = provider->probes.entries[i]->value;
	struct dif_type *type = probe->input.types[n];

	if (dif_is_string(comp, type))
		ot_buf_printf(out, "char *");
	else
		dif_type_print(type, out);
}

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
			    struct dif_param **ret_params, struct prototype *ret)
{
	uint32_t n, line = c->tok.line;
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

/* The input argument that an output one is made from: the one of its name. */
static const struct dif_param *source_of(struct dif_compiler *c, const struct dif_param *native,
					 const struct dif_param *x, uint32_t line)
{
	if (!x->name)
		return dif_fail(c, DIF_D_DECL_PROTO_NAME, line, "parameter declaration requires a name");
	while (native && (!native->name || strcmp(native->name, x->name) != 0))
		native = native->next;
	if (!native)
		dif_fail(c, DIF_D_DECL_PROTO_FORM, line,
			 "parameter is not declared in probe output prototype: %s", x->name);
	return native;
}

/* Output arguments are input ones, or what a translator makes of them. */
static bool check_output(struct dif_compiler *c, const struct dif_param *native,
			 const struct dif_param *xlated, uint32_t line)
{
	for (const struct dif_param *x = xlated; x; x = x->next) {
		if (!x->name && dif_is_void(c, x->type))
			continue;
		const struct dif_param *from = source_of(c, native, x, line);
		if (!from)
			return false;
		struct dif_node value = { .type = from->type };
		if (dif_assignable(c, x->type, &value) || dif_xlator_exists(c, from->type, x->type))
			continue;
		return dif_fail(c, DIF_D_PROV_PRXLATOR, line, "translator from %s to %s is not defined",
				dif_type_text(c, from->type), dif_type_text(c, x->type));
	}
	return true;
}

static bool same_prototype(struct dif_compiler *c, const char *provider, const char *name, const char *kind,
			   const struct prototype *was, const struct prototype *is, uint32_t line)
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

/* A provider that was known before may be declared again, as what it is. */
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
	uint32_t line = c->tok.line;

	if (!dif_expect(c, DIF_T_PROBE) || c->tok.kind != DIF_T_IDENT)
		return c->failed ? false : dif_syntax(c) != NULL;
	const char *name = c->tok.text;
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
		    !check_output(c, native, xlated, line))
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
	c->lex.mode = DIF_LEX_INNER;
	dif_next(c);
	if (c->tok.kind != DIF_T_IDENT)
		return dif_syntax(c);
	if (!check_provider_name(c, c->tok.text, c->tok.line))
		return false;
	struct dif_provider *prov = dif_provider_get(c, c->tok.text);
	if (!prov)
		return false;
	bool again = prov->is_declared || dif_provider_is_real(c, prov->name);
	prov->is_declared = true;
	dif_next(c);
	bool ok = dif_expect(c, DIF_T_LBRACE);
	while (ok && c->tok.kind != DIF_T_RBRACE)
		ok = parse_probe(c, prov, again);
	if (!ok)
		return false;
	dif_next(c);
	return dif_pragma_apply_provider(c, prov->name) && dif_end_definition(c);
}
