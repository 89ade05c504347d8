/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names: variables, built-ins, enumerators, inlines, symbols of the guest. */
#include <string.h>

#include "dif/lang/check/cook.h"
#include "dif/lang/types/suggest.h"

static const char *scope_text(enum dif_name_scope scope)
{
	return scope == DIF_NAME_SELF ? "self->" : scope == DIF_NAME_THIS ? "this->" : "";
}

/* The type of a new variable with a value of @type: arrays of characters become strings. */
static struct dif_type *variable_type(struct dif_compiler *c, struct dif_type *type)
{
	if (dif_is_array(c, type) && dif_is_stringlike(c, type))
		return c->types->string;
	return type;
}

static struct dif_ident *define(struct dif_compiler *c, struct dif_node *n, struct dif_type *type)
{
	struct dif_ident *id = dif_ident_add(c, n->scope, n->name, DIF_ID_VAR);

	if (!id)
		return NULL;
	id->type = variable_type(c, type);
	id->is_assigned = true;
	id->line = n->line;
	return dif_ident_number(c, id) ? id : NULL;
}

static struct dif_node *make_var(struct dif_node *n, struct dif_ident *id, struct dif_type *type)
{
	n->kind = DIF_N_VAR;
	n->ident = id;
	n->type = type;
	n->is_lvalue = true;
	n->is_writable = id->kind == DIF_ID_VAR;
	return n;
}

static struct dif_node *make_int(struct dif_node *n, uint64_t value, struct dif_type *type)
{
	n->kind = DIF_N_INT;
	n->value = value;
	n->type = type;
	return n;
}

/* --- symbols of the guest ---------------------------------------------------------------- */

static struct dif_node *make_symbol(struct dif_compiler *c, struct dif_node *n, const struct dif_symbol *sym,
				    struct dif_type *type)
{
	if (!type && sym->is_function) {
		type = dif_type_new(c, DIF_C_FUNCTION, "", 0);
		if (type)
			type->ref = c->types->int_;
	}
	n->kind = DIF_N_SYM;
	n->value = sym->address;
	n->is_percpu = sym->is_percpu;
	n->type = type ? type : c->types->void_;
	n->is_lvalue = true;
	return c->diag.failed ? NULL : n; /* an untyped one may still have its address taken */
}

static struct dif_node *unresolved(struct dif_compiler *c, struct dif_node *n, const char *module,
				   const char *name)
{
	if (module && c->world->has_module && !c->world->has_module(c->world->env, module))
		return dif_fail(c, DIF_D_IDENT_UNDEF, n->line, "failed to resolve %s: no such module: %s",
				n->name, module);
	dif_fail(c, DIF_D_IDENT_UNDEF, n->line, "failed to resolve %s: Unknown symbol name", n->name);
	if (c->world->find_symbol)
		dif_suggest_symbol(c, name);
	return NULL;
}

/* Split a name with a backquote. *ret_module: NULL: any. False: out of memory. */
static bool split_symbol(struct dif_compiler *c, const char *text, const char **ret_module,
			 const char **ret_name, bool *ret_is_user)
{
	const char *tick = strrchr(text, '`');

	*ret_name = tick ? tick + 1 : text;
	*ret_is_user = tick > text && tick[-1] == '`';
	*ret_module = NULL;
	tick -= *ret_is_user;
	if (tick && tick > text)
		*ret_module = dif_strndup(c, c->nodes, text, (size_t)(tick - text));
	return !c->diag.failed;
}

bool dif_has(struct dif_compiler *c, const struct dif_node *n)
{
	const char *module, *name;
	struct dif_symbol sym = { 0 };
	uint64_t bits;
	bool is_user;

	if (n->type)
		return dif_is_sou(c, n->type) && dif_member_find(c, n->type, n->name, &bits);
	return split_symbol(c, n->name, &module, &name, &is_user) && !is_user && c->world->find_symbol &&
	       c->world->find_symbol(c->world->env, module, name, &sym);
}

/* `name, mod`name and names declared extern; two backquotes name a symbol of user space, of which none is
 * known */
static struct dif_node *cook_symbol(struct dif_compiler *c, struct dif_node *n, struct dif_ident *ext)
{
	const char *name, *module;
	struct dif_symbol sym = { 0 };
	bool is_user;

	if (!dif_use(c, DIF_ATTRIBUTE_PRIVATE, "symbol", n->name, n->line) ||
	    !split_symbol(c, n->name, &module, &name, &is_user))
		return NULL;
	if ((is_user && !module) || !c->world->find_symbol ||
	    !c->world->find_symbol(c->world->env, module, name, &sym))
		return unresolved(c, n, module, name);
	if (is_user)
		return dif_fail(c, DIF_D_SYM_BADREF, n->line,
				"kernel module '%s' symbol '%s' may not be referenced as a user symbol",
				module, name);
	if (!ext) {
		ext = ot_map_gets(&c->idents->globals, name);
		if (ext && ext->kind != DIF_ID_EXTERN)
			ext = NULL;
	}
	return make_symbol(c, n, &sym, ext ? ext->type : sym.type);
}

