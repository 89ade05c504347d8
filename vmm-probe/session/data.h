/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data of a session: records, aggregations, faults and drops, and the sink that takes them. */
#ifndef VP_SESSION_DATA_H
#define VP_SESSION_DATA_H

#include "base/account.h"
#include "dif/obj/layout.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/vmm.h"
#include "vmm-probe/provider/provider.h"

/* An enabled clause on one probe: the meaning of an EPID. */
struct vp_enabled {
	uint32_t epid;
	uint32_t clause_index;
	uint32_t guest; /* index; 0 also for the host engine */
	uint32_t feed;  /* the engine that may hand over data of it: 0 the host engine, 1 + guest */
	const struct dif_clause *clause;
	const struct dif_clause_layout *layout;
	const struct vp_probe *probe;
};

struct vp_record {
	const struct vp_enabled *ecb;
	uint32_t cpu;
	uint64_t time_ns;
	const uint8_t *data; /* the whole record, header included: layout->recs[].offset count from here */
	uint32_t size;
};

enum vp_drop_kind {
	VP_DROP_PRINCIPAL,
	VP_DROP_AGGREGATION,
	VP_DROP_DYNAMIC,
	VP_DROP_DYNRINSE,
	VP_DROP_DYNDIRTY,
	VP_DROP_SPEC,
	VP_DROP_SPECBUSY,
	VP_DROP_SPECUNAVAIL,
	VP_DROP_DBLERROR,
	VP_DROP_STKSTROVERFLOW,
	VP_DROP_AGENT,   /* events that did not fit into the agent's rings */
	VP_DROP_MISSED,  /* hits that the guest's kprobes could not take */
	VP_DROP_REFUSED, /* probes that the guest's agent could not enable */
	VP_DROP_RECORD,  /* hits of resident probes for whose records a ring had no room */
	VP_DROP_SITES,   /* sites that the guest patched over; counted per guest, not per CPU */
	VP_DROP_MODULES, /* modules that began to run before their probes were planted; the same */
};

/* Probes that the overload guard disabled in a guest. */
struct vp_overload_info {
	const struct vp_enabled *ecb; /* the most expensive one's first enabling */
	uint32_t taken;               /* how many probes */
	uint32_t percent;             /* of the vCPUs' time that the session took there */
	uint32_t limit;               /* -x maxcost */
};

struct vp_fault_info {
	const struct vp_enabled *ecb;
	uint32_t cpu;
	uint32_t action; /* 0: the predicate, else the n-th action */
	int32_t offset;  /* of the DIF instruction, bytes; -1 unknown */
	enum dif_fault fault;
	uint64_t address;
};

/* One aggregation value as stored in a half: a delta since the last snapshot. */
struct vp_aggregate {
	const struct vp_enabled *ecb;
	const struct dif_agg_layout *layout;
	const struct dif_action *action; /* kind, arg, aggid */
	uint32_t cpu;
	const uint8_t *tuple;  /* layout->keys[].offset count from here */
	const uint64_t *words; /* layout->nwords of them, to be merged with dif_agg_merge() */
	bool inside;           /* seen by the guest's agent */
	/* Of whoever has sent it, lives as long as the session; what finds no room is counted there and left
	 * out. NULL: this host's own guests, whose engines have bounds of their own. */
	struct ot_account *account;
};

/* A guest that has joined a session, or has left it. */
struct vp_guest_news {
	uint32_t guest; /* index */
	const char *name;
	bool joined;
	enum vp_guest_end how; /* of one that has left; RUNS: its VMM has ended for an unknown reason */
	const char *text;      /* … as a sentence */
};

/* The receiver of data. Called from vp_session_poll() and vp_session_stop(), in this order at each
 * wake-up: status (drops), aggregation deltas when a snapshot is due, then records in order of time. Pointers
 * are valid during the call. An error ends the poll and is returned by it (a full disk, for example). */
struct vp_sink {
	void *arg;
	struct ot_err *(*record)(void *arg, const struct vp_record *rec);
	struct ot_err *(*aggregate)(void *arg, const struct vp_aggregate *agg);
	struct ot_err *(*fault)(void *arg, const struct vp_fault_info *fault);
	struct ot_err *(*drop)(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count);
	struct ot_err *(*overload)(void *arg, const struct vp_overload_info *overload);
	void (*say)(void *arg, const char *text); /* optional: a sentence on something that is not traced */
	/* Optional: between records. say() gets a sentence about such guests too. */
	void (*guest)(void *arg, const struct vp_guest_news *news);
};

#endif
