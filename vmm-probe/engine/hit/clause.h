/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clauses compiled to steps, probes, and enablings (ECBs) of a clause on a probe. The service thread creates
 * them (service/clause.c, service/enabling.c); once vCPUs can see them only `out`, `next_error`, `counter`
 * and `keyed` change.
 */
#ifndef VP_ENGINE_HIT_CLAUSE_H
#define VP_ENGINE_HIT_CLAUSE_H

#include "dif/obj/layout.h"
#include "dif/obj/program.h"
#include "vmm-probe/arch/trampoline.h"
#include "vmm-probe/engine/wire/batch.h"

struct vp_engine_session;
struct vp_load;
struct vp_counter;
struct vp_keyed;

/* Destination of an action's value. */
enum vp_dest { VP_TO_NOTHING, VP_TO_RECORD, VP_TO_TUPLE, VP_TO_KEY, VP_TO_INCREMENT };

/* A few words identify most keys, and entries are cached by them (hit/aggregate.c). The words of one
 * element: */
enum vp_key_part {
	VP_KEY_VALUE,    /* its value. One word, as VP_KEY_TEXT is */
	VP_KEY_EXECNAME, /* the name's bytes, zeros behind its end: VP_NAME_WORDS */
	VP_KEY_TEXT,     /* one of the probe's names, by its address or by vp_provider_word() */
};
#define VP_KEY_WORDS  4 /* of all elements at most */
#define VP_NAME_WORDS 2
#define VP_NAME_BYTES (8 * VP_NAME_WORDS) /* of a task's name in Linux, with its NUL */

/* An action, with all data that is known before it runs. */
struct vp_step {
	const struct dif_action *action;
	const struct dif_agg_layout *agg; /* of an aggregating action, else NULL */
	enum vp_dest dest;
	uint32_t offset, size; /* in the record or tuple */
	uint32_t gap;          /* bytes before `offset` that are padding */
	uint32_t single;       /* aggregates without a key: 1 + its place in dif_aggtab.single; 0: none */
	uint32_t nwords;       /* aggregates with a key of so many words; 0: the whole key is looked up */
	bool in_table;         /* … which ECBs' tables of keys have (hit/keyed.h) */
	uint32_t word;         /* to a key: the first of its words */
	enum vp_key_part part; /* … and their kind */
};

/* Registers and arguments that an expression reads. */
struct vp_needs {
	uint64_t regs;
	uint32_t args; /* bit n: argn */
};

struct vp_clause {
	const struct dif_clause *source;
	struct dif_clause_layout layout;
	struct vp_step *steps; /* one for each action */
	uint32_t tail;         /* bytes of padding at the record's end */
	struct vp_needs needs;
	bool counts_only;           /* one count() with a key that is constant per probe, and nothing else */
	bool counts_per_probe;      /* … and its key depends on the probe */
	struct vp_counter *counter; /* … and if not, the counter of all its ECBs; NULL: none yet */
	/* service/resident.c: where its words are in the data of trampolines, if all of its ECBs share them;
	 * end 0: there are none yet */
	uint32_t words_at, words_end;
};

/* A site's program (vp_batch_site.program, .raw). */
struct vp_site_program {
	const struct dif_object *condition; /* NULL: always */
	const struct dif_object *args[VP_SITE_ARGS];
	uint32_t nargs; /* those behind are 0 */
	struct vp_needs condition_needs, arg_needs[VP_SITE_ARGS];
};

struct vp_enabled_site {
	uint64_t gva, host;
	uint64_t func_gva;          /* arg0 of a return site counts from here */
	uint64_t target;            /* as in struct vp_batch_site */
	uint64_t owner, owner_host; /* as in struct vp_batch_site; 0: none */
	uint64_t semaphore;         /* as in struct vp_batch_site */
	uint32_t syscall;           /* as in struct vp_batch_site */
	uint8_t length, room, bytes[15];
	uint8_t trap, sentinel, agent; /* as in struct vp_batch_site */
	uint16_t pushed;
	bool stale;              /* stale.c's */
	enum vp_args args;       /* the place's own arguments, without `raw` */
	struct vp_tramp_end end; /* service/resident_place.c: of a trampoline there */
	const char *no_place; /* … the reason why none fits (static); NULL: one does, or none is asked for */
	const struct vp_site_program *raw, *program; /* as in struct vp_batch_site; NULL: none */
	struct vp_enabled_probe *probe;
};

struct vp_enabled_probe {
	uint32_t id;
	enum vp_probe_kind kind;
	enum vp_args args;
	const char *provider, *module, *function, *name;
	uint64_t interval_ns;
	uint32_t event; /* of a vm probe */
	uint32_t first_site, nsites;
	struct vp_batch_event agent; /* AGENT */
	struct vp_cpc_event cpc;     /* CPC */
	struct vp_batch_process process;
	uint64_t file;               /* as in struct vp_batch_probe */
	bool stands_in;              /* … too */
	struct vp_ecb *first, *last; /* its ECBs, in order */
};

/** DIF_VAR_probeprov to DIF_VAR_probename of a probe. */
static inline const char *vp_probe_text(const struct vp_enabled_probe *probe, uint32_t var)
{
	return var == DIF_VAR_probeprov   ? probe->provider
	       : var == DIF_VAR_probemod  ? probe->module
	       : var == DIF_VAR_probefunc ? probe->function
					  : probe->name;
}

/* Is it in a process, or a file, and not in the kernel? */
static inline bool vp_site_is_user(const struct vp_enabled_site *site)
{
	return site->probe->process.pid || site->probe->file;
}

/* Does it have a condition that must be evaluated at each hit? */
static inline bool vp_site_is_conditional(const struct vp_enabled_site *site)
{
	return site->syscall || vp_site_is_user(site) || (site->raw && site->raw->condition) ||
	       (site->program && site->program->condition);
}

struct vp_ecb {
	struct vp_engine_session *es;
	const struct vp_clause *clause;
	const struct vp_enabled_probe *probe;
	struct vp_ecb *next;        /* on the same probe */
	struct vp_ecb *next_error;  /* next one among the session's ERROR ECBs */
	struct vp_counter *counter; /* counted inline, never fired; NULL: fired */
	struct vp_keyed *keyed;     /* the keys that its trampoline knows, to which hits add; atomic; NULL */
	struct vp_load *loads;      /* by vCPU, load_stride apart; NULL: the session has no guard */
	uint32_t load_stride;
	uint32_t epid;
	uint32_t order; /* of enabling, within the session */
	bool out;       /* the guard has disabled it */
};

/* Sizes of records by EPID: the ring finds the record after the oldest by them. */
struct vp_epid_sizes {
	uint32_t n;
	uint32_t size[];
};

#endif
