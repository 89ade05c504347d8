/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Integers, characters, strings. */
#include <ctype.h>
#include <string.h>

#include "dif/lang/syntax/unit.h"

struct dif_type *dif_integer_type(struct dif_compiler *c, uint64_t value, bool is_unsigned, int longs,
				  bool decimal)
{
	struct dif_typetab *t = c->types;
	const struct {
		struct dif_type *type;
		uint64_t max;
		bool is_unsigned;
		int longs;
	} fits[] = {
		{ t->int_, INT32_MAX, false, 0 },  { t->uint, UINT32_MAX, true, 0 },
		{ t->long_, INT64_MAX, false, 1 }, { t->ulong, UINT64_MAX, true, 1 },
		{ t->llong, INT64_MAX, false, 2 }, { t->ullong, UINT64_MAX, true, 2 },
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(fits); i++) {
		if (fits[i].longs < longs || value > fits[i].max)
			continue;
		if (fits[i].is_unsigned ? is_unsigned || !decimal : !is_unsigned)
			return fits[i].type;
	}
	return t->ullong;
}

static int digit_value(char ch)
{
	if (isdigit((unsigned char)ch))
		return ch - '0';
	if (isxdigit((unsigned char)ch))
		return tolower((unsigned char)ch) - 'a' + 10;
	return 99;
}

/* A constant as it stands in the text, suffix included. */
static int constant_len(const struct dif_compiler *c, const char *digits_end)
{
	const struct dif_lexer *lex = &c->unit->lex;
	const char *e = digits_end;

	while (e < lex->end && ((*e | 32) == 'u' || (*e | 32) == 'l'))
		e++;
	return e - lex->at > 60 ? 60 : (int)(e - lex->at);
}

/* Digits [s, e) in @base; false with an error. */
static bool to_number(struct dif_compiler *c, const char *s, const char *e, unsigned base, uint64_t *ret)
{
	uint64_t v = 0;

	for (const char *p = s; p < e; p++) {
		unsigned d = (unsigned)digit_value(*p);
		if (d >= base)
			return dif_fail(c, DIF_D_INT_DIGIT, 0, "constant %.*s contains invalid digit %c",
					constant_len(c, e), c->unit->lex.at, *p);
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v))
			return dif_fail(c, DIF_D_INT_OFLOW, 0, "constant %.*s results in integer overflow",
					constant_len(c, e), c->unit->lex.at);
	}
	*ret = v;
	return true;
}

static bool is_float(const char *p, const char *end)
{
	if (p < end && *p == '.')
		return true;
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		return p < end && isdigit((unsigned char)*p);
	}
	return false;
}

void dif_lex_number(struct dif_compiler *c, struct dif_token *tok)
{
	struct dif_lexer *lex = &c->unit->lex;
	const char *s = lex->at, *p = s;
	unsigned base = 10;
	bool is_unsigned = false;
	int longs = 0;

	if (lex->end - s > 2 && s[0] == '0' && (s[1] | 32) == 'x' && isxdigit((unsigned char)s[2])) {
		base = 16;
		s = p = s + 2;
		while (p < lex->end && isxdigit((unsigned char)*p))
			p++;
	} else {
		while (p < lex->end && isdigit((unsigned char)*p))
			p++;
		/* At the top level a point begins a description. */
		if (lex->mode == DIF_LEX_INNER && is_float(p, lex->end)) {
			dif_fail(c, DIF_D_SYNTAX, 0, "floating-point constants are not permitted");
			return;
		}
		base = *s == '0' ? 8 : 10;
	}
	if (!to_number(c, s, p, base, &tok->value))
		return;
	for (; p < lex->end && ((*p | 32) == 'u' || (*p | 32) == 'l'); p++) {
		is_unsigned |= (*p | 32) == 'u';
		longs += (*p | 32) == 'l';
	}
	lex->at = p;
	tok->kind = DIF_T_INTEGER;
	tok->type = dif_integer_type(c, tok->value, is_unsigned, longs, base == 10);
}

static unsigned octal_escape(struct dif_lexer *lex)
{
	unsigned v = 0;

	for (int i = 0; i < 3 && lex->at < lex->end && *lex->at >= '0' && *lex->at <= '7'; i++)
		v = v * 8 + (unsigned)(*lex->at++ - '0');
	return v & 0xff;
}

