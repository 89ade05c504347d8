/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where things lie in records and variable space. Engine and consumer compute
 * both from the same verified program and options, so no layout is ever sent and
 * neither side trusts the other's.
 *
 * A string is up to strsize bytes of text. One that has all of them ends without a NUL in records,
 * tuples and structs; where a variable holds it, a NUL stands behind its bytes.
 *
 * A principal record (one firing of one ECB):
 *
 *   0        4           8           12
 *   epid u32 | time hi u32 | time lo u32 | data of each recording action, aligned to itself
 *
 * and the whole is padded to 4; a lone EPID 0 (4 bytes) fills up to alignment.
 *
 * An aggregation tuple (what dif_aggtab hashes): u32 aggid, then each key aligned to its
 * own size (at most 8), strings as strsize bytes zero-filled behind their text; then, aligned
 * to 8, the aggregation's data words.
 */
#ifndef DIF_OBJ_LAYOUT_H
#define DIF_OBJ_LAYOUT_H

#include "dif/obj/program.h"

#define DIF_RECORD_HEADER 12

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
	uint32_t offset; /* from the start of the record (header counted) or of the tuple */
	uint32_t size;
	uint32_t align;
};

struct dif_agg_layout {
	uint32_t action;          /* the aggregating action */
	uint32_t nkeys;
	struct dif_rec *keys;
	uint32_t tuple_size;      /* bytes hashed and compared, aggid included */
	uint32_t shape;           /* differs (all but surely) where sizes of keys do: bytes alone do not tell */
	uint32_t data_offset;     /* of the first word, multiple of 8 */
	uint32_t nwords;          /* u64 words of data: dif_agg_words() */
	int32_t increment_action; /* -1: none */
};

struct dif_clause_layout {
	uint32_t size;  /* of the whole record; 0: this clause records nothing */
	uint32_t align; /* where a record may start: 4, or 8 when a datum needs it */
	uint32_t nrecs;
	struct dif_rec *recs;
	uint32_t naggs;
	struct dif_agg_layout *aggs;
	bool is_default;     /* `{ }` or no body: the record is the header alone */
	bool speculates;
	bool commits;
};

/** Lay out a clause; arrays come from @p arena. LIMIT when a record exceeds 1 GiB. */
OT_MUST_CHECK struct ot_err *dif_clause_layout(const struct dif_clause *clause,
					       const struct dif_layout_opts *opts, struct ot_arena *arena,
					       struct dif_clause_layout *ret);

/** Bytes that one action records; 0: none. */
uint32_t dif_action_record_size(const struct dif_action *action, const struct dif_layout_opts *opts);

/** u64 words of an aggregation's data (1 for count, 127 for quantize …; lquantize and
 * llquantize from their packed parameters, word 0 being the parameters). 0: bad parameters. */
uint32_t dif_agg_words(enum dif_agg_kind kind, uint64_t arg);

/*
 * Variable space. A by-reference static (string, struct) has an 8-byte prefix: byte 0 0xff
 * means NULL. Dynamic variables (thread-local, associative) live in the dynamic table
 * (dif/vm/dynvar.h) and have no slot here.
 */
struct dif_var_slot {
	uint32_t id;
	uint8_t scope; /* DIF_SCOPE_GLOBAL or _LOCAL scalars: offset valid; others: dynamic */
	uint8_t kind;
	struct dif_rtype type; /* string sizes resolved */
	uint32_t offset;       /* in the globals region, or in each vCPU's locals */
};

/** Bytes that a by-reference value of @p type takes as a variable: a string's NUL has a byte of its own. */
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
	bool has_dynamic; /* some variable is thread-local or an array */
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
 * dif_dynvars_format(); both 0 when it has no dynamic variable. A bound read off the code:
 * pushes since the last flushts, strings at strsize. */
void dif_dynvar_sizes(const struct dif_program *prog, const struct dif_layout_opts *opts,
		      const struct dif_var_layout *vars, uint32_t *ret_key, uint32_t *ret_value);

#endif
