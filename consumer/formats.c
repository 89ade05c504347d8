/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of parsed formats by action. */
#include "consumer/formats.h"

void con_formats_init(struct con_formats *formats)
{
	ot_arena_init(&formats->arena);
	ot_map_init(&formats->by_action);
}

void con_formats_deinit(struct con_formats *formats)
{
	ot_map_deinit(&formats->by_action);
	ot_arena_deinit(&formats->arena);
}

struct ot_err *con_formats_get(struct con_formats *formats, const struct dif_action *action,
			       const struct dif_format **ret)
{
	struct dif_format *fmt = ot_map_get(&formats->by_action, &action, sizeof(action));

	if (!fmt && action->format) {
		fmt = ot_arena_new(&formats->arena, struct dif_format);
		if (!fmt)
			return ot_err_nomem();
		OT_TRY(dif_format_parse(action->format, &formats->arena, fmt));
		if (!ot_map_put(&formats->by_action, &action, sizeof(action), fmt))
			return ot_err_nomem();
	}
	*ret = fmt;
	return NULL;
}
