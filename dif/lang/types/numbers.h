/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of variables and aggregations. A program may be compiled once for each of several kernels, by a
 * compiler each, into one program: a name has one number there, whichever compiler meets it first.
 */
#ifndef DIF_LANG_TYPES_NUMBERS_H
#define DIF_LANG_TYPES_NUMBERS_H

#include <stdint.h>

#include "base/map.h"

#define DIF_NUMBER_SCOPES 3 /* enum dif_name_scope */

struct dif_numbers {
	struct ot_map vars[DIF_NUMBER_SCOPES], aggs; /* number, by name */
	uint32_t next[DIF_NUMBER_SCOPES];
	uint32_t last; /* greatest number of a variable */
};

/** Variables have numbers from @p first to @p last in each scope, aggregations from 1. */
void dif_numbers_init(struct dif_numbers *numbers, uint32_t first, uint32_t last);
void dif_numbers_deinit(struct dif_numbers *numbers);

/** The number of a variable, a new one for a new name. False without memory; *ret 0: there is none left. */
bool dif_numbers_variable(struct dif_numbers *numbers, unsigned scope, const char *name, uint32_t *ret);
/** The same of an aggregation; their number is unlimited. */
bool dif_numbers_aggregation(struct dif_numbers *numbers, const char *name, uint32_t *ret);

#endif
