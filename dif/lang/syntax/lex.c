/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text to tokens, in two modes; literals and macros have files of their own. */
#include "dif/lang/syntax/lex.h"

#include <ctype.h>
#include <string.h>

#include "dif/lang/syntax/pragma.h"
#include "dif/lang/syntax/unit.h"

static const struct {
	const char *text;
	uint8_t len;
	enum dif_tok kind;
} keywords[] = {
#define X(name, text) { text, sizeof(text) - 1, DIF_T_##name },
	DIF_KEYWORDS(X)
#undef X
}, punct[] = {
#define X(name, text) { text, sizeof(text) - 1, DIF_T_##name },
	DIF_PUNCT(X)
#undef X
};

const char *dif_tok_text(enum dif_tok kind)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(keywords); i++)
		if (keywords[i].kind == kind)
			return keywords[i].text;
	for (size_t i = 0; i < OT_ARRAY_SIZE(punct); i++)
		if (punct[i].kind == kind)
			return punct[i].text;
	switch ((int)kind) {
	case DIF_T_IDENT:
		return "identifier";
	case DIF_T_INTEGER:
		return "integer";
	case DIF_T_LITERAL:
		return "string";
	case DIF_T_EPRED:
		return "/";
	}
	return "end of input";
}

static bool is_ident_start(char ch)
{
	return isalpha((unsigned char)ch) || ch == '_' || ch == '`';
}

static bool is_ident(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_' || ch == '`';
}

static bool is_spec_start(char ch)
{
	return isalpha((unsigned char)ch) || (ch && strchr("-$:_.?*\\[]!", ch));
}

static bool is_spec(char ch)
{
	return isalnum((unsigned char)ch) || (ch && strchr("-$:_.`?*\\[]!", ch));
}

static void newline(struct dif_lexer *lex)
{
	lex->line++;
	lex->line_start = lex->at;
	lex->at_line_start = true;
}

/* Past the end, characters read as NUL, so that no lookahead leaves the text. */
static char peek(const struct dif_lexer *lex, size_t ahead)
{
	return (size_t)(lex->end - lex->at) > ahead ? lex->at[ahead] : '\0';
}

static bool skip_comment(struct dif_compiler *c)
{
	struct dif_lexer *lex = &c->unit->lex;
	uint32_t line = lex->line;

	for (lex->at += 2; lex->at < lex->end;) {
		if (lex->at[0] == '*' && peek(lex, 1) == '/') {
			lex->at += 2;
			return true;
		}
		if (lex->at[0] == '/' && peek(lex, 1) == '*')
			return dif_fail(c, DIF_D_SYNTAX, lex->line, "/* encountered inside a comment");
		if (*lex->at++ == '\n')
			newline(lex);
	}
	return dif_fail(c, DIF_D_SYNTAX, line, "end-of-file encountered before matching */");
}

/* In a predicate the first / of "//" and a * is its end, before a comment. */
static bool is_line_comment(const struct dif_lexer *lex)
{
	return peek(lex, 0) == '/' && peek(lex, 1) == '/' && !(lex->in_predicate && peek(lex, 2) == '*');
}

static void skip_line_comment(struct dif_lexer *lex)
{
	while (lex->at < lex->end && *lex->at != '\n')
		lex->at++;
}

/* A line that starts with #: eaten whole, continuation lines too. */
static bool control_line(struct dif_compiler *c)
{
	struct dif_lexer *lex = &c->unit->lex;
	const char *start = lex->at;
	uint32_t lines = 0;

	while (lex->at < lex->end && *lex->at != '\n') {
		if (*lex->at == '\\' && peek(lex, 1) == '\n') {
			lex->at++;
			lines++;
		}
		lex->at++;
	}
	if (start + 1 < lex->at && start[1] == '!')
		return true;
	if (lex->at == lex->end)
		return dif_fail(c, DIF_D_SYNTAX, lex->line,
				"end-of-file encountered before end of control line");
	bool ok = dif_control_line(c, start + 1, (size_t)(lex->at - start - 1));
	lex->line += lines;
	return ok;
}

/* Skip blanks, comments and control lines; false after an error. */
static bool skip_blank(struct dif_compiler *c)
{
	struct dif_lexer *lex = &c->unit->lex;

	while (lex->at < lex->end) {
		char ch = *lex->at;
		if (ch == '\n') {
			lex->at++;
			newline(lex);
		} else if (ch == ' ' || ch == '\t' || ch == '\r' || ch == '\f' || ch == '\v') {
			lex->at++;
		} else if (ch == '\\' && peek(lex, 1) == '\n') {
			lex->at += 2;
			newline(lex);
			lex->at_line_start = false;
		} else if (ch == '/' && peek(lex, 1) == '*') {
			if (!skip_comment(c))
				return false;
		} else if (is_line_comment(lex)) {
			skip_line_comment(lex);
		} else if (ch == '#' && lex->at_line_start) {
			if (!control_line(c))
				return false;
		} else {
			break;
		}
	}
	lex->at_line_start = false;
	return true;
}

