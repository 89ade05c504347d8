/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes without the zeros among them, as the layouts of records and keys have many: a string has the room
 * that -x strsize gives it. Packed, they are any number of
 *
 *   n u8 | n bytes | z u8
 *
 * which stand for the n bytes and z zeros behind them.
 */
#ifndef FLEET_LINK_ZEROS_H
#define FLEET_LINK_ZEROS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/** @p data packed, to @p out (cleared before). False: that would not be shorter, or there is no memory. */
bool fl_zeros_pack(const void *data, size_t len, struct ot_buf *out);
/** The reverse. False: it is not packed bytes, stands for more than @p max, or there is no memory
 * (out->failed). */
OT_MUST_CHECK bool fl_zeros_unpack(const void *data, size_t len, size_t max, struct ot_buf *out);

#endif
