/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of strings that grow. */
#include "consumer/texts.h"

bool con_strings_add(struct con_strings *list, const char *s)
{
	if (!ot_grow(&list->items, &list->cap, list->count + 2, sizeof(*list->items)))
		return false;
	list->items[list->count++] = s;
	list->items[list->count] = NULL;
	return true;
}
