/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both views' aggregations, joined by key. */
#include "consumer/comparison.h"

struct ot_err *con_comparison_view(const struct con_comparison *c, uint32_t i, const struct dif_options *opts,
				   struct con_agg_view *ret)
{
	struct con_agg *const columns[] = {
		[CON_VIEW_OUTSIDE] = &c->outside->vars[i],
		[CON_VIEW_INSIDE] = &c->inside->vars[i],
	};
	struct con_agg_order order = con_agg_order(opts);

	return con_agg_view_init(ret, columns, OT_ARRAY_SIZE(columns), &order);
}

int64_t con_comparison_difference(const struct con_agg_view *v, size_t row)
{
	struct con_aggval outside = con_agg_view_value(v, row, CON_VIEW_OUTSIDE),
			  inside = con_agg_view_value(v, row, CON_VIEW_INSIDE);

	return (int64_t)((uint64_t)con_aggval_number(&inside) - (uint64_t)con_aggval_number(&outside));
}
