/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operator's side of a fleet: hosts whose guests are traced as if they were a local session's. What they
 * hand over goes into a struct vp_sink with EPIDs and guest numbers of this side. One thread.
 *
 *   create ─► add … ─► prepare (RUN; every host compiles; READY or refused) ─► [the local session is
 *   enabled and started: BEGIN] ─► start ─► take after each poll … ─► stop ─► report ─► destroy
 *
 * Destroying at any point closes the links, which has every host take its probes out.
 */
#ifndef FLEET_OPERATOR_FLEET_H
#define FLEET_OPERATOR_FLEET_H

#include "consumer/output/print.h"
#include "consumer/texts.h"
#include "fleet/link/link.h"
#include "vmm-probe/session/session.h"

#define FL_HOSTS_MAX  16384
#define FL_GUEST_BASE VP_GUESTS_MAX /* guests of hosts have numbers from here on, local ones below */

struct fl_fleet;
struct fl_seal; /* fleet/link/seal.h */

/* A broker, and who this operator is to the hosts behind it. */
struct fl_nats_config {
	const char *url;
	const char *credentials; /* NATS's; NULL */
	const char *key, *hosts; /* files; NULL: operator.key and hosts in ~/.config/outsight */
	const char *mergers;     /* mergers, by names and patterns of the file of hosts; NULL */
	bool without_silent;     /* continue without hosts that don't answer */
};

struct fl_fleet_config {
	struct con_texts *texts;  /* borrowed; the contents of RUN. NULL: the RUN of each host is given */
	struct dif_options *opts; /* borrowed; those that were set go into RUN, and temporal */
	/** Print a message for the operator; @p hint NULL: none. */
	void (*say)(void *arg, const char *text, const char *hint);
	/** Show what is being waited for; NULL: nothing any more. */
	void (*progress)(const char *what, const char *of);
	void *arg;
	const struct fl_nats_config *nats; /* borrowed; NULL: every host is reached by ssh */
	uint64_t follow_ns; /* how long a guest that has migrated is searched for; 0: a minute */
};

OT_MUST_CHECK struct ot_err *fl_fleet_create(const struct fl_fleet_config *config, struct fl_fleet **ret);
void fl_fleet_destroy(struct fl_fleet *fleet);

/** Does -g's argument name guests of another host: "ssh://[USER@]HOST/GUESTS"? */
bool fl_is_remote(const char *spec);
/** Add a host by that argument. The same host twice is one host with two patterns. SYNTAX, LIMIT, or the
 * carrier's error. */
OT_MUST_CHECK struct ot_err *fl_fleet_add(struct fl_fleet *fleet, const char *spec);
/** Does it name hosts behind a broker, "HOSTS/GUESTS"? Only if there is a broker; otherwise it is not the
 * name of a guest. */
bool fl_is_behind_broker(const char *spec);
/** The same over @p carrier, which becomes the fleet's, also after an error. */
OT_MUST_CHECK struct ot_err *fl_fleet_add_carrier(struct fl_fleet *fleet, struct fl_carrier *carrier,
						  const char *host, const char *guests);
/** The same with sealed packets; @p seal becomes the fleet's too. */
OT_MUST_CHECK struct ot_err *fl_fleet_add_sealed(struct fl_fleet *fleet, struct fl_carrier *carrier,
						 struct fl_seal *seal, const char *host, const char *guests);

/** Let every host compile, and wait until it is ready. A host that refuses is an error with its name and
 * reason, as for a local session; so is a host that does not answer within half a minute. @p wake_fd
 * readable: BUSY. fl_fleet_bind() must follow before data can be taken. */
OT_MUST_CHECK struct ot_err *fl_fleet_prepare(struct fl_fleet *fleet, int wake_fd);
/** Add the names of hosts' programs to the operator's own compilation, which need not be able to compile the
 * clauses that define them: dif_compiler_expect(). */
OT_MUST_CHECK struct ot_err *fl_fleet_expect(const struct fl_fleet *fleet, struct dif_compiler *comp);
/** The number of matched probes in all hosts' guests. */
uint64_t fl_fleet_matched(const struct fl_fleet *fleet);
/** The same, for text number @p text. */
uint64_t fl_fleet_matched_by(const struct fl_fleet *fleet, size_t text);
/** @p prog: the operator's program, whose aggregations' numbers hosts' data get (borrowed); data goes to @p
 * sink. @p nguests: how many the local session has. BAD_DATA: a host's aggregation of the same name has
 * another function. */
OT_MUST_CHECK struct ot_err *fl_fleet_bind(struct fl_fleet *fleet, const struct dif_program *prog,
					   const struct vp_sink *sink, uint32_t nguests);
/** The local session's sink, once bound: its data is passed on with hosts' data, with temporal in order of
 * time. */
struct vp_sink fl_fleet_sink(struct fl_fleet *fleet);
/** Add the names of addresses in hosts' guests, and the guests' names; all else is passed to the previous @p
 * symbols. @p symbols is changed, and borrows the fleet. */
void fl_fleet_names(struct fl_fleet *fleet, struct con_symbols *symbols);

OT_MUST_CHECK struct ot_err *fl_fleet_start(struct fl_fleet *fleet);
/** Readable when fl_fleet_take() has something to do: for poll(2). */
int fl_fleet_fd(const struct fl_fleet *fleet);
/** Deliver received data. *ret_exited: a host's clause called exit(), *ret_status its status. A lost host is
 * reported, and the others continue. An error is the sink's. */
OT_MUST_CHECK struct ot_err *fl_fleet_take(struct fl_fleet *fleet, bool *ret_exited, int *ret_status);
/** Has every host ended or been lost? */
bool fl_fleet_has_ended(const struct fl_fleet *fleet);
/** Stop every host and deliver the rest; waits up to FL_LEASE_NS for silent hosts. @p impatient ends the
 * wait. */
OT_MUST_CHECK struct ot_err *fl_fleet_stop(struct fl_fleet *fleet, bool (*impatient)(void *arg), void *arg);
/** "hosts: 3 whole, 1 late (3.2 s), 1 lost: h17, last heard 12 s ago" into @p out; nothing if all are whole.
 * False: one is lost, and the session's status is not 0 unless -x hostloss=ok. */
bool fl_fleet_report(const struct fl_fleet *fleet, struct ot_buf *out);

#endif
