/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of printf() and its like, parsed when they are first used. */
#ifndef CONSUMER_FORMATS_H
#define CONSUMER_FORMATS_H

#include "base/arena.h"
#include "base/map.h"
#include "dif/obj/format.h"
#include "dif/obj/program.h"

struct con_formats {
	struct ot_arena arena;
	struct ot_map by_action; /* action → struct dif_format */
};

void con_formats_init(struct con_formats *formats);
void con_formats_deinit(struct con_formats *formats);

/** The parsed format of @p action, which lives as long as @p formats; *ret NULL: it has none. */
OT_MUST_CHECK struct ot_err *con_formats_get(struct con_formats *formats, const struct dif_action *action,
					     const struct dif_format **ret);

#endif
