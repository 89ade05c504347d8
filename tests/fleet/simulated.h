/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts of a fleet that have no guest: they answer, compile and hand over data as outsight-serve does, by its
 * own code as far as there is any without a guest, and what they count is known beforehand.
 *
 *   simulated_hosts.c    the process: options, requests, the loop, what it has cost
 *   simulated_session.c  one session: which message is sent when, and what a hostile or dying host does
 *   simulated_program.c  RUN compiled for the kernel that all of them have
 *   simulated_data.c     the deltas and records of a second
 *
 * In second s, from 1 on, host h's probe fires 1 + (7h + 13k + 3s) % 10 times for each k below the number of
 * keys: execname is then "key" and five digits of k, and every number that the program asks for is k. So the
 * total of each key is known from the hosts and the seconds that they have handed over.
 */
#ifndef TESTS_FLEET_SIMULATED_H
#define TESTS_FLEET_SIMULATED_H

#include "base/map.h"
#include "dif/obj/layout.h"
#include "fleet/host/run.h"
#include "fleet/link/broker.h"
#include "fleet/link/link.h"
#include "fleet/serve/gate.h"

#define SIM_NAMES 16u /* functions that stack() and sym() show */

enum sim_mischief {
	SIM_HONEST,
	SIM_EPID,    /* a delta of a probe that was not announced */
	SIM_TUPLE,   /* … whose key is shorter than the program says */
	SIM_PROGRAM, /* a program that is none */
	SIM_NAME,    /* the number of a name that another name has */
	SIM_ORDER,   /* STARTED a second time */
};

struct sim_options {
	uint32_t keys, seconds, records; /* records: of each clause that records, a second */
	uint64_t rate_ns;                /* how long a "second" takes */
	uint64_t lease_ns;
	double loss; /* of packets, in either direction */
};

/* What all sessions together have done. */
struct sim_counts {
	uint64_t sessions, elements, records, packets, bytes, again, expired;
};

struct sim_enabled {
	uint32_t clause;
	struct dif_clause_layout layout;
	uint8_t **tuples; /* by aggregation: a tuple for each row, names and guest not set */
};

/* What a RUN is for the kernel of these hosts. */
struct sim_program {
	struct fl_run_here run;
	struct dif_compiler *comp;
	struct dif_program prog;
	struct dif_layout_opts opts;
	struct ot_arena arena;
	struct sim_enabled *enabled; /* the clauses that the guests' probe fires; an EPID is 1 + its index */
	uint32_t nenabled;
	bool has_names;
	struct ot_buf program; /* the message PROGRAM */
};

struct sim_host {
	uint32_t number;
	char name[FL_NAME_MAX + 1];
	struct fl_identity identity;
	struct fl_conf conf;
	struct fl_gate gate;
	uint32_t nsessions;
	enum sim_mischief mischief;
	uint64_t dies_after,
	    slow_ns; /* dies_after: seconds from START, 0 never; slow_ns: from STOP to ENDED */
	bool is_dead, is_done;
	uint32_t ticks; /* seconds that its last session has handed over */
	bool has_ended;
};

struct sim_session {
	struct sim_host *host;
	const struct sim_options *options;
	struct sim_counts *counts;
	struct fl_link *link;
	const struct sim_program *program;
	uint8_t run[FL_DIGEST];
	uint64_t started_ns, stopped_ns; /* 0: it has not */
	uint32_t ticks;                  /* handed over */
	uint64_t nrecords;
	bool has_ended, is_over;
	struct ot_buf out, scratch;
	uint64_t *words;
	size_t words_cap;
};

/* --- simulated_program.c ------------------------------------------------------------------------------ */

/** The program of the message RUN, of @p rows keys; those of the same bytes are compiled once, and live as
 * long as the process. An error is what a host would refuse it for. */
OT_MUST_CHECK struct ot_err *sim_program_of(const void *run, size_t len, uint32_t rows,
					    const struct sim_program **ret);
/** What a datum of @p action shows for key @p k of guest @p host, written to @p size bytes at @p at. Numbers
 * of names are @p host's, and guest too, unless it is NULL. */
void sim_put_datum(const struct dif_action *action, const struct sim_host *host, uint64_t k, uint8_t *at,
		   uint32_t size);
/** Has the datum a part that depends on the host? */
bool sim_is_hosts(const struct dif_action *action);
/** Does it depend on k? */
bool sim_is_varying(const struct dif_action *action);

/* --- simulated_data.c --------------------------------------------------------------------------------- */

/** The names of @p host, as elements of NAMES. */
void sim_put_names(const struct sim_host *host, struct ot_buf *out);
/** Send the deltas and records of seconds s->ticks + 1 up to @p upto. */
OT_MUST_CHECK struct ot_err *sim_send_data(struct sim_session *s, uint32_t upto);

/* --- simulated_session.c ------------------------------------------------------------------------------ */

/** A carrier that loses a part of what it is given, and counts what goes out; @p inner becomes its. */
OT_MUST_CHECK struct ot_err *sim_carrier(struct fl_carrier *inner, double loss, struct sim_counts *counts,
					 struct fl_carrier **ret);
OT_MUST_CHECK struct ot_err *sim_session_begin(struct sim_host *host, struct fl_broker *broker,
					       const struct fl_gate_result *result,
					       const struct sim_options *options, struct sim_counts *counts,
					       struct sim_session **ret);
/** Take what has come, send what is due. s->is_over: it is to be destroyed. */
void sim_session_step(struct sim_session *s, uint64_t now);
/** When there is something to do at the latest. */
uint64_t sim_session_due(const struct sim_session *s);
void sim_session_destroy(struct sim_session *s);

#endif
