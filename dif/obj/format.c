/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsing printf formats. The messages are dtrace's. */
#include <stdbool.h>
#include <string.h>

#include "dif/obj/format.h"

/* The valid conversions, by size prefix. */
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

/* The state of parsing a conversion. */
struct state {
	unsigned number; /* of the conversion, from 1, for messages */
	bool in_prec;    /* after the dot */
	bool in_digits;  /* a 0 is no longer a flag */
	size_t nsize;    /* size letters */
};

/* Of '0' and '-' the last one counts. */
static void add_flag(struct dif_conv *conv, uint32_t flag)
{
	conv->flags |= flag;
	if (flag == DIF_CONV_LEFT)
		conv->flags &= ~(uint32_t)DIF_CONV_ZERO;
	else if (flag == DIF_CONV_ZERO)
		conv->flags &= ~(uint32_t)DIF_CONV_LEFT;
}

/* Parse the decimal number at *@s and advance *@s; 0 counts as none. */
static struct ot_err *add_number(const char **s, struct dif_conv *conv, struct state *st)
{
	int32_t n = 0;

	for (; **s >= '0' && **s <= '9'; ++*s)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, **s - '0', &n))
			return ot_err_new(OT_ERR_SYNTAX, "format conversion #%u: %s is too large", st->number,
					  st->in_prec ? "precision" : "width");
	*(st->in_prec ? &conv->prec : &conv->width) = n ? n : -1;
	st->in_digits = true;
	return NULL;
}

static struct ot_err *add_star(struct dif_conv *conv, const struct state *st)
{
	uint32_t flag = st->in_prec ? DIF_CONV_STAR_PREC : DIF_CONV_STAR_WIDTH;

	if (conv->flags & flag)
		return ot_err_new(OT_ERR_SYNTAX,
				  "format conversion #%u has more than one '*' specified for the output %s",
				  st->number, st->in_prec ? "precision" : "width");
	conv->flags |= flag;
	return NULL;
}

/* Parse one character, or one number, between the percent sign and the letter. *ret: there is none. */
static struct ot_err *parse_modifier(const char **s, struct dif_conv *conv, struct state *st, bool *ret)
{
	char c = **s;
	bool digit = c >= '0' && c <= '9';

	*ret = false;
	if (digit && (c != '0' || st->in_prec || st->in_digits))
		return add_number(s, conv, st);
	if (c == '$')
		return ot_err_new(OT_ERR_SYNTAX,
				  "format conversion #%u uses unsupported positional format (%%n$)",
				  st->number);
	if (c == '.') {
		if (st->in_prec)
			return ot_err_new(OT_ERR_SYNTAX,
					  "format conversion #%u has more than one '.' specified",
					  st->number);
		st->in_prec = true;
		st->in_digits = false;
	} else if (c == '*') {
		OT_TRY(add_star(conv, st));
	} else if (c && strchr("hlLw", c)) {
		if (st->nsize + 1 < sizeof(conv->size))
			conv->size[st->nsize] = c;
		st->nsize++;
	} else if (c && flag_of(c)) {
		add_flag(conv, flag_of(c));
	} else {
		*ret = true;
		return NULL;
	}
	++*s;
	return NULL;
}

/*
 * conversion = "%" { flag | width | "." | precision | "*" | size } letter; *@s is after the percent sign.
 * Modifiers may have any order.
 */
static struct ot_err *parse_conv(const char **s, struct dif_conv *conv, unsigned number)
{
	struct state st = { .number = number };
	const char *start = *s;
	bool letter = false;

	for (;;) {
		OT_TRY(parse_modifier(s, conv, &st, &letter));
		if (letter)
			break;
	}
	if (!**s)
		return ot_err_new(OT_ERR_SYNTAX,
				  "format conversion #%u name expected before end of format string", number);
	if (**s == '%' && *s != start)
		return ot_err_new(OT_ERR_SYNTAX,
				  "format conversion #%u cannot be combined with other format flags: %%%%",
				  number);
	if (st.nsize >= sizeof(conv->size) || !is_conversion(conv->size, **s))
		return ot_err_new(OT_ERR_SYNTAX, "format conversion #%u is undefined: %%%.*s%c", number,
				  (int)sizeof(conv->size), conv->size, **s);
	conv->conv = *(*s)++;
	return NULL;
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
		OT_TRY(parse_conv(&s, conv, fmt.nconvs));
	}
	*ret = fmt;
	return NULL;
}