/* --- names without a scope ------------------------------------------------------------------ */

/* DTRACEFLT_BADADDR and so on: constants to compare with arg4 of ERROR. */
static bool fault_constant(const char *name, uint64_t *ret)
{
	static const struct {
		const char *name;
		uint64_t value;
	} faults[] = { { "UNKNOWN", 0 },
#define X(num, fault, text, addr) { #fault, num },
		       DIF_FAULTS(X)
#undef X
	};

	if (strncmp(name, "DTRACEFLT_", 10) != 0)
		return false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(faults); i++) {
		if (strcmp(faults[i].name, name + 10) != 0)
			continue;
		*ret = faults[i].value;
		return true;
	}
	return false;
}

static struct dif_node *undefined(struct dif_compiler *c, struct dif_node *n)
{
	struct dif_type *type;
	int64_t value;

	if (n->scope != DIF_NAME_GLOBAL || (c->clause->fresh && !strcmp(c->clause->fresh, n->name))) {
		dif_fail(c, DIF_D_VAR_UNDEF, n->line, "%s%s has not yet been declared or assigned",
			 scope_text(n->scope), n->name);
		dif_suggest_variable(c, n->scope, n->name);
		return NULL;
	}
	if (c->world->find_enumerator && c->world->find_enumerator(c->world->env, n->name, &type, &value))
		return make_int(n, (uint64_t)value, type);
	uint64_t fault;
	if (fault_constant(n->name, &fault))
		return make_int(n, fault, c->types->int_);
	dif_fail(c, DIF_D_IDENT_UNDEF, n->line, "failed to resolve %s: Unknown variable name", n->name);
	dif_suggest_variable(c, n->scope, n->name);
	return NULL;
}

static struct dif_node *cook_builtin(struct dif_compiler *c, struct dif_node *n, struct dif_ident *id)
{
	if (id->is_array)
		return dif_fail(c, DIF_D_IDENT_BADREF, n->line, "array '%s' may not be referenced as scalar",
				id->name);
	if (!id->type)
		id->type = dif_builtin_type(c, id->id);
	return id->type ? make_var(n, id, id->type) : NULL;
}

static struct dif_node *cook_param(struct dif_compiler *c, struct dif_ident *id)
{
	struct dif_node *copy = dif_node_clone(c, id->node);

	if (!copy)
		return NULL;
	copy->is_lvalue = copy->is_writable = false;
	/* its text was written outside of these parameters' scope */
	struct dif_ident *keep = c->idents->params;
	c->idents->params = id->outer;
	copy = dif_cook(c, copy);
	c->idents->params = keep;
	if (!copy || !id->type)
		return copy;
	return dif_type_same(c, copy->type, id->type) ? copy : dif_cast_to(c, copy, id->type);
}

static struct dif_node *not_a_value(struct dif_compiler *c, struct dif_node *n, const char *what)
{
	return dif_fail(c, DIF_D_IDENT_BADREF, n->line, "%s '%s' may not be referenced as scalar", what,
			n->name);
}

struct dif_node *dif_cook_ident(struct dif_compiler *c, struct dif_node *n, struct dif_type *target)
{
	bool symbol = n->scope == DIF_NAME_GLOBAL && strchr(n->name, '`');
	struct dif_ident *id = symbol ? NULL : dif_ident_find(c, n->scope, n->name);

	if (symbol)
		return cook_symbol(c, n, NULL);
	if (!id && target) {
		id = define(c, n, target);
		if (!id)
			return NULL;
	}
	if (!id && !(c->clause->fresh && !strcmp(c->clause->fresh, n->name)))
		id = dif_expected_variable(c, n->scope, n->name);
	if (!id)
		return undefined(c, n);
	if (!dif_use_ident(c, id, n->line))
		return NULL;
	switch (id->kind) {
	case DIF_ID_VAR:
		if (id->is_array)
			return not_a_value(c, n, "associative array");
		return make_var(n, id, id->type);
	case DIF_ID_BUILTIN:
		return cook_builtin(c, n, id);
	case DIF_ID_CONST:
		return make_int(n, id->value, id->type);
	case DIF_ID_INLINE:
		if (id->is_array)
			return not_a_value(c, n, "inline array");
		return dif_cook_inline(c, n, id, NULL);
	case DIF_ID_PARAM:
		return cook_param(c, id);
	case DIF_ID_EXTERN:
		return cook_symbol(c, n, id);
	case DIF_ID_SUBR:
	case DIF_ID_ACTION:
	case DIF_ID_AGGFUNC:
		not_a_value(c, n, "function");
		if (!strcmp(n->name, "func"))
			dif_hint(c, "the probe's function is probefunc");
		dif_hint(c, "did you mean %s( )?", n->name);
		return NULL;
	case DIF_ID_AGG:
		break;
	}
	return not_a_value(c, n, "aggregation");
}
