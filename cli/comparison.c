/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both views' aggregations, joined by key. */
#include "cli/comparison.h"

struct ot_err *cli_comparison_view(const struct cli_comparison *c, uint32_t i, const struct dif_options *opts,
				   struct cli_agg_view *ret)
{
	struct cli_agg *const columns[] = {
		[CLI_VIEW_OUTSIDE] = &c->outside->vars[i],
		[CLI_VIEW_INSIDE] = &c->inside->vars[i],
	};
	struct cli_agg_order order = cli_agg_order(opts);

	return cli_agg_view_init(ret, columns, OT_ARRAY_SIZE(columns), &order);
}

int64_t cli_comparison_difference(const struct cli_agg_view *v, size_t row)
{
	struct cli_aggval outside = cli_agg_view_value(v, row, CLI_VIEW_OUTSIDE),
			  inside = cli_agg_view_value(v, row, CLI_VIEW_INSIDE);

	return (int64_t)((uint64_t)cli_aggval_number(&inside) - (uint64_t)cli_aggval_number(&outside));
}
