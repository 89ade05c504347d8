/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cooking: names are resolved, every node gets a type, D's rules are checked, constants are
 * folded. A cooked node's children are cooked; cooking it again does nothing.
 */
#ifndef DIF_LANG_CHECK_COOK_H
#define DIF_LANG_CHECK_COOK_H

#include "dif/lang/syntax/ast.h"
#include "dif/lang/types/world.h"

/* The clause being compiled, at one of its probe descriptions; all zeros outside of clauses. */
struct dif_clause_state {
	const struct dif_probedesc *desc;
	/* probes that the description matches, seen as args[] needs them */
	uint64_t nprobes; /* that the description being compiled for matches */
	uint64_t nmatched;
	bool is_elsewhere; /* it matches probes of other worlds only */
	bool args_known;
	uint64_t args_differ; /* bit n: args[n] is not the same at each of them */
	uint64_t args_used;   /* as in struct dif_clause */
	bool is_split;        /* args[] of theirs are translated from different types */
	struct dif_probe_info first;
	/* what was recorded so far, for the order of actions */
	bool has_data, has_speculate, has_commit;
	uint32_t next_hidden;  /* numbers the this->%… variables of if and else */
	const char *fresh;     /* the global that the assignment being checked is to make; NULL */
	uint32_t expand_depth; /* of inlines and translators within each other */
	uint32_t hide_uses;    /* inside of what inlines stand for */
};

/** Cook an expression; the result may be another node. NULL after an error. */
struct dif_node *dif_cook(struct dif_compiler *c, struct dif_node *n);
/** Cook a list in place. */
bool dif_cook_list(struct dif_compiler *c, struct dif_node **list);
/** Cook something that is about to be written: an unknown variable is made, of type @p type. */
struct dif_node *dif_cook_target(struct dif_compiler *c, struct dif_node *n, struct dif_type *type);

/* Helpers, each for the file it is named after. */
struct dif_node *dif_cook_op1(struct dif_compiler *c, struct dif_node *n);
struct dif_node *dif_cook_op2(struct dif_compiler *c, struct dif_node *n);
struct dif_node *dif_cook_op3(struct dif_compiler *c, struct dif_node *n);
struct dif_node *dif_cook_asgn(struct dif_compiler *c, struct dif_node *n);
struct dif_node *dif_cook_call(struct dif_compiler *c, struct dif_node *n);
/** Cooked calls of subroutines that read the kernel's structures (cook_kernel.c): the loads that replace the
 * call, or the call itself if the structure is unknown. */
struct dif_node *dif_lower_mutex(struct dif_compiler *c, struct dif_node *call);
struct dif_node *dif_lower_rw_lock(struct dif_compiler *c, struct dif_node *call);
struct dif_node *dif_lower_open_file(struct dif_compiler *c, struct dif_node *call);
struct dif_node *dif_lower_path(struct dif_compiler *c, struct dif_node *call);
/** The name that is called: D_FUNC_UNDEF where there is none. */
struct dif_ident *dif_called(struct dif_compiler *c, const struct dif_node *call);
/** The words in front of the expected number in the message that @p passed is not from @p min to @p max. */
const char *dif_count_word(uint32_t passed, uint32_t min, uint32_t max);
/** The number of arguments against the function's parameters: D_PROTO_LEN. */
bool dif_call_count(struct dif_compiler *c, const struct dif_node *call, const struct dif_function *func);
struct dif_node *dif_cook_member(struct dif_compiler *c, struct dif_node *n);
struct dif_node *dif_cook_index(struct dif_compiler *c, struct dif_node *n, struct dif_type *target);
/** Does the world have what a HAS node names? */
bool dif_has(struct dif_compiler *c, const struct dif_node *n);
struct dif_node *dif_cook_ident(struct dif_compiler *c, struct dif_node *n, struct dif_type *target);
struct dif_node *dif_cook_args(struct dif_compiler *c, struct dif_node *n);
struct dif_node *dif_cook_inline(struct dif_compiler *c, struct dif_node *n, struct dif_ident *id,
				 struct dif_node *args);
struct dif_node *dif_cook_xlate(struct dif_compiler *c, struct dif_node *n);
/** member of a translated value; @p x is the cooked XLATE node. */
struct dif_node *dif_xlate_member(struct dif_compiler *c, struct dif_node *n, struct dif_node *x);
/** A cooked operand that is only tested (compared, negated, a condition): of a translated pointer, what it is
 * translated from, whose NULL it shares; of one that is translated from a number, 1. Else @p n itself. */
struct dif_node *dif_xlate_tested(struct dif_compiler *c, struct dif_node *n);
/** Make a cooked XLATE node, not to a pointer, a value that can be assigned as a whole. */
bool dif_xlate_whole(struct dif_compiler *c, struct dif_node *x);
/** Is there a translator from @p in to @p out? */
bool dif_xlator_exists(struct dif_compiler *c, struct dif_type *in, struct dif_type *out);

/* What to write in place of an aggregation in an expression. */
#define DIF_HINT_AGG_READ \
	"no clause reads an aggregation; a value that is read again is kept in self->x, or in x[key]"

/** An aggregation where a value is wanted: D_IDENT_UNDEF where there is none of that name (@x[…] makes one),
 * else D_AGG_NULL; @p op is the operator's text. Always NULL. */
void *dif_fail_agg(struct dif_compiler *c, const struct dif_node *agg, uint32_t line, const char *op);
/* define.c: what the parser hands over; see struct dif_parse_client. */
struct dif_parsed_inline;
struct dif_xlator;
struct dif_param;
bool dif_define_inline(struct dif_compiler *c, const struct dif_parsed_inline *in);
bool dif_define_translator(struct dif_compiler *c, struct dif_xlator *x, uint32_t line);
bool dif_check_output(struct dif_compiler *c, const struct dif_param *native, const struct dif_param *xlated,
		      uint32_t line);

/** Could a value of @p n be given to a variable or key of @p type? */
bool dif_assignable(struct dif_compiler *c, struct dif_type *type, const struct dif_node *n);

/**
 * A clause uses @p id, or something with @p attr that messages call @p what: it counts in the statement's
 * attributes, and below -x amin it is D_ATTR_MIN. Nothing outside of clauses, nor in what an inline stands
 * for: that has attributes of its own.
 */
bool dif_use_ident(struct dif_compiler *c, const struct dif_ident *id, uint32_t line);
bool dif_use(struct dif_compiler *c, struct dif_attribute attr, const char *what, const char *name,
	     uint32_t line);

#endif
