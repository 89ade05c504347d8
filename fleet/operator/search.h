/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches behind a broker for the host that a guest migrated to, in a thread, because the session's thread
 * must not wait for answers. Hosts of the operator's file are asked repeatedly whether they have it, and each
 * host that has it is invited once.
 */
#ifndef FLEET_OPERATOR_SEARCH_H
#define FLEET_OPERATOR_SEARCH_H

#include "fleet/operator/internal.h"

struct fl_search;

/* A host that accepted, or, with @c text, the reason why one did not. */
struct fl_found {
	char *host; /* the caller's; NULL: it concerns no single host */
	char *text; /* the caller's; NULL: it accepted, and the following members are the caller's too */
	struct fl_carrier *carrier;
	struct fl_seal *seal;
};

struct fl_search_config {
	struct fl_fleet *fleet;                     /* the thread reads its configuration */
	const char *guest, *run;                    /* its name, and its word in RUN; copied */
	bool (*skips)(void *arg, const char *host); /* hosts not to ask; called in the thread */
	void *arg;
};

OT_MUST_CHECK struct ot_err *fl_search_start(const struct fl_search_config *config, struct fl_search **ret);
/** Readable when fl_search_take() has a result. */
int fl_search_fd(const struct fl_search *s);
/** The next one, without waiting. False: there is none. */
bool fl_search_take(struct fl_search *s, struct fl_found *ret);
/** End the thread, which takes at most as long as connecting to the broker. NULL is allowed. */
void fl_search_end(struct fl_search *s);

#endif
