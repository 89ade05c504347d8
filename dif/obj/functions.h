/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * D's functions, one record each, with everything that any part of the program needs. The compiler declares
 * and checks calls by the records, the verifier and the engine read their traits, the virtual machine calls
 * their bodies.
 *
 * Each parameter is a letter, in a string for the required ones and another for the optional ones:
 *   s string     p pointer   u user address, pointer or integer   c character   * anything   . any more
 *   l lock, a pointer that is not a string   a a pointer, not a string or an array
 *   integers, distinguished in messages only: i int   z size_t   h, w, x uint16_t, uint32_t, uint64_t
 *   q int64_t   t pid_t   d dev_t
 * Results are D types. `since` is N of the D version 1.N that a function came with.
 *
 * 0..43 of the subroutines are the same in every DTrace; 44..53 are FreeBSD's; ours begin at 0x100.
 */
#ifndef DIF_OBJ_FUNCTIONS_H
#define DIF_OBJ_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* clang-format off */
/*
 * X(NUMBER, NAME, RESULT, REQUIRED, OPTIONAL, SINCE, STABILITY, TRAIT, EVALUATION, LOWERING): subroutines.
 *   EVALUATION  own: dif_subr_NAME() in dif/vm is its body; ask: struct dif_vm_ops evaluates it
 *   LOWERING    call: the object calls it; else dif_lower_LOWERING() in dif/lang/check transforms the call
 */
#define DIF_SUBRS(X) \
	X(15,    alloca,              "void *",      "z",   "",  0,  stable,   plain,       own, call)      \
	X(25,    basename,            "string",      "s",   "",  0,  stable,   plain,       own, call)      \
	X(16,    bcopy,               "void",        "ppz", "",  0,  stable,   plain,       own, call)      \
	X(27,    cleanpath,           "string",      "s",   "",  0,  stable,   plain,       own, call)      \
	X(8,     copyin,              "void *",      "uz",  "",  0,  stable,   user,        own, call)      \
	X(9,     copyinstr,           "string",      "u",   "z", 0,  stable,   user,        own, call)      \
	X(17,    copyinto,            "void",        "uzp", "",  0,  stable,   user,        own, call)      \
	X(13,    copyout,             "void",        "puz", "",  0,  stable,   destructive, own, call)      \
	X(14,    copyoutstr,          "void",        "suz", "",  0,  stable,   destructive, own, call)      \
	X(0x100, d_path,              "string",      "p",   "",  5,  stable,   plain,       own, path)      \
	X(22,    ddi_pathname,        "string",      "pq",  "",  0,  evolving, plain,       ask, call)      \
	X(26,    dirname,             "string",      "s",   "",  0,  stable,   plain,       own, call)      \
	X(51,    getf,                "void *",      "i",   "",  10, stable,   plain,       ask, open_file) \
	X(20,    getmajor,            "uint32_t",    "d",   "",  0,  evolving, plain,       own, call)      \
	X(21,    getminor,            "uint32_t",    "d",   "",  0,  evolving, plain,       own, call)      \
	X(36,    htonl,               "uint32_t",    "w",   "",  3,  evolving, plain,       own, call)      \
	X(37,    htonll,              "uint64_t",    "x",   "",  3,  evolving, plain,       own, call)      \
	X(35,    htons,               "uint16_t",    "h",   "",  3,  evolving, plain,       own, call)      \
	X(33,    index,               "int",         "ss",  "i", 1,  stable,   plain,       own, call)      \
	X(42,    inet_ntoa,           "string",      "a",   "",  5,  stable,   plain,       own, call)      \
	X(43,    inet_ntoa6,          "string",      "a",   "",  5,  stable,   plain,       own, call)      \
	X(41,    inet_ntop,           "string",      "ip",  "",  5,  stable,   plain,       own, call)      \
	X(52,    json,                "string",      "ss",  "",  11, stable,   plain,       own, call)      \
	X(0x101, link_ntop,           "string",      "ip",  "",  5,  stable,   plain,       own, call)      \
	X(24,    lltostr,             "string",      "q",   "i", 0,  stable,   plain,       own, call)      \
	X(46,    memref,              "uintptr_t *", "pz",  "",  1,  stable,   plain,       own, call)      \
	X(50,    memstr,              "string",      "pcz", "",  0,  stable,   plain,       own, call)      \
	X(18,    msgdsize,            "size_t",      "l",   "",  0,  stable,   plain,       ask, call)      \
	X(19,    msgsize,             "size_t",      "l",   "",  0,  stable,   plain,       ask, call)      \
	X(1,     mutex_owned,         "int",         "l",   "",  0,  evolving, plain,       ask, mutex)     \
	X(2,     mutex_owner,         "void *",      "l",   "",  0,  evolving, plain,       ask, mutex)     \
	X(3,     mutex_type_adaptive, "int",         "l",   "",  0,  evolving, plain,       ask, mutex)     \
	X(4,     mutex_type_spin,     "int",         "l",   "",  0,  evolving, plain,       ask, mutex)     \
	X(39,    ntohl,               "uint32_t",    "w",   "",  3,  evolving, plain,       own, call)      \
	X(40,    ntohll,              "uint64_t",    "x",   "",  3,  evolving, plain,       own, call)      \
	X(38,    ntohs,               "uint16_t",    "h",   "",  3,  evolving, plain,       own, call)      \
	X(11,    progenyof,           "int",         "t",   "",  0,  stable,   plain,       ask, call)      \
	X(0,     rand,                "int",         "",    "",  0,  stable,   plain,       own, call)      \
	X(34,    rindex,              "int",         "ss",  "i", 1,  stable,   plain,       own, call)      \
	X(7,     rw_iswriter,         "int",         "l",   "",  0,  evolving, plain,       ask, rw_lock)   \
	X(5,     rw_read_held,        "int",         "l",   "",  0,  evolving, plain,       ask, rw_lock)   \
	X(6,     rw_write_held,       "int",         "l",   "",  0,  evolving, plain,       ask, rw_lock)   \
	X(10,    speculation,         "int",         "",    "",  0,  stable,   plain,       ask, call)      \
	X(28,    strchr,              "string",      "sc",  "",  1,  stable,   plain,       own, searched)  \
	X(23,    strjoin,             "string",      "ss",  "",  0,  stable,   plain,       own, call)      \
	X(12,    strlen,              "size_t",      "s",   "",  0,  stable,   plain,       own, call)      \
	X(29,    strrchr,             "string",      "sc",  "",  1,  stable,   plain,       own, searched)  \
	X(30,    strstr,              "string",      "ss",  "",  1,  stable,   plain,       own, searched)  \
	X(31,    strtok,              "string",      "ss",  "",  1,  stable,   plain,       own, call)      \
	X(53,    strtoll,             "int64_t",     "s",   "i", 11, stable,   plain,       own, call)      \
	X(32,    substr,              "string",      "si",  "i", 1,  stable,   plain,       own, call)      \
	X(48,    sx_exclusive_held,   "int",         "l",   "",  0,  evolving, plain,       ask, call)      \
	X(49,    sx_isexclusive,      "int",         "l",   "",  0,  evolving, plain,       ask, call)      \
	X(47,    sx_shared_held,      "int",         "l",   "",  0,  evolving, plain,       ask, call)      \
	X(45,    tolower,             "string",      "s",   "",  8,  stable,   plain,       own, call)      \
	X(44,    toupper,             "string",      "s",   "",  8,  stable,   plain,       own, call)

