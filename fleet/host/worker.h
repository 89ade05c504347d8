/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One operator's session on this host: takes RUN from a link, compiles the texts for the guests that it
 * names, traces, and hands everything over. A process runs one; it ends when the operator says STOP, when
 * exit() ends the session, or when nothing has been heard for FL_LEASE_NS. However it ends, the guests are
 * left clean.
 */
#ifndef FLEET_HOST_WORKER_H
#define FLEET_HOST_WORKER_H

#include "fleet/link/link.h"

/* What an operator may do on this host (serve/policy.h makes one of serve.conf). Everything is borrowed. */
struct fl_rights {
	/** May this guest be traced? @p name as `outsight guests` has it. NULL: any that this user may. Any
	 * thread. */
	bool (*guest)(void *arg, const char *name);
	/** May probes of this provider be enabled? NULL: any. */
	bool (*provider)(void *arg, const char *provider);
	void *arg;
	bool destructive;     /* -w, and actions that change a guest */
	bool user_memory;     /* copyin(), copyinstr() and what else reads a process's memory, but ustack() */
	uint32_t maxcost;     /* per cent; 0: as the operator's -x maxcost has it */
	uint32_t ttl_s;       /* 0: no limit of the host's */
	uint64_t bytes_per_s; /* of records; more are dropped and counted; 0: no limit */
};

struct fl_worker_config {
	const char *host;               /* this host's name, as operators see it */
	const struct fl_rights *rights; /* NULL: what this user may */
	/** A line for the host's log before anything is done to a guest: what, and for whom. NULL: as a local
	 * session is logged (consumer/journal.h). */
	void (*log)(void *arg, const char *line);
	/** Is this RUN the one that the operator's invitation was for? NULL: whoever has the link may send
	 * any. */
	bool (*invited)(void *arg, const void *run, size_t len);
	void *arg;
	const char *vmlinux; /* for guests whose memory has no symbols (--vmlinux); NULL */
	uint64_t lease_ns;   /* how long the operator may be silent; 0: FL_LEASE_NS */
};

/** Until the session is over; 0, or 1 if it could not begin or ended by an error, which the operator has
 * received and which is in the log. The link stays the caller's. */
int fl_worker_run(struct fl_link *link, const struct fl_worker_config *config);

#endif
