/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A compiled D program: clauses in program order, each with a predicate and actions. A session has one
 * program, however many -n and -s options it was compiled from, so that variables and aggregations have one
 * numbering.
 *
 * To print an action, a consumer needs only the record and the action's string: the compiler has made the
 * conversions of a printf format explicit (%d of an unsigned is %u, and sizes come from the record), and the
 * string of print() is its type's layout as text. So a program prints the same after saving and loading.
 *
 *   probe description ─┐
 *   probe description ─┴► clause ─► predicate (object or none)
 *                                └► action, action, action …  in order
 *
 * A clause has one probe description: `a,b { … }` is two clauses that share objects. All memory is the
 * program's arena.
 */
#ifndef DIF_OBJ_PROGRAM_H
#define DIF_OBJ_PROGRAM_H

#include "dif/obj/object.h"

/* Limits of a program. The verifier enforces them; the compiler reports them with the line of D. */
#define DIF_CLAUSES_MAX        65536u
#define DIF_ACTIONS_MAX        16384u
#define DIF_AGGS_MAX           4096u
#define DIF_FRAMES_MAX         1024u  /* of a stack */
#define DIF_USTACK_STRSIZE_MAX 65536u /* ustack()'s second argument */

/* A probe description; an empty string matches anything, fields may be globs. */
struct dif_probedesc {
	const char *guest; /* leftmost extension field; "" nearly always */
	const char *provider;
	const char *module;
	const char *function;
	const char *name;
	uint32_t id; /* not 0: this probe id, the strings are empty */
};

/*
 * kind, arg and uarg have the published meaning (docs/dif.md):
 *   difexpr, printf args, tracemem   object's value is the record
 *   printf/printa/system/freopen     a sequence of actions with the same uarg (not 0): one action per
 *                                    argument, `format` on the first; without arguments one action
 *                                    without an object and with an 8-byte record; such an action also
 *                                    comes first if printf's arguments contain stacks or symbols
 *   stack      arg = frames (0: the stackframes option)
 *   ustack     arg = strsize << 32 | frames
 *   sym, mod…  object gives the address
 *   libact     arg = enum dif_libact, object gives the value; aggid names the aggregation
 *   printa     aggid names the aggregation; for several, consecutive actions have the same uarg
 *   aggregation (0x7xx)  preceded by ntuple - 1 key actions (any data action) in the same clause;
 *              object gives the value (none for count); arg = the packed parameters of lquantize,
 *              llquantize; an increment is one more key-position action flagged `increment`
 *   speculate, commit, discard  object gives the id
 *   exit       object gives the status, 4-byte record
 */
/*
 * Layout of a type, for print(): an action's format is  TYPENAME "\n" LAYOUT  where
 *
 *   LAYOUT = "i" SIZE ("s" | "u") ("c" | "b")?     integer, signed or not; c character, b _Bool
 *          | "p" | "q"                             pointer, 8 bytes; q: to a function
 *          | "f" SIZE                              floating point
 *          | "t" SIZE                              D string
 *          | "e" SIZE ("s" | "u") "{" (NAME "=" DECIMAL ",")* "}"     enum
 *          | "a" COUNT ":" TYPENAME ":" LAYOUT     array; name and layout of an element
 *          | ("S" | "U") SIZE "{" MEMBER* "}"      struct, union
 *          | "v"                                   no printable value
 *   MEMBER = BITOFFSET ("." BITSIZE)? ":" NAME ":" TYPENAME ":" LAYOUT ";"
 *
 * Numbers are decimal, sizes are in bytes, bit offsets are from the start of the member's struct. NAME is
 * empty for an anonymous struct or union. Names do not contain ":".
 */
struct dif_action {
	enum dif_action_kind kind; /* or enum dif_agg_kind */
	uint32_t ntuple;           /* aggregation: preceding actions that are its key */
	uint64_t arg;
	uint64_t uarg;     /* actions with the same value belong to one statement of the D program */
	uint32_t aggid;    /* aggregation variable's id, from 1, in order of definition; 0: none */
	bool is_key;       /* a key of an aggregation: stored in the tuple, not in the record */
	bool is_increment; /* quantize's third argument, after the keys */
	struct dif_object *object;
	const char *format;
};

struct dif_clause {
	struct dif_probedesc probe;
	struct dif_object *predicate;
	struct dif_action *actions;
	uint32_t nactions; /* 0: the default action, a record of the EPID only */
	uint32_t line;     /* in its source text, for messages; 0: unknown */
	/* Not in DOF: */
	uint64_t args_used; /* bit n: its code depends on the type of args[n]; 63: on any beyond */
	uint32_t kernel;    /* of a session's kernels, the one that it was compiled for */
	uint32_t guest;     /* 1 + the index of the session's guest whose probes need it; 0: a program's */
	bool after;         /* of those: it runs after the program's, else before */
	uint32_t text;      /* the program's text that it comes from, by number */
};

/* An aggregation variable. */
struct dif_aggvar {
	const char *name; /* "_" for @ */
	uint32_t id;
	enum dif_agg_kind kind;
	uint64_t arg;
	uint32_t nkeys;
};

/* An option set in the program (#pragma D option). value NULL: without a value. */
struct dif_optset {
	const char *name;
	const char *value;
};

struct dif_program {
	struct ot_arena arena;
	struct dif_clause *clauses;
	uint32_t nclauses;
	struct dif_aggvar *aggs;
	uint32_t naggs;
	struct dif_optset *opts;
	uint32_t nopts;
};

void dif_program_init(struct dif_program *prog);
void dif_program_deinit(struct dif_program *prog);

/** "provider:module:function:name" into @p out. */
void dif_probedesc_print(const struct dif_probedesc *desc, struct ot_buf *out);

/** Match one field of a probe description: *, ?, [set], [!set], and \ to quote; an empty pattern matches
 * anything. Time is bounded by pattern × text. */
bool dif_glob_match(const char *pattern, const char *text);
bool dif_glob_is_pattern(const char *pattern);

/**
 * Append the program as DOF version 2 (docs/dif.md describes the fields and our own sections). This is the
 * form in which a program is saved and sent to an engine.
 */
OT_MUST_CHECK struct ot_err *dif_dof_write(const struct dif_program *prog, struct ot_buf *out);

/**
 * Read DOF, which may be hostile: every offset, count and size is checked; the result shares no memory with
 * @p data. The program is not verified: call dif_program_verify(). BAD_DATA: the message names the section
 * and the error.
 */
OT_MUST_CHECK struct ot_err *dif_dof_read(const void *data, size_t size, struct dif_program *ret);

#endif