/*
 * X(NAME, KIND, VARIANT, RESULT, REQUIRED, OPTIONAL, SINCE, STABILITY, LOWERING): actions by their names in
 * D.
 *   KIND, VARIANT  of the program's action: enum dif_action_kind, and enum dif_libact for libact
 *   RESULT         its type as a key and as an argument of printf(); void: not possible
 *   LOWERING       the function of dif/lang/actions that generates its actions
 */
#define DIF_ACTION_NAMES(X) \
	X(breakpoint,  breakpoint, NONE,        "void",      "",   "",  0, stable, destructive) \
	X(chill,       chill,      NONE,        "void",      "*",  "",  0, stable, destructive) \
	X(clear,       libact,     CLEAR,       "void",      "",   ".", 0, stable, library)     \
	X(commit,      commit,     NONE,        "void",      "*",  "",  0, stable, speculation) \
	X(denormalize, libact,     DENORMALIZE, "void",      "",   ".", 0, stable, library)     \
	X(discard,     discard,    NONE,        "void",      "*",  "",  0, stable, speculation) \
	X(exit,        exit,       NONE,        "void",      "*",  "",  0, stable, exit)        \
	X(freopen,     freopen,    NONE,        "void",      "*",  ".", 1, stable, printf)      \
	X(ftruncate,   libact,     FTRUNCATE,   "void",      "",   "",  0, stable, library)     \
	X(func,        sym,        NONE,        "_symaddr",  "*",  "",  2, stable, sym)         \
	X(jstack,      jstack,     NONE,        "stack",     "",   ".", 0, stable, stack)       \
	X(mod,         mod,        NONE,        "_symaddr",  "*",  "",  2, stable, sym)         \
	X(normalize,   libact,     NORMALIZE,   "void",      "",   ".", 0, stable, library)     \
	X(panic,       panic,      NONE,        "void",      "",   "",  0, stable, destructive) \
	X(print,       print,      NONE,        "void",      "*",  "",  9, stable, value)       \
	X(printa,      printa,     NONE,        "void",      "*",  ".", 0, stable, printa)      \
	X(printf,      printf,     NONE,        "void",      "*",  ".", 0, stable, printf)      \
	X(printm,      printm,     NONE,        "void",      "**", "",  0, stable, printm)      \
	X(raise,       raise,      NONE,        "void",      "*",  "",  0, stable, destructive) \
	X(setopt,      libact,     SETOPT,      "void",      "*",  "*", 2, stable, library)     \
	X(speculate,   speculate,  NONE,        "void",      "*",  "",  0, stable, speculation) \
	X(stack,       stack,      NONE,        "stack",     "",   ".", 0, stable, stack)       \
	X(stop,        stop,       NONE,        "void",      "",   "",  0, stable, destructive) \
	X(sym,         sym,        NONE,        "_symaddr",  "*",  "",  2, stable, sym)         \
	X(system,      system,     NONE,        "void",      "*",  ".", 0, stable, printf)      \
	X(trace,       difexpr,    NONE,        "void",      "*",  "",  0, stable, value)       \
	X(tracemem,    tracemem,   NONE,        "void",      "**", ".", 0, stable, tracemem)    \
	X(trunc,       libact,     TRUNC,       "void",      "",   ".", 0, stable, library)     \
	X(uaddr,       uaddr,      NONE,        "_usymaddr", "*",  "",  2, stable, sym)         \
	X(ufunc,       usym,       NONE,        "_usymaddr", "*",  "",  2, stable, sym)         \
	X(umod,        umod,       NONE,        "_usymaddr", "*",  "",  2, stable, sym)         \
	X(ustack,      ustack,     NONE,        "stack",     "",   ".", 0, stable, stack)       \
	X(usym,        usym,       NONE,        "_usymaddr", "*",  "",  2, stable, sym)

