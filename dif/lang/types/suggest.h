/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Did you mean": after an error about an unknown name, the existing name nearest to it. Each of these adds
 * at most one hint to the error that was just raised.
 */
#ifndef DIF_LANG_TYPES_SUGGEST_H
#define DIF_LANG_TYPES_SUGGEST_H

#include "dif/lang/types/ident.h"

/** For @p name, which is no variable (or inline, enumerator, aggregation …) of @p scope: the same name in
 * another scope, what another language's variable of this name is here, or the nearest name in its scope. */
void dif_suggest_variable(struct dif_compiler *c, enum dif_name_scope scope, const char *name);
/** A function of D: what another language's function of this name is here, or the nearest name. */
void dif_suggest_function(struct dif_compiler *c, const char *name);
/** A member of struct or union @p sou, of those within it that have no name too. */
void dif_suggest_member(struct dif_compiler *c, struct dif_type *sou, const char *name);
/** A member that another system's structure has with a prefix, as cache_name for name; also one of a member,
 * as
 * __sk_common.skc_family for sk_family. */
void dif_suggest_behind_prefix(struct dif_compiler *c, struct dif_type *sou, const char *name);
/** Only a type can stand here, and none is called @p name: report that. Nothing if it is a variable, or a
 * type. */
void dif_suggest_type(struct dif_compiler *c, const char *name);
/** Kernel symbol @p name has no type, and the expression needs one: how to read it, as @p wanted if that is a
 * scalar or a string. NULL: unknown. */
void dif_suggest_reading(struct dif_compiler *c, const char *name, struct dif_type *wanted);
/** A variable @p name that other kernels have and this one lacks: its counterpart here. */
void dif_suggest_symbol(struct dif_compiler *c, const char *name);
void dif_suggest_aggregation(struct dif_compiler *c, const char *name);

#endif
