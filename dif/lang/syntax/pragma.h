/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control lines: #pragma D …, #line, #error, and the ones that only cpp understands. */
#ifndef DIF_LANG_SYNTAX_PRAGMA_H
#define DIF_LANG_SYNTAX_PRAGMA_H

#include <stdbool.h>
#include <stddef.h>

struct dif_compiler;

/** Act on one line, @p text begins behind the #; false after an error. */
bool dif_control_line(struct dif_compiler *c, const char *text, size_t len);

#endif
