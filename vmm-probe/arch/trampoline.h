/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trampolines: code in the guest to which a function's entry or a return of it jumps, and which then goes on
 * as the function would have: behind the entry, or back to the function's caller.
 * vmm-probe/trampoline compiles clauses to a list of operations; an architecture assembles the list to
 * instructions. No operation loads from a computed address, stores outside our own memory (except RESERVE's
 * count of preemption), or jumps to an earlier one: what can't be expressed can't be done
 * (docs/design/017-resident-probes.md).
 *
 * Registers of operations are numbers below VP_TRAMP_REGS. The guest's own registers keep their values,
 * except for those that hold nothing there: that a function's caller expects to lose.
 *
 * Libc only. Any thread.
 */
#ifndef VP_ARCH_TRAMPOLINE_H
#define VP_ARCH_TRAMPOLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define VP_TRAMP_REGS       6u
#define VP_TRAMP_OPS_MAX    512u
#define VP_TRAMP_BYTES_MAX  2048u
#define VP_TRAMP_TEXT       16u /* bytes of a task's name that NAMED can compare */
/* Bytes of the guest's stack that a trampoline uses at most. */
#define VP_TRAMP_STACK_MAX  40u
/* Bytes of the instruction at a site, and of the jump that replaces it. */
#define VP_TRAMP_SITE       5u
/* As operand b: the constant `value`, which fits in 32 bits with sign. */
#define VP_TRAMP_IMM        0xffu
/*
 * A table of keys: sets of VP_TRAMP_WAYS entries. A key is two to four words; the second one of a free entry
 * is VP_TRAMP_FREE, which no key has. A key that is in the table stays there, unchanged.
 */
#define VP_TRAMP_SETS_LOG   6u /* 2^n sets at most … */
#define VP_TRAMP_SETS_LEAST 2u /* … and at least */
#define VP_TRAMP_WAYS_LOG   2u
#define VP_TRAMP_WAYS       (1u << VP_TRAMP_WAYS_LOG)
#define VP_TRAMP_ENTRIES    (VP_TRAMP_WAYS << VP_TRAMP_SETS_LOG) /* at most */
#define VP_TRAMP_KEY_WORDS  4u
#define VP_TRAMP_KEYS_BYTES (VP_TRAMP_ENTRIES * VP_TRAMP_KEY_WORDS * 8) /* at most */
#define VP_TRAMP_FREE       (~0ull)
/* LQUANTIZE's step times its levels is below this. */
#define VP_TRAMP_RANGE_MAX  (1u << 29)
/* Operation registers that LEAST to LQUANTIZE, and those of records, change: the ones below this. */
#define VP_TRAMP_SPENT      2u
/* A key's set is the highest bits of its words, mixed: the first two by exclusive or, each further one by a
 * multiplication before that; then two more. An instruction's constant has 32 bits, by one of which small
 * numbers would not reach the highest bits. */
#define VP_TRAMP_MIX        (-1640531535) /* 2^32 by the golden ratio, with sign */

/** log2 of the bytes of a key of @p nwords words. */
static inline uint32_t vp_tramp_key_log(uint32_t nwords)
{
	return nwords > 2 ? 5 : 4;
}

/** The set of a key in a table of 2^ @p sets_log of them. */
static inline uint32_t vp_tramp_set_of(const uint64_t *key, uint32_t nwords, uint32_t sets_log)
{
	const uint64_t mix = (uint64_t)(int64_t)VP_TRAMP_MIX;
	uint64_t h = key[0] ^ key[1];

	for (uint32_t i = 2; i < nwords; i++)
		h = h * mix ^ key[i];
	return (uint32_t)(h * mix * mix >> (64 - sets_log));
}

/* How often LEAST, MOST and RESERVE try, should an interrupt's own trampoline come between. */
#define VP_TRAMP_TRIES 3u

/*
 * X(NAME, WHAT): operations. Values have 64 bits. "data" is this CPU's part of our memory, of which `value`
 * is an offset. If they are `keyed`, by b, the result of KEYED, COUNT to LQUANTIZE change that entry's word
 * of an array there; each bucket has an array. Only COMPARE, TEST, NAMED, arithmetic, KEYED and what follows
 * JUMP in this list change the result of a comparison.
 */
