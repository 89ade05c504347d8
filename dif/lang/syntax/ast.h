/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The syntax tree. Three passes: the parser makes nodes that know names only, cooking
 * (cook.h) gives every node a type and resolves names, code generation (cg.h) only reads.
 * Nodes live in an arena and are never freed one by one. Depth is bounded when a node is
 * made (DIF_DEPTH_MAX), so that every recursive pass is bounded too.
 */
#ifndef DIF_LANG_SYNTAX_AST_H
#define DIF_LANG_SYNTAX_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "dif/lang/types/ident.h"

#define DIF_DEPTH_MAX  600
#define DIF_NEST_MAX   2000   /* calls of the recursive descent within each other: a few per level */
#define DIF_COPIES_MAX 200000 /* nodes copied for one clause or definition */

enum dif_node_kind {
	DIF_N_INT,
	DIF_N_STRING,
	DIF_N_IDENT, /* name, not cooked yet */
	DIF_N_VAR,   /* cooked: D variable or built-in; args: keys of an array */
	DIF_N_SYM,   /* cooked: symbol of the guest; value: its address */
	DIF_N_AGG,   /* @name; args: keys */
	DIF_N_OP1,
	DIF_N_OP2,
	DIF_N_OP3,      /* left ? right : third */
	DIF_N_FUNC,     /* left: what is called; args */
	DIF_N_TYPE,     /* (type) in sizeof, an inline's parameter … */
	DIF_N_CAST,     /* left to type; op: ASGN where an assignment implies it */
	DIF_N_MEMBER,   /* left.name or left->name (op) */
	DIF_N_XLATE,    /* xlate <type>(left); cooked: right: the struct as a type, op: ARROW for a pointer to
			 * it.    args: where it is assigned whole, the assignments of its members */
	DIF_N_PLACE,    /* the struct that such assignments go into; value: the register with its address */
	DIF_N_OFFSETOF, /* type, name */
	DIF_N_HAS,      /* does type have a member of that name? without a type: is there such a symbol? */
	/* statements */
	DIF_N_EXPR, /* left; */
	DIF_N_IF,   /* if (left) args else third */
};

enum dif_oper {
	DIF_O_NONE,
	/* unary */
	DIF_O_NEG,
	DIF_O_POS,
	DIF_O_NOT,
	DIF_O_BITNOT,
	DIF_O_DEREF,
	DIF_O_ADDROF,
	DIF_O_SIZEOF,
	DIF_O_STRINGOF,
	DIF_O_PREINC,
	DIF_O_PREDEC,
	DIF_O_POSTINC,
	DIF_O_POSTDEC,
	/* binary */
	DIF_O_MUL,
	DIF_O_DIV,
	DIF_O_MOD,
	DIF_O_ADD,
	DIF_O_SUB,
	DIF_O_LSH,
	DIF_O_RSH,
	DIF_O_LT,
	DIF_O_LE,
	DIF_O_GT,
	DIF_O_GE,
	DIF_O_EQ,
	DIF_O_NE,
	DIF_O_AND,
	DIF_O_XOR,
	DIF_O_OR,
	DIF_O_LAND,
	DIF_O_LXOR,
	DIF_O_LOR,
	DIF_O_ASGN, /* with `arith` not NONE: the operator of +=, … */
	DIF_O_COMMA,
	DIF_O_INDEX, /* left[args] */
	/* member access */
	DIF_O_DOT,
	DIF_O_ARROW,
};

struct dif_node {
	enum dif_node_kind kind;
	enum dif_oper op;
	enum dif_oper arith; /* op ASGN */
	enum dif_name_scope scope;
	uint32_t line;
	uint32_t depth;
	/* what cooking finds */
	bool is_cooked;
	bool is_lvalue;   /* lives in memory or in a variable */
	bool is_writable; /* D variable or memory of one */
	bool is_userland; /* it is an address in user space */
	bool is_parens;
	bool is_percpu; /* SYM: value is an offset into the firing vCPU's per-CPU area */
	struct dif_type *type;
	struct dif_member *member; /* cooked MEMBER */
	uint64_t member_bits;      /* its offset from the start of `left`'s type */
	struct dif_node *left, *right, *third;
	struct dif_node *args; /* list by `next` */
	struct dif_node *next;
	struct dif_ident *ident;
	const char *name;
	uint64_t
	    value;  /* INT; op ADD of a subscript: the array's length, if it is to be checked; 0: it isn't */
	size_t len; /* STRING */
};

struct dif_node *dif_node_new(struct dif_compiler *c, enum dif_node_kind kind);
struct dif_node *dif_node_int(struct dif_compiler *c, uint64_t value, struct dif_type *type);
struct dif_node *dif_node_op1(struct dif_compiler *c, enum dif_oper op, struct dif_node *left);
struct dif_node *dif_node_op2(struct dif_compiler *c, enum dif_oper op, struct dif_node *left,
			      struct dif_node *right);
/** A variable by name: this->name and so on. */
struct dif_node *dif_node_name(struct dif_compiler *c, enum dif_name_scope scope, const char *name);

/** Note that @p child hangs below @p node; false (and an error) when it becomes too deep. */
bool dif_node_adopt(struct dif_compiler *c, struct dif_node *node, const struct dif_node *child);

/** A deep copy, for what is cooked more than once: inlines, translators, clauses that use args[]. */
struct dif_node *dif_node_clone(struct dif_compiler *c, const struct dif_node *node);
struct dif_node *dif_node_clone_list(struct dif_compiler *c, const struct dif_node *list);

uint32_t dif_node_count(const struct dif_node *list);

/** Is a node that was not checked yet an integer constant: numbers, inlines of constants, sizeof and
 * operators only? Checking it gives an INT. Takes time in proportion to the tree. */
bool dif_node_is_literal(struct dif_compiler *c, const struct dif_node *n);

/* Of checked nodes (cast.c). */
/** Is it a call of an action or aggregating function, which has no value in an expression? */
bool dif_node_is_action(const struct dif_node *n);
/** The constant 0 of a scalar type. */
bool dif_node_is_null(struct dif_compiler *c, const struct dif_node *n);
/** @p n cast to @p type, constants folded, nothing checked; NULL without memory or when too deep. */
struct dif_node *dif_cast_to(struct dif_compiler *c, struct dif_node *n, struct dif_type *type);
/** Integer @p value as @p type holds it. */
uint64_t dif_fold_cast(struct dif_compiler *c, uint64_t value, struct dif_type *type);

/** The operator's D text: "+", "->". */
const char *dif_oper_text(enum dif_oper op);

#endif
