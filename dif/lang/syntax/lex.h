/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lexer. It has two modes, because `syscall::read*:entry` and `a * b` can't be cut up by
 * the same rules: at the top level words are probe descriptions, inside of clauses and
 * declarations they are C-like tokens. The parser sets the mode before it steps over the
 * token in front of the change.
 */
#ifndef DIF_LANG_SYNTAX_LEX_H
#define DIF_LANG_SYNTAX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* clang-format off */
/* X(NAME, TEXT): keywords. */
#define DIF_KEYWORDS(X)                                                                              \
	X(AUTO, "auto") X(BREAK, "break") X(CASE, "case") X(CHAR, "char") X(CONST, "const")          \
	X(CONTINUE, "continue") X(COUNTER, "counter") X(DEFAULT, "default") X(DO, "do")              \
	X(DOUBLE, "double") X(ELSE, "else") X(ENUM, "enum") X(EXTERN, "extern") X(FLOAT, "float")    \
	X(FOR, "for") X(GOTO, "goto") X(HAS_MEMBER, "__has_member") X(HAS_SYMBOL, "__has_symbol")    \
	X(IF, "if") X(IMPORT, "import") X(INLINE, "inline")                                          \
	X(INT, "int") X(LONG, "long") X(OFFSETOF, "offsetof") X(PROBE, "probe")                      \
	X(PROVIDER, "provider") X(REGISTER, "register") X(RESTRICT, "restrict") X(RETURN, "return")  \
	X(SELF, "self") X(SHORT, "short") X(SIGNED, "signed") X(SIZEOF, "sizeof")                    \
	X(STATIC, "static") X(STRING, "string") X(STRINGOF, "stringof") X(STRUCT, "struct")          \
	X(SWITCH, "switch") X(THIS, "this") X(TRANSLATOR, "translator") X(TYPEDEF, "typedef")        \
	X(UNION, "union") X(UNSIGNED, "unsigned") X(USERLAND, "userland") X(VOID, "void")            \
	X(VOLATILE, "volatile") X(WHILE, "while") X(XLATE, "xlate")

/* X(NAME, TEXT): operators and punctuation, longer ones before their prefixes. */
#define DIF_PUNCT(X)                                                                                 \
	X(LSH_ASGN, "<<=") X(RSH_ASGN, ">>=") X(ELLIPSIS, "...") X(LSH, "<<") X(RSH, ">>")           \
	X(LE, "<=") X(GE, ">=") X(EQ, "==") X(NE, "!=") X(LAND, "&&") X(LOR, "||") X(LXOR, "^^")     \
	X(INC, "++") X(DEC, "--") X(ARROW, "->") X(ADD_ASGN, "+=") X(SUB_ASGN, "-=")                 \
	X(MUL_ASGN, "*=") X(DIV_ASGN, "/=") X(MOD_ASGN, "%=") X(AND_ASGN, "&=") X(OR_ASGN, "|=")     \
	X(XOR_ASGN, "^=") X(ASGN, "=") X(LT, "<") X(GT, ">") X(NOT, "!") X(AND, "&") X(OR, "|")      \
	X(XOR, "^") X(TILDE, "~") X(ADD, "+") X(SUB, "-") X(MUL, "*") X(DIV, "/") X(MOD, "%")        \
	X(QUESTION, "?") X(COLON, ":") X(COMMA, ",") X(SEMI, ";") X(LPAREN, "(") X(RPAREN, ")")      \
	X(LBRACK, "[") X(RBRACK, "]") X(LBRACE, "{") X(RBRACE, "}") X(DOT, ".")
/* clang-format on */

enum dif_tok {
	DIF_T_EOF,
	DIF_T_SPEC,    /* outer mode: a probe description */
	DIF_T_IDENT,   /* may contain backquotes */
	DIF_T_INTEGER, /* also character constants */
	DIF_T_LITERAL, /* "…" */
	DIF_T_AGG,     /* @name; text "_" for @ */
	DIF_T_EPRED,   /* the / that ends a predicate */
#define X(name, text) DIF_T_##name,
	DIF_KEYWORDS(X) DIF_PUNCT(X)
#undef X
};

struct dif_type;

struct dif_token {
	enum dif_tok kind;
	uint32_t line, column;
	const char *text; /* IDENT, SPEC, LITERAL, AGG, keywords: NUL-terminated, in the node arena */
	size_t len;
	uint64_t value;        /* INTEGER */
	struct dif_type *type; /* INTEGER */
	const char *start;     /* in the source (or macro argument), for messages */
	size_t start_len;
};

enum dif_lex_mode { DIF_LEX_OUTER, DIF_LEX_INNER };

struct dif_lexer {
	const char *at, *end;
	const char *line_start;
	uint32_t line;
	enum dif_lex_mode mode;
	bool at_line_start;
	int parens, brackets, braces; /* open ones */
	bool in_predicate;            /* set by the parser: "//" and a * is no comment there */
	uint32_t macro_max;           /* highest $n referenced */
	bool types_are_specs; /* outer mode: an unqualified word is a description even if it names a type */
	struct ot_buf text;   /* of the literal being read */
};

struct dif_compiler;

/** Start reading; the first token is in c->unit->tok. */
void dif_lex_begin(struct dif_compiler *c, const char *text, size_t len);

/** Step to the next token. After an error every token is EOF. */
void dif_next(struct dif_compiler *c);

/** Step over @p kind if it is the current token. */
bool dif_accept(struct dif_compiler *c, enum dif_tok kind);

/** The same, but anything else is a syntax error. */
bool dif_expect(struct dif_compiler *c, enum dif_tok kind);

/** The current token is a word of another language: add a hint to the error that was just raised. */
void dif_hint_foreign_word(struct dif_compiler *c);

/** syntax error near "token" */
void dif_raise_syntax(struct dif_compiler *c);
#define dif_syntax(c) (dif_raise_syntax(c), dif_nothing())

/** "==", "struct", "an identifier" … for messages. */
const char *dif_tok_text(enum dif_tok kind);

/* lex_macro.c: read the macro behind `$`, into *tok. */
void dif_lex_macro(struct dif_compiler *c, struct dif_token *tok);
/** Append the value of the macro at @p s ($ included) to @p out, for probe descriptions;
 * returns characters eaten, 0 after an error. */
size_t dif_macro_expand(struct dif_compiler *c, const char *s, size_t len, struct ot_buf *out);
/* lex_literal.c */
void dif_lex_number(struct dif_compiler *c, struct dif_token *tok);
void dif_lex_char(struct dif_compiler *c, struct dif_token *tok);
void dif_lex_string(struct dif_compiler *c, struct dif_token *tok);
/** Resolve the escapes in @p text, in place; returns what is left of @p len. */
size_t dif_resolve_escapes(char *text, size_t len);
/** Type of an integer constant by D's first-fit rule. */
struct dif_type *dif_integer_type(struct dif_compiler *c, uint64_t value, bool is_unsigned, int longs,
				  bool decimal);

#endif