#define VP_TRAMP_KINDS(X)                                                                                \
	X(NOP, "nothing")                                                                                \
	X(CONST, "dst = value")                                                                          \
	X(MOV, "dst = a")                                                                                \
	X(ARG, "dst = argument number a of the function, one of those in registers")                     \
	X(RETURNED, "dst = what the function returns, at a return")                                      \
	X(CURRENT, "dst = address of the running task")                                                  \
	X(LOAD_TASK, "dst = `size` bytes at `disp` in the running task, extended by `sign`")             \
	X(LOAD_PERCPU, "dst = `size` bytes at `disp` in the guest's per-CPU area, extended by `sign`")   \
	X(ADD, "dst = a + b")                                                                            \
	X(SUB, "dst = a - b")                                                                            \
	X(MUL, "dst = a * b")                                                                            \
	X(AND, "dst = a & b")                                                                            \
	X(OR, "dst = a | b")                                                                             \
	X(XOR, "dst = a ^ b")                                                                            \
	X(SHL, "dst = a << value")                                                                       \
	X(SHR, "dst = a >> value, unsigned")                                                             \
	X(SAR, "dst = a >> value, signed")                                                               \
	X(NOT, "dst = ~a")                                                                               \
	X(KEYED, "dst = 8 * number of the entry with key a, b, c, d (VP_TRAMP_IMM: no more words) in "   \
		 "the table of 2^size sets at `value`; without one, go on at `target`")                  \
	X(COMPARE, "compares a with b; VP_TRAMP_LESS is the sign of the wrapped difference")             \
	X(TEST, "compares a with 0; for VP_TRAMP_EQUAL and its opposite")                                \
	X(NAMED, "compares `size` bytes of `text` with those at `disp` in the running task; as TEST")    \
	X(JUMP, "if `cond`, go on at operation `target`, which is behind this one")                      \
	X(COUNT, "add 1 to the word at data + value")                                                    \
	X(SUM, "add a to the word at data + value")                                                      \
	X(LEAST, "the word at data + value = the less of it and a, signed")                              \
	X(MOST, "the word at data + value = the greater of it and a, signed")                            \
	X(QUANTIZE, "add 1 to the word of quantize()'s bucket of a, of those at data + value")           \
	X(LQUANTIZE, "the same of lquantize()'s buckets, of `levels` by `step` from `disp` on")          \
	X(RESERVE, "begin the next record of the ring; if it is full, count that and go on at `target`") \
	X(STORE_CONST, "`size` bytes at `disp` in the record = value, below 2^31")                       \
	X(STORE_ARG, "8 bytes at `disp` in the record = argument number a")                              \
	X(STORE_CURRENT, "8 bytes at `disp` in the record = address of the running task")                \
	X(STORE_TASK,                                                                                    \
	  "`size` (4 or 8) bytes at `disp` in the record = those at `value` in the running task")        \
	X(STORE_PREEMPT, "4 bytes at `disp` in the record = the CPU's count of preemption")              \
	X(STORE_TIME, "8 bytes at `disp` in the record = the time-stamp counter")                        \
	X(PUBLISH, "end the record: 8 bytes at `disp` in it = its number + 1, after all others")         \
	X(EXIT, "leave the guest for the VMM, then end")

enum vp_tramp_kind {
#define X(name, what) VP_TRAMP_##name,
	VP_TRAMP_KINDS(X)
#undef X
};

enum vp_tramp_cond {
	VP_TRAMP_ALWAYS,
	VP_TRAMP_EQUAL,
	VP_TRAMP_NOT_EQUAL,
	VP_TRAMP_LESS, /* signed, as COMPARE says */
	VP_TRAMP_NOT_LESS,
	VP_TRAMP_GREATER,
	VP_TRAMP_NOT_GREATER,
	VP_TRAMP_BELOW, /* unsigned */
	VP_TRAMP_NOT_BELOW,
	VP_TRAMP_ABOVE,
	VP_TRAMP_NOT_ABOVE,
};

