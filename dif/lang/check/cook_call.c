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
		return dif_is_stringlike(c, t) || dif_is_void_pointer(c, t) || dif_node_is_null(c, arg);
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

const char *dif_count_word(uint32_t passed, uint32_t min, uint32_t max)
{
	return min == max ? "" : passed < min ? "at least " : "at most ";
}

bool dif_call_count(struct dif_compiler *c, const struct dif_node *n, const struct dif_function *func)
{
	uint32_t passed = dif_node_count(n->args), min = (uint32_t)strlen(func->required);
	uint32_t max = strchr(func->optional, '.') ? UINT32_MAX : min + (uint32_t)strlen(func->optional);

	if (passed >= min && passed <= max)
		return true;
	return dif_fail(c, DIF_D_PROTO_LEN, n->line,
			"%s( ) prototype mismatch: %u arg%s passed, %s%u expected", n->name, passed,
			passed == 1 ? "" : "s", dif_count_word(passed, min, max), passed < min ? min : max);
}

static bool check_args(struct dif_compiler *c, struct dif_node *n, const struct dif_function *func)
{
	uint32_t i = 0;

	if (!dif_call_count(c, n, func))
		return false;
	for (struct dif_node *a = n->args; a; a = a->next, i++) {
		char letter = dif_function_letter(func, i);
		if (!arg_fits(c, letter, a))
			return dif_fail(c, DIF_D_PROTO_ARG, n->line,
					"%s( ) argument #%u is incompatible with prototype:\n\tprototype: "
					"%s\n\t argument: %s",
					n->name, i + 1, letter_text(letter), dif_type_text(c, a->type));
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

struct dif_ident *dif_called(struct dif_compiler *c, const struct dif_node *call)
{
	struct dif_ident *id = dif_ident_find(c, DIF_NAME_GLOBAL, call->name);

	if (!id) {
		dif_fail(c, DIF_D_FUNC_UNDEF, call->line, "undefined function name: %s", call->name);
		dif_suggest_function(c, call->name);
	}
	return id;
}

/* The lowering of a checked call of a subroutine, by its record. */
static struct dif_node *lower(struct dif_compiler *c, struct dif_node *call)
{
	switch (call->ident->func->lowering) {
	case DIF_LOWER_searched:
		call->is_userland = call->args->is_userland;
		return call;
	case DIF_LOWER_mutex:
		return dif_lower_mutex(c, call);
	case DIF_LOWER_rw_lock:
		return dif_lower_rw_lock(c, call);
	case DIF_LOWER_open_file:
		return dif_lower_open_file(c, call);
	case DIF_LOWER_path:
		return dif_lower_path(c, call);
	default:
		return call;
	}
}

static struct dif_node *cook_subr(struct dif_compiler *c, struct dif_node *n, const struct dif_function *func)
{
	n->type = result_type(c, func->result);
	if (func->trait == DIF_TRAIT_destructive && c->clause->has_speculate)
		return dif_fail(c, DIF_D_ACT_SPEC, n->line,
				"destructive actions may not follow speculate( )");
	if (!n->type || !dif_cook_list(c, &n->args) || !check_args(c, n, func))
		return NULL;
	return lower(c, n);
}

struct dif_node *dif_cook_call(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_ident *id = dif_called(c, n);

	if (!id)
		return NULL;
	if (!id->func) {
		dif_fail(c, DIF_D_FUNC_IDKIND, n->line, "%s '%s' may not be referenced as function",
			 id->kind == DIF_ID_CONST ? "enumerator" : "variable", n->name);
		if (!n->args)
			dif_hint(c, "did you mean %s, without ( )?", n->name);
		return NULL;
	}
	if (!dif_use_ident(c, id, n->line))
		return NULL;
	n->ident = id;
	if (id->kind == DIF_ID_SUBR)
		return cook_subr(c, n, id->func);
	/* arguments of the others are cooked in actions/ */
	n->type = c->types->void_;
	return id->kind == DIF_ID_AGGFUNC || dif_call_count(c, n, id->func) ? n : NULL;
}
