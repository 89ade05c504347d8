/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in messages, beyond those that message.h offers to all. */
#ifndef FLEET_WIRE_VALUE_H
#define FLEET_WIRE_VALUE_H

#include "fleet/wire/message.h"

/** A byte that is 0 or 1. */
bool fl_get_bool(struct fl_reader *r);
/** The number of elements that follow, at most @p max; 0 once @p r has failed. */
uint32_t fl_get_count(struct fl_reader *r, uint32_t max);
/** Zeroed memory for @p n elements; NULL without memory, and @p r has failed. */
void *fl_get_room(struct fl_reader *r, struct ot_arena *arena, uint32_t n, size_t size);
/** A text for a person, which is cut to the FL_TEXT_MAX bytes that a reader accepts. */
void fl_put_sentence(struct ot_buf *out, const char *text);

#endif
