/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides about a request to this host: checks its signature, serve.conf, the clock and the used invitations,
 * logs it, and answers. Independent of the broker.
 */
#ifndef FLEET_SERVE_GATE_H
#define FLEET_SERVE_GATE_H

#include "fleet/serve/conf.h"
#include "fleet/serve/replay.h"
#include "fleet/trust/sign.h"

/* Maximum number of log lines of a kind in ten seconds about unauthenticated requests: those of unknown keys,
 * and those that are repeated, for another host or expired. */
#define FL_GATE_LINES 20u

struct fl_gate_lines {
	uint64_t begun; /* the ten seconds */
	unsigned lines, untold;
};

struct fl_gate {
	const struct fl_conf *conf;
	const struct fl_identity *identity;
	struct fl_replay *replay;
	bool merges; /* it merges hosts of an operator (FL_ASKS_MERGE), and has no guests */
	/** A line for the host's log. */
	void (*log)(void *arg, const char *line);
	/** Append the guests of this host that @p operator may trace and that match @p pattern
	 * (fl_body_put_presence()). False: they are not known yet. */
	bool (*guests)(void *arg, const struct fl_conf_operator *operator, const char * pattern,
		       struct ot_buf *out);
	/** The number of running sessions. */
	unsigned (*running)(void *arg);
	void *arg;
	struct fl_gate_lines strangers, repeated;
	uint64_t refused; /* requests since the start */
};

/* The decision. */
struct fl_gate_result {
	struct ot_buf answer;                         /* sent if not empty */
	bool later;                                   /* the same request must be checked again later */
	bool run;                                     /* a session starts, and its worker answers: */
	const struct fl_conf_operator *operator;      /* borrowed from the conf */
	struct fl_request request;                    /* its texts are in the caller's arena */
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC]; /* of this session, this host's */
};

/** Decide about a request. @p now: seconds since 1970. An error is this host's own, and nothing is done.
 * Deinit @p ret->answer. */
OT_MUST_CHECK struct ot_err *fl_gate_take(struct fl_gate *gate, const void *data, size_t len, uint64_t now,
					  struct ot_arena *arena, struct fl_gate_result *ret);
void fl_gate_result_deinit(struct fl_gate_result *result);

#endif
