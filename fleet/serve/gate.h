/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of a request that has come to this host: held against its signature, serve.conf, the clock and
 * the invitations that were used, logged, and answered. Knows no broker.
 */
#ifndef FLEET_SERVE_GATE_H
#define FLEET_SERVE_GATE_H

#include "fleet/serve/conf.h"
#include "fleet/serve/replay.h"
#include "fleet/trust/sign.h"

/* At most so many lines of a kind, in ten seconds, about requests that anybody can send: those of nobody whom
 * this host knows, and those that were heard before, are another host's or have expired. */
#define FL_GATE_LINES 20u

struct fl_gate_lines {
	uint64_t begun; /* the ten seconds */
	unsigned lines, untold;
};

struct fl_gate {
	const struct fl_conf *conf;
	const struct fl_identity *identity;
	struct fl_replay *replay;
	bool merges; /* hosts of an operator's (FL_ASKS_MERGE), and has no guests */
	/** A line for the host's log. */
	void (*log)(void *arg, const char *line);
	/** Append the guests of this host that @p operator may trace and @p pattern means
	 * (fl_body_put_presence()). False: that is not known yet. */
	bool (*guests)(void *arg, const struct fl_conf_operator *operator, const char * pattern,
		       struct ot_buf *out);
	/** How many sessions run. */
	unsigned (*running)(void *arg);
	void *arg;
	struct fl_gate_lines strangers, repeated;
	uint64_t refused; /* requests, since it began */
};

/* What to do. */
struct fl_gate_result {
	struct ot_buf answer;                         /* to be sent, if it is not empty */
	bool later;                                   /* the same request is to be given again */
	bool run;                                     /* a session begins, and its worker answers: */
	const struct fl_conf_operator *operator;      /* borrowed from the conf */
	struct fl_request request;                    /* its texts are in the caller's arena */
	uint8_t public[FL_PUBLIC], secret[FL_PUBLIC]; /* of this session, this host's */
};

/** @p now: seconds since 1970. An error is this host's own, and nothing is done. Deinit @p ret->answer. */
OT_MUST_CHECK struct ot_err *fl_gate_take(struct fl_gate *gate, const void *data, size_t len, uint64_t now,
					  struct ot_arena *arena, struct fl_gate_result *ret);
void fl_gate_result_deinit(struct fl_gate_result *result);

#endif
