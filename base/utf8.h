/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OT_BASE_UTF8_H
#define OT_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/** Length of the UTF-8 sequence that the @p n (> 0) bytes at @p s begin with, by RFC 3629: no surrogates,
 * nothing overlong. 0: they begin with none. -1: they end within one. */
int ot_utf8_length(const uint8_t *s, size_t n);

/** The character of a sequence of that length. */
uint32_t ot_utf8_char(const uint8_t *s, int length);

#endif
