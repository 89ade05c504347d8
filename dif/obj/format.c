/* SPDX-License-Identifier: GPL-2.0-or-later */
/* printf formats: text to conversions. */
#include <stdbool.h>
#include <string.h>

#include "dif/obj/format.h"

/* Which conversions exist, by size prefix. */
static const struct {
	const char *size;
	const char *convs;
} conversions[] = {
	{ "", "aAcCdeEfgGiIkopPsSTuxXY%" },
	{ "h", "dioxXu" },
	{ "l", "dioxXucs" },
	{ "ll", "dioxXu" },
	{ "L", "eEfgG" },
	{ "w", "cs" },
};

static bool is_conversion(const char *size, char conv)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(conversions); i++)
		if (!strcmp(conversions[i].size, size))
			return conv && strchr(conversions[i].convs, conv);
	return false;
}

static uint32_t flag_of(char c)
{
	switch (c) {
	case '#':
		return DIF_CONV_ALT;
	case '0':
		return DIF_CONV_ZERO;
	case '-':
		return DIF_CONV_LEFT;
	case '+':
		return DIF_CONV_PLUS;
	case ' ':
		return DIF_CONV_SPACE;
	case '\'':
		return DIF_CONV_GROUP;
	case '@':
		return DIF_CONV_AGG;
	case '?':
		return DIF_CONV_POINTER_WIDTH;
	}
	return 0;
}

/* A decimal number at *@s, moved behind it; none is 0. False when it overflows an int. */
static bool parse_number(const char **s, int32_t *ret)
{
	int32_t n = 0;

	for (; **s >= '0' && **s <= '9'; ++*s)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, **s - '0', &n))
			return false;
	*ret = n;
	return true;
}

/* A width or what follows the dot of a precision: a number or '*'. 0 counts as none. */
static bool parse_extent(const char **s, struct dif_conv *conv, uint32_t star, int32_t *ret)
{
	if (**s == '*') {
		++*s;
		conv->flags |= star;
		return true;
	}
	if (!parse_number(s, ret))
		return false;
	if (!*ret)
		*ret = -1;
	return true;
}

/* size = [ "h" | "l" | "ll" | "L" | "w" ] */
static void parse_size(const char **s, struct dif_conv *conv)
{
	char c = **s;

	if (!c || !strchr("hlLw", c))
		return;
	conv->size[0] = c;
	++*s;
	if (c == 'l' && **s == 'l') {
		conv->size[1] = 'l';
		++*s;
	}
}

static void parse_flags(const char **s, struct dif_conv *conv)
{
	for (uint32_t flag; (flag = flag_of(**s)); ++*s)
		conv->flags |= flag;
}

/* conversion = "%" flag* extent flag* [ "." extent ] flag* size letter; *@s is behind the percent sign. */
static struct ot_err *parse_conv(const char **s, struct dif_conv *conv)
{
	const char *start = *s;

	parse_flags(s, conv);
	if (!parse_extent(s, conv, DIF_CONV_STAR_WIDTH, &conv->width))
		goto too_big;
	parse_flags(s, conv);
	if (**s == '$')
		return ot_err_new(OT_ERR_SYNTAX, "format conversion %%%.*s$ is positional, which D has not",
				  (int)(*s - start), start);
	if (**s == '.') {
		++*s;
		if (!parse_extent(s, conv, DIF_CONV_STAR_PREC, &conv->prec))
			goto too_big;
		parse_flags(s, conv);
	}
	parse_size(s, conv);
	if (!**s)
		return ot_err_new(OT_ERR_SYNTAX, "incomplete format conversion: %%%s", start);
	if (!is_conversion(conv->size, **s))
		return ot_err_new(OT_ERR_SYNTAX, "unknown format conversion: %%%.*s", (int)(*s - start + 1),
				  start);
	conv->conv = *(*s)++;
	if (conv->flags & DIF_CONV_LEFT)
		conv->flags &= ~(uint32_t)DIF_CONV_ZERO;
	return NULL;
too_big:
	return ot_err_new(OT_ERR_SYNTAX, "width or precision is too large: %%%s", start);
}

struct ot_err *dif_format_parse(const char *text, struct ot_arena *arena, struct dif_format *ret)
{
	struct dif_format fmt = { 0 };
	size_t max = 1;

	for (const char *p = text; *p; p++)
		max += *p == '%';
	fmt.convs = ot_arena_alloc(arena, max * sizeof(*fmt.convs));
	const char *s = ot_arena_strdup(arena, text);
	if (!fmt.convs || !s)
		return ot_err_nomem();
	while (*s) {
		size_t literal = strcspn(s, "%");
		if (literal > UINT32_MAX)
			return ot_err_new(OT_ERR_LIMIT, "format of over 4 GiB");
		struct dif_conv *conv = &fmt.convs[fmt.nconvs++];
		*conv = (struct dif_conv){ .literal = s, .literal_len = literal, .width = -1, .prec = -1 };
		s += literal;
		if (!*s)
			break;
		s++;
		OT_TRY(parse_conv(&s, conv));
	}
	*ret = fmt;
	return NULL;
}

unsigned dif_conv_nargs(const struct dif_conv *conv)
{
	unsigned n = conv->conv && conv->conv != '%' && !(conv->flags & DIF_CONV_AGG);

	return n + !!(conv->flags & DIF_CONV_STAR_WIDTH) + !!(conv->flags & DIF_CONV_STAR_PREC);
}
