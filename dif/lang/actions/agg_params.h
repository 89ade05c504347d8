/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of aggregating functions: values, increments, the packed parameters. */
#ifndef DIF_LANG_ACTIONS_AGG_PARAMS_H
#define DIF_LANG_ACTIONS_AGG_PARAMS_H

#include "dif/lang/syntax/ast.h"

struct dif_agg_params {
	struct dif_node *value;     /* NULL: count() */
	struct dif_node *increment; /* NULL: 1 */
	uint64_t arg;               /* lquantize, llquantize: packed as published */
};

/** Check the (cooked) arguments of @p call. */
bool dif_agg_params(struct dif_compiler *c, struct dif_node *call, struct dif_agg_params *ret);

/** One aggregation keeps one set of parameters: D_LQUANT_MATCH… */
bool dif_agg_params_match(struct dif_compiler *c, const struct dif_ident *id, const struct dif_node *asgn,
			  const struct dif_agg_params *p);

#endif
