/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking behind a broker for the host that a guest has migrated to: in a thread, as the session's own may
 * not wait for answers. Hosts of the operator's file are asked again and again whether they have it, and
 * those that do are invited, each once.
 */
#ifndef FLEET_OPERATOR_SEARCH_H
#define FLEET_OPERATOR_SEARCH_H

#include "fleet/operator/internal.h"

struct fl_search;

/* A host that has accepted, or, with @c text, why one has not. */
struct fl_found {
	char *host; /* the caller's; NULL: it is about no host in particular */
	char *text; /* the caller's; NULL: it has accepted, and what follows is the caller's too */
	struct fl_carrier *carrier;
	struct fl_seal *seal;
};

struct fl_search_config {
	struct fl_fleet *fleet;                     /* its configuration is read by the thread */
	const char *guest, *run;                    /* its name, and what RUN has for it; copied */
	bool (*skips)(void *arg, const char *host); /* hosts that are not asked; called in the thread */
	void *arg;
};

OT_MUST_CHECK struct ot_err *fl_search_start(const struct fl_search_config *config, struct fl_search **ret);
/** Readable when fl_search_take() has something. */
int fl_search_fd(const struct fl_search *s);
/** The next one, without waiting. False: there is none. */
bool fl_search_take(struct fl_search *s, struct fl_found *ret);
/** End the thread, which takes no longer than connecting to the broker. NULL is fine. */
void fl_search_end(struct fl_search *s);

#endif
