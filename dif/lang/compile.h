/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The D compiler: text to program. One compiler serves a whole session: its globals,
 * aggregations, types and libraries are shared by everything it compiles.
 *
 * dif/ opens no file and knows no guest: types, symbols and probes come through struct
 * dif_world. Errors in a program are diagnostics, returned as values.
 */
#ifndef DIF_LANG_COMPILE_H
#define DIF_LANG_COMPILE_H

#include "dif/lang/core/diag.h"
#include "dif/lang/core/options.h"
#include "dif/lang/core/source.h"
#include "dif/lang/types/provider.h"
#include "dif/lang/types/world.h"
#include "dif/obj/program.h"

struct dif_compiler;

/** @p world and @p opts are borrowed for the compiler's life. */
OT_MUST_CHECK struct ot_err *dif_compiler_create(const struct dif_world *world, struct dif_options *opts,
						 struct dif_compiler **ret);
void dif_compiler_destroy(struct dif_compiler *comp);

#define DIF_PROVIDER_GUESTS 32u

/** What @p comp compiles will belong to providers of the @p guest-th guest (below DIF_PROVIDER_GUESTS): its
 * variables have numbers of their own, so that its clauses can be in one program with those of other guests
 * and of a compiler of D texts, which can't name them. Before the first source. */
void dif_compiler_for_providers(struct dif_compiler *comp, unsigned guest);

/** @p comp compiles for the same program as @p with does for another world: variables and aggregations of one
 * name are shared. Before the first source; @p with is to live as long. */
void dif_compiler_share(struct dif_compiler *comp, struct dif_compiler *with);

/** Take the names of @p other, compiled from the same sources for another world, and verified: clauses whose
 * probes (struct dif_world) and types are only there can't be compiled here, but may define names. Its
 * aggregations become aggregations of @p comp, with or without a clause. Its variables become variables of @p
 * comp if nothing else defines the name, with as much of the type as a program has. Before the first source;
 * nothing of @p other is kept. */
OT_MUST_CHECK struct ot_err *dif_compiler_expect(struct dif_compiler *comp, const struct dif_program *other);

/**
 * Compile one source and append its clauses to @p prog (with aggregations and option settings).
 * On a D error: returns an OT_ERR_SYNTAX error and *ret_diag describes it (borrowed from the
 * compiler); @p prog is as before, but names that the text defined before its error stay known. @p ret_first
 * is the index of the first new clause.
 */
OT_MUST_CHECK struct ot_err *dif_compile(struct dif_compiler *comp, const struct dif_source *src,
					 struct dif_program *prog, uint32_t *ret_first,
					 const struct dif_diag **ret_diag);

/** How many probes the last compiled source's descriptions matched (one that matched twice by
 * two descriptions counts twice), for "matched N probes". */
uint64_t dif_compiler_matched(const struct dif_compiler *comp);

/** The syntax trees of the last compiled source's clauses, as selected by `-x tree`, as text; "" for none.
 * Lives until the next compilation. */
const char *dif_compiler_tree(const struct dif_compiler *comp);

/** The lowest stability of any name used in the last compiled source's clauses. */
struct dif_attribute dif_compiler_used(const struct dif_compiler *comp);

#endif
