/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading UTF-8 strictly, and which of its characters are printable text. */
#ifndef OT_BASE_UTF8_H
#define OT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ot_buf;

/** Length of the UTF-8 sequence that the @p n (> 0) bytes at @p s begin with, by RFC 3629: no surrogates,
 * nothing overlong. 0: they begin with none. -1: they end within one. */
int ot_utf8_length(const uint8_t *s, size_t n);

/** The character of a sequence of that length. */
uint32_t ot_utf8_char(const uint8_t *s, int length);

/** Is the character text? Controls (C0, DEL, C1), Unicode's bidi controls, and line and paragraph separators
 * are not. */
bool ot_utf8_is_text(uint32_t c);

/** Put a '?', in place, for each character of the @p n bytes at @p s that is not text and for each byte that
 * is not UTF-8: an untrusted name then stays on one line. Returns the new length, at most @p n. */
size_t ot_utf8_tame(char *s, size_t n);

/** The same for a string. */
void ot_utf8_tame_string(char *s);

/** Append the @p n bytes at @p s to @p out as valid UTF-8: U+FFFD for each invalid byte. */
void ot_utf8_append(struct ot_buf *out, const void *s, size_t n);

#endif
