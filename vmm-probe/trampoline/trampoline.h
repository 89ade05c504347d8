/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest-resident probes: the clauses of a function's entry or return as code that the guest executes itself,
 * without an exit. docs/design/017-resident-probes.md explains how that code is installed, and why it can't
 * do harm.
 *
 * This part touches no guest. It compiles verified clauses to a list of operations, which
 * vp_trampoline_check() checks by rules of its own and vp_trampoline_emit() (arch/trampoline.h) assembles.
 * engine/service/resident.c is its caller.
 *
 *   clause on an fentry ──► words     all its actions are aggregations of numbers: they are done in place
 *                      ├──► table     the same with a key that differs, one for all of the site's clauses:
 * what │              the table of keys has is done in place, and the vCPU exits for other keys ├──► record
 * the inputs of its actions fit in a record of the agent's format: the host │              evaluates them
 * when it takes the record ├──► filter    its predicate is evaluated in place; where it holds, the vCPU exits
 *                      └──► refused   with the reason
 *
 * If one of a site's clauses has to exit, all of them do, each by its own predicate: their order is the
 * program's.
 *
 * Libc only: the engine compiles, as it trusts no client's code. Any thread; nothing is kept between calls.
 */
#ifndef VP_TRAMPOLINE_TRAMPOLINE_H
#define VP_TRAMPOLINE_TRAMPOLINE_H

#include "dif/obj/program.h"
#include "vmm-probe/arch/trampoline.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/facts.h"

#define VP_TRAMP_CELLS_MAX  64u
#define VP_TRAMP_OBJECT_MAX 64u /* instructions of a DIF object */
#define VP_TRAMP_WHY        200u
#define VP_TRAMP_TABLE_MAX  (64u << 10) /* bytes that a table's entries have in each CPU's data */

/* A guest, as far as trampolines may rely on it. A CPU's data has words first, and the ring at its end. */
struct vp_tramp_guest {
	const struct vp_facts *facts; /* guest_id, and where a task has its name and numbers */
	uint32_t task_size;           /* bytes of struct task_struct: all of the running task's are mapped */
	int32_t percpu;       /* offset in the per-CPU area of the part that is mapped for each CPU … */
	uint32_t percpu_size; /* … and its bytes */
	uint32_t strsize;     /* the session's */
	uint32_t data_size;   /* bytes of a CPU's data, with the ring */
	uint32_t sets_log;    /* 2^n sets of a table at most; 0: VP_TRAMP_SETS_LOG */
	struct vp_tramp_world world;
};

/* A clause on a probe. */
struct vp_tramp_clause {
	const struct dif_clause *clause; /* verified */
	uint32_t epid, probe;            /* numbers, as D has them in `epid` and `id` */
	uint32_t slot;                   /* ga_record.slot of its records, below 2^31 */
};

/* A site: a function's entry, or a return, which are VP_ARGS_FBT_RETURN's. */
struct vp_tramp_site {
	enum vp_args args; /* of the probe: FBT_ENTRY has registers, FBT_RETURN a constant and the result */
	uint32_t offset;   /* … that constant: of the return, from the function's beginning */
	const struct vp_tramp_clause *clauses;
	uint32_t nclauses; /* in their order */
};

/* The words of an aggregation, in each CPU's data, in the form of dif_agg_init() and dif_agg_merge(). A
 * clause that has only sums and extremes has one more word, as those may not change when it fires. */
#define VP_TRAMP_FIRED 0xffffffffu

struct vp_tramp_cell {
	uint32_t clause, action; /* indices; VP_TRAMP_FIRED: one word, how often the clause has fired */
	uint32_t at;             /* offset in data, a multiple of 8 */
	uint32_t nwords;
	bool keyed; /* there are so many arrays instead, with a word for each entry of the table */
};

/* The table of keys that the cells' entries have. A key's words are execname's two, or its first number and
 * 0; then its other numbers, in their order. Names of the probe's have none. */
struct vp_tramp_table {
	uint64_t keys;     /* its address in the guest */
	uint32_t nwords;   /* of a key; 0: there is no table */
	uint32_t sets_log; /* 2^n sets */
};

static inline uint32_t vp_tramp_entries(const struct vp_tramp_table *t)
{
	return VP_TRAMP_WAYS << t->sets_log;
}

static inline uint32_t vp_tramp_table_bytes(const struct vp_tramp_table *t)
{
	return vp_tramp_entries(t) << vp_tramp_key_log(t->nwords);
}

struct vp_trampoline {
	struct vp_tramp_op ops[VP_TRAMP_OPS_MAX];
	uint32_t nops;
	struct vp_tramp_cell cells[VP_TRAMP_CELLS_MAX];
	uint32_t ncells;
	struct vp_tramp_table table;
	uint32_t data_used;     /* bytes of data in use, from 0 on */
	uint32_t nrecords;      /* clauses that write a record */
	bool exits;             /* it is a filter in front of an exit */
	char why[VP_TRAMP_WHY]; /* … and why it has to exit */
};

/**
 * Compile a site's clauses into @p ret. @p data_used: bytes of data that others use already, from 0 on, a
 * multiple of 8; ret->data_used is the part in use now. UNSUPPORTED, LIMIT: not in the guest, with the clause
 * and the reason. BAD_DATA: the data about the guest is inconsistent. After an error *ret is undefined; else
 * its list has passed vp_trampoline_check().
 */
OT_MUST_CHECK struct ot_err *vp_trampoline_compile(const struct vp_tramp_guest *guest,
						   const struct vp_tramp_site *site, uint32_t data_used,
						   struct vp_trampoline *ret);

static inline enum vp_tramp_place vp_tramp_place_of(const struct vp_tramp_site *site)
{
	return site->args == VP_ARGS_FBT_RETURN ? VP_TRAMP_AT_RETURN : VP_TRAMP_AT_ENTRY;
}

/**
 * Check a list of operations for a site at @p place by the rules of check.c: it jumps forward only, reads
 * nothing but the running task and the per-CPU area within their bounds, and writes nothing but data.
 * BAD_DATA: "rule N at operation I".
 */
OT_MUST_CHECK struct ot_err *vp_trampoline_check(const struct vp_tramp_guest *guest,
						 enum vp_tramp_place place, const struct vp_tramp_op *ops,
						 uint32_t nops);

#endif