/* A / ends a predicate when the next thing that isn't blank is {, ;, / or the end. */
static bool ends_predicate(const struct dif_lexer *lex)
{
	const char *p = lex->at + 1;

	while (p < lex->end && isspace((unsigned char)*p))
		p++;
	return p == lex->end || *p == '{' || *p == ';' || *p == '/';
}

static void end_predicate(struct dif_compiler *c, struct dif_token *tok)
{
	struct dif_lexer *lex = &c->unit->lex;

	if (lex->parens)
		dif_fail(c, DIF_D_SYNTAX, lex->line, "closing ) expected in predicate before /");
	else if (lex->brackets)
		dif_fail(c, DIF_D_SYNTAX, lex->line, "closing ] expected in predicate before /");
	tok->kind = DIF_T_EPRED;
	lex->at++;
}

static void close_one(struct dif_compiler *c, int *open, char ch)
{
	if (--*open < 0)
		dif_fail(c, DIF_D_SYNTAX, c->unit->lex.line, "extra %c in input stream", ch);
}

/* A closing bracket without an opening one is an error at any place, so that the message names it and not a
 * later token. */
static void count_open(struct dif_compiler *c, enum dif_tok kind)
{
	struct dif_lexer *lex = &c->unit->lex;

	lex->parens += kind == DIF_T_LPAREN;
	lex->brackets += kind == DIF_T_LBRACK;
	lex->braces += kind == DIF_T_LBRACE;
	if (kind == DIF_T_RPAREN)
		close_one(c, &lex->parens, ')');
	else if (kind == DIF_T_RBRACK)
		close_one(c, &lex->brackets, ']');
	else if (kind == DIF_T_RBRACE && lex->mode == DIF_LEX_INNER)
		close_one(c, &lex->braces, '}');
}

static void lex_punct(struct dif_compiler *c, struct dif_token *tok)
{
	struct dif_lexer *lex = &c->unit->lex;
	size_t left = (size_t)(lex->end - lex->at);

	if (lex->mode == DIF_LEX_INNER && *lex->at == '/' && ends_predicate(lex)) {
		end_predicate(c, tok);
		return;
	}
	for (size_t i = 0; i < OT_ARRAY_SIZE(punct); i++) {
		if (punct[i].len <= left && !memcmp(lex->at, punct[i].text, punct[i].len)) {
			tok->kind = punct[i].kind;
			lex->at += punct[i].len;
			count_open(c, tok->kind);
			return;
		}
	}
	unsigned char ch = (unsigned char)*lex->at;
	if (isprint(ch))
		dif_fail(c, DIF_D_SYNTAX, lex->line, "syntax error near \"%c\"", ch);
	else
		dif_fail(c, DIF_D_SYNTAX, lex->line, "syntax error near character 0x%02x", ch);
	if (lex->line == 1 && lex->at == lex->line_start && ch >= 0xfe)
		dif_hint(c, "the text is UTF-16: D's is ASCII or UTF-8");
}

static enum dif_tok keyword(const char *text, size_t len)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(keywords); i++)
		if (keywords[i].len == len && !memcmp(keywords[i].text, text, len))
			return keywords[i].kind;
	return DIF_T_IDENT;
}

static void lex_word(struct dif_compiler *c, struct dif_token *tok, size_t len)
{
	tok->kind = keyword(c->unit->lex.at, len);
	tok->text = dif_strndup(c, c->nodes, c->unit->lex.at, len);
	tok->len = len;
	c->unit->lex.at += len;
}

static size_t run(const struct dif_lexer *lex, bool (*is)(char))
{
	size_t n = 0;

	while (is(peek(lex, n)))
		n++;
	return n;
}

static void lex_inner(struct dif_compiler *c, struct dif_token *tok)
{
	struct dif_lexer *lex = &c->unit->lex;
	char ch = *lex->at;

	if (is_ident_start(ch)) {
		lex_word(c, tok, run(lex, is_ident));
	} else if (isdigit((unsigned char)ch) || (ch == '.' && isdigit((unsigned char)peek(lex, 1)))) {
		dif_lex_number(c, tok);
	} else if (ch == '"') {
		dif_lex_string(c, tok);
	} else if (ch == '\'') {
		dif_lex_char(c, tok);
	} else if (ch == '$') {
		dif_lex_macro(c, tok);
	} else if (ch == '@') {
		lex->at++;
		size_t n = is_ident_start(peek(lex, 0)) ? run(lex, is_ident) : 0;
		tok->kind = DIF_T_AGG;
		tok->text = n ? dif_strndup(c, c->nodes, lex->at, n) : "_";
		lex->at += n;
	} else {
		lex_punct(c, tok);
	}
}

/* BEGIN, END and ERROR are never types: a look-up would read the world's types, which most programs don't
 * need. */
