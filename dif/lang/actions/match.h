/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes that a clause's descriptions match: c->clause holds the result for the last one. */
#ifndef DIF_LANG_ACTIONS_MATCH_H
#define DIF_LANG_ACTIONS_MATCH_H

#include "dif/lang/syntax/parse.h"

/** Match a description of clause @p pc. @p want_args: it uses args[], so the probes are compared in these. */
bool dif_match_probes(struct dif_compiler *c, const struct dif_parsed_clause *pc,
		      const struct dif_probedesc *desc, bool want_args);
/** The world's error about a description, consumed, as the compiler's. Returns false. */
bool dif_match_failed(struct dif_compiler *c, struct ot_err *err, uint32_t line);

/** Option anydefs: at least one of a clause's descriptions must match. */
bool dif_match_needs_one(const struct dif_compiler *c);
/** The description that was matched last gets no clause. */
bool dif_match_pass_over(const struct dif_compiler *c);
/** Option anydefs, and no description matched: the error, with the reason for those that are refused. Returns
 * false. */
bool dif_match_none(struct dif_compiler *c, const struct dif_parsed_clause *pc);

/** The clause with this world's names of its descriptions' probes (named_here()), each probe once if two
 * names mean the same one here. *ret borrows from @p pc and lives as long as the source's compilation. False
 * after an error. */
bool dif_match_names_here(struct dif_compiler *c, const struct dif_parsed_clause *pc,
			  struct dif_parsed_clause *ret);

#endif
