/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parsed printf formats. The compiler checks arguments against the conversions and makes implied sizes and
 * signs explicit; the consumer prints by them.
 */
#ifndef DIF_OBJ_FORMAT_H
#define DIF_OBJ_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum dif_conv_flag {
	DIF_CONV_ALT = 1,             /* # */
	DIF_CONV_ZERO = 2,            /* 0 */
	DIF_CONV_LEFT = 4,            /* - */
	DIF_CONV_PLUS = 8,            /* + */
	DIF_CONV_SPACE = 16,          /* space */
	DIF_CONV_GROUP = 32,          /* ' */
	DIF_CONV_AGG = 64,            /* @ */
	DIF_CONV_POINTER_WIDTH = 128, /* ? */
	DIF_CONV_STAR_WIDTH = 256,
	DIF_CONV_STAR_PREC = 512,
};

/* A part of a format: literal text, then, unless conv is 0, a conversion. */
struct dif_conv {
	const char *literal;
	uint32_t literal_len;
	uint32_t flags;
	int32_t width; /* -1: none */
	int32_t prec;  /* -1: none */
	char size[3];  /* "", "h", "hh", "l", "ll", "L", "w" */
	char conv;     /* 'd' 's' 'Y' …; '%' for %%; 0: literal text only, at the end */
};

struct dif_format {
	struct dif_conv *convs;
	uint32_t nconvs;
};

/** Parse @p text (already without C escapes); arrays and literals come from @p arena.
 * SYNTAX for an unknown, incomplete or positional conversion. */
OT_MUST_CHECK struct ot_err *dif_format_parse(const char *text, struct ot_arena *arena,
					      struct dif_format *ret);

#endif