static bool is_dtrace_probe(const char *name, size_t len)
{
	return (len == 5 && (!memcmp(name, "BEGIN", 5) || !memcmp(name, "ERROR", 5))) ||
	       (len == 3 && !memcmp(name, "END", 3));
}

static bool is_path(char ch)
{
	return is_spec(ch) || ch == '/' || ch == '+' || ch == '~' || ch == ',';
}

/* A description's length. Of user's an object may be a path, which is between the first colon and the next;
 * elsewhere a slash begins a predicate. */
static size_t spec_len(struct dif_lexer *lex)
{
	static const char user[] = "user:";
	size_t len = run(lex, is_spec), at = sizeof(user) - 1;

	if (len != at || memcmp(lex->at, user, at) != 0 || peek(lex, at) != '/')
		return len;
	while (peek(lex, at) != ':' && is_path(peek(lex, at)))
		at++;
	if (peek(lex, at) != ':')
		return len;
	while (is_spec(peek(lex, at)))
		at++;
	return at;
}

/* A word at the top level: a keyword or a type's name begins a declaration, also when a *
 * follows; anything else is a probe description. */
static void lex_outer_word(struct dif_compiler *c, struct dif_token *tok)
{
	struct dif_lexer *lex = &c->unit->lex;
	size_t len = spec_len(lex), word = run(lex, is_ident);

	if (word && (word == len || lex->at[word] == '*')) {
		enum dif_tok kind = keyword(lex->at, word);
		if (kind != DIF_T_IDENT) {
			lex_word(c, tok, word);
			return;
		}
		if (!lex->types_are_specs && !is_dtrace_probe(lex->at, word)) {
			const char *name = dif_strndup(c, c->nodes, lex->at, word);
			if (name && dif_type_find(c, name)) {
				lex_word(c, tok, word);
				return;
			}
		}
	}
	tok->kind = DIF_T_SPEC;
	tok->text = dif_strndup(c, c->nodes, lex->at, len);
	tok->len = len;
	lex->at += len;
}

static void lex_outer(struct dif_compiler *c, struct dif_token *tok)
{
	char ch = *c->unit->lex.at;

	if (isdigit((unsigned char)ch))
		dif_lex_number(c, tok);
	else if (is_spec_start(ch))
		lex_outer_word(c, tok);
	else
		lex_punct(c, tok);
}

static void set_token(struct dif_compiler *c, const struct dif_token *tok)
{
	c->unit->tok = *tok;
	c->diag.line = tok->line;
	c->diag.column = tok->column;
}

void dif_next(struct dif_compiler *c)
{
	struct dif_lexer *lex = &c->unit->lex;
	struct dif_token tok = { .kind = DIF_T_EOF };

	if (!c->diag.failed && skip_blank(c)) {
		tok.line = lex->line;
		tok.column = (uint32_t)(lex->at - lex->line_start) + 1;
		tok.start = lex->at;
		if (lex->at < lex->end) {
			set_token(c, &tok); /* errors in the literal are reported here */
			(lex->mode == DIF_LEX_OUTER ? lex_outer : lex_inner)(c, &tok);
		}
		tok.start_len = (size_t)(lex->at - tok.start);
	}
	if (c->diag.failed)
		tok.kind = DIF_T_EOF;
	set_token(c, &tok);
}

void dif_lex_begin(struct dif_compiler *c, const char *text, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf"; /* which editors of Windows put before UTF-8 */
	struct ot_buf keep = c->unit->lex.text;

	if (len >= sizeof(mark) - 1 && !memcmp(text, mark, sizeof(mark) - 1)) {
		text += sizeof(mark) - 1;
		len -= sizeof(mark) - 1;
	}
	c->diag.file = NULL;
	c->unit->lex = (struct dif_lexer){
		.at = text,
		.end = text + len,
		.line_start = text,
		.line = 1,
		.at_line_start = true,
		.text = keep,
		.types_are_specs = c->opts->pspec || c->unit->src->kind == DIF_SOURCE_COMMAND_LINE,
	};
	dif_next(c);
}

bool dif_accept(struct dif_compiler *c, enum dif_tok kind)
{
	if (c->unit->tok.kind != kind)
		return false;
	dif_next(c);
	return true;
}

void dif_raise_syntax(struct dif_compiler *c)
{
	int len = c->unit->tok.start_len > 60 ? 60 : (int)c->unit->tok.start_len;

	if (c->unit->tok.kind == DIF_T_EOF)
		dif_raise(c, DIF_D_SYNTAX, 0, "syntax error near end of input");
	else
		dif_raise(c, DIF_D_SYNTAX, 0, "syntax error near \"%.*s\"", len, c->unit->tok.start);
	dif_hint_foreign_word(c);
}

bool dif_expect(struct dif_compiler *c, enum dif_tok kind)
{
	if (dif_accept(c, kind))
		return !c->diag.failed;
	dif_syntax(c);
	if (!c->diag.first.hint && kind != DIF_T_EOF)
		dif_hint(c, "expected \"%s\"", dif_tok_text(kind));
	return false;
}
