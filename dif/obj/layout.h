/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of records and of variable space. Engine and consumer compute it from the same verified program
 * and options, so no layout is ever sent and neither side trusts the other's.
 *
 * A string is up to strsize bytes of text. If it has all of them, it has no NUL in records, tuples and
 * structs; in a variable, a NUL follows its bytes.
 *
 * A principal record (one firing of one ECB):
 *
 *   0        4           8           12
 *   epid u32 | time hi u32 | time lo u32 | data of each recording action, naturally aligned
 *
 * and the whole is padded to 4; an EPID 0 alone (4 bytes) is padding to alignment.
 *
 * A user stack is the process's number, its frames, the innermost first, up to a 0 or the action's number of
 * them, and texts, each with a NUL, of which the first is the first frame's: "" if it has none; "@" and then
 * a line for each frame of a program that the frame's function interprets; else the frame's name.
 *
 * An aggregation tuple (which dif_aggtab hashes): u32 aggid, then each key, naturally aligned (at most 8),
 * strings as strsize bytes padded with zeros; then, aligned to 8, the aggregation's data words.
 */
#ifndef DIF_OBJ_LAYOUT_H
#define DIF_OBJ_LAYOUT_H

#include "dif/obj/program.h"

#define DIF_RECORD_HEADER    12
/* The address of a frame of a user stack that is known by its text alone. */
#define DIF_FRAME_WITHOUT_PC (~0ull)

/* Options that shape records. */
struct dif_layout_opts {
	uint32_t strsize;
	uint32_t stackframes;
	uint32_t ustackframes;
	uint32_t jstackframes;
	uint32_t jstackstrsize;
};

/* One datum of a record or tuple. */
struct dif_rec {
	uint32_t action; /* index in the clause */
	uint32_t offset; /* from the start of the record (with its header) or of the tuple */
	uint32_t size;
	uint32_t align;
};

struct dif_agg_layout {
	uint32_t action; /* the aggregating action */
	uint32_t nkeys;
	struct dif_rec *keys;
	uint32_t tuple_size;      /* bytes hashed and compared, aggid included */
	uint32_t shape;           /* a hash of the keys' sizes, which the tuple's bytes do not contain */
	uint32_t data_offset;     /* of the first word, multiple of 8 */
	uint32_t nwords;          /* u64 words of data: dif_agg_words() */
	int32_t increment_action; /* -1: none */
};

struct dif_clause_layout {
	uint32_t size;  /* of the whole record; 0: this clause records nothing */
	uint32_t align; /* of a record: 4, or 8 if a datum needs it */
	uint32_t nrecs;
	struct dif_rec *recs;
	uint32_t naggs;
	struct dif_agg_layout *aggs;
	bool is_default; /* `{ }`, no body, or speculate() alone: the record is the header only */
	bool speculates;
	bool commits;
};

/** Lay out a clause; arrays are allocated from @p arena. LIMIT: a record exceeds 1 GiB. */
OT_MUST_CHECK struct ot_err *dif_clause_layout(const struct dif_clause *clause,
					       const struct dif_layout_opts *opts, struct ot_arena *arena,
					       struct dif_clause_layout *ret);

/** Bytes that one action records; 0: none. */
uint32_t dif_action_record_size(const struct dif_action *action, const struct dif_layout_opts *opts);

/** u64 words of an aggregation's data (1 for count, 127 for quantize …; of lquantize and llquantize by their
 * packed parameters, which are word 0). 0: invalid parameters. */
uint32_t dif_agg_words(enum dif_agg_kind kind, uint64_t arg);

/*
 * Variable space. A by-reference static (string, struct) has a prefix of 8 bytes, whose byte 0 is 0xff for
 * NULL. Dynamic variables (thread-local, associative) are in the dynamic table (dif/vm/dynvar.h), not here.
 */
struct dif_var_slot {
	uint32_t id;
	uint8_t scope; /* DIF_SCOPE_GLOBAL or _LOCAL scalars: offset valid; others: dynamic */
	uint8_t kind;
	struct dif_rtype type; /* string sizes resolved */
	uint32_t offset;       /* in the region of globals, or in each vCPU's locals */
};

/** Bytes of a by-reference value of @p type in a variable: a string has one more, for its NUL. */
static inline uint32_t dif_var_bytes(const struct dif_rtype *type)
{
	return type->kind == DIF_TYPE_STRING && type->flags & DIF_TF_BYREF ? type->size + 1 : type->size;
}

struct dif_var_layout {
	struct dif_var_slot *slots; /* sorted by (scope, id) */
	uint32_t nslots;
	uint32_t globals_size;
	uint32_t locals_size;
	/* index[scope][id - DIF_VAR_USER_MIN] is 1 + the number of the slot, 0: none. */
	uint32_t *index[3];
	uint32_t index_len[3];
	bool has_dynamic; /* at least one variable is thread-local or an array */
};

OT_MUST_CHECK struct ot_err *dif_var_layout(const struct dif_program *prog,
					    const struct dif_layout_opts *opts, struct ot_arena *arena,
					    struct dif_var_layout *ret);

/** The slot of a user variable, or NULL. */
static inline const struct dif_var_slot *dif_var_slot_find(const struct dif_var_layout *layout,
							   unsigned scope, uint32_t id)
{
	uint32_t i = id - DIF_VAR_USER_MIN;

	if (i >= layout->index_len[scope] || !layout->index[scope][i])
		return NULL;
	return &layout->slots[layout->index[scope][i] - 1];
}

/* Bytes of a dynamic variable's key besides its tuple: u32 id, u32 scope, and the thread's identity
 * (4 × 8), which is zero for an associative array. */
#define DIF_DYNVAR_KEY_FIXED 40

/** Bytes that a cell of the dynamic table needs for this program's largest key and value, for
 * dif_dynvars_format(); both 0: it has no dynamic variable. An upper bound computed from the code: pushes
 * since the last flushts, strings at strsize. Errors are lack of memory. */
OT_MUST_CHECK struct ot_err *dif_dynvar_sizes(const struct dif_program *prog,
					      const struct dif_layout_opts *opts,
					      const struct dif_var_layout *vars, uint32_t *ret_key,
					      uint32_t *ret_value);

#endif
