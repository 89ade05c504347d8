/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One operator's session on this host: it receives RUN from a link, compiles the texts for the named guests,
 * traces, and sends all data. A process runs one session, which ends on STOP, on exit(), or when nothing was
 * received for FL_LEASE_NS. However it ends, all probes are removed from the guests.
 */
#ifndef FLEET_HOST_WORKER_H
#define FLEET_HOST_WORKER_H

#include "fleet/link/link.h"

/* An operator's rights on this host (serve/policy.h derives them from serve.conf). Everything is borrowed. */
struct fl_rights {
	/** May this guest be traced? @p name as in `outsight guests`. NULL: any guest that this user may
	 * trace. Called in any thread. */
	bool (*guest)(void *arg, const char *name);
	/** May probes of this provider be enabled? NULL: any. */
	bool (*provider)(void *arg, const char *provider);
	void *arg;
	bool destructive; /* -w, and actions that change a guest */
	bool user_memory; /* copyin(), copyinstr() and others that read a process's memory, except ustack() */
	uint32_t maxcost; /* per cent; 0: the operator's -x maxcost decides */
	uint32_t ttl_s;   /* 0: no limit of the host's */
	uint64_t bytes_per_s; /* of records; more are dropped and counted; 0: no limit */
};

struct fl_worker_config {
	const char *host;               /* this host's name, as operators see it */
	const struct fl_rights *rights; /* NULL: this user's own rights */
	/** A line for the host's log before anything is done to a guest: what, and for whom. NULL: as a local
	 * session is logged (consumer/journal.h). */
	void (*log)(void *arg, const char *line);
	/** Is this the RUN of the operator's invitation? NULL: any peer of the link may send any RUN. */
	bool (*invited)(void *arg, const void *run, size_t len);
	void *arg;
	const char *vmlinux; /* for guests whose memory has no symbols (--vmlinux); NULL */
	uint64_t lease_ns;   /* maximum silence of the operator; 0: FL_LEASE_NS */
};

/** Run until the session ends; returns 0, or 1 if it could not start or ended by an error, which was sent to
 * the operator and logged. The link remains the caller's. */
int fl_worker_run(struct fl_link *link, const struct fl_worker_config *config);

#endif