/*
 * X(NUMBER, NAME, REQUIRED, OPTIONAL, SINCE, STABILITY, LOWERING): aggregating functions; numbers are action
 * kinds. The first argument is the aggregated value; the integers after it are parameters, which LOWERING
 * packs. The last optional one is the increment.
 */
#define DIF_AGGS(X) \
	X(0x704, avg,        "*",     "",   0, stable, plain)      \
	X(0x701, count,      "",      "",   0, stable, plain)      \
	X(0x709, llquantize, "*iiii", "*",  7, stable, llquantize) \
	X(0x708, lquantize,  "*ii",   "**", 0, stable, lquantize)  \
	X(0x703, max,        "*",     "",   0, stable, plain)      \
	X(0x702, min,        "*",     "",   0, stable, plain)      \
	X(0x707, quantize,   "*",     "*",  0, stable, plain)      \
	X(0x706, stddev,     "*",     "",   6, stable, plain)      \
	X(0x705, sum,        "*",     "",   0, stable, plain)
/* clang-format on */

enum dif_subr {
#define X(num, name, ...) DIF_SUBR_##name = num,
	DIF_SUBRS(X)
#undef X
};

enum dif_agg_kind {
#define X(num, name, ...) DIF_AGG_##name = num,
	DIF_AGGS(X)
#undef X
};

/* The stability of a name and of its meaning. */
enum dif_name_stability {
	DIF_NAME_stable,
	DIF_NAME_evolving, /* it depends on the kernel, or is our extension */
	DIF_NAME_kernel,   /* the name is stable, the data that it refers to is the kernel's */
};

enum dif_trait {
	DIF_TRAIT_plain,
	DIF_TRAIT_user,        /* reads the memory of a process */
	DIF_TRAIT_destructive, /* needs -w; not allowed after speculate() */
};

enum dif_lowering {
	/* of subroutines */
	DIF_LOWER_call,
	DIF_LOWER_searched,  /* the result is an address in the first argument */
	DIF_LOWER_mutex,     /* loads from a struct mutex */
	DIF_LOWER_rw_lock,   /* loads from a struct rw_semaphore */
	DIF_LOWER_open_file, /* loads from the table of open files */
	DIF_LOWER_path,      /* a call with the offsets of the structures to walk */
	/* of actions */
	DIF_LOWER_value,
	DIF_LOWER_tracemem,
	DIF_LOWER_printm,
	DIF_LOWER_exit,
	DIF_LOWER_printf,
	DIF_LOWER_printa,
	DIF_LOWER_stack,
	DIF_LOWER_sym,
	DIF_LOWER_speculation,
	DIF_LOWER_destructive,
	DIF_LOWER_library,
	/* of aggregating functions */
	DIF_LOWER_plain,
	DIF_LOWER_lquantize,
	DIF_LOWER_llquantize,
};

struct dif_function {
	const char *name;
	uint32_t id;      /* enum dif_subr, dif_action_kind or dif_agg_kind */
	uint32_t variant; /* enum dif_libact */
	const char *result;
	const char *required, *optional;
	uint32_t since;
	enum dif_name_stability stability;
	enum dif_trait trait;
	enum dif_lowering lowering;
};

/* Each sorted by name. */
extern const struct dif_function dif_subrs[], dif_action_names[], dif_aggs[];
extern const size_t dif_nsubrs, dif_naction_names, dif_naggs;

/** A subroutine's record by its number; NULL: none. */
const struct dif_function *dif_subr_find(unsigned subr);

/** The letter of argument @p i, from 0; NUL: there are fewer parameters. */
static inline char dif_function_letter(const struct dif_function *func, size_t i)
{
	size_t n = strlen(func->required);

	if (i < n)
		return func->required[i];
	return i - n < strlen(func->optional) ? func->optional[i - n] : '\0';
}

#endif
