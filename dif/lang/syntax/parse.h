/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser: recursive descent, one function a grammar rule, the rule above it. `c->unit->tok` is
 * the current token; a function is called with it on the first token of its rule and leaves
 * it behind the last. After an error functions return NULL or false and every token is EOF.
 *
 * The parser only reads. It passes constants, clauses and definitions on to the later passes through struct
 * dif_parse_client.
 */
#ifndef DIF_LANG_SYNTAX_PARSE_H
#define DIF_LANG_SYNTAX_PARSE_H

#include "dif/lang/syntax/unit.h"

struct dif_xlator;
struct dif_param;
struct dif_declarator;

struct dif_parsed_clause {
	const struct dif_probedesc *descs;
	size_t ndescs;
	struct dif_node *predicate; /* NULL: none */
	struct dif_node *body;      /* statements */
	bool uses_args;
	uint32_t line;
};

struct dif_parsed_inline {
	const struct dif_declarator *declarator;
	struct dif_node *body;
	bool uses_args;
};

/* The parser's calls of later passes, each right after the text in question was read. All of them return NULL
 * or false after an error. */
struct dif_parse_client {
	/* Check an expression that has to be a constant: an INT node when it is one. */
	struct dif_node *(*check)(struct dif_compiler *c, struct dif_node *n);
	bool (*define_inline)(struct dif_compiler *c, const struct dif_parsed_inline *in);
	bool (*define_translator)(struct dif_compiler *c, struct dif_xlator *x, uint32_t line);
	/* Can each of @xlated, a probe's output arguments, be made from the input ones? */
	bool (*check_output)(struct dif_compiler *c, const struct dif_param *native,
			     const struct dif_param *xlated, uint32_t line);
	bool (*compile_clause)(struct dif_compiler *c, const struct dif_parsed_clause *pc);
};

/* parse_top.c: all of the source, with c->unit->client's help. */
bool dif_parse_program(struct dif_compiler *c);

/* parse_spec.c: a description's text to fields; false after an error. */
bool dif_parse_probedesc(struct dif_compiler *c, const char *text, size_t len, struct dif_probedesc *ret);

/* parse_stmt.c */
struct dif_node *dif_parse_block(struct dif_compiler *c, bool *ret_ok);

/* parse_expr.c */
struct dif_node *dif_parse_expr(struct dif_compiler *c);
struct dif_node *dif_parse_assign(struct dif_compiler *c);
struct dif_node *dif_parse_cond(struct dif_compiler *c);
/** An integer constant expression; false (no error raised) when it is something else. */
bool dif_parse_constant(struct dif_compiler *c, int64_t *ret, struct dif_type **ret_type);

/* parse_decl.c */
enum dif_decl_class {
	DIF_STORE_DEFAULT,
	DIF_STORE_AUTO,
	DIF_STORE_REGISTER,
	DIF_STORE_STATIC,
	DIF_STORE_EXTERN,
	DIF_STORE_TYPEDEF,
	DIF_STORE_SELF,
	DIF_STORE_THIS,
};

/* The result of declaration specifiers. */
struct dif_declspec {
	struct dif_type *type;
	enum dif_decl_class storage;
	bool defines_tag; /* struct foo …: useful without a declarator */
	uint32_t line;
};

struct dif_param {
	const char *name; /* NULL: none */
	struct dif_type *type;
	struct dif_param *next;
};

/* One declarator: a name and the type built around the specifiers' one. */
struct dif_declarator {
	const char *name; /* NULL: abstract */
	uint32_t line;
	struct dif_type *type; /* of an associative array: of its values */
	bool is_assoc;
	struct dif_param *keys;
	uint32_t nkeys;
	uint32_t empty_line; /* where an array of no elements stands; 0: nowhere */
};

bool dif_starts_type(struct dif_compiler *c);
bool dif_parse_declspec(struct dif_compiler *c, struct dif_declspec *ret);
bool dif_parse_declarator(struct dif_compiler *c, struct dif_type *base, struct dif_declarator *ret);
/** The same for a member, which may be an array of no elements as in C's headers. */
bool dif_parse_member_declarator(struct dif_compiler *c, struct dif_type *base, struct dif_declarator *ret);
/** type-name: in casts, sizeof, offsetof, xlate. */
struct dif_type *dif_parse_type_name(struct dif_compiler *c);
/** ( … ) or [ … ]: parameter types up to @p close, which is left as the current token. */
bool dif_parse_params(struct dif_compiler *c, enum dif_tok close, struct dif_param **ret, uint32_t *ret_n,
		      bool *ret_variadic);
struct dif_type *dif_parse_sou(struct dif_compiler *c, enum dif_ckind kind, bool *ret_defined);
struct dif_type *dif_parse_enum(struct dif_compiler *c, bool *ret_defined);

/* declare.c */
bool dif_parse_declaration(struct dif_compiler *c);
/** Can a variable or member have this type? Raises D_DECL_VOIDOBJ and the like. */
bool dif_check_object_type(struct dif_compiler *c, struct dif_type *type, const char *name, uint32_t line);

/* parse_defs.c */
bool dif_parse_inline(struct dif_compiler *c);
bool dif_parse_translator(struct dif_compiler *c);
/** The ; behind a definition: what follows is read in outer mode again. */
bool dif_end_definition(struct dif_compiler *c);

/* parse_provider.c */
bool dif_parse_provider(struct dif_compiler *c);

/** Enter a recursion of the parser; false (and an error) when it is too deep. */
bool dif_nest(struct dif_compiler *c);
static inline void dif_unnest(struct dif_compiler *c)
{
	c->unit->nesting--;
}

#endif
