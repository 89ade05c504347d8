/* SPDX-License-Identifier: GPL-2.0-or-later */
/* serve.conf: this host's name, its broker, and each operator's rights. outsight-serve.conf(5) describes the
 * format. */
#ifndef FLEET_SERVE_CONF_H
#define FLEET_SERVE_CONF_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "fleet/trust/keys.h"

#define FL_CONF_PATH        "/etc/outsight/serve.conf"
#define FL_HOST_KEY_PATH    "/etc/outsight/host.key"
#define FL_STATE_PATH       "/var/lib/outsight"
#define FL_STANDING_PATH    "/etc/outsight/standing.d"
/* The same for a merger, whose user can access only its folder. */
#define FL_MERGE_CONF_PATH  "/etc/outsight/merge.conf"
#define FL_MERGE_KEY_PATH   "/var/lib/outsight-merge/merge.key"
#define FL_MERGE_STATE_PATH "/var/lib/outsight-merge"
#define FL_OPERATORS_MAX    64u
#define FL_WORKERS          8u
#define FL_WORKERS_MAX      256u

/* Patterns, as in D. */
struct fl_patterns {
	const char *const *items;
	size_t count;
};

struct fl_conf_operator {
	const char *name;
	uint8_t key[FL_PUBLIC];
	unsigned line; /* of "operator" */
	struct fl_patterns guests, providers;
	bool destructive, user_memory;
	uint32_t maxcost; /* per cent; 0: not limited here */
	uint32_t ttl_s;   /* 0: not limited here */
	uint64_t bytes_per_s;
};

/* Of this machine; family 0: none. */
union fl_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct fl_conf {
	const char *name;        /* of the host */
	const char *nats;        /* NULL: none is named */
	const char *credentials; /* NULL */
	const char *key, *state;
	union fl_address metrics; /* where metrics are served; family 0: no standing program runs */
	const char *standing;     /* the folder of standing programs */
	uint32_t workers;
	struct fl_conf_operator *operators;
	size_t noperators;
};

/** Read @p path; everything is in @p arena. SYNTAX, with the line; PERMISSION: another user can write it. */
OT_MUST_CHECK struct ot_err *fl_conf_read(const char *path, struct ot_arena *arena, struct fl_conf *ret);
/** The same for a merger, with other defaults; operators need only their keys. */
OT_MUST_CHECK struct ot_err *fl_conf_read_merger(const char *path, struct ot_arena *arena,
						 struct fl_conf *ret);
/** The operator with this key; NULL: none. */
const struct fl_conf_operator *fl_conf_find(const struct fl_conf *conf, const uint8_t key[FL_PUBLIC]);
/** Do both have the same rights? */
bool fl_conf_same_rights(const struct fl_conf_operator *a, const struct fl_conf_operator *b);

#endif