static unsigned hex_escape(struct dif_lexer *lex)
{
	unsigned v = 0;

	while (lex->at < lex->end && isxdigit((unsigned char)*lex->at))
		v = v << 4 | (unsigned)digit_value(*lex->at++);
	return v & 0xff;
}

/* The next character of a literal, escapes resolved, into @out; returns how many it is: none for a line
 * continuation, two for a backslash before a character that needs none (dtrace keeps both, in '\'' as in
 * "\q"). */
static unsigned literal_char(struct dif_lexer *lex, unsigned char out[2])
{
	static const char from[] = "abfnrtv\"\\", to[] = "\a\b\f\n\r\t\v\"\\";

	out[0] = (unsigned char)*lex->at++;
	if (out[0] != '\\' || lex->at >= lex->end)
		return 1;
	char ch = *lex->at;
	if (ch >= '0' && ch <= '7') {
		out[0] = (unsigned char)octal_escape(lex);
		return 1;
	}
	lex->at++;
	if (ch == '\n') {
		lex->line++;
		lex->line_start = lex->at;
		return 0;
	}
	if (ch == 'x' && lex->at < lex->end && isxdigit((unsigned char)*lex->at)) {
		out[0] = (unsigned char)hex_escape(lex);
		return 1;
	}
	const char *p = memchr(from, ch, sizeof(from) - 1);
	if (p) {
		out[0] = (unsigned char)to[p - from];
		return 1;
	}
	out[1] = (unsigned char)ch;
	return 2;
}

size_t dif_resolve_escapes(char *text, size_t len)
{
	struct dif_lexer lex = { .at = text, .end = text + len };
	unsigned char ch[2];
	size_t n = 0;

	while (lex.at < lex.end) {
		unsigned count = literal_char(&lex, ch);
		memcpy(text + n, ch, count);
		n += count;
	}
	return n;
}

void dif_lex_string(struct dif_compiler *c, struct dif_token *tok)
{
	struct dif_lexer *lex = &c->unit->lex;
	unsigned char ch[2];

	ot_buf_clear(&lex->text);
	for (lex->at++; lex->at < lex->end && *lex->at != '"';) {
		if (*lex->at == '\n') {
			dif_fail(c, DIF_D_STR_NL, 0, "newline encountered in string literal");
			return;
		}
		ot_buf_append(&lex->text, ch, literal_char(lex, ch));
	}
	if (lex->at == lex->end) {
		dif_fail(c, DIF_D_SYNTAX, 0, "end-of-file encountered before matching \"");
		return;
	}
	lex->at++;
	if (lex->text.failed) {
		dif_fail_memory(c);
		return;
	}
	tok->kind = DIF_T_LITERAL;
	tok->text = dif_strndup(c, c->nodes, ot_buf_str(&lex->text), lex->text.len);
	tok->len = lex->text.len;
}

void dif_lex_char(struct dif_compiler *c, struct dif_token *tok)
{
	struct dif_lexer *lex = &c->unit->lex;
	unsigned char ch[2];
	uint64_t v = 0;
	size_t n = 0;

	for (lex->at++; lex->at < lex->end && *lex->at != '\'';) {
		if (*lex->at == '\n') {
			dif_fail(c, DIF_D_CHR_NL, 0, "newline encountered in character constant");
			return;
		}
		unsigned count = literal_char(lex, ch);
		n += count;
		for (unsigned i = 0; i < count; i++)
			v = v << 8 | ch[i];
	}
	if (lex->at == lex->end) {
		dif_fail(c, DIF_D_SYNTAX, 0, "end-of-file encountered before matching '");
		return;
	}
	if (!n) {
		dif_fail(c, DIF_D_CHR_NULL, 0, "empty character constant");
		return;
	}
	/* not before its end is known: a constant that is open at the end of its line is only that */
	if (n > sizeof(v)) {
		dif_fail(c, DIF_D_CHR_OFLOW, 0, "character constant is too long");
		return;
	}
	lex->at++;
	tok->kind = DIF_T_INTEGER;
	/* '\377' is 255, as in dtrace, and not the signed char that it is in C */
	tok->value = v;
	tok->type = n == 1 ? c->types->int_ : dif_integer_type(c, v, false, 0, true);
}
