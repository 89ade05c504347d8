/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Standing programs: each D file of a folder runs as long as its metrics are read, in a process of its
 * own, which is `outsight -o NAME.prom`. That process renews its file once a second; who asks for metrics
 * gets what the files have, and no program waits for it.
 *
 *   waiting ──► running ──► (it failed: a pause, which doubles) waiting
 *                  │ ──► idle, when nobody has read for its ttl; the next reader has it begin again
 *                  └───► ended, by its own exit(0)
 */
#ifndef FLEET_SERVE_STANDING_STANDING_H
#define FLEET_SERVE_STANDING_STANDING_H

#include <poll.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "fleet/serve/standing/counts.h"

#define FL_PROGRAMS_MAX 64u

struct fl_standing;

struct fl_standing_config {
	const char *folder; /* the folder of D files */
	const char *run;    /* an existing folder for the files of programs' processes; no other user's */
	const char *exe;    /* outsight */
	const struct fl_counts *counts;
	/** A line for the host's log. */
	void (*log)(void *arg, const char *line);
	void *arg;
};

/** @p config and its texts are borrowed. */
OT_MUST_CHECK struct ot_err *fl_standing_create(const struct fl_standing_config *config, uint64_t now_ns,
						struct fl_standing **ret);
/** End all programs, which may take seconds. NULL is allowed. */
void fl_standing_destroy(struct fl_standing *s);

/** Read the folder again: start new programs, restart changed ones, and end removed ones. An error is logged,
 * and running programs continue. */
void fl_standing_load(struct fl_standing *s, uint64_t now_ns);

/** Do what is due; returns when this is due next, if no event comes before. */
uint64_t fl_standing_step(struct fl_standing *s, uint64_t now_ns);
/** Descriptors to wait for, in @p ret, which has room for FL_PROGRAMS_MAX; returns their number. */
nfds_t fl_standing_fds(const struct fl_standing *s, struct pollfd *ret);

/** Append all metrics, which counts as a scrape. */
OT_MUST_CHECK struct ot_err *fl_standing_metrics(struct fl_standing *s, uint64_t now_ns, struct ot_buf *out);

#endif
