/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A compiler's state, private to dif/lang: what every pass needs, and a pointer to the part that each of
 * them adds. What a session keeps (types, names, inlines, translators) lives in `arena`; what one
 * dif_compile() needs (its tree) in `scratch`.
 */
#ifndef DIF_LANG_CORE_COMPILER_H
#define DIF_LANG_CORE_COMPILER_H

#include "base/arena.h"
#include "base/buf.h"
#include "dif/lang/core/diag.h"
#include "dif/lang/core/options.h"
#include "dif/obj/program.h"

/* What a compilation makes. */
struct dif_output {
	struct dif_program *prog;
	struct dif_clause *clauses; /* new ones; they join `prog` when all is well */
	size_t nclauses, clauses_cap;
	struct dif_optset *optsets;
	size_t noptsets, optsets_cap;
	uint64_t next_uarg;        /* numbers statements, over all compilations */
	uint64_t matched;          /* probes */
	struct ot_buf tree;        /* the output of -x tree */
	struct dif_attribute used; /* the least stability of any name that the clauses use */
};

struct dif_world;
struct dif_typetab;
struct dif_idents;
struct dif_unit;
struct dif_clause_state;

struct dif_compiler {
	const struct dif_world *world;
	struct dif_options *opts;
	struct ot_arena arena;
	struct ot_arena scratch;
	struct ot_arena *nodes; /* where nodes go: one of the two above */
	struct dif_diagnostics diag;
	struct dif_output out;
	struct dif_typetab *types;       /* types/typetab.h */
	struct dif_idents *idents;       /* types/ident.h */
	struct dif_unit *unit;           /* syntax/unit.h: the source being read */
	struct dif_clause_state *clause; /* check/cook.h: the clause being compiled */
};

/* Arena memory that fails the compilation when there is none. */
void *dif_alloc(struct dif_compiler *c, struct ot_arena *arena, size_t size);
const char *dif_strdup(struct dif_compiler *c, struct ot_arena *arena, const char *s);
const char *dif_strndup(struct dif_compiler *c, struct ot_arena *arena, const char *s, size_t len);

#define dif_new(c, arena, type) ((type *)dif_alloc(c, arena, sizeof(type)))

#endif