struct vp_tramp_op {
	uint8_t kind; /* enum vp_tramp_kind */
	uint8_t dst, a, b;
	uint8_t size; /* bytes: 1, 2, 4, 8; NAMED: 1 to VP_TRAMP_TEXT; KEYED, `keyed`: log2 of the sets */
	uint8_t cond; /* enum vp_tramp_cond */
	bool sign, keyed;
	uint8_t c, d;
	uint16_t target;
	uint16_t step, levels;
	int32_t disp;
	uint64_t value;
	uint8_t text[VP_TRAMP_TEXT];
};

/* A ring of records in each CPU's data. All offsets are from the ring's beginning. */
struct vp_tramp_ring {
	uint64_t at; /* in data */
	uint32_t head, tail,
	    lost;       /* words: number of the next record, of the oldest one kept; how many had no room */
	uint32_t first; /* the records */
	uint32_t count; /* of records: a power of two; 0: there is no ring */
	uint32_t shift; /* a record has 1 << shift bytes */
};

/* Addresses, in the guest or in our memory there, of the operands of operations. */
struct vp_tramp_world {
	/* Offsets in the guest's per-CPU area: the pointer to the running task, and the count of preemption,
	 * 32 bits. */
	int32_t current, preempt;
	/* The distance from the base of a CPU's per-CPU area to its data. */
	uint64_t data;
	uint64_t lost; /* in data: a word that counts the attempts that LEAST and MOST gave up */
	/* Where a table of keys may be, which the guest can only read: multiples of 32 in the last 2 GiB. A
	 * new one is put at the end. Both are 0: nowhere. */
	uint64_t keys_from, keys_end;
	struct vp_tramp_ring ring;
	uint8_t port; /* EXIT's, below 256 */
};

/* The instruction that a jump replaces, by its place in a function: it decides which registers hold nothing
 * there. */
enum vp_tramp_place {
	VP_TRAMP_NOWHERE,   /* no jump may replace it */
	VP_TRAMP_AT_ENTRY,  /* function tracing's nop */
	VP_TRAMP_AT_RETURN, /* a `ret` and padding, or a jump to the kernel's return thunk */
};

/* A site's place, and how its trampoline ends. */
struct vp_tramp_end {
	enum vp_tramp_place place;
	uint64_t
	    to; /* it jumps there: behind the nop, to the return thunk. 0, at a return: it returns itself */
};

/* The destination of a trampoline's bytes, and the bytes written so far. */
struct vp_tramp_code {
	uint8_t *bytes;
	uint32_t size; /* room */
	uint32_t len;  /* in use */
	uint32_t exit; /* offset of EXIT's instruction; 0: there is none */
};

/** The bytes of a trampoline at guest address @p at that ends as @p end says, for operations that
 * vp_trampoline_check() (vmm-probe/trampoline) would pass. LIMIT: more than there is room for, or end->to is
 * out of reach. */
OT_MUST_CHECK struct ot_err *vp_trampoline_emit(const struct vp_tramp_op *ops, uint32_t nops,
						const struct vp_tramp_world *world, uint64_t at,
						const struct vp_tramp_end *end, struct vp_tramp_code *code);

/** May a jump replace the VP_TRAMP_SITE bytes at @p code? Only the one instruction that Linux puts at the
 * beginning of its functions for tracing, while it does nothing. */
bool vp_trampoline_fits(const uint8_t *code);

#define VP_TRAMP_TRACED (4u + VP_TRAMP_SITE) /* bytes that is_traced() reads, at most */

/** Do the @p len bytes at @p code begin a function with that instruction, perhaps behind the mark of a target
 * of indirect calls? Then it was compiled for tracing. */
bool vp_trampoline_is_traced(const uint8_t *code, uint64_t len);

/** May a jump replace the return at @p site, whose bytes, with padding that is never executed, are the
 * @p room ones at @p code? *ret_to: where it jumps, which must be a return thunk; 0: it returns itself. */
bool vp_trampoline_returns(const uint8_t *code, uint8_t room, uint64_t site, uint64_t *ret_to);

/** The jump to @p at that replaces the bytes at @p site. False: out of reach. */
bool vp_trampoline_jump(uint64_t site, uint64_t at, uint8_t ret[VP_TRAMP_SITE]);

#endif
