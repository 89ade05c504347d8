/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names: what D text can refer to, and the tables that hold them. Globals (variables,
 * built-ins, functions, inlines, enumerators, externs) share one name space; self->, this->
 * and @ have their own.
 */
#ifndef DIF_LANG_TYPES_IDENT_H
#define DIF_LANG_TYPES_IDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "dif/lang/types/numbers.h"
#include "dif/lang/types/typetab.h"

enum dif_name_scope { DIF_NAME_GLOBAL, DIF_NAME_SELF, DIF_NAME_THIS };

struct dif_node;
struct dif_xlator;

enum dif_ident_kind {
	DIF_ID_VAR,     /* a user's scalar or array variable */
	DIF_ID_BUILTIN, /* id below DIF_VAR_USER_MIN */
	DIF_ID_AGG,
	DIF_ID_INLINE,
	DIF_ID_CONST,  /* an enumerator */
	DIF_ID_EXTERN, /* a symbol of the guest with a type declared in D */
	DIF_ID_PARAM,  /* an inline's or translator's parameter: stands for `node` */
	DIF_ID_SUBR,
	DIF_ID_ACTION,
	DIF_ID_AGGFUNC,
};

struct dif_ident {
	const char *name;
	enum dif_ident_kind kind;
	uint8_t var_scope; /* DIF_SCOPE_* */
	bool is_array;     /* associative */
	bool is_declared;  /* type came from a declaration, not from a first use */
	bool is_assigned;  /* somewhere written or declared */
	bool uses_args;    /* INLINE: args[] occurs in it */
	uint32_t id;
	struct dif_type *type; /* NULL: not known yet */
	/* keys of an array, parameters of an inline */
	uint32_t nkeys;
	bool has_keys; /* nkeys and keys are fixed; of an aggregation that is expected they are a guess */
	struct dif_type **keys;
	const char **param_names;
	struct dif_node *node; /* INLINE: body; PARAM: what it stands for */
	bool is_busy;          /* INLINE: being expanded */
	uint64_t value;        /* CONST; EXTERN: address */
	/* AGG */
	uint32_t agg_kind;
	uint64_t agg_arg;
	const struct dif_function *func;
	struct dif_ident *outer; /* PARAM: chain of what is in force */
	uint32_t line;
	struct dif_attribute attr;
	uint32_t version; /* of D that it came with */
	uint32_t gen;     /* the compilation that defined it; 0: D itself */
};

/* The names of a session. */
struct dif_idents {
	struct ot_map globals, thread, local, aggs; /* struct dif_ident, by name */
	struct ot_map providers;                    /* struct dif_provider, by name */
	struct dif_xlator *xlators;
	struct dif_ident *params;                  /* in force, innermost first */
	struct dif_numbers own, *numbers;          /* in force: its own, or those of another compiler */
	uint32_t gen;                              /* number of this compilation */
	struct ot_map pending;                     /* struct dif_pending_pragma, by name */
	uint32_t npending;                         /* names in it that are not defined yet */
	struct ot_map expected[DIF_NUMBER_SCOPES]; /* struct dif_var, by name: expected.c */
};

void dif_idents_init(struct dif_idents *ids);
void dif_idents_deinit(struct dif_idents *ids);
/** A compilation begins: pragmas wait for nothing yet, and no parameters are in force. */
void dif_idents_begin(struct dif_idents *ids);

/** Look a global name up: parameters in force, then globals (functions and built-ins too). */
struct dif_ident *dif_ident_find(struct dif_compiler *c, enum dif_name_scope scope, const char *name);
/** Is it a built-in variable that no other DTrace has? A program may define the name, as in those. */
bool dif_ident_is_own(const struct dif_ident *id);
/** Add a name; NULL when memory ran out. */
struct dif_ident *dif_ident_add(struct dif_compiler *c, enum dif_name_scope scope, const char *name,
				enum dif_ident_kind kind);
struct dif_ident *dif_agg_find(struct dif_compiler *c, const char *name);
struct dif_ident *dif_agg_add(struct dif_compiler *c, const char *name);

/** See dif_compiler_expect(); false without memory. */
bool dif_expected_from(struct dif_compiler *c, const struct dif_program *other);
/** A variable that nothing here has defined and that another compilation of the same texts defines
 * (dif_compiler_expect()): it is defined now, with the type that is known there. NULL: there is none, or no
 * memory. */
struct dif_ident *dif_expected_variable(struct dif_compiler *c, enum dif_name_scope scope, const char *name);

/** Give a user variable its number (D_ID_OFLOW). */
bool dif_ident_number(struct dif_compiler *c, struct dif_ident *id);

/** Fill the global table: built-in variables, functions, NULL. */
bool dif_builtins_init(struct dif_compiler *c);

/** Type of a built-in variable; NULL without memory. */
struct dif_type *dif_builtin_type(struct dif_compiler *c, uint32_t id);

#endif
