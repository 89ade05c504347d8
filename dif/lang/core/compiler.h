/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All state of a compiler, private to dif/lang. What a session keeps (types, names,
 * inlines, translators) lives in `arena`; what one dif_compile() needs (its tree) in `scratch`.
 */
#ifndef DIF_LANG_CORE_COMPILER_H
#define DIF_LANG_CORE_COMPILER_H

#include "base/arena.h"
#include "base/map.h"
#include "dif/lang/compile.h"
#include "dif/lang/core/diag.h"
#include "dif/lang/syntax/ast.h"
#include "dif/lang/syntax/lex.h"
#include "dif/lang/types/ident.h"
#include "dif/lang/types/typetab.h"

struct dif_xlator;
struct dif_parse_client;
struct dif_provider;

/* A #pragma D attributes or binding that waits for what it names to be defined. */
struct dif_pending_pragma {
	const char *pragma; /* "attributes" or "binding" */
	const char *name;
	bool is_provider; /* name is a provider's, of which attr is for `part` */
	enum dif_attr_part part;
	struct dif_attribute attr;
	uint32_t version;
	uint32_t line;
	struct dif_pending_pragma *next, *last; /* for the same name; last: in the first one */
};

/* Types of an argument list: `struct s *, int`. */
struct dif_prototype {
	uint32_t n;
	struct dif_type **types;
};

struct dif_provider_probe {
	struct dif_prototype input, output; /* output is the input where none was given */
	bool has_output;
};

/* A provider that was declared, or that a pragma spoke of. */
struct dif_provider {
	const char *name;
	bool is_declared;
	struct ot_map probes; /* struct dif_provider_probe, by name */
	bool has_attr[DIF_ATTR_PARTS];
	struct dif_attribute attrs[DIF_ATTR_PARTS];
};

/* A clause being compiled, one probe description at a time. */
struct dif_clause_state {
	const struct dif_probedesc *desc;
	bool uses_args; /* args[] occurs in its text */
	/* probes that the description matches, seen as args[] needs them */
	uint64_t nmatched;
	bool args_known, args_differ;
	struct dif_probe_info first;
	/* ordering of actions */
	bool has_data, has_speculate, has_commit;
};

struct dif_compiler {
	const struct dif_world *world;
	struct dif_options *opts;
	struct ot_arena arena;
	struct ot_arena scratch;
	struct ot_arena *nodes; /* where the parser puts nodes: one of the two above */
	const struct dif_parse_client *client;

	/* the first error of this compilation */
	bool failed;
	bool no_memory;
	struct dif_diag diag;

	struct dif_typetab types;
	struct dif_type_source task_source; /* builtin.c: of curthread's type */
	struct ot_map globals, thread, local, aggs;
	struct dif_ident *params; /* in force, innermost first */
	uint32_t next_global, next_thread, next_local, next_agg;
	uint64_t next_uarg;
	uint32_t next_hidden; /* numbers this->%… variables of if/else */
	struct dif_xlator *xlators;
	struct ot_map providers; /* struct dif_provider, by name */
	const char *fresh;       /* the global that the assignment being cooked is to make; NULL */
	uint32_t expand_depth;   /* inlines and translators within each other */
	uint32_t gen;            /* number of this compilation */
	uint32_t hide_uses;      /* within what inlines stand for */

	/* this compilation */
	const struct dif_source *src;
	struct dif_lexer lex;
	struct dif_token tok;
	uint32_t nesting; /* of the recursive descent */
	uint32_t ncopied; /* nodes, for this clause or definition */
	uint64_t matched;
	struct ot_buf tree; /* what -x tree asked for */
	bool is_library;
	bool saw_anything;
	struct dif_program *prog;
	struct dif_clause *clauses; /* new ones */
	size_t nclauses, clauses_cap;
	struct dif_optset *optsets;
	size_t noptsets, optsets_cap;
	struct dif_clause_state clause;
	struct ot_map pending;     /* struct dif_pending_pragma, by name */
	uint32_t npending;         /* names in it that did not come yet */
	struct dif_attribute used; /* the least in this compilation's clauses */
	const char *region;        /* part of a clause that is being compiled: said where there is no line */
	uint32_t cook_depth;       /* while types are checked; what comes later names no region */
};

/* Arena memory that fails the compilation when there is none. */
void *dif_alloc(struct dif_compiler *c, struct ot_arena *arena, size_t size);
const char *dif_strdup(struct dif_compiler *c, struct ot_arena *arena, const char *s);
const char *dif_strndup(struct dif_compiler *c, struct ot_arena *arena, const char *s, size_t len);

#define dif_new(c, arena, type) ((type *)dif_alloc(c, arena, sizeof(type)))

/* provider.c: by name; NULL when there is none (find), when memory ran out (get). */
struct dif_provider *dif_provider_find(const struct dif_compiler *c, const char *name);
struct dif_provider *dif_provider_get(struct dif_compiler *c, const char *name);
/** Has the world probes of this provider? */
bool dif_provider_is_real(struct dif_compiler *c, const char *name);

/** Enter a recursion of the parser; false (and an error) when it is too deep. */
bool dif_nest(struct dif_compiler *c);
static inline void dif_unnest(struct dif_compiler *c)
{
	c->nesting--;
}

#endif
