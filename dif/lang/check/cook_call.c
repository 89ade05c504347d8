/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Function calls. Subroutines are checked here; actions check their own arguments (act*.c). */
#include <string.h>

#include "dif/lang/check/cook.h"
#include "dif/lang/types/suggest.h"

static const char *letter_text(char letter)
{
	static const struct {
		char letter;
		const char *text;
	} texts[] = {
		{ 's', "char *" },    { 'l', "void *" },   { 'p', "void *" },  { 'a', "void *" },
		{ 'u', "uintptr_t" }, { 'c', "char" },     { 'z', "size_t" },  { 'h', "uint16_t" },
		{ 'w', "uint32_t" },  { 'x', "uint64_t" }, { 'q', "int64_t" }, { 't', "pid_t" },
		{ 'd', "dev_t" },
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(texts); i++)
		if (texts[i].letter == letter)
			return texts[i].text;
	return "int";
}

static bool arg_fits(struct dif_compiler *c, char letter, const struct dif_node *arg)
{
	struct dif_type *t = arg->type;

	if (arg->kind == DIF_N_AGG || dif_node_is_action(arg))
		return false;
	switch (letter) {
	case 's':
		return dif_is_stringlike(c, t) || dif_node_is_null(c, arg);
	case 'l':
		return (dif_is_pointer(c, t) && !dif_is_stringlike(c, t)) || dif_node_is_null(c, arg);
	case 'a':
		return dif_is_pointer(c, t) || dif_node_is_null(c, arg);
	case 'p':
		return dif_is_pointer(c, t) || dif_is_array(c, t) || dif_is_string(c, t) ||
		       dif_node_is_null(c, arg) || dif_is_function(c, t);
	case 'u':
		return dif_is_scalar(c, t) || dif_is_array(c, t);
	default:
		return dif_is_int(c, t);
	}
}

/* Letters of a parameter list are explained in builtin.c. */
bool dif_call_count(struct dif_compiler *c, const struct dif_node *n, const char *params)
{
	uint32_t passed = dif_node_count(n->args), min = 0, max = 0;
	bool optional = false;

	for (const char *p = params; *p; p++) {
		optional |= *p == '?' || *p == '.';
		max = *p == '.' ? UINT32_MAX : max + (*p != '?');
		min += !optional;
	}
	if (passed >= min && passed <= max)
		return true;
	return dif_fail(c, DIF_D_PROTO_LEN, n->line, "%s( ) prototype mismatch: %u arg%s passed, %u expected",
			n->name, passed, passed == 1 ? "" : "s", passed < min ? min : max);
}

static bool check_args(struct dif_compiler *c, struct dif_node *n, const char *params)
{
	uint32_t i = 0;

	if (!dif_call_count(c, n, params))
		return false;
	for (struct dif_node *a = n->args; a; a = a->next, params++) {
		params += *params == '?';
		i++;
		if (!arg_fits(c, *params, a))
			return dif_fail(c, DIF_D_PROTO_ARG, n->line,
					"%s( ) argument #%u is incompatible with prototype:\n\tprototype: "
					"%s\n\t argument: %s",
					n->name, i, letter_text(*params), dif_type_text(c, a->type));
	}
	return true;
}

static struct dif_type *result_type(struct dif_compiler *c, const char *name)
{
	size_t len = strlen(name);
	char base[32];

	if (len > 2 && name[len - 1] == '*' && len - 2 < sizeof(base)) {
		memcpy(base, name, len - 2);
		base[len - 2] = '\0';
		return dif_type_pointer(c, ot_map_gets(&c->types->typedefs, base));
	}
	return ot_map_gets(&c->types->typedefs, name);
}

struct dif_node *dif_cook_call(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_ident *id = dif_ident_find(c, DIF_NAME_GLOBAL, n->name);

	if (!id) {
		dif_fail(c, DIF_D_FUNC_UNDEF, n->line, "undefined function name: %s", n->name);
		dif_suggest_function(c, n->name);
		return NULL;
	}
	if (!id->func)
		return dif_fail(c, DIF_D_FUNC_IDKIND, n->line, "%s '%s' may not be referenced as function",
				id->kind == DIF_ID_CONST ? "enumerator" : "variable", n->name);
	if (!dif_use_ident(c, id, n->line))
		return NULL;
	n->ident = id;
	n->type = result_type(c, id->func->result);
	if ((id->func->id == DIF_SUBR_copyout || id->func->id == DIF_SUBR_copyoutstr) &&
	    id->kind == DIF_ID_SUBR && c->clause->has_speculate)
		return dif_fail(c, DIF_D_ACT_SPEC, n->line,
				"destructive actions may not follow speculate( )");
	if (id->kind != DIF_ID_SUBR)
		return dif_call_count(c, n, id->func->params)
			   ? n
			   : NULL; /* arguments are cooked by who understands them */
	if (!n->type || !dif_cook_list(c, &n->args) || !check_args(c, n, id->func->params))
		return NULL;
	/* what a search finds lies in the string that was searched */
	if (id->func->id == DIF_SUBR_strchr || id->func->id == DIF_SUBR_strrchr ||
	    id->func->id == DIF_SUBR_strstr)
		n->is_userland = n->args->is_userland;
	return dif_cook_kernel_call(c, n);
}
