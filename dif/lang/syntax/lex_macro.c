/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Macro arguments and variables: $1 $$1 $target $$target. An argument is a token, never
 * text that is read again, so nothing in it can change the program's shape.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "dif/lang/syntax/unit.h"

/* A macro as found: the argument or the name, and its value. */
struct macro {
	bool as_string;
	bool is_arg;
	unsigned long index;
	const char *name;
	size_t name_len;
	size_t len;      /* characters of the reference, $ included */
	const char *arg; /* value when it is text */
	int64_t number;  /* value of a named one */
	bool missing;    /* undefined, but defaultargs is on */
};

static bool is_word(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_';
}

static bool parse_macro(const char *s, size_t len, struct macro *ret)
{
	struct macro m = { 0 };
	size_t i = 1;

	if (i < len && s[i] == '$') {
		m.as_string = true;
		i++;
	}
	m.name = s + i;
	if (i < len && isdigit((unsigned char)s[i])) {
		m.is_arg = true;
		for (; i < len && isdigit((unsigned char)s[i]); i++)
			m.index = m.index < 1000000 ? m.index * 10 + (unsigned long)(s[i] - '0') : m.index;
	} else {
		while (i < len && is_word(s[i]))
			i++;
	}
	m.name_len = (size_t)(s + i - m.name);
	m.len = i;
	*ret = m;
	return m.name_len > 0;
}

/* The macro that was meant; or it is bpftrace's variable. */
static void hint_named(struct dif_compiler *c, const struct macro *m)
{
	static const char *const names[] = { "target", "pid",  "ppid", "pgid",   "sid",   "uid",
					     "gid",    "euid", "egid", "projid", "taskid" };
	char name[64];
	struct ot_near near;

	snprintf(name, sizeof(name), "%.*s", (int)m->name_len, m->name);
	ot_near_init(&near, name);
	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		ot_near_offer(&near, names[i]);
	if (ot_near_best(&near))
		dif_hint(c, "did you mean $%s?", ot_near_best(&near));
	dif_hint(c, "a variable of one clause is this->%s", name);
}

static bool resolve_named(struct dif_compiler *c, struct macro *m)
{
	char name[64];

	if (m->name_len < sizeof(name)) {
		memcpy(name, m->name, m->name_len);
		name[m->name_len] = '\0';
		if (c->world->macro && c->world->macro(c->world->env, name, &m->number))
			return true;
	}
	dif_fail(c, DIF_D_MACRO_UNDEF, 0, "macro variable %.*s is not defined", (int)m->len,
		 m->name - (m->len - m->name_len));
	hint_named(c, m);
	return false;
}

static bool resolve(struct dif_compiler *c, struct macro *m)
{
	if (!m->is_arg)
		return resolve_named(c, m);
	if (m->index > c->unit->lex.macro_max)
		c->unit->lex.macro_max = (uint32_t)m->index;
	if (m->index < c->unit->src->nargs) {
		m->arg = c->unit->src->args[m->index];
		return true;
	}
	m->missing = c->opts->defaultargs;
	if (m->missing)
		return true;
	return dif_fail(c, DIF_D_MACRO_UNDEF, 0, "macro argument %.*s is not defined", (int)m->len,
			m->name - (m->len - m->name_len));
}

static void set_string(struct dif_compiler *c, struct dif_token *tok, const char *s, size_t len)
{
	char *copy = dif_alloc(c, c->nodes, len + 1);

	if (!copy)
		return;
	memcpy(copy, s, len);
	copy[len] = '\0';
	tok->kind = DIF_T_LITERAL;
	tok->text = copy;
	tok->len = dif_resolve_escapes(copy, len);
	copy[tok->len] = '\0';
}

/* A text that begins with a number is that number: 12x is 12. */
static void set_integer(struct dif_compiler *c, struct dif_token *tok, const struct macro *m)
{
	const char *s = m->arg;
	bool negative = *s == '-';
	const char *digits = s + (*s == '-' || *s == '+');

	errno = 0;
	tok->value = strtoull(digits, NULL, 0);
	if (errno == ERANGE || (negative && tok->value > (uint64_t)INT64_MAX + 1)) {
		dif_fail(c, DIF_D_MACRO_OFLOW, 0,
			 "macro argument %.*s constant %s results in integer overflow", (int)m->len,
			 m->name - (m->len - m->name_len), s);
		return;
	}
	tok->kind = DIF_T_INTEGER;
	bool decimal = *digits != '0';
	if (negative) {
		tok->type = tok->value > (uint64_t)INT32_MAX + 1 ? c->types->long_ : c->types->int_;
		tok->value = -tok->value;
	} else {
		tok->type = dif_integer_type(c, tok->value, false, 0, decimal);
	}
}

/* Is @s a number, or made of the characters of names and numbers only? */
static bool is_word_or_number(const char *s)
{
	char *end;

	errno = 0;
	strtoull(s, &end, 0);
	if (*s && !*end && !errno && !isspace((unsigned char)*s))
		return true;
	if (!*s)
		return false;
	while (is_word(*s) || *s == '`')
		s++;
	return !*s;
}

static void set_argument(struct dif_compiler *c, struct dif_token *tok, const struct macro *m)
{
	const char *s = m->arg;
	size_t len = strlen(s);

	if (!is_word_or_number(s)) {
		bool quoted = len >= 2 && s[0] == '"' && s[len - 1] == '"';
		set_string(c, tok, s + quoted, quoted ? len - 2 : len);
	} else if (isdigit((unsigned char)*s) || *s == '-' || *s == '+') {
		set_integer(c, tok, m);
	} else {
		tok->kind = DIF_T_IDENT;
		tok->text = dif_strdup(c, c->nodes, s);
		tok->len = len;
	}
}

void dif_lex_macro(struct dif_compiler *c, struct dif_token *tok)
{
	struct dif_lexer *lex = &c->unit->lex;
	struct macro m;

	if (!parse_macro(lex->at, (size_t)(lex->end - lex->at), &m)) {
		dif_fail(c, DIF_D_SYNTAX, 0, "syntax error near \"$\"");
		return;
	}
	lex->at += m.len;
	if (!resolve(c, &m))
		return;
	char number[24];
	snprintf(number, sizeof(number), "%" PRId64, m.number);
	if (m.as_string) {
		const char *text = !m.is_arg ? number : m.missing ? "" : m.arg;
		set_string(c, tok, text, strlen(text));
	} else if (m.is_arg && !m.missing) {
		if (m.index == 0)
			set_string(c, tok, m.arg, strlen(m.arg));
		else
			set_argument(c, tok, &m);
	} else {
		tok->kind = DIF_T_INTEGER;
		tok->value = m.missing ? 0 : (uint64_t)m.number;
		tok->type = c->types->int_;
	}
}

size_t dif_macro_expand(struct dif_compiler *c, const char *s, size_t len, struct ot_buf *out)
{
	struct macro m;

	if (!parse_macro(s, len, &m)) {
		dif_fail(c, DIF_D_SYNTAX, 0, "syntax error near \"$\"");
		return 0;
	}
	if (!resolve(c, &m))
		return 0;
	if (!m.is_arg)
		ot_buf_printf(out, "%" PRId64, m.number);
	else if (!m.missing)
		ot_buf_puts(out, m.arg);
	return m.len;
}
